package strategy_test

import (
	"context"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// BenchmarkQuestion is the time of a question of twelve samples. With latencies
// of a long tail "over-path-%" is what it takes beyond its slowest
// path: the slowest sample of each wave, one wave after the other. With a model
// that answers at once, "sdk-µs/call" is all there is.
func BenchmarkQuestion(b *testing.B) {
	env := shopEnv(b, nil)
	reply := llm.Response{Text: "SELECT name FROM customers WHERE country = 'USA'", StopReason: llm.StopEnd}
	task := strategy.Task{Question: "Which customers live in the USA?"}

	b.Run("latency=skewed", func(b *testing.B) {
		times := strategytest.Latencies(2000)
		next := 0
		var path, took time.Duration
		for b.Loop() {
			samples := times[next : next+12]
			next = (next + 12) % (len(times) - 12)
			env.Models = []llm.Model{llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				select {
				case <-time.After(samples[req.Sample]):
					return reply, nil
				case <-ctx.Done():
					return llm.Response{}, ctx.Err()
				}
			})}
			start := time.Now()
			// All twelve go out at once and every one counts.
			s := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12, Temperature: 0.7}, Voter: vote.Majority{}}
			if _, err := s.Generate(b.Context(), env, task); err != nil {
				b.Fatal(err)
			}
			took += time.Since(start)
			slowest := time.Duration(0)
			for _, d := range samples {
				slowest = max(slowest, d)
			}
			path += slowest
		}
		b.ReportMetric(100*float64(took-path)/float64(path), "over-path-%")
	})

	b.Run("latency=0", func(b *testing.B) {
		env.Models = []llm.Model{llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return reply, nil })}
		calls := 0
		for b.Loop() {
			s := strategy.Pipeline{Sampler: strategy.Sampler{Samples: 12, Temperature: 0.7}, Voter: vote.Majority{}}
			if _, err := s.Generate(b.Context(), env, task); err != nil {
				b.Fatal(err)
			}
			calls += 12
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(calls), "sdk-µs/call")
	})
}
