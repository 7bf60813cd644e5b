package planvote_test

import (
	"context"
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/strategy/planvote"
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
	session, err := env.DB.Runner(exec.Bounds{})
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
			if signature, cost := planvote.PublishedSignature(plan); signature == "" || cost < 0 {
				b.Fatal("no signature")
			}
		}
		report(b, 1, "signature")
	})
	b.Run("vote", func(b *testing.B) {
		var candidates []vote.Candidate
		for i := range 15 { // six texts, three plans
			candidates = append(candidates, vote.Candidate{
				SQL: ordered + " LIMIT " + strconv.Itoa(i%6), Sample: i, Plan: strconv.Itoa(i % 3), Cost: float64(i % 4),
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
