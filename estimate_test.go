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
