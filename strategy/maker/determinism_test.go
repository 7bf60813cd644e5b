package maker_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/trace"
)

// TestMAKERDeterminism: replies that come in any order make the same outcome and
// the same trace, with and without speculation.
func TestMAKERDeterminism(t *testing.T) {
	rules := []llmtest.Rule{
		samples(maker.PurposeScope, scopeBoth, scopeOne, "no", scopeOne, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne),
		samples(maker.PurposeFilter, inUSA, "No filters needed", inUSA, "country = 'usa'", inUSA, inUSA, "No filters needed", inUSA),
		samples(maker.PurposeProjection, usa, everyone, ordered, usaJoin, usa, broken, everyone, usa, usa),
	}
	env := makerEnv(t, nil)
	answers := map[string]bool{}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, speculate := range []bool{false, true} {
		seen := map[string]int{}
		for run := range 100 {
			script := &llmtest.Script{Rules: rules}
			runtime.GOMAXPROCS(1 + 7*(run%2))
			rng := rand.New(rand.NewPCG(uint64(run), 1))
			delays := make([]time.Duration, 16)
			for i := range delays {
				delays[i] = time.Duration(rng.IntN(400)) * time.Microsecond
			}
			model := llm.Chain(script, llm.Trace(), llmtest.Latency{BySample: delays}.Middleware())
			env.Models = []llm.Model{model}
			root := trace.Tracer{Keep: trace.PrivateSQL}.New("question")
			out, err := maker.Strategy{Speculate: speculate}.Generate(trace.Into(t.Context(), root), env, usaTask)
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
			answers[string(outcome)] = true
		}
		if len(seen) != 1 {
			var texts []string
			for text := range seen {
				texts = append(texts, strings.ReplaceAll(text, `,"`, ",\n\""))
			}
			t.Errorf("speculate %v: %d different runs; the first two (-one +two):\n%s", speculate, len(seen), cmp.Diff(texts[0], texts[1]))
		}
	}
	if len(answers) != 1 {
		t.Errorf("%d different outcomes with and without speculation", len(answers))
	}
}

// TestMAKERLateSamples: what is sampled beyond the sample that decided a phase changes
// nothing, though it was sent and came back.
func TestMAKERLateSamples(t *testing.T) {
	env := makerEnv(t, nil)
	late := func(first, then string) []string { return append(times(7, first), times(5, then)...) }
	var outcomes []*strategy.Outcome
	for _, rules := range [][]llmtest.Rule{
		phases(scopeBoth, inUSA, ordered),
		{
			samples(maker.PurposeScope, late(scopeBoth, scopeOne)...),
			samples(maker.PurposeFilter, late(inUSA, "No filters needed")...),
			samples(maker.PurposeProjection, late(ordered, everyone)...),
		},
	} {
		script := &llmtest.Script{Rules: rules}
		out, err := maker.Strategy{MinWave: 12}.Generate(t.Context(), asking(env, script), usaTask)
		if err != nil {
			t.Fatal(err)
		}
		if len(out.Candidates) != 7 {
			t.Errorf("%d candidates, want the seven that decided", len(out.Candidates))
		}
		out.Saved = 0 // how many late samples were still to be sent is a matter of time
		outcomes = append(outcomes, out)
	}
	if d := cmp.Diff(outcomes[0], outcomes[1]); d != "" {
		t.Errorf("(-all agree +late ones do not)\n%s", d)
	}
}

// TestMAKERSpeculation: the next phase starts while the last samples of the one
// before are in flight, which saves their time, and what the leader's loss makes
// useless is bounded. Samples take a second each.
func TestMAKERSpeculation(t *testing.T) {
	base := makerEnv(t, nil)
	tests := []struct {
		name   string
		scopes []string
		reply  string
		took   [2]time.Duration // without and with speculation
		wasted int              // calls that speculation makes for nothing
		why    string
	}{
		{"decided by the first wave", []string{scopeOne}, usa, [2]time.Duration{3 * time.Second, 3 * time.Second}, 0, "nothing is in flight to be ahead of"},
		{"the leader holds", []string{scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne}, usa,
			[2]time.Duration{4 * time.Second, 3 * time.Second}, 0, "phase 2 is sampled during the last two samples of phase 1"},
		{"the leader loses", []string{scopeOne, scopeBoth, scopeOne, scopeBoth, scopeOne, scopeOne, scopeBoth, scopeBoth}, ordered,
			[2]time.Duration{5 * time.Second, 5 * time.Second}, 7, "the wave for the other set of tables is thrown away"},
	}
	for _, tt := range tests {
		var calls [2]int
		for i, speculate := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				script := &llmtest.Script{Rules: []llmtest.Rule{
					samples(maker.PurposeScope, tt.scopes...), always(maker.PurposeFilter, inUSA), always(maker.PurposeProjection, tt.reply),
				}}
				env := asking(base, llm.Chain(script, llmtest.Latency{Fixed: time.Second}.Middleware()))
				env.Rows = &exec.SampleCache{} // its channels belong to one test
				start := time.Now()
				out, err := maker.Strategy{Speculate: speculate}.Generate(t.Context(), env, usaTask)
				if err != nil || out.SQL != tt.reply {
					t.Fatalf("%s: %v, %v", tt.name, out, err)
				}
				if took := time.Since(start); took != tt.took[i] {
					t.Errorf("%s: speculate %v took %v, want %v: %s", tt.name, speculate, took, tt.took[i], tt.why)
				}
				calls[i] = len(script.Requests())
			})
		}
		if more := calls[1] - calls[0]; more != tt.wasted {
			t.Errorf("%s: %d calls more, want %d: %s", tt.name, more, tt.wasted, tt.why)
		}
	}
}

// TestMAKERConcurrency: calls made ahead share the places of the phase that runs.
func TestMAKERConcurrency(t *testing.T) {
	base := makerEnv(t, nil)
	for _, most := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			flying, peak := 0, 0
			var mu sync.Mutex
			count := func(next llm.Model) llm.Model {
				return llm.Func(func(ctx context.Context, r llm.Request) (llm.Response, error) {
					mu.Lock()
					flying++
					peak = max(peak, flying)
					mu.Unlock()
					defer func() { mu.Lock(); flying--; mu.Unlock() }()
					return next.Complete(ctx, r)
				})
			}
			script := &llmtest.Script{Rules: []llmtest.Rule{
				samples(maker.PurposeScope, scopeOne, scopeBoth, scopeOne, scopeOne, scopeOne, scopeBoth, scopeOne),
				always(maker.PurposeFilter, inUSA), always(maker.PurposeProjection, usa),
			}}
			env := asking(base, llm.Chain(script, count, llmtest.Latency{Fixed: time.Second}.Middleware()))
			env.Rows = &exec.SampleCache{} // its channels belong to one test
			env.Concurrency = most
			out, err := maker.Strategy{Speculate: true}.Generate(t.Context(), env, usaTask)
			if err != nil || out.SQL != usa || peak != most {
				t.Errorf("Concurrency %d: %d calls in flight, %v, %v", most, peak, out, err)
			}
		})
	}
}
