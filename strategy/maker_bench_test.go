package strategy_test

import (
	"context"
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// BenchmarkPlanVote is what a candidate of a plan vote costs, in ns/candidate:
// EXPLAIN under the guard with signature and cost, on a connection taken for it
// ("explain") and on one held for many ("explain-session"), signature and cost
// alone ("signature") and with reading the plan ("signature-read"), and its part
// of the vote.
//
// "python-%" is that in percent of testdata/planvote.py, which has the published
// rules, no guard, and runs first in the same run. What SQLite itself takes to
// compile the statement is "engine"; nothing under a guard can be below it.
func BenchmarkPlanVote(b *testing.B) {
	env := makerEnv(b, nil)
	python := pythonFigures(b)
	report := func(b *testing.B, candidates int, figure string) {
		ns := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(candidates)
		b.ReportMetric(ns, "ns/candidate")
		if p := python[figure]; p > 0 {
			b.ReportMetric(100*ns/p, "python-%")
		}
	}
	plan, err := env.DB.Explain(b.Context(), ordered)
	if err != nil {
		b.Fatal(err)
	}
	session, err := env.DB.Session(exec.Bounds{})
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	explain := func(explain func(context.Context, string) (exec.Plan, error)) func(*testing.B) {
		return func(b *testing.B) {
			for b.Loop() {
				p, err := explain(b.Context(), ordered)
				if err != nil || p.Signature() == "" || p.Cost() < 0 {
					b.Fatal(err)
				}
			}
			report(b, 1, "whole")
		}
	}
	b.Run("explain", explain(env.DB.Explain))
	b.Run("explain-session", explain(session.Explain))
	b.Run("engine", func(b *testing.B) {
		conn, err := poolOf(b, makerSQL).Conn(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		for b.Loop() {
			stmt, err := conn.PrepareContext(b.Context(), "EXPLAIN QUERY PLAN "+ordered)
			if err != nil {
				b.Fatal(err)
			}
			stmt.Close()
		}
		report(b, 1, "whole")
	})
	b.Run("signature", func(b *testing.B) {
		for b.Loop() {
			if plan.Signature() == "" || plan.Cost() < 0 {
				b.Fatal("no signature")
			}
		}
		report(b, 1, "signature")
	})
	b.Run("signature-read", func(b *testing.B) {
		for b.Loop() {
			if p := sqlite.ReadPlan(ordered, plan.Rows); p.Signature() == "" || p.Cost() < 0 {
				b.Fatal("no signature")
			}
		}
		report(b, 1, "signature")
	})
	b.Run("signature-compat", func(b *testing.B) {
		for b.Loop() {
			if plan.CompatSignature() == "" || plan.CompatCost() < 0 {
				b.Fatal("no signature")
			}
		}
		report(b, 1, "signature")
	})
	b.Run("vote", func(b *testing.B) {
		var candidates []vote.Candidate
		for i := range 15 { // six texts, three plans
			candidates = append(candidates, vote.Candidate{
				SQL: ordered + " LIMIT " + strconv.Itoa(i%6), Draw: i, Plan: strconv.Itoa(i % 3), Cost: float64(i % 4),
			})
		}
		for b.Loop() {
			if _, err := (vote.Majority{Key: vote.ByPlan}).Count(candidates); err != nil {
				b.Fatal(err)
			}
		}
		report(b, len(candidates), "vote")
	})
}

// pythonFigures are the lines of testdata/planvote.py in ns by name; nil where
// there is no Python.
func pythonFigures(b *testing.B) map[string]float64 {
	out, err := osexec.CommandContext(b.Context(), "python3", "testdata/planvote.py").Output()
	if err != nil {
		b.Logf("python3 cannot be run: %v", err)
		return nil
	}
	figures := map[string]float64{}
	for field := range strings.FieldsSeq(string(out)) {
		name, value, _ := strings.Cut(field, "=")
		if figures[name], err = strconv.ParseFloat(value, 64); err != nil {
			b.Fatalf("%q: %v", field, err)
		}
	}
	b.Logf("python3, ns/candidate: %s", strings.TrimSpace(string(out)))
	return figures
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

// BenchmarkAdmission is what twelve distinct small statements on superhero cost
// from reply to candidate: extraction, guard, plan, rows and fingerprint.
func BenchmarkAdmission(b *testing.B) {
	env := superhero(b)
	table := env.Schema.Tables[0]
	for b.Loop() {
		a := strategy.NewAdmission(b.Context(), env, usaTask, nil, &vote.Doubts{})
		for i := range 12 {
			sql := "SELECT count(*) FROM " + env.Quote(table.Name) + " WHERE " + env.Quote(table.Columns[0].Name) + " > " + strconv.Itoa(i)
			c, err := a.Admit(b.Context(), i, "", llm.Response{Text: sql})
			if err != nil || c.Rejected != "" {
				b.Fatal(c.Rejected, err)
			}
		}
		a.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/12, "µs/candidate")
}
