package maker

import (
	"testing"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// TestMAKERDeterminism: replies that come in any order make the same outcome and
// the same trace.
func TestMAKERDeterminism(t *testing.T) {
	rules := []llmtest.Rule{
		samples("maker.scope", scopeBoth, scopeOne, "no", scopeOne, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne,
			scopeOne, scopeOne),
		samples("maker.filter", inUSA, "No filters needed", inUSA, "country = 'usa'", inUSA, inUSA, "No filters needed",
			inUSA),
		samples("maker.projection", usa, everyone, ordered, usaJoin, usa, broken, everyone, usa, usa),
	}
	strategytest.SameWhateverTheLatency(t, Strategy{}, makerEnv(t, nil), usaTask, func() []llm.Model {
		return []llm.Model{&llmtest.Script{Rules: rules}}
	})
}
