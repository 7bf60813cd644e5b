package strategy_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/trace"
)

// TestTracesHoldNoSQL: a trace that was not told to keep SQL shows no part of a
// statement, neither in an answer nor in what an engine says against it.
func TestTracesHoldNoSQL(t *testing.T) {
	const canary = "hiv_positive_4711"
	strategies := map[string]strategy.Strategy{
		"self-consistency":   strategy.SelfConsistency{},
		"plan-vote":          planvote.Plain{},
		"execution-feedback": planvote.Feedback{},
		"pet-sql":            petsql.Strategy{},
		"consensus":          strategy.Consensus{},
		"maker":              maker.Strategy{},
		"maker-compat":       maker.Strategy{}.Published(),
	}
	replies := map[string]string{
		"a literal":        "SELECT name FROM customers WHERE name = '" + canary + "'",
		"an unknown name":  "SELECT " + canary + " FROM customers",
		"a syntax error":   "SELECT name FROM customers WHERE " + canary + " " + canary,
		"a second one":     "SELECT 1; SELECT '" + canary + "'",
		"a name in quotes": `SELECT "` + canary + `" FROM nothing`,
	}
	for name, s := range strategies {
		for what, reply := range replies {
			script := &llmtest.Script{Rules: append(phases(scopeOne, "name = '"+canary+"'", reply),
				llmtest.Rule{Replies: llmtest.Texts(reply), Repeat: true})}
			root := trace.Tracer{}.New("question")
			s.Generate(trace.NewContext(t.Context(), root), makerEnv(t, llm.Chain(script, llm.Trace())), usaTask)
			root.End()
			b := testutil.Value(root.JSON(0))(t)
			if at := strings.Index(string(b), canary); at >= 0 {
				t.Errorf("%s, %s: the trace has …%s…", name, what, b[max(0, at-200):at+len(canary)])
			}
		}
	}
}
