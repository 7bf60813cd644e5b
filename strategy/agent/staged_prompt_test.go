package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy/agent"
)

// TestPromptsOfStaged has every prompt of a question on which all steps of the last stage fail: both prompts of each
// step, the repair, and the baseline.
func TestPromptsOfStaged(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	env.Exemplars = &memory.Pool{Pairs: []memory.Exemplar{
		{Question: "Which customers live in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway'"},
	}}
	stage := agent.Staged{Stage: 3, Steps: 2, Candidates: 2}
	c := climb(t.Context(), t, env, stage, func(req llm.Request) (string, error) {
		switch {
		case req.Purpose == "repair":
			return "SELECT nobody FROM customers", nil
		case req.Sample == 0:
			return "I do not know.", nil
		}
		return fmt.Sprintf("SELECT unknown%d FROM customers", req.Sample), nil
	})
	if c.err == nil {
		t.Fatal("an answer, though nothing runs")
	}
	var b strings.Builder
	for _, req := range c.requests {
		fmt.Fprintf(&b, "=== sample %d, %s, at most %d tokens\n%s", req.Sample, req.Purpose, *req.MaxTokens,
			strategytest.Written(req.Messages))
	}
	golden.Check(t, "staged.txt", b.String())
}

// TestSamplesOfStages: the first two stages take one greedy sample a step, by the main prompt; from the third on
// samples vary, and every other one is asked to think of tables first.
func TestSamplesOfStages(t *testing.T) {
	for stage, want := range []string{"0.0 0.0", "0.0 0.0", "0.5 0.5+ 0.5 0.5+ 0.5 0.5+ 0.5 0.5+"} {
		c := climb(t.Context(), t, strategytest.ShopEnv(t, nil), agent.Staged{Stage: stage, Steps: 2},
			func(req llm.Request) (string, error) {
				return fmt.Sprintf("SELECT unknown%d FROM customers", req.Sample), nil
			})
		var got []string
		for _, req := range c.requests {
			text := fmt.Sprintf("%.1f", *req.Temperature)
			if strings.Contains(strategytest.Written(req.Messages), "First name the tables") {
				text += "+"
			}
			got = append(got, text)
		}
		golden.Equal(t, want, strings.Join(got, " "), "stage", stage)
	}
}

// TestAdviceOfReAct: lessons stand in the prompt, and not in the published one, which has none.
func TestAdviceOfReAct(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	env.Lessons = &memory.RetrievedLessons{Lessons: []memory.Lesson{{ID: "1", Kind: "llm_guided",
		Text: "Prefer short names.", Confidence: .9}}}
	for _, tt := range []struct {
		loop agent.ReAct
		want bool
	}{{agent.ReAct{}, true}, {agent.ReAct{}.Published(), false}} {
		shown := false
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			shown = strings.Contains(strategytest.Written(req.Messages), "Prefer short names.")
			return llm.Response{Text: act("query", usa), StopReason: llm.StopEnd}, nil
		})
		if _, err := tt.loop.Generate(t.Context(), strategytest.Asking(env, model), strategytest.USATask); err != nil ||
			shown != tt.want {
			t.Errorf("shown %v, want %v; %v", shown, tt.want, err)
		}
	}
}
