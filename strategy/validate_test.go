package strategy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// TestValidate: every field that is wrong is named once, before the first call.
func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	sampling := func(p strategy.Prompter, v strategy.Voter) strategy.Pipeline {
		return strategy.Pipeline{Prompter: p, Voter: v}
	}
	tests := []struct {
		name     string
		strategy strategy.Strategy
		want     []string // lines
		why      string
	}{
		{"direct", strategy.Direct{Shots: -1}, []string{"strategy: Direct.Shots is -1; want 0 (the default) or more"}, ""},
		{"consensus", strategy.Consensus{
			Samples: -1, Temperature: nan, MinConfidence: nan,
		}, []string{
			"strategy: Consensus.Samples is -1; want 0 (the default) to 10000",
			"strategy: Consensus.Temperature is NaN; want 0 (the default) or more",
			"strategy: MinConfidence is NaN; want 0 to 1",
		}, "all of them, and none twice"},
		{"self-consistency", strategy.SelfConsistency{Temperature: inf, Shots: -2}, []string{
			"strategy: SelfConsistency.Temperature is +Inf; want 0 (the default) or more",
			"strategy: SelfConsistency.Shots is -2; want 0 (the default) or more",
		}, ""},
		{"plan vote", planvote.Plain{Samples: 20_000, ExpectColumns: -1}, []string{
			"planvote: Plain.Samples is 20000; want 0 (the default) to 10000",
			"planvote: Plain.ExpectColumns is -1; want 0 (the default) or more",
		}, ""},
		{"augmented plan vote", planvote.Augmented{Temperature: nan},
			[]string{"planvote: Augmented.Temperature is NaN; want 0 (the default) or more"}, ""},
		{"execution feedback", planvote.Feedback{Samples: 20_000, CorrectionSamples: -1, Temperature: inf}, []string{
			"planvote: Feedback.Samples is 20000; want 0 (the default) to 10000",
			"planvote: Feedback.CorrectionSamples is -1; want 0 (the default) to 10000",
			"planvote: Feedback.Temperature is +Inf; want 0 (the default) or more",
		}, "a negative number of corrections is not allowed"},
		{"maker", maker.Strategy{Samples: 20_000, FallbackCalls: 20_000, Temperature: nan}, []string{
			"maker: Strategy.Samples is 20000; want 0 (the default) to 10000",
			"maker: Strategy.FallbackCalls is 20000; want 0 (the default) to 10000",
			"maker: Strategy.Temperature is NaN; want 0 (the default) or more",
		}, "before phase 1, not in it"},
		{"fallback of maker", maker.Strategy{Fallback: planvote.Plain{Samples: -1}}, []string{
			"maker: Strategy.Fallback: planvote: Plain.Samples is -1; want 0 (the default) to 10000",
		}, "not when the phases have failed"},
		{"pet-sql", petsql.Strategy{PerModelTimeout: -1, Prompter: petsql.REp{Values: -1}}, []string{
			"petsql: Strategy.PerModelTimeout is -1ns; want 0 (the default) or more",
			"petsql: Strategy.Prompter.Values is -1; want 0 (the default) or more",
		}, ""},
		{"what runs, behind the vote", strategy.Pipeline{Refine: &strategy.Refine{Decisive: true, EmptyResult: true}},
			[]string{
				"strategy: Refine.EmptyResult: a statement that runs is asked about without Decisive only",
			}, "it would do nothing"},
		{"so many of each", strategy.Pipeline{Refine: &strategy.Refine{Statements: 3}}, []string{
			"strategy: Refine.Statements: it bounds what Decisive refines, which is not set",
		}, "it would do nothing"},
		{"pipeline", strategy.Pipeline{
			Refine:  &strategy.Refine{Executions: -1, Statements: -1, Decisive: true},
			Sampler: strategy.Sampler{Temperature: nan, MinVotes: 2},
		}, []string{
			"strategy: Refine.Executions is -1; want 0 (the default) or more",
			"strategy: Refine.Statements is -1; want 0 (the default) or more",
			"strategy: Sampler.Temperature is NaN; want 0 (the default) or more",
			"strategy: Sampler.MinVotes is 2, more than the 1 samples",
		}, ""},
		{
			"majority", sampling(nil, vote.Majority{Penalty: -1}),
			[]string{"vote: Majority.Penalty is -1, not a number from 0 up"},
			"it is known before the samples are paid",
		},
		{"pointer to a majority", sampling(nil, &vote.Majority{Prior: nan}),
			[]string{"vote: Majority.Prior is NaN, not a number from 0 up"}, ""},
		{"variant of nothing", sampling(strategy.Variant{}, nil), []string{"strategy: Variant has no prompter"}, ""},
		{"nobody's turn", sampling(strategy.RotatePrompts{}, nil), []string{"strategy: RotatePrompts has no prompter"}, ""},
		{
			"nil prompter", sampling(strategy.RotatePrompts{strategy.Prompt{}, nil}, nil),
			[]string{"strategy: RotatePrompts[1] is nil"},
			"a panic of a sample would end the process",
		},
		{
			"nil prompter further in", sampling(strategy.RotatePrompts{strategy.RotatePrompts{strategy.PrompterFunc(nil)}}, nil),
			[]string{"strategy: the PrompterFunc is nil"}, "",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.strategy.(interface{ Validate(samples int) error }).Validate(0)
			if err == nil {
				t.Fatalf("accepted: %s", tt.why)
			}
			golden.Equal(t, tt.want, strings.Split(err.Error(), "\n"), tt.why)
			script := &llmtest.Script{}
			if _, gerr := tt.strategy.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"}); gerr == nil ||
				gerr.Error() != err.Error() ||
				len(script.Requests()) > 0 {
				t.Errorf("Generate made %d calls and gave %v", len(script.Requests()), gerr)
			}
		})
	}
	if err := strategy.Func(nil).Validate(0); err == nil ||
		strategy.Func(strategy.Consensus{}.Generate).Validate(0) != nil {
		t.Errorf("a nil Func: %v", err)
	}
	err := strategy.Consensus{}.Validate(fields.MaxSamples + 1)
	_, gerr := strategy.Consensus{}.Generate(t.Context(), shopEnv(t, nil),
		strategy.Task{Question: "q", Samples: fields.MaxSamples + 1})
	if err == nil || gerr == nil || strings.Contains(err.Error()+gerr.Error(), "\n") {
		t.Errorf("too many samples are told twice: %v, %v", err, gerr)
	}
}
