package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
)

// TestPromptsOfStaged has every prompt of a question on which all steps of the last stage fail: both prompts of each
// step, the repair, and the baseline.
func TestPromptsOfStaged(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	env.Exemplars = &memory.Pool{Pairs: []memory.Pair{
		{Question: "Which customers live in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway'"},
	}}
	stage := agent.Staged{Stage: 3, Steps: 2, Candidates: 2}
	c := climb(t.Context(), t, env, stage, func(req llm.Request) (string, error) {
		switch {
		case req.Purpose == strategy.PurposeRepair:
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
		fmt.Fprintf(&b, "=== sample %d, %s, at most %d tokens\n%s", req.Sample, req.Purpose, *req.MaxTokens, strategytest.Written(req.Messages))
	}
	golden.Check(t, "staged.txt", b.String())
}
