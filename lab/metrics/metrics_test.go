package metrics_test

import (
	"database/sql"
	"math"
	"path/filepath"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/metrics"
)

func TestSuiteEX(t *testing.T) {
	store := newStore(t, numbers(t))
	for _, test := range []struct {
		why, gold, sql string
		without, kept  float64 // DISTINCT taken out, and kept
	}{
		{"columns in another order", "SELECT id, name FROM p", "SELECT name, id FROM p", 1, 1},
		{"three columns in another order", "SELECT id, name, price FROM p", "SELECT price, id, name FROM p", 1, 1},
		{"the values of two columns swapped in one row", "SELECT 1, 2 UNION ALL SELECT 2, 1",
			"SELECT 1, 2 UNION ALL SELECT 1, 2", 0, 0},
		{"columns with equal values, rows that tell them apart", "SELECT 1, 2, 3 UNION ALL SELECT 2, 1, 4",
			"SELECT 2, 1, 3 UNION ALL SELECT 1, 2, 4", 1, 1},
		{"columns with equal values that do not fit", "SELECT 1, 2, 3 UNION ALL SELECT 2, 1, 3",
			"SELECT 1, 1, 3 UNION ALL SELECT 2, 2, 3", 0, 0},
		{"a DISTINCT too much", "SELECT name FROM p", "SELECT DISTINCT name FROM p", 1, 0},
		{"a DISTINCT too little", "SELECT DISTINCT name FROM p", "SELECT name FROM p", 1, 0},
		{"a DISTINCT that is counted", "SELECT count(DISTINCT name) FROM p", "SELECT count(name) FROM p", 1, 0},
		{"a DISTINCT in a string stays", "SELECT 'distinct'", "SELECT 'distinct' WHERE 'distinct' = 'DISTINCT'", 0, 0},
		{"copies count", "SELECT name FROM p", "SELECT name FROM p GROUP BY name", 0, 0},
		{"order that the gold has", "SELECT id FROM p ORDER BY id", "SELECT id FROM p ORDER BY id DESC", 0, 0},
		{"order anywhere in the gold", "SELECT id FROM p WHERE id IN (SELECT id FROM p order by id)",
			"SELECT id FROM p ORDER BY id DESC", 0, 0},
		{"order that only the answer has", "SELECT id FROM p", "SELECT id FROM p ORDER BY id DESC", 1, 1},
		{"a blank inside an operator of the answer", "SELECT id FROM p WHERE id >= 2", "SELECT id FROM p WHERE id > = 2",
			1, 1},
		{"no rows, of other columns", "SELECT id FROM p WHERE id > 9", "SELECT id, name FROM p WHERE id > 9", 1, 1},
		{"one column more", "SELECT id FROM p", "SELECT id, id FROM p", 0, 0},
		{"the current year is 2020", "SELECT 2020", "SELECT YEAR ( CURDATE() )", 1, 1},
		{"an error", "SELECT id FROM p", "SELECT nix FROM p", 0, 0},
	} {
		t.Run(test.why, func(t *testing.T) {
			s := eval.Scorer{Store: store, Metrics: []eval.Metric{metrics.SuiteEX{Store: store},
				metrics.SuiteEX{Store: store, KeepDistinct: true}}}
			v := testutil.Value(s.Score(t.Context(), eval.Question{ID: "1", DB: "n", Gold: test.gold}, test.sql))(t)
			if v.Scores[0] != test.without || v.Scores[1] != test.kept {
				t.Errorf("%v, want %v and %v (%s)", v.Scores, test.without, test.kept, v.Fault)
			}
		})
	}
}

func TestVES(t *testing.T) {
	store := newStore(t, numbers(t))
	const slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 500000) SELECT max(i) FROM n"
	if got := scoreOf(t, store, metrics.VES{Store: store, Runs: 3}, slow, "SELECT 500000"); got <= 1 {
		t.Errorf("an answer much faster than the gold: VES %v", got)
	}
	if got := scoreOf(t, store, metrics.RVES{Store: store, Runs: 3}, slow,
		"SELECT 500000"); math.Abs(got-math.Sqrt(1.25)) > 1e-12 {
		t.Errorf("an answer much faster than the gold: R-VES %v", got)
	}
	if got := scoreOf(t, store, metrics.RVES{Store: store, Runs: 3}, "SELECT 500000", slow); math.Abs(got-0.5) > 1e-12 {
		t.Errorf("an answer much slower than the gold: R-VES %v", got)
	}
	for _, m := range []eval.Metric{metrics.VES{Store: store}, metrics.RVES{Store: store}} {
		if got := scoreOf(t, store, m, "SELECT 1", "SELECT 2"); got != 0 {
			t.Errorf("%s of a wrong answer is %v", m.Name(), got)
		}
	}
}

// numbers is a database for comparisons.
func numbers(t testing.TB) func(string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	makeDatabase(t, dir, "n",
		"CREATE TABLE p (id INTEGER, name TEXT, price REAL, day DATE)",
		"INSERT INTO p VALUES (1, 'a', 0.1, '2024-01-01'), (2, 'b', 0.2, '2024-01-02'), (3, 'b', 0.3, '2024-01-02'), (4, "+
			"NULL, 0.2, NULL)")
	return func(id string) (string, error) { return filepath.Join(dir, id+".sqlite"), nil }
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

// newStore is a Store that finds databases with find.
func newStore(t testing.TB, find func(string) (string, error)) *eval.Store {
	t.Helper()
	return openStore(t, eval.StoreConfig{Find: find, Open: openReadOnly})
}

// openStore is a Store that the test closes.
func openStore(t testing.TB, c eval.StoreConfig) *eval.Store {
	t.Helper()
	s := eval.NewStore(c)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openReadOnly opens a database file that nothing writes to.
func openReadOnly(path string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
}

// makeDatabase writes a database into dir.
func makeDatabase(t testing.TB, dir, id string, statements ...string) {
	t.Helper()
	db := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, id+".sqlite")))(t)
	defer db.Close()
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

func TestMetricNames(t *testing.T) {
	for name, m := range map[string]eval.Metric{
		"ves": metrics.VES{}, "r_ves": metrics.RVES{}, "ex_suite": metrics.SuiteEX{},
		"ex_suite_distinct": metrics.SuiteEX{KeepDistinct: true},
	} {
		if m.Name() != name {
			t.Errorf("%#v is called %q, want %q", m, m.Name(), name)
		}
	}
}

func TestSoftF1(t *testing.T) {
	store := newStore(t, numbers(t))
	for _, test := range []struct {
		why, gold, sql string
		want           float64
	}{
		{"equal", "SELECT id, name FROM p", "SELECT id, name FROM p", 1},
		{"columns in another order", "SELECT id, name FROM p", "SELECT name, id FROM p", 1},
		{"copies do not count", "SELECT name FROM p", "SELECT DISTINCT name FROM p", 1},
		{"no rows and no rows", "SELECT id FROM p WHERE id > 9", "SELECT name FROM p WHERE id > 9", 1},
		{"no rows against some", "SELECT id FROM p WHERE id > 9", "SELECT id FROM p", 0},
		{"nothing shared", "SELECT 1", "SELECT 2", 0},
		// A column more: tp 1, fp 1, fn 0.
		{"a column too many", "SELECT id FROM p WHERE id = 1", "SELECT id, 'z' FROM p WHERE id = 1", 2.0 / 3},
		// A column less: tp 1/2, fp 0, fn 1/2.
		{"a column too few", "SELECT id, name FROM p WHERE id = 1", "SELECT id FROM p WHERE id = 1", 2.0 / 3},
		// Two of four rows: tp 2, fn 2.
		{"rows missing", "SELECT id FROM p", "SELECT id FROM p WHERE id < 3", 2.0 / 3},
		// Four rows for two: tp 2, fp 2.
		{"rows too many", "SELECT id FROM p WHERE id < 3", "SELECT id FROM p", 2.0 / 3},
		// Row by row: 1 beside 2 and 2 beside 1.
		{"rows in another order", "SELECT id FROM p WHERE id < 3", "SELECT id FROM p WHERE id < 3 ORDER BY id DESC", 0},
		{"an error", "SELECT id FROM p WHERE id > 9", "SELECT nix FROM p", 0},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := scoreOf(t, store, metrics.SoftF1{}, test.gold, test.sql); math.Abs(got-test.want) > 1e-12 {
				t.Errorf("%v, want %v", got, test.want)
			}
		})
	}
}

func TestEM(t *testing.T) {
	store := newStore(t, numbers(t))
	for _, test := range []struct {
		why, gold, sql string
		plain, lexed   float64
	}{
		{"case, white space and semicolons", "SELECT  id\nFROM p;", "select id from P ; ", 1, 1},
		{"a comment", "SELECT id FROM p", "SELECT id FROM p -- all", 0, 1},
		{"another spelling of unequal", "SELECT id FROM p WHERE id <> 1", "SELECT id FROM p WHERE id != 1", 0, 1},
		{"the case of a literal", "SELECT id FROM p WHERE name = 'a'", "SELECT id FROM p WHERE name = 'A'", 1, 0},
		{"another text", "SELECT id FROM p", "SELECT p.id FROM p", 0, 0},
	} {
		t.Run(test.why, func(t *testing.T) {
			if got := scoreOf(t, store, metrics.EM{}, test.gold, test.sql); got != test.plain {
				t.Errorf("em is %v, want %v", got, test.plain)
			}
			if got := scoreOf(t, store, metrics.EM{Lexed: true}, test.gold, test.sql); got != test.lexed {
				t.Errorf("em_lexed is %v, want %v", got, test.lexed)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, m := range map[string]eval.Metric{"em": metrics.EM{}, "em_lexed": metrics.EM{Lexed: true},
		"soft_f1": metrics.SoftF1{}} {
		if m.Name() != name {
			t.Errorf("%#v is called %q, want %q", m, m.Name(), name)
		}
	}
}
