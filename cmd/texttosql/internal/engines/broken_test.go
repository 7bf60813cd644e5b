package engines_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// sound is what answers whatever else is broken.
const sound = "CREATE TABLE pupils(id INTEGER PRIMARY KEY, name VARCHAR(20)); INSERT INTO pupils VALUES (1, 'Ada'), " +
	"(2, 'Bob');"

// damaged are things that people have in their databases and that cannot be read.
var damaged = map[string]struct {
	script     string
	left       []string // out of the schema, with a word of why
	unprofiled []string // in the schema, without a profile
	shown      []string
}{
	"sqlite": {
		script: `CREATE TABLE gone(x); CREATE VIEW lost AS SELECT x FROM gone; DROP TABLE gone;
			CREATE TABLE both(a, b); CREATE VIEW half AS SELECT b FROM both; DROP TABLE both; CREATE TABLE both(a);
			CREATE VIEW above AS SELECT * FROM half;
			CREATE TABLE odd(a TEXT); INSERT INTO odd VALUES ('no json'); ALTER TABLE odd ADD COLUMN b TEXT AS (json_extract(a, '$')) VIRTUAL;
			CREATE VIEW slow AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) AS c FROM n;
			CREATE TABLE shapes(s GEOMETRY_OF_MINE(3), c XML); INSERT INTO shapes VALUES (x'00', '<a/>')`,
		left: []string{"lost", "half", "above"}, unprofiled: []string{"odd"}, shown: []string{"slow", "both", "shapes"},
	},
	"postgres": {
		script: `CREATE ROLE author; CREATE TABLE books(id INTEGER); GRANT SELECT ON books TO author;
			CREATE VIEW lost AS SELECT id FROM books; ALTER VIEW lost OWNER TO author; REVOKE SELECT ON books FROM author;
			CREATE VIEW above AS SELECT * FROM lost; CREATE MATERIALIZED VIEW unfilled AS SELECT id FROM books WITH NO DATA;
			CREATE FOREIGN DATA WRAPPER nothing; CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing; CREATE FOREIGN TABLE odd(a INTEGER) SERVER nowhere;
			CREATE VIEW slow AS SELECT count(*) AS c FROM generate_series(1, 100000) AS a, generate_series(1, 100000) AS b;
			CREATE TYPE pair AS (a INTEGER, b TEXT); CREATE TYPE spans AS RANGE (subtype = float8);
			CREATE TABLE shapes(p pair, s spans, q point, t tsvector); INSERT INTO shapes VALUES (ROW(1, 'x'), '[1,2)', '(1,2)', 'a b')`,
		left: []string{"lost", "above", "unfilled"}, unprofiled: []string{"odd"}, shown: []string{"slow", "books", "shapes"},
	},
	"mariadb": {
		script: `CREATE TABLE books(id INTEGER, title VARCHAR(10)); CREATE USER author;
			CREATE DEFINER=author VIEW lost AS SELECT id FROM books; DROP USER author;
			CREATE VIEW half AS SELECT title FROM books; CREATE VIEW above AS SELECT * FROM half; ALTER TABLE books DROP COLUMN title;
			CREATE TABLE odd(a INTEGER) ENGINE=MERGE UNION=(books);
			CREATE VIEW slow AS SELECT COUNT(*) AS c FROM seq_1_to_100000 AS a, seq_1_to_100000 AS b;
			CREATE TABLE shapes(g GEOMETRY, i INET6, u UUID); INSERT INTO shapes VALUES (POINT(1, 2), '::1', '123e4567-e89b-12d3-a456-426655440000')`,
		left: []string{"lost", "half", "above"}, unprofiled: []string{"odd"}, shown: []string{"slow", "books", "shapes"},
	},
}

// openDamaged makes a database that is sound in part.
func openDamaged(t *testing.T, engine string) (*sql.DB, exec.Dialect) {
	t.Helper()
	// one for all databases
	script := sound + strings.ReplaceAll(damaged[engine].script, "author", fmt.Sprint("author", remoteDatabases.Load()))
	if r, remote := remotes[engine]; remote {
		return r.open(t, script), r.dialect
	}
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "damaged.sqlite")))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(t)
	return pool, sqlite.Dialect{}
}

// TestBrokenIsLeftOut: what cannot be read is not in the schema, or has no profile there; schema, notes, warnings and
// Ready name it and say why. The rest is answered, and a view that takes for ever costs nothing until somebody reads
// it.
func TestBrokenIsLeftOut(t *testing.T) {
	for engine, d := range damaged {
		t.Run(engine, func(t *testing.T) {
			pool, dialect := openDamaged(t, engine)
			script := always("SELECT COUNT(*) FROM pupils")
			e := testutil.Value(texttosql.New(pool, script, texttosql.WithDialect(dialect), texttosql.WithSamples(1),
				texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: 2 * time.Second}})))(t)

			root := trace.Tracer{}.New("ready")
			testutil.OK(t, e.Ready(trace.NewContext(t.Context(), root)), "Ready")
			var ready strings.Builder
			for _, w := range root.Warnings() {
				ready.WriteString(w.Code + " " + w.Message + "\n")
			}
			s := testutil.Value(e.Schema(t.Context()))(t)
			begin := time.Now()
			res := testutil.Value(e.Ask(t.Context(), "How many pupils are there?"))(t)
			if took := time.Since(begin); took > 20*time.Second || res.Rows.Rows[0][0] != int64(2) {
				t.Errorf("%v after %v", res.Rows, took)
			}
			notes, prompt := strings.Join(res.Notes, "\n"), script.Requests()[0].Messages[1].Text
			for _, name := range d.left {
				_, there := s.Lookup("", name)
				told := slices.ContainsFunc(s.LeftOut, func(l schema.Omitted) bool {
					return l.Table.Name == name && l.Reason != "" && l.Broken()
				})
				if there || !told || !strings.Contains(ready.String(), "the view "+name+" is left out of the schema, since ") ||
					!strings.Contains(notes, `"`+name+`"`) || strings.Contains(prompt, name) {
					t.Errorf("%s: in the schema %v, told there %v\nReady:\n%s\nnotes:\n%s\nprompt:\n%s", name, there, told, &ready,
						notes, prompt)
				}
			}
			for _, name := range d.unprofiled {
				gap := slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool {
					return w.Code == "profile-incomplete" && strings.Contains(w.Message, "profiling "+name+": ")
				})
				if table, there := s.Lookup("", name); !there || len(table.Columns) == 0 || !gap ||
					!strings.Contains(prompt, name) {
					t.Errorf("%s: in the schema %v, told %v: %v\n%s", name, there, gap, res.Warnings, prompt)
				}
			}
			for _, name := range d.shown {
				if !strings.Contains(prompt, name) {
					t.Errorf("%s is lost:\n%s", name, prompt)
				}
			}
			script.Rules = always("SELECT c FROM slow").Rules
			if _, err := e.Ask(t.Context(), "How slow is it?"); err == nil || !strings.Contains(err.Error(), "time") {
				t.Errorf("a view that takes for ever: %v", err)
			}
		})
	}
}

// TestBrokenIsNotTold: who may not read a view is not told that it is broken.
func TestBrokenIsNotTold(t *testing.T) {
	for engine, d := range damaged {
		t.Run(engine, func(t *testing.T) {
			pool, dialect := openDamaged(t, engine)
			e := testutil.Value(texttosql.New(pool, always("SELECT COUNT(*) FROM pupils"), texttosql.WithDialect(dialect),
				texttosql.WithSamples(1), texttosql.WithPolicy(exec.Policy{AllowTables: []string{"pupils"}})))(t)
			s, res := testutil.Value(e.Schema(t.Context()))(t),
				testutil.Value(e.Ask(t.Context(), "How many pupils are there?"))(t)
			for _, name := range d.left {
				if len(s.LeftOut) > 0 || strings.Contains(strings.Join(res.Notes, "\n"), name) {
					t.Errorf("%s is named: %v, %v", name, s.LeftOut, res.Notes)
				}
			}
		})
	}
}
