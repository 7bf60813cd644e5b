package vote

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/texttosql/texttosql/sqltext"
)

func TestSortsRows(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"SELECT a FROM t ORDER BY a", true},
		{"select a from t order\n\tby a", true},
		{"SELECT a FROM t ORDER BY(a)", true},
		{"SELECT a FROM t", false},
		{"SELECT border by FROM t", false},
		{"SELECT a FROM \"order by\" WHERE b = 'order by'", false},
		{"SELECT a FROM t WHERE b = 'it''s' ORDER BY a", true},
		{"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1)", false},
		{"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1) ORDER BY 1", true},
		{"SELECT rank() OVER (ORDER BY a) FROM t", false},
		{"SELECT a FROM [order by] -- order by", false},
		{"SELECT a FROM t /* ( */ ORDER BY a", true},
		{"SELECT a - b FROM t", false},
		{"SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", true},
		{"SELECT a FROM orders", false},
		{"", false},
	} {
		if got := sortsRows(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.sql, got, tt.want)
		}
	}
}

// TestSplitCluster: statements of one plan that return different rows. Cost and
// length decide among those that answer as most of them do, never which answer.
func TestSplitCluster(t *testing.T) {
	const long, longer, short = "SELECT name FROM c WHERE d = 'USA'", "SELECT name  FROM c WHERE d IN ('USA')", "SELECT id FROM c"
	plan := func(sql, fingerprint string) Candidate {
		return Candidate{SQL: sql, Fingerprint: fingerprint, Plan: "scan:c"}
	}
	run := []Candidate{plan(longer, "usa"), plan(short, "all"), plan(long, "usa"), plan(longer, "usa")}
	unrun := []Candidate{plan(short, ""), plan(longer, ""), plan(long, ""), plan("select name from C\nwhere d = 'USA';", "")}
	even := []Candidate{plan(long, "usa"), plan(short, "all")}
	unplanned := []Candidate{{SQL: long, Fingerprint: "usa"}, {SQL: short, Fingerprint: "all"}}
	sorted := []Candidate{plan(short+" ORDER BY 1", "all"), plan(short, "all"), plan(short+" ORDER BY 1, 2", "all"), plan(long, "usa")}
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
		{"by result", Majority{}, run, 2, 0, 0.75, "the cluster has one result: the shortest represents it"},
		{"run", Majority{Key: ByPlan}, run, 2, 0.25, 0.75, "the shortest of the most frequent result"},
		{"cost", Majority{Key: ByPlan}, func() []Candidate {
			c := append([]Candidate{}, run...)
			c[2].Cost = 50
			return c
		}(), 0, 0.25, 0.75, "cost goes before length, among equal results"},
		{"not run", Majority{Key: ByPlan}, unrun, 2, 0.5, 0.5, "equal texts speak for one another, whatever their case and blanks"},
		{"as many", Majority{Key: ByPlan}, even, 1, 0.5, 0.5, "then the rules of any cluster decide"},
		{"weights", Majority{Key: ByPlan, Weight: func(c Candidate) float64 {
			if c.SQL == short {
				return 4
			}
			return 1
		}}, run, 1, 3. / 7, 4. / 7, "a vote counts what it weighs"},
		{"sorted", Majority{Key: ByPlan}, sorted, 0, 0.25, 0.75, "most of those with the answer sort"},
		{"prior", Majority{Key: ByPlan, Prior: 1}, run, 2, 0.25, 4. / 6, "only votes for the answer are votes for it"},
		{"empty key", Majority{Key: BySet(func(Candidate) ([]string, bool) { return nil, true })}, unplanned, 1, 0, 1, "is not the plan of candidates that have none"},
		{"own key", Majority{Key: byFirst}, run, 2, 0, 1, "such a key says what is equal"},
	} {
		for i := range tt.candidates {
			tt.candidates[i].Draw = i
		}
		b, err := tt.m.Count(tt.candidates)
		if err != nil {
			t.Fatal(err)
		}
		w := b.Clusters[0]
		if w.Best != tt.best || w.SQL != tt.candidates[tt.best].SQL || math.Abs(w.Split-tt.split) > 1e-9 || math.Abs(b.Confidence-tt.confidence) > 1e-9 {
			t.Errorf("%s: best %d, split %v, confidence %v; want %d, %v, %v: %s", tt.name, w.Best, w.Split, b.Confidence, tt.best, tt.split, tt.confidence, tt.why)
		}
	}
	b, _ := Majority{Key: ByPlan}.Count(run)
	if got, want := b.Explain(), "4 of 4 draws, no doubt; 25 % of these votes are for another answer of the same plan"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestSortsRowsAgreesWithOutline puts statements together of parts that are hard
// to read: names and texts that say ORDER BY, comments, subqueries, windows.
func TestSortsRowsAgreesWithOutline(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	pick := func(parts ...string) string { return parts[r.IntN(len(parts))] }
	var query func(depth int) string
	query = func(depth int) string {
		column := func() string {
			if depth > 0 && r.IntN(4) == 0 {
				return "(" + query(depth-1) + ")"
			}
			return pick("a", "\"order by\"", "`order`", "border", "count(*)", "'it''s'", "'order by 1'", "\"a\"\"b\"", "by", "a - -b", "a/b", "'('",
				"rank() OVER (ORDER BY a)", "E'x\\'order by'", "$1", "x'00'", "[order by]", "-- order by\n a", "/* order by ( */ a", "# order by\n a")
		}
		s := pick("SELECT ", "select\t", "SELECT DISTINCT ") + column() + pick("", ", "+column()) + " FROM " + pick("t", "orders", "\"t(\"")
		if depth > 0 && r.IntN(3) == 0 {
			s += " JOIN (" + query(depth-1) + ") AS u"
		}
		s += pick("", " WHERE a = "+column(), " GROUP BY "+column())
		if r.IntN(3) == 0 {
			s += pick(" ", "\n", "\t") + pick("ORDER BY ", "order  by ", "Order\nBy ", "ORDER BY(a), ", "ORDER/**/BY ") + column() + pick("", " DESC")
		}
		return s + pick("", " LIMIT 1")
	}
	sorted := 0
	for range 4_000 {
		sql := query(2)
		for _, d := range []sqltext.Dialect{sqltext.SQLite(), sqltext.MySQL(), sqltext.PostgreSQL(), sqltext.BigQuery()} {
			checked, err := d.Check(sql)
			if err != nil {
				continue // a part that this dialect reads otherwise
			}
			got, want := sortsRows(d, checked), len(d.Outline(checked).OrderBy) > 0
			if got != want {
				t.Fatalf("%s\n%v, the outline says %v", checked, got, want)
			}
			if want {
				sorted++
			}
		}
	}
	if sorted < 800 {
		t.Errorf("only %d statements sort: the test says little", sorted)
	}
}
