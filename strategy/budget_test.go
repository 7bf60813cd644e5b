package strategy_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// TestBudgetIsTold: each vote that a spent budget cut short is a warning, also
// where some draws were sent and refused, and where what was left decided.
func TestBudgetIsTold(t *testing.T) {
	tests := []struct {
		name     string
		strategy strategy.Strategy
		budget   llm.Budget
		want     []string // warnings
		why      string
	}{
		{"calls", strategy.SelfConsistency{}, llm.Budget{Calls: 1}, []string{"the budget allowed 1 of 12 draws"}, "the others are not sent"},
		{"tokens", strategy.SelfConsistency{}, llm.Budget{Tokens: 500}, []string{"the budget allowed 1 of 12 draws"}, "the others are sent and refused"},
		{"enough", strategy.SelfConsistency{}, llm.Budget{Calls: 7}, nil, "seven of twelve decide"},
		{"phase 3", strategy.MAKER{}, llm.Budget{Calls: 17}, []string{"projection: the budget allowed 3 of 12 draws"}, "7 and 7 were enough for the phases before"},
		{"of its own", strategy.MAKER{MaxCalls: 17}, llm.Budget{}, []string{"projection: the budget allowed 3 of 12 draws"}, ""},
		{"no phase", strategy.MAKER{}, llm.Budget{Calls: 21}, nil, ""},
	}
	short := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12, MinVotes: 5}}
	out, warnings, err := budgeted(t, short, llm.Budget{Calls: 3})
	if !errors.Is(err, llm.ErrBudget) || !errors.Is(err, strategy.ErrQuorum) || out.SQL != usa || len(warnings) != 1 {
		t.Errorf("below the quorum: got %+v with %q, %v", out, warnings, err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, got, err := budgeted(t, tt.strategy, tt.budget)
			if err != nil || out.SQL != usa {
				t.Fatalf("got %+v, %v", out, err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
		})
	}
}

// budgeted asks a question within a budget; warnings are those about it.
func budgeted(t *testing.T, s strategy.Strategy, b llm.Budget) (out *strategy.Outcome, warnings []string, err error) {
	t.Helper()
	script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
	account := b.Start()
	env := makerEnv(t, llm.Chain(script, account.Middleware()))
	env.CallsLeft = account.CallsLeft
	root := trace.New("question")
	out, err = s.Generate(trace.Into(t.Context(), root), env, usaTask)
	for _, w := range root.Warnings() {
		if w.Code == "budget-spent" {
			warnings = append(warnings, w.Message)
		}
	}
	return out, warnings, err
}

// TestMAKERBudgetReason: a phase that the budget cut below its quorum says so.
func TestMAKERBudgetReason(t *testing.T) {
	script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
	out, err := strategy.MAKER{MaxCalls: 1}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || out.Fallback != strategy.FallbackBudget || out.Phases[0].Stop != "budget" || out.Phases[0].Fallback != strategy.FallbackBudget {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestMAKERGoesBackWithCallsOfItsOwn: calls that a first pass used up do not keep the
// next scope from being tried.
func TestMAKERGoesBackWithCallsOfItsOwn(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		draws(strategy.PurposeScope, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne),
		always(strategy.PurposeFilter, inUSA), always(strategy.PurposeProjection, usa), always("generate", usa),
	}}
	out, err := strategy.MAKER{MaxCalls: 10}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || out.Fallback != "" || out.SQL != usa || len(out.Phases) != 4 || out.Phases[1].Stop != "budget" || out.Phases[3].Attempt != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}
