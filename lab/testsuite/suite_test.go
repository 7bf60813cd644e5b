package testsuite_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/eval"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/testsuite"
)

// shopSuite makes a suite of the shop and a scorer with EX and TS.
func shopSuite(t testing.TB) (*testsuite.Suite, *eval.Scorer) {
	t.Helper()
	base, dir := shopFile(t, shop), t.TempDir()
	g := testsuite.Generator{Open: open, Golds: shopGolds, Replicas: 4}
	testutil.Value(g.Generate(t.Context(), base, dir))(t)
	suite := testutil.Value(testsuite.Load(dir, eval.StoreConfig{Open: open}))(t)
	store := eval.NewStore(eval.StoreConfig{Open: open, Find: func(string) (string, error) { return base, nil }})
	t.Cleanup(func() {
		if err := suite.Close(); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	suites := map[string]*testsuite.Suite{"shop": suite}
	return suite, &eval.Scorer{Store: store, Metrics: []eval.Metric{
		eval.EX{Rule: "bag"}, testsuite.TS{Suites: suites},
	}}
}

func TestTS(t *testing.T) {
	_, scorer := shopSuite(t)
	if got := strings.Join(scorer.Names(), " "); got != "ex_bag ts" {
		t.Errorf("names %s", got)
	}
	for _, test := range []struct {
		why, gold, sql string
		ex, ts         float64
	}{
		{"the gold itself", "SELECT name FROM regions", "SELECT name FROM regions", 1, 1},
		{"another wording", "SELECT COUNT(*) FROM people WHERE region = 'N'", "SELECT SUM(region = 'N') FROM people", 1, 1},
		{"wrong on the base", "SELECT name FROM regions", "SELECT code FROM regions", 0, 0},
		{"no SQL", "SELECT name FROM regions", "I do not know", 0, 0},
		{
			"right by chance: both find nothing", "SELECT email FROM people WHERE region = 'N' AND notes = 'gone' " +
				"AND salary > 9000",
			"SELECT email FROM people WHERE notes = 'lost'", 1, 0,
		},
		{"right by chance: nobody has a phone, or nothing", "SELECT COUNT(*) FROM people WHERE void IS NULL",
			"SELECT COUNT(*) FROM people", 1, 0},
		{"any row will do: no replica decides", "SELECT id FROM people LIMIT 1", "SELECT id FROM people LIMIT 1", 1, 1},
		{"the order that the gold asks for", "SELECT hired FROM people ORDER BY hired",
			"SELECT hired FROM people ORDER BY hired DESC", 1, 0},
		{"rows that the gold leaves tied", "SELECT region FROM people ORDER BY region",
			"SELECT region FROM people ORDER BY region, id DESC", 1, 1},
		{"ties that the result does not show", "SELECT id FROM people ORDER BY region",
			"SELECT id FROM people ORDER BY region, id", 1, 1},
	} {
		t.Run(test.why, func(t *testing.T) {
			for range 2 { // the second time everything is remembered
				v, err := scorer.Score(t.Context(), eval.Question{DB: "shop", Gold: test.gold}, test.sql)
				if err != nil || v.Fault != "" {
					t.Fatal(err, v.Fault)
				}
				if v.Scores[0] != test.ex || v.Scores[1] != test.ts {
					t.Errorf("EX, TS %v, want %v %v", v.Scores, test.ex, test.ts)
				}
			}
		})
	}
}

func TestSuiteMadeFrom(t *testing.T) {
	suite, _ := shopSuite(t)
	for _, test := range []struct {
		why, base string
		want      bool
	}{
		{"another file of the same content", shopFile(t, shop), true},
		{"another row", shopFile(t, shop+"; INSERT INTO regions VALUES ('X', 'Extra')"), false},
		{"another database", shopFile(t, "CREATE TABLE t (a)"), false},
	} {
		if got, err := suite.MadeFrom(t.Context(), test.base); got != test.want || err != nil {
			t.Errorf("%s: %v, %v", test.why, got, err)
		}
	}
	if _, err := suite.MadeFrom(t.Context(), "/nowhere/x.sqlite"); err == nil ||
		!strings.Contains(err.Error(), "/nowhere/x.sqlite") {
		t.Errorf("no file: %v", err)
	}
}

func TestTSWithoutSuite(t *testing.T) {
	_, scorer := shopSuite(t)
	_, err := scorer.Score(t.Context(), eval.Question{DB: "bakery", Gold: "SELECT 1"}, "SELECT 1")
	if err == nil || err.Error() != "testsuite: no suite for database bakery" {
		t.Errorf("got %v", err)
	}
}

func TestLoadErrors(t *testing.T) {
	manifest := func(text string) string {
		dir := t.TempDir()
		testutil.OK(t, os.WriteFile(filepath.Join(dir, "manifest.json"), []byte(text), 0o644))
		return dir
	}
	c := eval.StoreConfig{Open: open}
	for _, test := range []struct {
		why, dir string
		c        eval.StoreConfig
		want     string
	}{
		{"no opener", t.TempDir(), eval.StoreConfig{}, "testsuite: loading: StoreConfig.Open is missing"},
		{"no suite", t.TempDir(), c, "testsuite: reading manifest: open "},
		{"not JSON", manifest("{"), c, "unexpected end of JSON input"},
		{"a later version", manifest(`{"version": 9}`), c, "version 9, want 3"},
		{"a file elsewhere", manifest(`{"version": 3, "replicas": [{"file": "../secret.sqlite"}]}`), c,
			`replica "../secret.sqlite" is not in its folder`},
		{"a replica is gone", manifest(`{"version": 3, "replicas": [{"file": "replica-01.sqlite"}]}`), c,
			"no such file or directory"},
	} {
		if _, err := testsuite.Load(test.dir, test.c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want %s", test.why, err, test.want)
		}
	}
}

// Rules that only the database knows make some variations impossible, or all;
// the manifest and the error say which.
func TestRejectedDraws(t *testing.T) {
	const some = `CREATE TABLE t (a TEXT, b TEXT, k TEXT GENERATED ALWAYS AS (a || b) STORED UNIQUE);
		INSERT INTO t (a, b) VALUES ('a', 'b'), ('b', 'a'), ('a', 'a'), ('b', 'b'), ('c', 'c'), ('c', 'a'), ('c', 'b'), ('a', 'c'), ('b', 'c')`
	m, err := testsuite.Generator{Open: open}.Generate(t.Context(), shopFile(t, some), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Rejected) == 0 || len(m.Replicas)+len(m.Rejected) != 20 {
		t.Errorf("%d replicas, rejected %v", len(m.Replicas), m.Rejected)
	}

	const all = `CREATE TABLE t (a TEXT NOT NULL, b TEXT NOT NULL, k TEXT GENERATED ALWAYS AS (a || b) STORED UNIQUE);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99) INSERT INTO t (a, b) SELECT 'a' || (i / 10), 'b' || (i % 10) FROM n`
	_, err = testsuite.Generator{Open: open}.Generate(t.Context(), shopFile(t, all), t.TempDir())
	if err == nil ||
		!strings.Contains(err.Error(), "no variation keeps the rules of the database: draw 0: writing table t: "+
			"UNIQUE constraint failed") {
		t.Errorf("got %v", err)
	}
}
