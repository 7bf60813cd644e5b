package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/enginetest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestEstimate: the range holds what the question then costs, whatever the model replies, and no model is called for
// it.
func TestEstimate(t *testing.T) {
	prices := map[string]llm.Price{"": {Prompt: 1, Completion: 4}}
	for _, tt := range []struct {
		why         string
		opts        []texttosql.Option
		least, most int // calls
	}{
		{"one sample", []texttosql.Option{texttosql.WithStrategy(strategy.Direct{})}, 1, 1},
		{"a vote that is decided early or never", []texttosql.Option{texttosql.WithStrategy(strategy.SelfConsistency{})}, 7,
			12},
		{"repairs", nil, 7, 14},
		{"repairs and a judge", []texttosql.Option{texttosql.WithStrategy(judged(12))}, 7, 16},
		{"a budget of calls", []texttosql.Option{texttosql.WithBudget(llm.Budget{Calls: 9, Prices: prices})}, 7, 9},
	} {
		opts := enginetest.Options([]texttosql.Option{texttosql.WithBudget(llm.Budget{Prices: prices})}, tt.opts...)
		script := always("no statement")
		got, err := engine(t, script, opts...).Estimate(t.Context(), whoInUSA)
		if err != nil || len(script.Requests()) > 0 || got.Least.Calls != tt.least || got.Most.Calls != tt.most {
			t.Errorf("%s: %+v, %v, %d calls of the model; want %d to %d", tt.why, got, err, len(script.Requests()), tt.least,
				tt.most)
		}
		if got.Least.Money <= 0 || got.Most.Money < got.Least.Money || got.Most.CompletionTokens < 512 {
			t.Errorf("%s: money and tokens %+v", tt.why, got)
		}
		for _, reply := range []llmtest.Reply{{Text: usa}, {Text: "no statement"}, {Text: "SELECT nothing FROM nowhere"}} {
			model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{reply}, Repeat: true}}}
			r, _ := engine(t, model, opts...).Ask(t.Context(), whoInUSA)
			used, least, most := r.Usage, got.Least.PromptTokens, got.Most.PromptTokens+got.Most.CompletionTokens
			if used.Calls < tt.least || used.Calls > tt.most || used.PromptTokens < least || used.PromptTokens+
				used.CompletionTokens > most || used.Money <= 0 {
				t.Errorf("%s: %q took %+v, out of %+v", tt.why, reply.Text, used, got)
			}
		}
	}
	e := engine(t, always(usa))
	if _, err := e.Estimate(t.Context(), " "); !errors.Is(err, strategy.ErrEmptyQuestion) {
		t.Errorf("an empty question: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Estimate(ctx, whoInUSA); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestEstimateOfTables: of strategies that ask about each table the range holds a usual run, in calls and in tokens of
// both kinds, and its most calls are at most three times those of that run.
func TestEstimateOfTables(t *testing.T) {
	for _, n := range []int{10, 40, 60} {
		script := "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT); INSERT INTO customers " +
			"VALUES (1, 'Ada', 'USA');" +
			"CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL);"
		for i := range n - 2 {
			script += fmt.Sprintf("CREATE TABLE z%c%c (f%c TEXT, more TEXT);", 'a'+i/26, 'a'+i%26, 'a'+i%26)
		}
		for name, s := range map[string]strategy.Strategy{"threephase": threephase.Strategy{}, "qasql": qasql.Strategy{}} {
			usual := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				last := req.Messages[len(req.Messages)-1].Text
				text := usa
				relevant := strings.Contains(last, "CREATE TABLE customers ") || strings.Contains(last, "CREATE TABLE orders ")
				switch several := strings.Contains(last, "Table 2:\n"); {
				case several:
					text = `{"tables": []}`
					if _, rest, found := strings.Cut(last, "Table "); found && relevant {
						for i, one := range strings.Split("\nTable "+rest, "\nTable ")[1:] {
							if strings.Contains(one, "CREATE TABLE customers ") || strings.Contains(one, "CREATE TABLE orders ") {
								text = fmt.Sprintf(
									`{"tables": [{"table": %d, "is_relevant": true, "confidence": 0.9, "relevant_columns": [], "reasoning": "holds it"}]}`, i+1)
							}
						}
					}
					return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
				}
				switch req.Purpose {
				case "table":
					text = fmt.Sprintf(
						`{"is_relevant": %v, "confidence": 0.9, "relevant_columns": [], "reasoning": "holds what is asked"}`, relevant)
				case "tables":
					text = `{"final_tables": ["customers", "orders"], "removed_tables": [], "reasoning": "both are needed"}`
				case "synthesis":
					text = `{"columns": ["customers.name"], "joins_needed": true, "combine": "join", "filters": "country is USA", "reasoning": "by the key"}`
				case "decompose":
					text = `{"components": [{"text": "customers in the USA", "type": "entity"}]}`
				case "score":
					text = fmt.Sprintf(
						`{"relevant": %v, "score": 0.9, "reason": "holds what is asked", "matched_components": [], "relevant_columns": []}`, relevant)
				}
				return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
			})
			e := testutil.Value(texttosql.New(open(t, script), usual, texttosql.WithStrategy(s)))(t)
			got := testutil.Value(e.Estimate(t.Context(), whoInUSA))(t)
			again := testutil.Value(e.Estimate(t.Context(), whoInUSA))(t)
			used := testutil.Value(e.Ask(t.Context(), whoInUSA))(t).Usage
			within := func(least, is, most int) bool { return least <= is && is <= most }
			if !within(got.Least.Calls, used.Calls, got.Most.Calls) || !within(got.Least.PromptTokens, used.PromptTokens,
				got.Most.PromptTokens) ||
				!within(got.Least.CompletionTokens, used.CompletionTokens, got.Most.CompletionTokens) ||
				got.Most.Calls > 3*used.Calls || got != again {
				t.Errorf("%s, %d tables: a usual run takes %+v; estimated %+v to %+v", name, n, used, got.Least, got.Most)
			}
			t.Logf("%s, %d tables: %d calls, estimated %d to %d", name, n, used.Calls, got.Least.Calls, got.Most.Calls)
		}
	}
}
