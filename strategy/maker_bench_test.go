package strategy_test

import (
	"context"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// BenchmarkPlanVote is what a candidate of a plan vote costs: EXPLAIN under the
// guard with signature and cost, signature and cost alone, and its part of the
// vote. "python" runs the published rules in testdata/planvote.py over the same
// statement on the same machine; it has no guard.
func BenchmarkPlanVote(b *testing.B) {
	env := makerEnv(b, nil)
	plan, err := env.DB.Explain(b.Context(), ordered)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("explain", func(b *testing.B) {
		for b.Loop() {
			p, err := env.DB.Explain(b.Context(), ordered)
			if err != nil || p.Signature() == "" || p.Cost() < 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("signature", func(b *testing.B) {
		for b.Loop() {
			if plan.Signature() == "" || plan.Cost() < 0 {
				b.Fatal("no signature")
			}
		}
	})
	b.Run("signature-compat", func(b *testing.B) {
		for b.Loop() {
			if plan.CompatSignature() == "" || plan.CompatCost() < 0 {
				b.Fatal("no signature")
			}
		}
	})
	b.Run("vote", func(b *testing.B) {
		var candidates []vote.Candidate
		for i := range 15 {
			candidates = append(candidates, vote.Candidate{SQL: ordered, Draw: i, Plan: strconv.Itoa(i % 3), Cost: float64(i % 4)})
		}
		for b.Loop() {
			if _, err := (vote.Majority{Key: vote.ByPlan}).Count(candidates); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/15, "ns/candidate")
	})
	b.Run("python", func(b *testing.B) {
		out, err := exec.CommandContext(b.Context(), "python3", "testdata/planvote.py").Output()
		if err != nil {
			b.Skipf("python3 cannot be run: %v", err)
		}
		for b.Loop() {
		}
		b.ReportMetric(0, "ns/op")
		for field := range strings.FieldsSeq(string(out)) {
			name, value, _ := strings.Cut(field, "=")
			ns, err := strconv.ParseFloat(value, 64)
			if err != nil {
				b.Fatalf("%q: %v", field, err)
			}
			b.ReportMetric(ns, name+"-ns")
		}
	})
}

// BenchmarkMAKER is the time of a question of 36 calls, twelve a phase, all of
// which count. With recorded latencies (a tenth of them) "over-path-%" is what it
// takes beyond the slowest draw of each phase, one phase after the other. With a
// model that answers at once, "sdk-µs/call" is all there is.
func BenchmarkMAKER(b *testing.B) {
	maker := strategy.MAKER{Compat: true} // every draw of every phase
	script := func() *llmtest.Script { return &llmtest.Script{Rules: phases(scopeBoth, inUSA, ordered)} }
	b.Run("latency=recorded", func(b *testing.B) {
		env := makerEnv(b, nil)
		all := latencies(b)
		next := 0
		var path, took time.Duration
		for b.Loop() {
			draws := all[next : next+36]
			next = (next + 36) % (len(all) - 36)
			s := script()
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				at := req.Draw
				switch req.Purpose {
				case strategy.PurposeFilter:
					at += 12
				case strategy.PurposeProjection:
					at += 24
				}
				select {
				case <-time.After(draws[at]):
				case <-ctx.Done():
					return llm.Response{}, ctx.Err()
				}
				return s.Complete(ctx, req)
			})
			start := time.Now()
			if _, err := maker.Generate(b.Context(), asking(env, model), usaTask); err != nil {
				b.Fatal(err)
			}
			took += time.Since(start)
			for phase := range 3 {
				slowest := time.Duration(0)
				for _, d := range draws[12*phase : 12*phase+12] {
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
			if _, err := maker.Generate(b.Context(), asking(env, script()), usaTask); err != nil {
				b.Fatal(err)
			}
			calls += 36
		}
		b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(calls), "sdk-µs/call")
	})
}
