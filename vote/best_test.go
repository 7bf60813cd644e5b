package vote

import (
	"math"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// costing returns candidates with costs.
func costing(candidates []Candidate, costs ...float64) []Candidate {
	candidates = slices.Clone(candidates)
	for i := range candidates {
		candidates[i].Cost = costs[i]
	}
	return candidates
}

// TestSplitCluster: statements of one plan that return different rows. Cost and
// length decide among the most frequent texts of those that answer as most of them do, never which answer.
func TestSplitCluster(t *testing.T) {
	const long, longer, short = "SELECT name FROM c WHERE d = 'USA'", "SELECT name  FROM c WHERE d IN ('USA')",
		"SELECT id FROM c"
	plan := func(sql, fingerprint string) Candidate {
		return Candidate{SQL: sql, Fingerprint: fingerprint, Plan: "scan:c"}
	}
	run := []Candidate{plan(longer, "usa"), plan(short, "all"), plan(long, "usa"), plan(longer, "usa")}
	unrun := []Candidate{plan(short, ""), plan(longer, ""), plan(long, ""), plan("select name from C\nwhere d = 'USA';",
		"")}
	even := []Candidate{plan(long, "usa"), plan(short, "all")}
	unplanned := []Candidate{{SQL: long, Fingerprint: "usa"}, {SQL: short, Fingerprint: "all"}}
	sorted := []Candidate{plan(short+" ORDER BY 1", "all"), plan(short, "all"), plan(short+" ORDER BY 1, 2", "all"),
		plan(long, "usa")}
	byFirst := func(c Candidate) (string, bool) { return c.SQL[:1], true }
	for _, tt := range []struct {
		name       string
		m          Majority
		candidates []Candidate
		best       int
		split      float64
		confidence float64
		why        string
	}{
		{"by result", Majority{}, run, 0, 0, 0.75, "the cluster has one result: the most frequent text represents it"},
		{"run", Majority{Key: ByPlan}, run, 0, 0.25, 0.75, "the most frequent text of the most frequent result"},
		{"frequent before cheap", Majority{Key: ByPlan}, costing(run, 50, 0, 10, 50), 0, 0.25, 0.75,
			"a cheap statement often forgot something"},
		{"cost", Majority{Key: ByPlan}, costing(run[:3], 0, 0, 50), 0, 1. / 3, 2. / 3,
			"of texts that are as frequent the cheapest"},
		{"length", Majority{Key: ByPlan}, costing(run[:3], 0, 0, 0), 2, 1. / 3, 2. / 3, "then the shortest"},
		{"not run", Majority{Key: ByPlan}, unrun, 2, 0.5, 0.5,
			"equal texts speak for one another, whatever their case and blanks"},
		{"as many", Majority{Key: ByPlan}, even, 1, 0.5, 0.5, "then the rules of any cluster decide"},
		{"weights", Majority{Key: ByPlan, Weight: func(c Candidate) float64 {
			if c.SQL == short {
				return 4
			}
			return 1
		}}, run, 1, 3. / 7, 4. / 7, "a vote counts what it weighs"},
		{"sorted", Majority{Key: ByPlan}, sorted, 0, 0.25, 0.75, "most of those with the answer sort"},
		{"prior", Majority{Key: ByPlan, Prior: 1}, run, 0, 0.25, 4. / 6, "only votes for the answer are votes for it"},
		{"empty key", Majority{Key: func(Candidate) (string, bool) { return "", true }}, unplanned, 1, 0, 1,
			"is not the plan of candidates that have none"},
		{"own key", Majority{Key: byFirst}, run, 0, 0, 1, "such a key says what is equal"},
	} {
		for i := range tt.candidates {
			tt.candidates[i].Sample = i
		}
		b := testutil.Value(tt.m.Count(tt.candidates))(t)
		w := b.Clusters[0]
		if w.Best != tt.best || w.SQL != tt.candidates[tt.best].SQL || math.Abs(w.Split-tt.split) > 1e-9 ||
			math.Abs(b.Confidence-tt.confidence) > 1e-9 {
			t.Errorf("%s: best %d, split %v, confidence %v; want %d, %v, %v: %s", tt.name, w.Best, w.Split, b.Confidence,
				tt.best, tt.split, tt.confidence, tt.why)
		}
	}
}

// TestValuelessCluster: a cluster of results without a value is represented by its
// most frequent statement, not by the cheapest or shortest one.
func TestValuelessCluster(t *testing.T) {
	candidate := func(sql, plan string, cost float64) Candidate {
		return Candidate{SQL: sql, Plan: plan, Cost: cost, Fingerprint: "none", Empty: true}
	}
	const long, short = "SELECT name FROM c JOIN o USING (id) WHERE d = 'USA'", "SELECT 1 WHERE 0"
	for _, tt := range []struct {
		name       string
		m          Majority
		candidates []Candidate
		best       int
		why        string
	}{
		{"plan", Majority{}, []Candidate{candidate(short, "none", 1), candidate(long, "join", 9),
			candidate(long+" AND 1", "join", 9)}, 1, "two of a plan"},
		{"text", Majority{}, []Candidate{candidate(long, "join", 9), candidate(long+" AND 1", "join", 8),
			candidate(long+" and 1;", "join", 9)}, 1, "two of a text"},
		{"unplanned", Majority{}, []Candidate{candidate(short, "", 0), candidate(long, "", 0), candidate(long, "", 0)}, 1,
			"no plan is known"},
		{"as many", Majority{}, []Candidate{candidate(long, "join", 9), candidate(short, "none", 1)}, 0,
			"the earliest sample"},
		{"weights", Majority{Weight: func(c Candidate) float64 { return 10 - c.Cost }},
			[]Candidate{candidate(long, "join", 9), candidate(long, "join", 9), candidate(short, "none", 1)}, 2,
			"what votes weigh"},
	} {
		for i := range tt.candidates {
			tt.candidates[i].Sample = i
		}
		b, err := tt.m.Count(tt.candidates)
		if err != nil || b.Clusters[0].Best != tt.best {
			t.Errorf("%s: %d, %v, want %d: %s", tt.name, b.Clusters[0].Best, err, tt.best, tt.why)
		}
		for i := range tt.candidates {
			tt.candidates[i].Empty, tt.candidates[i].AllNull = false, true
		}
		if b, _ := tt.m.Count(tt.candidates); b.Clusters[0].Best != tt.best {
			t.Errorf("%s, all NULL: %d, want %d", tt.name, b.Clusters[0].Best, tt.best)
		}
	}
}
