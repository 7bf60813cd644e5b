package strategy_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// TestValidate: every field that is wrong is named once, before the first call.
func TestValidate(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	drawing := func(p strategy.Prompter, v strategy.Voter) strategy.Pipeline {
		return strategy.Pipeline{Prompter: p, Voter: v}
	}
	tests := []struct {
		name     string
		strategy strategy.Strategy
		want     []string // lines
		why      string
	}{
		{"direct", strategy.Direct{Shots: -1}, []string{"strategy: Direct.Shots is -1; want 0 (the default) or more"}, ""},
		{"consensus", strategy.Consensus{Samples: -1, Temperature: nan, MinConfidence: nan, Calibration: &vote.Calibration{Raw: []float64{nan}, Right: []float64{1}}}, []string{
			"strategy: Consensus.Samples is -1; want 0 (the default) to 10000",
			"strategy: Consensus.Temperature is NaN; want 0 (the default) or more",
			"vote: calibration point 0 (NaN, 1) is not in 0..1",
			"strategy: MinConfidence is NaN; want 0 to 1",
		}, "all of them, and none twice"},
		{"self-consistency", strategy.SelfConsistency{Temperature: inf, Shots: -2}, []string{
			"strategy: SelfConsistency.Temperature is +Inf; want 0 (the default) or more",
			"strategy: SelfConsistency.Shots is -2; want 0 (the default) or more",
		}, ""},
		{"plan vote", strategy.PlanVote{Samples: 20_000, ExpectColumns: -1}, []string{
			"strategy: PlanVote.Samples is 20000; want 0 (the default) to 10000",
			"strategy: PlanVote.ExpectColumns is -1; want 0 (the default) or more",
		}, ""},
		{"augmented plan vote", strategy.AugmentedPlanVote{Temperature: nan}, []string{"strategy: AugmentedPlanVote.Temperature is NaN; want 0 (the default) or more"}, ""},
		{"execution feedback", strategy.ExecutionFeedback{Samples: 20_000, CorrectionSamples: -1, Temperature: inf}, []string{
			"strategy: ExecutionFeedback.Samples is 20000; want 0 (the default) to 10000",
			"strategy: ExecutionFeedback.CorrectionSamples is -1; want 0 (the default) to 10000",
			"strategy: ExecutionFeedback.Temperature is +Inf; want 0 (the default) or more",
		}, "a negative number of corrections is none of them"},
		{"maker", strategy.MAKER{Samples: 20_000, FallbackCalls: 20_000, Temperature: nan}, []string{
			"strategy: MAKER.Samples is 20000; want 0 (the default) to 10000",
			"strategy: MAKER.FallbackCalls is 20000; want 0 (the default) to 10000",
			"strategy: MAKER.Temperature is NaN; want 0 (the default) or more",
		}, "before phase 1, not in it"},
		{"fallback of maker", strategy.MAKER{Fallback: strategy.PlanVote{Samples: -1}}, []string{
			"strategy: MAKER.Fallback: strategy: PlanVote.Samples is -1; want 0 (the default) to 10000",
		}, "not when the phases have failed"},
		{"pet-sql", strategy.PETSQL{PerModelTimeout: -1, Prompter: strategy.REp{Values: -1}}, []string{
			"strategy: PETSQL.PerModelTimeout is -1ns; want 0 (the default) or more",
			"strategy: PETSQL.Prompter.Values is -1; want 0 (the default) or more",
		}, ""},
		{"pipeline", strategy.Pipeline{Repairs: -1, Sampler: strategy.Sampler{Temperature: nan, MinVotes: 2}}, []string{
			"strategy: Pipeline.Repairs is -1; want 0 (the default) or more",
			"strategy: Sampler.Temperature is NaN; want 0 (the default) or more",
			"strategy: Sampler.MinVotes is 2, more than the 1 draws",
		}, ""},
		{"majority", drawing(nil, vote.Majority{Penalty: -1}), []string{"vote: Majority.Penalty is -1, not a number from 0 up"}, "it is known before the draws are paid"},
		{"pointer to a majority", drawing(nil, &vote.Majority{Prior: nan}), []string{"vote: Majority.Prior is NaN, not a number from 0 up"}, ""},
		{"probed vote", drawing(nil, strategy.ProbedVote{Clusters: -1, Penalty: nan, Voter: vote.Majority{MinShare: 2}}), []string{
			"strategy: ProbedVote.Clusters is -1; want 0 (the default) or more",
			"strategy: ProbedVote.Penalty is NaN; want 0 (the default) or more",
			"vote: Majority.MinShare is 2, not in 0..1",
		}, "and the voter in it"},
		{"nobody's turn", drawing(strategy.Alternate{}, nil), []string{"strategy: Alternate has no prompter"}, ""},
		{"nil prompter", drawing(strategy.Alternate{strategy.Prompt{}, nil}, nil), []string{"strategy: Alternate[1] is nil"}, "a panic of a draw would end the process"},
		{"nil prompter further in", drawing(strategy.Alternate{strategy.Alternate{strategy.PrompterFunc(nil)}}, nil), []string{"strategy: the PrompterFunc is nil"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.strategy.(strategy.Validator).Validate(0)
			if err == nil {
				t.Fatalf("accepted: %s", tt.why)
			}
			if diff := cmp.Diff(tt.want, strings.Split(err.Error(), "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
			script := &llmtest.Script{}
			if _, gerr := tt.strategy.Generate(t.Context(), shopEnv(t, script), strategy.Task{Question: "q"}); gerr == nil || gerr.Error() != err.Error() || len(script.Requests()) > 0 {
				t.Errorf("Generate made %d calls and gave %v", len(script.Requests()), gerr)
			}
		})
	}
	if err := strategy.Func(nil).Validate(0); err == nil || strategy.Func(strategy.Consensus{}.Generate).Validate(0) != nil {
		t.Errorf("a nil Func: %v", err)
	}
	err := strategy.Consensus{}.Validate(strategy.MaxSamples + 1)
	if _, gerr := (strategy.Consensus{}).Generate(t.Context(), shopEnv(t, nil), strategy.Task{Question: "q", Samples: strategy.MaxSamples + 1}); err == nil || gerr == nil || strings.Contains(err.Error()+gerr.Error(), "\n") {
		t.Errorf("too many samples are told twice: %v, %v", err, gerr)
	}
}
