package texttosql_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestEstimate: the range holds what the question then costs, whatever the model replies, and no model is called for it.
func TestEstimate(t *testing.T) {
	prices := map[string]llm.Price{"": {Prompt: 1, Completion: 4}}
	for _, tt := range []struct {
		why         string
		opts        []texttosql.Option
		least, most int // calls
	}{
		{"one sample", []texttosql.Option{texttosql.WithStrategy(strategy.Direct{})}, 1, 1},
		{"a vote that is decided early or never", []texttosql.Option{texttosql.WithStrategy(strategy.SelfConsistency{})}, 7, 12},
		{"repairs and a judge", nil, 8, 16},
		{"a budget of calls", []texttosql.Option{texttosql.WithBudget(llm.Budget{Calls: 9, Prices: prices})}, 8, 9},
	} {
		opts := append([]texttosql.Option{texttosql.WithBudget(llm.Budget{Prices: prices})}, tt.opts...)
		script := always("no statement")
		got, err := engine(t, script, opts...).Estimate(t.Context(), whoInUSA)
		if err != nil || len(script.Requests()) > 0 || got.Least.Calls != tt.least || got.Most.Calls != tt.most {
			t.Errorf("%s: %+v, %v, %d calls of the model; want %d to %d", tt.why, got, err, len(script.Requests()), tt.least, tt.most)
		}
		if got.Least.Money <= 0 || got.Most.Money < got.Least.Money || got.Most.CompletionTokens < 512 {
			t.Errorf("%s: money and tokens %+v", tt.why, got)
		}
		for _, reply := range []llmtest.Reply{{Text: usa}, {Text: "no statement"}, {Text: "SELECT nothing FROM nowhere"}} {
			model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{reply}, Repeat: true}}}
			r, _ := engine(t, model, opts...).Ask(t.Context(), whoInUSA)
			used, least, most := r.Usage, got.Least.PromptTokens, got.Most.PromptTokens+got.Most.CompletionTokens
			if used.Calls < tt.least || used.Calls > tt.most || used.PromptTokens < least || used.PromptTokens+used.CompletionTokens > most || used.Money <= 0 {
				t.Errorf("%s: %q took %+v, out of %+v", tt.why, reply.Text, used, got)
			}
		}
	}
	e := engine(t, always(usa))
	if _, err := e.Estimate(t.Context(), " "); !errors.Is(err, texttosql.ErrEmptyQuestion) {
		t.Errorf("an empty question: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Estimate(ctx, whoInUSA); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestEstimateOfTables: of strategies that ask about each table the range holds a usual run, in calls and in tokens of both
// kinds, and its most calls are at most three times those of that run.
func TestEstimateOfTables(t *testing.T) {
	for _, n := range []int{10, 40, 60} {
		script := "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT); INSERT INTO customers VALUES (1, 'Ada', 'USA');" +
			"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL);"
		for i := range n - 2 {
			script += fmt.Sprintf("CREATE TABLE z%c%c (f%c TEXT, more TEXT);", 'a'+i/26, 'a'+i%26, 'a'+i%26)
		}
		for name, s := range map[string]strategy.Strategy{"threephase": threephase.Strategy{}, "qasql": qasql.Strategy{}} {
			usual := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				last := req.Messages[len(req.Messages)-1].Text
				text := usa
				relevant := strings.Contains(last, "CREATE TABLE customers ") || strings.Contains(last, "CREATE TABLE orders ")
				switch req.Purpose {
				case "table":
					text = fmt.Sprintf(`{"is_relevant": %v, "confidence": 0.9, "relevant_columns": [], "reasoning": "holds what is asked"}`, relevant)
				case "tables":
					text = `{"final_tables": ["customers", "orders"], "removed_tables": [], "reasoning": "both are needed"}`
				case "synthesis":
					text = `{"columns": ["customers.name"], "joins_needed": true, "combine": "join", "filters": "country is USA", "reasoning": "by the key"}`
				case "decompose":
					text = `{"components": [{"text": "customers in the USA", "type": "entity"}]}`
				case "score":
					text = fmt.Sprintf(`{"relevant": %v, "score": 0.9, "reason": "holds what is asked", "matched_components": [], "relevant_columns": []}`, relevant)
				}
				return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
			})
			e := need.Value(texttosql.New(open(t, script), usual, texttosql.WithStrategy(s)))(t)
			got := need.Value(e.Estimate(t.Context(), whoInUSA))(t)
			again := need.Value(e.Estimate(t.Context(), whoInUSA))(t)
			used := need.Value(e.Ask(t.Context(), whoInUSA))(t).Usage
			within := func(least, is, most int) bool { return least <= is && is <= most }
			if !within(got.Least.Calls, used.Calls, got.Most.Calls) || !within(got.Least.PromptTokens, used.PromptTokens, got.Most.PromptTokens) ||
				!within(got.Least.CompletionTokens, used.CompletionTokens, got.Most.CompletionTokens) || got.Most.Calls > 3*used.Calls || got != again {
				t.Errorf("%s, %d tables: a usual run takes %+v; estimated %+v to %+v", name, n, used, got.Least, got.Most)
			}
			t.Logf("%s, %d tables: %d calls, estimated %d to %d", name, n, used.Calls, got.Least.Calls, got.Most.Calls)
		}
	}
}

// TestEstimateTable: the table of docs/strategies.md is what Estimate says.
func TestEstimateTable(t *testing.T) {
	doc := need.Value(os.ReadFile("docs/strategies.md"))(t)
	for _, tt := range []struct {
		name string
		with texttosql.Option
	}{
		{"`Direct{}`", texttosql.WithStrategy(strategy.Direct{})},
		{"`Pipeline{Refine: &Refine{}}`", texttosql.WithStrategy(strategy.Pipeline{Refine: &strategy.Refine{}})},
		{"`SelfConsistency{Samples: 3}`", texttosql.WithStrategy(strategy.SelfConsistency{Samples: 3})},
		{"the pipeline above", fewSamples()},
		{"`SelfConsistency{}`", texttosql.WithStrategy(strategy.SelfConsistency{})},
		{"`Consensus{}`", texttosql.WithStrategy(strategy.Consensus{})},
	} {
		got, err := engine(t, always(usa), tt.with).Estimate(t.Context(), whoInUSA)
		least, most := got.Least, got.Most
		row := fmt.Sprintf("| %s | %d to %d | %d to %d | %d to %d |\n", tt.name, least.Calls, most.Calls, least.PromptTokens, most.PromptTokens,
			5000*least.Calls, 5000*most.Calls)
		if err != nil || !strings.Contains(string(doc), row) {
			t.Errorf("docs/strategies.md lacks %s%v", row, err)
		}
	}
}
