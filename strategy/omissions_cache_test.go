package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/texttosql/texttosql/internal/host"
	"github.com/texttosql/texttosql/internal/schematest"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// TestTextsAreKept: a text is written once for a schema and a form, and with other
// values or limits anew.
func TestTextsAreKept(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	env.Host.Omissions = &host.PromptCuts{}
	write := func(r schema.Renderer, s *schema.Schema) string {
		t.Helper()
		out := testutil.Value(env.Render(t.Context(), 0, r, s))(t)
		return out.Text
	}
	same := func(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }
	s, part := schematest.Shop(), schematest.Shop()
	env.Snapshot = env.Snapshot.Named("", s)
	first := write(schema.Renderer{}, s)
	for _, c := range []struct {
		why  string
		r    schema.Renderer
		s    *schema.Schema
		same bool
	}{
		{"again", schema.Renderer{}, s, true},
		{"another form", schema.Renderer{Form: schema.Code}, s, false},
		{"another limit", schema.Renderer{MaxTokens: 9999}, s, false},
		{"without values", schema.Renderer{WithoutValues: true}, s, false},
		{"another schema with the same tables", schema.Renderer{}, part, false},
		{"still kept", schema.Renderer{}, s, true},
	} {
		if got := same(write(c.r, c.s), first); got != c.same {
			t.Errorf("%s: the same text: %t", c.why, got)
		}
	}
	other := *env
	if same(write(schema.Renderer{}, part), write(schema.Renderer{}, part)) {
		t.Error("the text of a schema of one question is stored")
	}
	other.Snapshot = env.Snapshot.As("", "of another scope").Named("", s)
	if same(testutil.Value(other.Render(t.Context(), 0, schema.Renderer{}, s))(t).Text, first) {
		t.Error("another scope has the same text")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := env.Render(ended, 0, schema.Renderer{}, schematest.Shop()); !errors.Is(err, context.Canceled) {
		t.Errorf("an ended context: %v", err)
	}
	var wg sync.WaitGroup
	texts := make([]string, 20)
	for i := range texts {
		wg.Go(func() { texts[i] = write(schema.Renderer{MaxTokens: 8888}, s) }) // needed by all at a time
	}
	wg.Wait()
	for _, text := range texts {
		if !same(text, texts[0]) {
			t.Error("a text was written twice")
		}
	}
	for i := range 20 {
		wg.Go(func() {
			if text, err := env.Render(t.Context(), i, schema.Renderer{Form: schema.Form(i % 3)}, s); err != nil ||
				text.Text == "" {
				t.Errorf("%q, %v", text.Text, err)
			}
		})
	}
	wg.Wait()
}

// A prompter writes the schema with Env.Render, which keeps to the settings of the
// engine and tells whoever asked what a prompt had no room for.
func ExampleEnv_Render() {
	env := strategytest.ExampleEnv(nil)
	env.Host.Omissions = &host.PromptCuts{} // texttosql.Engine makes one for each question
	r, err := env.Render(context.Background(), 0, schema.Renderer{Form: schema.Code, MaxTokens: 20}, env.Schema)
	fmt.Print(r.Text, err, "\n")
	var out strategy.Outcome
	env.Host.Omissions.Report(context.Background(), &out.Notes)
	fmt.Println(out.Notes[0])
	// Output:
	// customers(id INTEGER PRIMARY KEY, … 2 more)
	// orders(… 3 more)
	// <nil>
	// the prompt does not show all of the schema: 2 tables shortened to fit, 5 columns not shown: orders, customers
}
