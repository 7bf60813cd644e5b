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

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
)

// TestConfirmedIsReadOnce: reading a file takes memory for its lines, not for all before each of them. Many programs
// open a file of years.
func TestConfirmedIsReadOnce(t *testing.T) {
	const lines = 5000
	var text strings.Builder
	for i := range lines {
		// the second half replaces the first
		fmt.Fprintf(&text, "{\"question\": \"question %d\", \"sql\": \"SELECT %d\"}\n", i%(lines/2), i)
	}
	path := filepath.Join(t.TempDir(), "confirmed")
	testutil.OK(t, os.WriteFile(path, []byte(text.String()), 0o600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c, err := memory.OpenVerifiedAnswers(path)
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
	var c memory.VerifiedAnswers
	add := func(question, sql string) {
		t.Helper()
		testutil.OK(t, c.Add(memory.Exemplar{Question: question, SQL: sql}))
	}
	pairs := func() []memory.Exemplar {
		t.Helper()
		list := testutil.Value(c.Pairs())(t)
		return list
	}
	text := func(list []memory.Exemplar) string {
		var all []string
		for _, p := range list {
			all = append(all, p.Question+"="+p.SQL)
		}
		return strings.Join(all, " ")
	}
	var had [][]memory.Exemplar
	var want []string
	for i, question := range []string{"a", "b", "A", "c", "b", "b", "d", "a", "e", "f", "g", "h"} {
		add(question, fmt.Sprint(i))
		if i%3 != 1 { // some are added with nobody looking
			had = append(had, pairs())
			want = append(want, text(pairs()))
		}
	}
	for _, list := range had {
		_ = append(list, memory.Exemplar{Question: "x", SQL: "x"})
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
	open := func() *memory.VerifiedAnswers {
		c := testutil.Value(memory.OpenVerifiedAnswers(path))(t)
		t.Cleanup(func() { c.Close() })
		return c
	}
	pairs := func(c *memory.VerifiedAnswers) (list []string) {
		t.Helper()
		found := testutil.Value(c.Pairs())(t)
		for _, p := range found {
			list = append(list, p.Question+"="+p.SQL)
		}
		return list
	}
	add := func(c *memory.VerifiedAnswers, question, sql string) {
		t.Helper()
		testutil.OK(t, c.Add(memory.Exemplar{Question: question, SQL: sql}))
	}
	one, two := open(), open() // as two processes have it
	add(one, "A?", "SELECT 1")
	add(two, "B?", "SELECT 2")
	add(one, " a? ", "SELECT 3") // again
	want := []string{" a? =SELECT 3", "B?=SELECT 2"}
	for _, c := range []*memory.VerifiedAnswers{one, two, open()} {
		golden.Equal(t, want, pairs(c))
	}
	// A crash in the middle of a line.
	f := testutil.Value(os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0))(t)
	f.WriteString(`{"question":"C?","sq`)
	f.Close()
	golden.Equal(t, want, pairs(open()), "after a crash")
	add(open(), "D?", "SELECT 4")
	golden.Equal(t, append(want, "D?=SELECT 4"), pairs(one), "after the next one")
	// Many at once.
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { add([]*memory.VerifiedAnswers{one, two}[i%2], strings.Repeat("x", i+1), "SELECT 5") })
	}
	wg.Wait()
	if n := len(pairs(open())); n != 23 {
		t.Errorf("%d answers, want 23", n)
	}
	// A line end that was changed drops no pair without a word.
	whole := testutil.Value(os.ReadFile(path))(t)
	for _, last := range []string{"", " ", "\r", "\x00", "x", "}", "\"", ","} {
		testutil.OK(t, os.WriteFile(path, append(bytes.Clone(whole[:len(whole)-1]), last...), 0o600))
		c, err := memory.OpenVerifiedAnswers(path)
		var broken *fileerr.Memory
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
	testutil.OK(t, os.WriteFile(path, []byte("{\"question\":\"A?\",\"sql\":\"SELECT 1\"}\n{\"question\":\"B?\"}\n"),
		0o600))
	for _, read := range []func() error{
		func() error { _, err := memory.OpenVerifiedAnswers(path); return err },
		func() error { _, err := memory.ReadExemplars(path); return err },
	} {
		var broken *fileerr.Memory
		if err := read(); !errors.As(err, &broken) || broken.Line != 2 || broken.File != path {
			t.Errorf("got %v, want line 2 of the file", err)
		}
	}
}

// TestConfirmedOfAScope: a scope sees its own answers, no scope those of none, and Pairs all of them.
func TestConfirmedOfAScope(t *testing.T) {
	var c memory.VerifiedAnswers
	for i, scope := range []string{"", "a", "b", "a"} {
		testutil.OK(t, c.Add(memory.Exemplar{Question: fmt.Sprint("question ", i), SQL: "SELECT 1", Scope: scope}))
	}
	for scope, want := range map[string]string{"": "question 0", "a": "question 1, question 3", "b": "question 2",
		"c": ""} {
		var got []string
		for _, p := range testutil.Value(c.PairsOf(scope))(t) {
			got = append(got, p.Question)
		}
		golden.Equal(t, want, strings.Join(got, ", "), "of the scope", scope)
	}
	golden.Equal(t, 4, len(testutil.Value(c.Pairs())(t)), "of all")
}

// TestNothingConfirmed: what is nil has no answers, and a pair without a statement is refused.
func TestNothingConfirmed(t *testing.T) {
	var none *memory.VerifiedAnswers
	if list, err := none.Pairs(); err != nil || list != nil || none.Close() != nil {
		t.Errorf("%v, %v", list, err)
	}
	var c memory.VerifiedAnswers
	if err := c.Add(memory.Exemplar{Question: "q"}); err == nil || !strings.HasPrefix(err.Error(), "memory: ") {
		t.Errorf("%v", err)
	}
	golden.Equal(t, 0, len(testutil.Value(c.Pairs())(t)), "pairs")
	testutil.OK(t, c.Close())
	path := filepath.Join(t.TempDir(), "none", "confirmed")
	if _, err := memory.OpenVerifiedAnswers(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if _, err := memory.ReadExemplars(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestRemoveVerified: an answer that was taken back is gone for its scope alone, for other processes and after a
// restart, and can be confirmed again.
func TestRemoveVerified(t *testing.T) {
	path := filepath.Join(t.TempDir(), "confirmed.jsonl")
	for name, open := range map[string]func() *memory.VerifiedAnswers{
		"in memory": func() *memory.VerifiedAnswers { return &memory.VerifiedAnswers{} },
		"in a file": func() *memory.VerifiedAnswers { return testutil.Value(memory.OpenVerifiedAnswers(path))(t) },
	} {
		c := open()
		for _, scope := range []string{"", "a"} {
			for _, question := range []string{"How many?", "Who?", "When?"} {
				testutil.OK(t, c.Add(memory.Exemplar{Question: question, SQL: "SELECT 1", Scope: scope}))
			}
		}
		before := testutil.Value(c.Pairs())(t)
		other := c
		if name == "in a file" {
			other = open()
		}
		testutil.OK(t, c.Remove("a", "how  MANY?"))
		testutil.OK(t, c.Remove("a", "nobody asked"))
		all := func(c *memory.VerifiedAnswers) (text string) {
			for _, p := range testutil.Value(c.Pairs())(t) {
				text += p.Scope + "/" + p.Question + " "
			}
			return text
		}
		golden.Equal(t, "/How many? /Who? /When? a/Who? a/When? ", all(other), name)
		golden.Equal(t, "a/How many?", before[3].Scope+"/"+before[3].Question, name, "of a slice that was given before")
		testutil.OK(t, c.Add(memory.Exemplar{Question: "How many?", SQL: "SELECT 2", Scope: "a"}))
		testutil.OK(t, c.Remove("", "Who?"))
		want := "/How many? /When? a/Who? a/When? a/How many? "
		golden.Equal(t, want, all(c), name)
		golden.Equal(t, [3]bool{true, false, false}, [3]bool{c.Removed("", "SELECT 1"), c.Removed("", "SELECT 2"),
			c.Removed("a", "SELECT 2")}, name)
		testutil.OK(t, c.Close())
		if name == "in a file" {
			again := open()
			golden.Equal(t, want, all(again), name, "opened again")
			testutil.OK(t, again.Close())
			testutil.OK(t, other.Close())
			golden.Equal(t, 5, len(testutil.Value(memory.ReadExemplars(path))(t)), "read as exemplars")
		}
	}
}
