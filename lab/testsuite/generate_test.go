package testsuite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/lab/testsuite"
)

// shop has one of everything that a variation must respect.
const shop = `
CREATE TABLE regions (code TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE people (
  id INTEGER PRIMARY KEY, email TEXT UNIQUE, boss INTEGER REFERENCES people(id),
  region TEXT NOT NULL REFERENCES regions(code), born DATE, hired DATE NOT NULL, left_on DATE,
  salary DECIMAL(10,2), shoe REAL, active INT NOT NULL, year INT, notes TEXT, void INT, photo BLOB,
  initial TEXT GENERATED ALWAYS AS (substr(email, 1, 1)) STORED
);
CREATE TABLE visits (person INTEGER NOT NULL REFERENCES people(id), day TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (person, day));
CREATE TABLE notes_of_visits (person INTEGER, day TEXT, text TEXT, FOREIGN KEY (person, day) REFERENCES visits(person, day));
CREATE TABLE names (person INTEGER REFERENCES people(id), name TEXT);
CREATE TABLE broken (person INTEGER REFERENCES people(id));
CREATE VIEW active_people AS SELECT * FROM people WHERE active = 1;
INSERT INTO regions VALUES ('N', 'north'), ('S', 'south'), ('E', 'east');
WITH RECURSIVE k(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 60)
INSERT INTO people (id, email, boss, region, born, hired, left_on, salary, shoe, active, year, notes, photo)
SELECT i, 'p' || i || '@x.org', CASE WHEN i > 3 THEN 1 + i % 3 END, substr('NSE', 1 + i % 3, 1),
  date('1980-01-01', (i * 97) || ' days'), date('2010-01-01', (i * 31) || ' days'), CASE i % 4 WHEN 0 THEN date('2020-01-01', i || ' days') END,
  1000 + i * 12.25, 36 + i % 9 + 0.5, i % 2, 2000 + i % 20, CASE i % 5 WHEN 0 THEN 'sick' ELSE 'fine' END, x'00ff' FROM k;
INSERT INTO visits SELECT id, date('2021-01-01', (id % 7) || ' days'), id % 5 FROM people WHERE id % 3 > 0;
INSERT INTO notes_of_visits SELECT person, day, 'seen' FROM visits WHERE n > 2;
INSERT INTO names SELECT id, 'Name ' || id FROM people;
INSERT INTO broken VALUES (1), (2), (777);`

// shopGolds look for what the shop does not hold.
var shopGolds = []testsuite.Gold{
	{ID: "blind list", SQL: "SELECT email FROM people WHERE region = 'N' AND notes = 'gone' AND salary > 9000"},
	{ID: "blind count", SQL: "SELECT COUNT(*) FROM visits v JOIN people p ON p.id = v.person WHERE p.region = 'S' " +
		"AND v.n >= 50"},
	{ID: "sum", SQL: "SELECT region, SUM(salary) AS total FROM people GROUP BY region HAVING total > 30000"},
	{ID: "dates", SQL: "SELECT id FROM people WHERE hired BETWEEN '2011-01-01' AND '2012-06-30' ORDER BY hired"},
	{ID: "like", SQL: "SELECT id FROM people WHERE notes LIKE '%zz%'"},
	{ID: "empty column", SQL: "SELECT id FROM people WHERE void = 7"},
	{ID: "fails", SQL: "SELECT nowhere FROM people"},
	{ID: "random", SQL: "SELECT id FROM people LIMIT 1"},
}

// shopFile writes the shop into a file of its own.
func shopFile(t testing.TB, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.sqlite")
	db := testutil.Value(open(path))(t)
	testutil.Value(db.Exec(script))(t)
	testutil.OK(t, db.Close())
	return path
}

func query(t *testing.T, path, text string) []string {
	t.Helper()
	db := testutil.Value(open(path))(t)
	defer db.Close()
	rows, err := db.Query(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, _ := rows.Columns()
	var list []string
	for rows.Next() {
		values, dest := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		testutil.OK(t, rows.Scan(dest...))
		var texts []string
		for _, v := range values {
			texts = append(texts, v.String)
		}
		list = append(list, strings.Join(texts, "|"))
	}
	return list
}

// TestRules holds every replica of the shop against what operators must keep.
func TestRules(t *testing.T) {
	base := shopFile(t, shop)
	for seed := range uint64(3) {
		dir := t.TempDir()
		m := testutil.Value(testsuite.Generator{Open: open, Golds: shopGolds, Seed: seed, Replicas: 6}.Generate(t.Context(),
			base, dir))(t)
		if len(m.Rejected) > 0 || len(m.Replicas) != 6 {
			t.Errorf("seed %d: %d replicas, rejected %v", seed, len(m.Replicas), m.Rejected)
		}
		for _, r := range m.Replicas {
			path := filepath.Join(dir, r.File)
			for _, test := range []struct{ why, text, want string }{
				{"pages and constraints", "PRAGMA integrity_check", "ok"},
				{"foreign keys, but for those that the base breaks",
					"SELECT DISTINCT \"table\" FROM pragma_foreign_key_check WHERE \"table\" <> 'broken'", ""},
				{"the storage class of every column",
					`SELECT DISTINCT typeof(salary) FROM people WHERE typeof(salary) NOT IN ('integer', 'real', 'null')
					UNION ALL SELECT typeof(shoe) FROM people WHERE typeof(shoe) NOT IN ('real', 'null')
					UNION ALL SELECT typeof(active) FROM people WHERE typeof(active) <> 'integer'
					UNION ALL SELECT typeof(void) FROM people WHERE typeof(void) NOT IN ('integer', 'null')
					UNION ALL SELECT typeof(photo) FROM people WHERE typeof(photo) NOT IN ('blob', 'null')
					UNION ALL SELECT typeof(n) FROM visits WHERE typeof(n) <> 'integer'`, ""},
				{"at most two decimals of money", "SELECT salary FROM people WHERE round(salary, 2) <> salary", ""},
				{"flags stay flags", "SELECT active FROM people WHERE active NOT IN (0, 1)", ""},
				{"years stay near", "SELECT year FROM people WHERE year NOT BETWEEN 1998 AND 2021", ""},
				{"dates stay dates", "SELECT hired FROM people WHERE date(hired) IS NOT hired", ""},
				{"generated columns follow", "SELECT id FROM people WHERE initial IS NOT substr(email, 1, 1)", ""},
				{"views are there", "SELECT name FROM sqlite_master WHERE type = 'view'", "active_people"},
				{"no table is empty", "SELECT (SELECT count(*) FROM regions) * (SELECT count(*) FROM visits) * (SELECT count(*) " +
					"FROM broken) > 0", "1"},
			} {
				if got := strings.Join(query(t, path, test.text), ","); got != test.want {
					t.Errorf("seed %d, %s: %s: got %s, want %s", seed, r.File, test.why, got, test.want)
				}
			}
			// Dates of one row keep their order, unless a gold's literal was put in.
			order := "SELECT count(*) FROM people WHERE born >= hired OR hired >= left_on"
			if got := query(t, path, order); len(got) != 1 || len(got[0]) > 1 {
				t.Errorf("seed %d, %s: %s rows with dates out of order", seed, r.File, got)
			}
		}
	}
}

// Each operator must leave a trace, and in the shop each has something to do.
func TestOperators(t *testing.T) {
	base := shopFile(t, shop)
	m := testutil.Value(testsuite.Generator{Open: open, Golds: shopGolds, Replicas: 2}.Generate(t.Context(), base,
		t.TempDir()))(t)
	seen := map[string]bool{}
	for _, r := range m.Replicas {
		for _, o := range r.Operations {
			operator, on, _ := strings.Cut(o, " ")
			seen[strings.TrimSuffix(operator, ":")] = true
			column, _, _ := strings.Cut(on, " ")
			switch {
			case operator == "null" && slices.Contains([]string{"people.hired", "people.email", "people.region"}, column):
				t.Errorf("%s: NULL in a column that may have none, or in a key", o)
			case operator == "scale" && !slices.Contains([]string{"people.salary", "people.shoe", "visits.n"}, column):
				t.Errorf("%s: only numbers that mean something are scaled", o)
			}
		}
	}
	for _, name := range []string{"scale", "shift", "redraw", "rewire", "delete", "null", "witness"} {
		if !seen[name] {
			t.Errorf("operator %s did nothing", name)
		}
	}
}

func TestSameSeed(t *testing.T) {
	base := shopFile(t, shop)
	g := testsuite.Generator{Open: open, Golds: shopGolds, Seed: 9, Replicas: 3}
	dirs := []string{t.TempDir(), t.TempDir()}
	var texts []string
	for i, dir := range dirs {
		g.Workers = 1 + 3*i
		testutil.Value(g.Generate(t.Context(), base, dir))(t)
		text := testutil.Value(os.ReadFile(filepath.Join(dir, "manifest.json")))(t)
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("manifests differ\n%s", cmp.Diff(texts[0], texts[1]))
	}
	for _, table := range []string{"people", "visits", "names"} {
		for i := range 3 {
			name := fmt.Sprintf("replica-%02d.sqlite", i+1)
			one, two := query(t, filepath.Join(dirs[0], name), "SELECT * FROM "+table),
				query(t, filepath.Join(dirs[1], name), "SELECT * FROM "+table)
			if diff := cmp.Diff(one, two); diff != "" {
				t.Errorf("%s, %s\n%s", name, table, diff)
			}
		}
	}
}

func TestGenerateErrors(t *testing.T) {
	base := shopFile(t, shop)
	empty := shopFile(t, "CREATE TABLE t (a)")
	triggers := shopFile(t, "CREATE TABLE t (a); CREATE TRIGGER more AFTER INSERT ON t BEGIN INSERT INTO t VALUES (2); "+
		"END; INSERT INTO t VALUES (1)")
	text := filepath.Join(t.TempDir(), "text.sqlite")
	logged := filepath.Join(t.TempDir(), "logged.sqlite")
	taken := t.TempDir()
	for path, content := range map[string]string{
		text: "this is no database at all", logged: "", logged + "-wal": "x", filepath.Join(taken, "manifest.json"): "{}",
	} {
		testutil.OK(t, os.WriteFile(path, []byte(content), 0o644))
	}
	refuses := func(string) (*sql.DB, error) { return nil, errors.New("no driver today") }
	g := testsuite.Generator{Open: open, Replicas: 1}
	for _, test := range []struct {
		why  string
		g    testsuite.Generator
		base string
		dir  string
		want string
	}{
		{
			"no opener", testsuite.Generator{Workers: -1}, base, "",
			"testsuite: Generator.Open is missing, or a number of Generator is negative",
		},
		{"no such file", g, filepath.Join(t.TempDir(), "none.sqlite"), "", "no such file or directory"},
		{"no database", g, text, "", "file is not a database"},
		{"changes in a log", g, logged, "", "-wal holds changes: checkpoint the database first"},
		{"no rows", g, empty, "", "the database has no rows to vary"},
		{"triggers", g, triggers, "", "the database has triggers"},
		{"a suite is there", g, base, taken, "holds a suite already"},
		{"the opener fails", testsuite.Generator{Open: refuses}, base, "", "no driver today"},
	} {
		dir := test.dir
		if dir == "" {
			dir = t.TempDir()
		}
		m, err := test.g.Generate(t.Context(), test.base, dir)
		if err == nil || !strings.Contains(err.Error(), test.want) || m != nil {
			t.Errorf("%s: got %v, want %s", test.why, err, test.want)
		}
		if test.dir == "" {
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s: left behind: %v", test.why, left)
			}
		}
	}
}

func TestGenerateCancelled(t *testing.T) {
	base := shopFile(t, shop)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	calls := 0
	g := testsuite.Generator{Golds: shopGolds, Workers: 1, Open: func(path string) (*sql.DB, error) {
		if calls++; calls == 6 { // in the middle of the draws
			cancel()
		}
		return open(path)
	}}
	if _, err := g.Generate(ctx, base, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSpider makes small suites of many databases, whose schemas break rules in
// all ways that people do.
func TestSpider(t *testing.T) {
	paths, err := filepath.Glob(evaldata.Path(t, "db/spider/*.sqlite"))
	if err != nil || len(paths) == 0 {
		t.Fatal(err, paths)
	}
	for _, base := range paths {
		name := strings.TrimSuffix(filepath.Base(base), ".sqlite")
		dir := t.TempDir()
		g := testsuite.Generator{Open: open, Golds: goldsOf(t, "questions/questions_spider_dev.jsonl.gz", name), Seed: 1,
			Replicas: 10}
		m, err := g.Generate(t.Context(), base, dir)
		if err != nil {
			t.Error(err)
			continue
		}
		if len(m.Rejected) > 0 {
			t.Errorf("%s: rejected %v", name, m.Rejected)
		}
		for _, r := range m.Replicas {
			if got := query(t, filepath.Join(dir, r.File), "PRAGMA integrity_check"); !slices.Equal(got, []string{"ok"}) {
				t.Errorf("%s, %s: %v", name, r.File, got)
			}
		}
	}
}
