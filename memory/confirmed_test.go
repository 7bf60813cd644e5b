package memory_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/memory"
)

// TestConfirmedIsReadOnce: reading a file takes memory for its lines, not for all before each of them. Many programs
// open a file of years.
func TestConfirmedIsReadOnce(t *testing.T) {
	const lines = 5000
	var text strings.Builder
	for i := range lines {
		fmt.Fprintf(&text, "{\"question\": \"question %d\", \"sql\": \"SELECT %d\"}\n", i%(lines/2), i) // the second half replaces the first
	}
	path := filepath.Join(t.TempDir(), "confirmed")
	need.OK(t, os.WriteFile(path, []byte(text.String()), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := memory.OpenConfirmed(path)
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	pairs, err := c.Pairs()
	if err != nil || len(pairs) != lines/2 || pairs[9].SQL != "SELECT 2509" {
		t.Fatalf("%d pairs, %v", len(pairs), err)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
		t.Errorf("%d lines took %d bytes", lines, took)
	}
}

// TestConfirmedPairsStay: whoever has the answers keeps them as they were, whatever is confirmed later, and cannot
// change those of others.
func TestConfirmedPairsStay(t *testing.T) {
	var c memory.Confirmed
	add := func(question, sql string) {
		t.Helper()
		need.OK(t, c.Add(memory.Pair{Question: question, SQL: sql}))
	}
	pairs := func() []memory.Pair {
		t.Helper()
		list := need.Value(c.Pairs())(t)
		return list
	}
	text := func(list []memory.Pair) string {
		var all []string
		for _, p := range list {
			all = append(all, p.Question+"="+p.SQL)
		}
		return strings.Join(all, " ")
	}
	var had [][]memory.Pair
	var want []string
	for i, question := range []string{"a", "b", "A", "c", "b", "b", "d", "a", "e", "f", "g", "h"} {
		add(question, fmt.Sprint(i))
		if i%3 != 1 { // some are added with nobody looking
			had = append(had, pairs())
			want = append(want, text(pairs()))
		}
	}
	for _, list := range had {
		_ = append(list, memory.Pair{Question: "x", SQL: "x"})
	}
	for i, list := range had {
		golden.Equal(t, want[i], text(list), "what was given as number", i, "changed")
	}
	if got := text(pairs()); got != "a=7 b=5 c=3 d=6 e=8 f=9 g=10 h=11" {
		t.Errorf("got %s", got)
	}
}

func TestConfirmedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "confirmed.jsonl")
	open := func() *memory.Confirmed {
		c := need.Value(memory.OpenConfirmed(path))(t)
		t.Cleanup(func() { c.Close() })
		return c
	}
	pairs := func(c *memory.Confirmed) (list []string) {
		t.Helper()
		found := need.Value(c.Pairs())(t)
		for _, p := range found {
			list = append(list, p.Question+"="+p.SQL)
		}
		return list
	}
	add := func(c *memory.Confirmed, question, sql string) {
		t.Helper()
		need.OK(t, c.Add(memory.Pair{Question: question, SQL: sql}))
	}
	one, two := open(), open() // as two processes have it
	add(one, "A?", "SELECT 1")
	add(two, "B?", "SELECT 2")
	add(one, " a? ", "SELECT 3") // again
	want := []string{" a? =SELECT 3", "B?=SELECT 2"}
	for _, c := range []*memory.Confirmed{one, two, open()} {
		golden.Equal(t, want, pairs(c))
	}
	// A crash in the middle of a line.
	f := need.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	f.WriteString(`{"question":"C?","sq`)
	f.Close()
	golden.Equal(t, want, pairs(open()), "after a crash")
	add(open(), "D?", "SELECT 4")
	golden.Equal(t, append(want, "D?=SELECT 4"), pairs(one), "after the next one")
	// Many at once.
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { add([]*memory.Confirmed{one, two}[i%2], strings.Repeat("x", i+1), "SELECT 5") })
	}
	wg.Wait()
	if n := len(pairs(open())); n != 23 {
		t.Errorf("%d answers, want 23", n)
	}
	// A line end that was changed drops no pair without a word.
	whole := need.Value(os.ReadFile(path))(t)
	for _, last := range []string{"", " ", "\r", "\x00", "x", "}", "\"", ","} {
		need.OK(t, os.WriteFile(path, append(bytes.Clone(whole[:len(whole)-1]), last...), 0o600))
		c, err := memory.OpenConfirmed(path)
		var broken *memory.PairError
		if err == nil && len(pairs(c)) != 23 || err != nil && !errors.As(err, &broken) {
			t.Errorf("a line end that is %q: %v", last, err)
		}
		if err == nil {
			add(c, "E?", "SELECT 6") // goes on behind it
			if n := len(pairs(open())); n != 24 {
				t.Errorf("behind a line end that is %q: %d answers", last, n)
			}
			c.Close()
		}
	}
	// A broken line is named.
	need.OK(t, os.WriteFile(path, []byte("{\"question\":\"A?\",\"sql\":\"SELECT 1\"}\n{\"question\":\"B?\"}\n"), 0o600))
	for _, read := range []func() error{
		func() error { _, err := memory.OpenConfirmed(path); return err },
		func() error { _, err := memory.ReadPairs(path); return err },
	} {
		var broken *memory.PairError
		if err := read(); !errors.As(err, &broken) || broken.Line != 2 || broken.File != path {
			t.Errorf("got %v, want line 2 of the file", err)
		}
	}
}

// TestConfirmedOfAScope: a scope sees its own answers, no scope those of none, and Pairs all of them.
func TestConfirmedOfAScope(t *testing.T) {
	var c memory.Confirmed
	for i, scope := range []string{"", "a", "b", "a"} {
		need.OK(t, c.Add(memory.Pair{Question: fmt.Sprint("question ", i), SQL: "SELECT 1", Scope: scope}))
	}
	for scope, want := range map[string]string{"": "question 0", "a": "question 1, question 3", "b": "question 2", "c": ""} {
		var got []string
		for _, p := range need.Value(c.PairsOf(scope))(t) {
			got = append(got, p.Question)
		}
		golden.Equal(t, want, strings.Join(got, ", "), "of the scope", scope)
	}
	golden.Equal(t, 4, len(need.Value(c.Pairs())(t)), "of all")
}

// TestNothingConfirmed: what is nil has no answers, and a pair without a statement is refused.
func TestNothingConfirmed(t *testing.T) {
	var none *memory.Confirmed
	if list, err := none.Pairs(); err != nil || list != nil || none.Close() != nil {
		t.Errorf("%v, %v", list, err)
	}
	var c memory.Confirmed
	if err := c.Add(memory.Pair{Question: "q"}); err == nil || !strings.HasPrefix(err.Error(), "memory: ") {
		t.Errorf("%v", err)
	}
	golden.Equal(t, 0, len(need.Value(c.Pairs())(t)), "pairs")
	need.OK(t, c.Close())
	path := filepath.Join(t.TempDir(), "none", "confirmed")
	if _, err := memory.OpenConfirmed(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := memory.ReadPairs(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
