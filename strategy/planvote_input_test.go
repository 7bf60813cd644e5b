package strategy_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
)

// TestOddInput: whatever a caller passes to the strategies by plan is one clear
// result or error.
func TestOddInput(t *testing.T) {
	rules := append(phases(scopeOne, inUSA, usa), always("generate", usa))
	tests := []struct {
		name string
		task strategy.Task
		edit func(*strategy.Env)
		sql  string
		text string // of the error; "" for none
		is   error
	}{
		{name: "empty", task: strategy.Task{Question: " \n"}, is: strategy.ErrEmptyQuestion},
		{name: "a megabyte", task: strategy.Task{Question: strings.Repeat("Who lives in the USA? ", 50_000)}, sql: usa},
		{name: "one sample", task: strategy.Task{Question: "q", Samples: 1}, sql: usa},
		{name: "negative samples", task: strategy.Task{Question: "q", Samples: -1}, text: "-1"},
		{name: "no model", task: strategy.Task{Question: "q"}, edit: func(e *strategy.Env) { e.Models = nil }, text: "model"},
	}
	for name, s := range map[string]strategy.Strategy{
		"plan": strategy.PlanVote{}, "plan, published": strategy.PlanVote{Compat: true}, "augmented": strategy.AugmentedPlanVote{Probe: true},
		"feedback": strategy.ExecutionFeedback{}, "maker": strategy.MAKER{}, "maker, published": strategy.MAKER{Compat: true},
	} {
		for _, tt := range tests {
			t.Run(name+" "+tt.name, func(t *testing.T) {
				env := makerEnv(t, &llmtest.Script{Rules: rules})
				if tt.edit != nil {
					tt.edit(env)
				}
				out, err := s.Generate(t.Context(), env, tt.task)
				switch {
				case tt.sql != "":
					if err != nil || out.SQL != tt.sql {
						t.Errorf("got %+v, %v", out, err)
					}
				case err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.text):
					t.Errorf("got %+v, %v", out, err)
				}
			})
		}
	}
}
