package strategy_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestBudgetIsTold: each vote that a spent budget cut short is a warning, also
// where some samples were sent and refused, where what was left decided, and
// where the calls end in the repair or the judge.
func TestBudgetIsTold(t *testing.T) {
	judged := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 4, Purpose: "four"},
		Refine: &strategy.Refine{Decisive: true},
		Voter:  vote.Majority{MinShare: 1}, Judge: strategy.Rubric{}}
	const unjudged = "the judge could not be asked, the vote stands: llm: budget spent: calls: "
	tests := []struct {
		name     string
		strategy strategy.Strategy
		budget   llm.Budget
		want     []string // warnings
		why      string
	}{
		{"calls", strategy.SelfConsistency{}, llm.Budget{Calls: 1}, []string{"the budget allowed 1 of 12 samples"},
			"the others are not sent"},
		{"tokens", strategy.SelfConsistency{}, llm.Budget{Tokens: 500}, []string{"the budget allowed 1 of 12 samples"},
			"the others are sent and refused"},
		{"enough", strategy.SelfConsistency{}, llm.Budget{Calls: 7}, nil, "seven of twelve decide"},
		{"of its own", maker.Strategy{MaxCalls: 17}, llm.Budget{}, []string{"projection: the budget allowed 3 of 12 samples"},
			"7 and 7 were enough before"},
		{"no phase", maker.Strategy{}, llm.Budget{Calls: 23},
			[]string{"the budget of calls does not cover three phases and a fallback"}, "7, 7, 7 and 3"},
		{"every phase", maker.Strategy{}, llm.Budget{Calls: 24}, nil, ""},
		{"repair", judged, llm.Budget{Calls: 4},
			[]string{"repair of sample 3 failed: llm: budget spent: calls: 4 of 4, 1 needed",
				unjudged + "4 of 4, 1 needed"}, "two answers and a statement that fails"},
		{"judge", judged, llm.Budget{Calls: 5}, []string{unjudged + "5 of 5, 1 needed"}, ""},
		{"half of the judge", judged, llm.Budget{Calls: 6}, []string{unjudged + "6 of 6, 1 needed"}, ""},
		{"all of it", judged, llm.Budget{Calls: 7}, nil, ""},
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
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}

// TestBudgetAfterOutage: a sample that was sent and lost by the provider did not reply, also where the budget refused
// to send it again. One that was not sent is nothing that was asked for.
func TestBudgetAfterOutage(t *testing.T) {
	busy := &llm.Error{Class: llm.ClassRateLimit, Status: 429}
	three := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 3, Temperature: 1}, Refine: &strategy.Refine{},
		Voter: vote.Majority{}}
	tests := []struct {
		name     string
		strategy strategy.Strategy
		calls    int // of the budget
		fails    func(llm.Request) bool
		wrong    func(llm.Request) bool // gets a statement that does not run
		missing  int
		level    vote.Level
		want     []string // warnings
	}{
		{"two lost samples", strategy.SelfConsistency{AtOnce: true}, 7,
			func(r llm.Request) bool { return r.Sample == 2 || r.Sample == 5 }, nil, 2, vote.LevelCheck,
			[]string{"provider-failed: 2 of 7 samples did not reply: the provider was busy, and the budget allowed no " +
				"further call", "budget-spent: the budget allowed 7 of 12 samples"}},
		{"no lost sample", strategy.SelfConsistency{AtOnce: true}, 7, nil, nil, 0, vote.LevelAgreed, nil},
		{"samples that were not sent", strategy.SelfConsistency{AtOnce: true}, 4, nil, nil, 0, vote.LevelCheck,
			[]string{"budget-spent: the budget allowed 4 of 12 samples"}},
		{"a lost correction is no lost sample", three, 4,
			func(r llm.Request) bool { return r.Purpose == "repair" }, func(r llm.Request) bool { return r.Sample == 2 }, 0,
			vote.LevelCheck, []string{"budget-spent: the correction of sample 2 failed: llm: budget spent: calls: 4 of 4, 1 " +
				"needed: no attempt 2 after: llm: rate limit (status 429)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sent sync.WaitGroup
			sent.Add(tt.calls)
			account := llm.Budget{Calls: tt.calls}.Start()
			env := shopEnv(t, llm.Chain(llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
				sent.Done()
				switch {
				case tt.fails != nil && tt.fails(r):
					sent.Wait() // else its repeat takes a call of those that are not sent yet
					return llm.Response{}, busy
				case tt.wrong != nil && tt.wrong(r):
					return llm.Response{Text: broken}, nil
				}
				return llm.Response{Text: usa}, nil
			}), account.Middleware(), llm.Retry{}.Middleware()))
			env.Host.CallsLeft = account.CallsLeft
			root := trace.Tracer{}.New("question")
			out, err := tt.strategy.Generate(trace.NewContext(t.Context(), root), env, usaTask)
			if err != nil || out.Ballot.Missing != tt.missing || out.Ballot.Level() != tt.level {
				t.Errorf("%d missing, %q, %v", out.Ballot.Missing, out.Ballot.Closing(), err)
			}
			var got []string
			for _, w := range root.Warnings() {
				got = append(got, w.Code+": "+w.Message)
			}
			golden.Equal(t, tt.want, got)
		})
	}
}

// budgeted asks a question within a budget; warnings are those about it.
func budgeted(t *testing.T, s strategy.Strategy, b llm.Budget) (out *strategy.Outcome, warnings []string, err error) {
	t.Helper()
	four := llmtest.Texts(usa, usa, everyone, broken)
	script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa),
		always("repair", everyone),
		always("judge", `{"selected_option": "A"}`), llmtest.Rule{Purpose: "four", Replies: four})}
	account := b.Start()
	env := makerEnv(t, llm.Chain(script, account.Middleware()))
	env.Host.CallsLeft = account.CallsLeft
	root := trace.Tracer{}.New("question")
	out, err = s.Generate(trace.NewContext(t.Context(), root), env, usaTask)
	for _, w := range root.Warnings() {
		if w.Code == "budget-spent" {
			warnings = append(warnings, w.Message)
		}
	}
	return out, warnings, err
}
