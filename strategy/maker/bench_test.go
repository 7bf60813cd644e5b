package maker

import (
	"context"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// BenchmarkMAKER is the time of a question of 36 calls, twelve a phase, all of
// which count. With latencies of a long tail "over-path-%" is what it
// takes beyond the slowest sample of each phase, one phase after the other. With a
// model that answers at once, "sdk-µs/call" is all there is.
func BenchmarkMAKER(b *testing.B) {
	s := Strategy{}.Published() // every sample of every phase
	script := func() *llmtest.Script { return &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)} }
	b.Run("latency=skewed", func(b *testing.B) {
		env := makerEnv(b, nil)
		all := strategytest.Latencies(2000)
		next := 0
		var path, took time.Duration
		for b.Loop() {
			samples := all[next : next+36]
			next = (next + 36) % (len(all) - 36)
			replies := script()
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				at := req.Sample
				switch req.Purpose {
				case "maker.filter":
					at += 12
				case "maker.projection":
					at += 24
				}
				select {
				case <-time.After(samples[at]):
				case <-ctx.Done():
					return llm.Response{}, ctx.Err()
				}
				return replies.Complete(ctx, req)
			})
			start := time.Now()
			if _, err := s.Generate(b.Context(), asking(env, model), usaTask); err != nil {
				b.Fatal(err)
			}
			took += time.Since(start)
			for phase := range 3 {
				slowest := time.Duration(0)
				for _, d := range samples[12*phase : 12*phase+12] {
					slowest = max(slowest, d)
				}
				path += slowest
			}
		}
		b.ReportMetric(100*float64(took-path)/float64(path), "over-path-%")
	})
	b.Run("latency=0", func(b *testing.B) {
		env := makerEnv(b, nil)
		calls := 0
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Generate(b.Context(), asking(env, script()), usaTask); err != nil {
				b.Fatal(err)
			}
			calls += 36
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(calls), "sdk-µs/call")
	})
}
