package strategy_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// firstVoter counts in a way of its own.
type firstVoter struct{ vote.Majority }

// TestIdleParts: a part that could never act is refused before the first question.
func TestIdleParts(t *testing.T) {
	reply := llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{}, nil })
	for _, tt := range []struct {
		why, want string
		p         strategy.Pipeline
	}{
		{"a judge without a threshold", "Pipeline.JudgeBelow", strategy.Pipeline{Judge: strategy.Rubric{}}},
		{"with a voter that has none", "Pipeline.JudgeBelow", strategy.Pipeline{Judge: strategy.Rubric{},
			Voter: vote.Majority{Prior: 1}}},
		{"a threshold without a judge", "there is no Judge", strategy.Pipeline{JudgeBelow: 0.6}},
		{"a threshold that is no share", "60 is not in 0..1", strategy.Pipeline{Judge: strategy.Rubric{}, JudgeBelow: 60}},
		{"a linker without its model", "Pipeline.Linker: linker: PerTable needs Model",
			strategy.Pipeline{Linker: linker.PerTable{}}},
		{"as a part of a union", "linker: PreSQL needs Model",
			strategy.Pipeline{Linker: linker.Union{linker.Lexical{}, linker.PreSQL{}}}},
		{"a judge with its threshold", "", strategy.Pipeline{Judge: strategy.Rubric{}, JudgeBelow: 0.6}},
		{"with that of the voter", "", strategy.Pipeline{Judge: strategy.Rubric{}, Voter: vote.Majority{MinShare: 0.6}}},
		{"with a voter that says itself what is weak", "", strategy.Pipeline{Judge: strategy.Rubric{}, Voter: firstVoter{}}},
		{"a linker with its model", "", strategy.Pipeline{Linker: linker.PerTable{Model: reply}}},
		{"one that needs none", "", strategy.Pipeline{Linker: linker.MapReduce{LexicalOnly: true}}},
	} {
		err := tt.p.Validate(0)
		var config *strategy.ConfigError
		if errors.As(err, &config) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
}
