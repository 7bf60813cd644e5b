package maker

import (
	"testing"

	"github.com/texttosql/texttosql/llm/llmtest"
)

// TestMAKERBudgetReason: a phase that the budget cut below its quorum says so.
func TestMAKERBudgetReason(t *testing.T) {
	script := &llmtest.Script{Rules: append(phases(scopeOne, inUSA, usa), always("generate", usa))}
	out, err := Strategy{MaxCalls: 1}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || reportOf(out).Fallback != "budget" || reportOf(out).Phases[0].Stop != "budget" || reportOf(out).Phases[0].Fallback != "budget" {
		t.Errorf("got %+v, %v", out, err)
	}
}

// TestMAKERGoesBackWithCallsOfItsOwn: calls that a first pass used up do not keep the
// next scope from being tried.
func TestMAKERGoesBackWithCallsOfItsOwn(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		samples("maker.scope", scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne),
		always("maker.filter", inUSA), always("maker.projection", usa), always("generate", usa),
	}}
	out, err := Strategy{MaxCalls: 10}.Generate(t.Context(), makerEnv(t, script), usaTask)
	if err != nil || reportOf(out).Fallback != "" || out.SQL != usa || len(reportOf(out).Phases) != 4 ||
		reportOf(out).Phases[1].Stop != "budget" || reportOf(out).Phases[3].Attempt != 1 {
		t.Errorf("got %+v, %v", out, err)
	}
}
