package eval_test

import (
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
)

// numbers is a database for comparisons.
func numbers(t testing.TB) func(string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	makeDatabase(t, dir, "n",
		"CREATE TABLE p (id INTEGER, name TEXT, price REAL, day DATE)",
		"INSERT INTO p VALUES (1, 'a', 0.1, '2024-01-01'), (2, 'b', 0.2, '2024-01-02'), (3, 'b', 0.3, '2024-01-02'), (4, "+
			"NULL, 0.2, NULL)")
	return in(dir)
}

func scoreOf(t *testing.T, store *eval.Store, m eval.Metric, gold, sql string) float64 {
	t.Helper()
	s := eval.Scorer{Store: store, Metrics: []eval.Metric{m}}
	v := testutil.Value(s.Score(t.Context(), eval.Question{ID: "1", DB: "n", Gold: gold}, sql))(t)
	if v.Fault != "" {
		t.Fatal(v.Fault)
	}
	return v.Scores[0]
}

func TestEX(t *testing.T) {
	store := newStore(t, numbers(t))
	set, bag, order, strict := eval.EX{}, eval.EX{Rule: "bag"}, eval.EX{Rule: "order"}, eval.EX{Rule: "strict"}
	all := []eval.Metric{set, bag, order, strict}
	for _, test := range []struct {
		why, gold, sql string
		want           [4]float64 // set, bag, order, strict
	}{
		{"the same text", "SELECT name FROM p", "SELECT name FROM p", [4]float64{1, 1, 1, 1}},
		{"column names do not count", "SELECT name FROM p", "SELECT name AS n FROM p", [4]float64{1, 1, 1, 1}},
		{"copies", "SELECT name FROM p", "SELECT DISTINCT name FROM p", [4]float64{1, 0, 0, 0}},
		{"another number of copies", "SELECT 1 UNION ALL SELECT 1 UNION ALL SELECT 2",
			"SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 2", [4]float64{1, 0, 0, 0}},
		{"order that nobody asked for", "SELECT id FROM p", "SELECT id FROM p ORDER BY id DESC", [4]float64{1, 1, 1, 0}},
		{"order that the gold has", "SELECT id FROM p ORDER BY id", "SELECT id FROM p ORDER BY id DESC",
			[4]float64{1, 1, 0, 0}},
		{"ties may swap", "SELECT id, price FROM p ORDER BY price, id DESC", "SELECT id, price FROM p ORDER BY price, id",
			[4]float64{1, 1, 0, 0}},
		{
			"ties may swap where the terms are shown", "SELECT id, price FROM p ORDER BY price",
			"SELECT id, price FROM p ORDER BY price, id DESC",
			[4]float64{1, 1, 1, 0},
		},
		{"by number and alias", "SELECT id, price AS c FROM p ORDER BY c DESC, 2",
			"SELECT id, price FROM p ORDER BY price DESC, id DESC", [4]float64{1, 1, 1, 0}},
		{
			"an alias goes before a column", "SELECT name AS id, id AS name FROM p ORDER BY name",
			"SELECT name, id FROM p ORDER BY name IS NULL, name, id DESC", [4]float64{1, 1, 0, 0},
		},
		{"ties of a term that is not shown", "SELECT id FROM p ORDER BY price", "SELECT id FROM p ORDER BY price, id DESC",
			[4]float64{1, 1, 0, 0}},
		{"an order inside is none", "SELECT id FROM p WHERE id IN (SELECT id FROM p ORDER BY id)",
			"SELECT id FROM p ORDER BY id DESC", [4]float64{1, 1, 1, 0}},
		{"order of columns", "SELECT id, name FROM p", "SELECT name, id FROM p", [4]float64{0, 0, 0, 0}},
		{"one column more", "SELECT id FROM p", "SELECT id, name FROM p", [4]float64{0, 0, 0, 0}},
		{"1 is 1.0", "SELECT count(*) FROM p", "SELECT 4.0", [4]float64{1, 1, 1, 1}},
		{"1 is not '1'", "SELECT 1", "SELECT '1'", [4]float64{0, 0, 0, 0}},
		{"case and blanks count", "SELECT 'a'", "SELECT 'A'", [4]float64{0, 0, 0, 0}},
		{"a blank counts", "SELECT 'a'", "SELECT 'a '", [4]float64{0, 0, 0, 0}},
		{"NULL is NULL", "SELECT name FROM p WHERE id = 4", "SELECT NULL", [4]float64{1, 1, 1, 1}},
		{"NULL is not 0", "SELECT sum(id) FROM p WHERE id > 9", "SELECT 0", [4]float64{0, 0, 0, 0}},
		{"1e-7 apart", "SELECT 1.0", "SELECT 1.0000001", [4]float64{0, 0, 0, 0}},
		{"dates are what is stored", "SELECT day FROM p WHERE id = 1", "SELECT '2024-01-01'", [4]float64{1, 1, 1, 1}},
		{"no rows, of other columns", "SELECT id FROM p WHERE id > 9", "SELECT id, name FROM p WHERE id > 9",
			[4]float64{1, 1, 1, 0}},
		{"no rows against some", "SELECT id FROM p WHERE id > 9", "SELECT id FROM p", [4]float64{0, 0, 0, 0}},
		{"an error", "SELECT id FROM p WHERE id > 9", "SELECT nix FROM p", [4]float64{0, 0, 0, 0}},
		{"no statement", "SELECT id FROM p WHERE id > 9", "", [4]float64{0, 0, 0, 0}},
	} {
		t.Run(test.why, func(t *testing.T) {
			for i, m := range all {
				if got := scoreOf(t, store, m, test.gold, test.sql); got != test.want[i] {
					t.Errorf("%s is %v, want %v", m.Name(), got, test.want[i])
				}
			}
		})
	}

	// 0.1 + 0.2 + 0.3 depends on the order of the sum.
	gold, other := "SELECT 0.1 + 0.2 + 0.3", "SELECT 0.3 + 0.2 + 0.1"
	if scoreOf(t, store, bag, gold, other) != 0 || scoreOf(t, store, eval.EX{Rule: "bag", Digits: 12}, gold, other) != 1 {
		t.Error("Digits do not round")
	}
}

// TestTruncated: a result that was cut equals nothing, itself neither.
func TestTruncated(t *testing.T) {
	c := eval.StoreConfig{Find: numbers(t), Open: openReadOnly}
	c.Bounds.Rows = 2
	s := eval.Scorer{Store: openStore(t, c), Metrics: []eval.Metric{eval.EX{}, eval.VA{}}}
	v, err := s.Score(t.Context(), eval.Question{ID: "1", DB: "n", Gold: "SELECT id FROM p WHERE id < 3"},
		"SELECT id FROM p")
	if err != nil || v.Answer.Status != "too_large" || v.Scores[0] != 0 || v.Scores[1] != 0 {
		t.Errorf("%+v, %v", v, err)
	}
	v, err = s.Score(t.Context(), eval.Question{ID: "1", DB: "n", Gold: "SELECT id FROM p"}, "SELECT id FROM p")
	if err != nil || v.Fault == "" || v.Scores[0] != 0 {
		t.Errorf("a gold that is cut: %+v, %v", v, err)
	}
}

func TestMetricNames(t *testing.T) {
	want := map[string]eval.Metric{
		"va":     eval.VA{},
		"ex_set": eval.EX{}, "ex_bag": eval.EX{Rule: "bag"}, "ex_order": eval.EX{Rule: "order"},
		"ex_strict": eval.EX{Rule: "strict"},
		"ex_bag_9":  eval.EX{Rule: "bag", Digits: 9},
	}
	for name, m := range want {
		if m.Name() != name {
			t.Errorf("%#v is called %q, want %q", m, m.Name(), name)
		}
	}
}
