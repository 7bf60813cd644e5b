package maker

import (
	"testing"

	"github.com/texttosql/texttosql/llm/llmtest"
)

// TestMAKERBudgetReason: a phase that the budget cut below its quorum says so.
func TestMAKERBudgetReason(t *testing.T) {
	script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
	out, err := Strategy{MaxCalls: 1}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || reportOf(out).Fallback != "budget" || reportOf(out).Phases[0].Stop != "budget" ||
		reportOf(out).Phases[0].Fallback != "budget" {
		t.Errorf("got %+v, %v", out, err)
	}
}
