package enginetest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// TestPromptsWithoutHistory: what a question sends does not depend on the questions before it and beside it: neither
// on the tables that they profiled nor on how long the replies to them were. The schema is over the budget.
func TestPromptsWithoutHistory(t *testing.T) {
	var script strings.Builder
	for i := range 26 {
		fmt.Fprintf(&script, "CREATE TABLE things%c (id INTEGER PRIMARY KEY", 'a'+i)
		for c := range 20 {
			fmt.Fprintf(&script, ", measured_quantity_of_what_nobody_asks_for_today_%c%d TEXT", 'a'+i, c)
		}
		script.WriteString(");\n")
	}
	script.WriteString("CREATE TABLE rivers (id INTEGER PRIMARY KEY, mouth TEXT); INSERT INTO rivers VALUES (1, 'Oslo');" +
		"CREATE TABLE people (id INTEGER PRIMARY KEY, city TEXT); INSERT INTO people VALUES (1, 'Bergen'), (2, 'Oslo')")
	const cut = "SELECT count(*) FROM rivers WHERE mouth IN ("
	questions := []string{"How many rivers are there?", "How many people are there?", "How many are in oslo?"}

	for name, s := range map[string]strategy.Strategy{
		"direct": strategy.Direct{}, "maker": maker.Strategy{}, "petsql": petsql.Strategy{},
		"qasql": qasql.Strategy{MaxContextTokens: 2000},
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			sent := map[string][]string{} // by question
			model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				text := fmt.Sprint(req.Messages, *req.MaxTokens)
				mu.Lock()
				for _, q := range questions {
					if strings.Contains(text, q) {
						sent[q] = append(sent[q], text)
					}
				}
				mu.Unlock()
				if strings.Contains(text, questions[0]) && *req.MaxTokens < 2000 {
					return llm.Response{Text: cut + strings.Repeat("'Oslo', ", 800), StopReason: llm.StopLength}, nil
				}
				return llm.Response{Text: "SELECT count(*) FROM people", StopReason: llm.StopEnd}, nil
			})
			ask := func(groups ...[]string) map[string][]string {
				clear(sent)
				e := testutil.Value(texttosql.New(open(t, script.String()), model, texttosql.WithStrategy(s),
					texttosql.WithSeed(1), texttosql.WithClock(nil)))(t)
				for _, group := range groups {
					var beside sync.WaitGroup
					for _, q := range group {
						beside.Go(func() { _, _ = e.Ask(t.Context(), q) }) // whatever comes of it
					}
					beside.Wait()
				}
				told := map[string][]string{}
				for q, list := range sent {
					told[q] = slices.Sorted(slices.Values(list))
				}
				return told
			}
			want := ask(questions[2:], questions[1:2], questions[:1])
			if len(want) != len(questions) {
				t.Fatalf("%d questions were asked", len(want))
			}
			golden.Equal(t, want, ask(questions[:1], questions[1:2], questions[2:]), "in the other order")
			golden.Equal(t, want, ask(questions), "beside each other")
		})
	}
}
