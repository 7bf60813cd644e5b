package texttosql_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

func TestConfirmedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "confirmed.jsonl")
	open := func() *strategy.Confirmed {
		c, err := strategy.OpenConfirmed(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	pairs := func(c *strategy.Confirmed) (list []string) {
		t.Helper()
		found, err := c.Pairs()
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range found {
			list = append(list, p.Question+"="+p.SQL)
		}
		return list
	}
	add := func(c *strategy.Confirmed, question, sql string) {
		t.Helper()
		if err := c.Add(strategy.Pair{Question: question, SQL: sql}); err != nil {
			t.Fatal(err)
		}
	}
	one, two := open(), open() // as two processes have it
	add(one, "A?", "SELECT 1")
	add(two, "B?", "SELECT 2")
	add(one, " a? ", "SELECT 3") // again
	want := []string{" a? =SELECT 3", "B?=SELECT 2"}
	for _, c := range []*strategy.Confirmed{one, two, open()} {
		if diff := cmp.Diff(want, pairs(c)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	// A crash in the middle of a line.
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"question":"C?","sq`)
	f.Close()
	if diff := cmp.Diff(want, pairs(open())); diff != "" {
		t.Errorf("after a crash (-want +got)\n%s", diff)
	}
	add(open(), "D?", "SELECT 4")
	if diff := cmp.Diff(append(want, "D?=SELECT 4"), pairs(one)); diff != "" {
		t.Errorf("after the next one (-want +got)\n%s", diff)
	}
	// Many at once.
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() { add([]*strategy.Confirmed{one, two}[i%2], strings.Repeat("x", i+1), "SELECT 5") })
	}
	wg.Wait()
	if n := len(pairs(open())); n != 23 {
		t.Errorf("%d answers, want 23", n)
	}
	// A broken line is named.
	if err := os.WriteFile(path, []byte("{\"question\":\"A?\",\"sql\":\"SELECT 1\"}\n{\"question\":\"B?\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, read := range []func() error{
		func() error { _, err := strategy.OpenConfirmed(path); return err },
		func() error { _, err := strategy.ReadPairs(path); return err },
	} {
		var broken *strategy.PairError
		if err := read(); !errors.As(err, &broken) || broken.Line != 2 || broken.File != path {
			t.Errorf("got %v, want line 2 of the file", err)
		}
	}
}

// TestConfirm: what a person confirmed is shown with the next question, also by
// another engine on the same store.
func TestConfirm(t *testing.T) {
	var prompts []string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		var all string
		for _, m := range req.Messages {
			all += m.Text + "\n"
		}
		prompts = append(prompts, all)
		return llm.Response{Text: "SELECT count(*) FROM customers", StopReason: llm.StopEnd}, nil
	})
	var store strategy.Confirmed
	e := engine(t, model, texttosql.WithStrategy(strategy.PETSQL{}), texttosql.WithConfirmed(&store))
	other := engine(t, model, texttosql.WithStrategy(strategy.PETSQL{}), texttosql.WithConfirmed(&store))
	if err := e.Confirm(t.Context(), "How many orders are there?", "SELECT count(*) FROM orders;"); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*texttosql.Engine{e, other} {
		prompts = nil
		if _, err := e.Ask(t.Context(), "How many customers are there?"); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(prompts[0], "### How many orders are there?\nSELECT count(*) FROM orders\n") {
			t.Errorf("not shown in\n%s", prompts[0])
		}
	}
	for _, bad := range []struct{ question, sql string }{
		{"", "SELECT 1"}, {"x", "DELETE FROM customers"}, {"x", "SELECT nothing FROM customers"}, {"x", ""},
	} {
		if err := e.Confirm(t.Context(), bad.question, bad.sql); err == nil {
			t.Errorf("%q with %q is no error", bad.question, bad.sql)
		}
	}
}
