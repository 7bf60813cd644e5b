package maker

import (
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/trace"
)

// TestMAKERDeterminism: replies that come in any order make the same outcome and
// the same trace.
func TestMAKERDeterminism(t *testing.T) {
	rules := []llmtest.Rule{
		samples("maker.scope", scopeBoth, scopeOne, "no", scopeOne, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne),
		samples("maker.filter", inUSA, "No filters needed", inUSA, "country = 'usa'", inUSA, inUSA, "No filters needed", inUSA),
		samples("maker.projection", usa, everyone, ordered, usaJoin, usa, broken, everyone, usa, usa),
	}
	env := makerEnv(t, nil)
	seen := map[string]int{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for run := range 100 {
		script := &llmtest.Script{Rules: rules}
		runtime.GOMAXPROCS(1 + 7*(run%2))
		rng := rand.New(rand.NewPCG(uint64(run), 1))
		delays := make([]time.Duration, 16)
		for i := range delays {
			delays[i] = time.Duration(rng.IntN(400)) * time.Microsecond
		}
		env.Models = []llm.Model{llm.Chain(script, llm.Trace(), llmtest.Latency{BySample: delays}.Middleware())}
		root := trace.Tracer{Keep: trace.PrivateSQL}.New("question")
		out, err := Strategy{}.Generate(trace.Into(t.Context(), root), env, usaTask)
		if err != nil {
			t.Fatal(err)
		}
		root.End()
		outcome, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		spans, err := root.Comparable()
		if err != nil {
			t.Fatal(err)
		}
		seen[string(outcome)+"\n"+string(spans)]++
	}
	if len(seen) != 1 {
		var texts []string
		for text := range seen {
			texts = append(texts, strings.ReplaceAll(text, `,"`, ",\n\""))
		}
		t.Errorf("%d different runs; the first two (-one +two):\n%s", len(seen), cmp.Diff(texts[0], texts[1]))
	}
}
