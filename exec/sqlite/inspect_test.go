package sqlite_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// inspect reads the schema of a new database.
func inspect(t testing.TB, script string) *schema.Schema {
	t.Helper()
	pool, _ := open(t, script)
	s := catalogOf(t, pool).Schema
	return s
}

// TestInspectAwkward holds everything that makes a schema awkward to a golden
// file: go test ./exec/sqlite -run InspectAwkward -update
func TestInspectAwkward(t *testing.T) {
	script := need.Value(os.ReadFile(filepath.Join("testdata", "awkward.sql")))(t)
	s := inspect(t, string(script))
	if len(s.Functions) < 50 || !slices.Contains(s.Functions, "json_extract") || !slices.IsSorted(s.Functions) {
		t.Errorf("functions: %q", s.Functions)
	}
	s.Functions = nil // another build has others
	s.Version = ""
	got := need.Value(json.MarshalIndent(s, "", "  "))(t)
	got = append(got, '\n')
	golden.Check(t, "awkward.golden.json", got)
}

func TestInspectEmpty(t *testing.T) {
	s := inspect(t, "")
	if len(s.Tables) != 0 || s.Tables == nil || s.Dialect != "sqlite" || s.Default != "main" {
		t.Errorf("%+v", s)
	}
}

func TestInspectComments(t *testing.T) {
	for _, c := range []struct {
		name, ddl  string
		table      string
		a, b, cDoc string
		why        string
	}{
		{"behind", "CREATE TABLE t (\n a INT, -- first\n b INT, -- second\n c INT -- third\n)", "", "first", "second", "third", "the usual place"},
		{
			"leading commas", "CREATE TABLE t (\n a INT -- first\n, b INT -- second\n, c INT -- third\n)", "", "first", "second", "third",
			"no comma before the comment",
		},
		{
			"before, block", "CREATE TABLE t (\n /* first */\n a INT,\n /* second */ b INT,\n /* third */\n c INT)", "", "first", "second", "third",
			"alone on a line, or before its column",
		},
		{"before, lines", "CREATE TABLE t (\n -- first\n -- still first\n a INT,\n -- second\n b INT, c INT)", "", "first still first", "second", "", "lines add up"},
		{
			"one line", "CREATE TABLE t (a INT /* first */, b INT, /* third */ c INT)", "", "first", "", "third",
			"a block before a column on its line is about that column",
		},
		{
			"block ends the line", "CREATE TABLE t (a INT, /* first */\n b INT, /* second */\n c INT)", "", "first", "second", "",
			"nothing follows, so it is about the column before",
		},
		{"table", "CREATE TABLE t ( -- the table\n a INT, b INT, c INT)", "the table", "", "", "", "behind the bracket"},
		{"table, before", "CREATE TABLE t -- the table\n(a INT, b INT, c INT)", "the table", "", "", "", "before the bracket"},
		{"table, block", "CREATE TABLE t /* the table */ (/* first */ a INT, b INT, c INT)", "the table", "first", "", "", ""},
		{
			"strings", "CREATE TABLE t (a TEXT DEFAULT '-- no', b TEXT DEFAULT '/* no */', c TEXT DEFAULT 'it''s --' -- yes\n)", "", "", "", "yes",
			"a comment in a string is none",
		},
		{"names", "CREATE TABLE t (a INT, \"b\" INT, [c] INT, \"-- no\" INT)", "", "", "", "", "nor is one in a name"},
		{
			"check", "CREATE TABLE t (a INT CHECK (a > 0 /* first */ AND a < 9), -- still first\n b INT, c INT)", "", "first still first", "", "",
			"brackets within a column",
		},
		{
			"constraints", "CREATE TABLE t (a INT, b INT, c INT, -- third\n -- no\n UNIQUE (a), -- no\n PRIMARY KEY (b) /* no */\n)", "", "", "", "third",
			"what is about a constraint is about no column",
		},
		{"after the last", "CREATE TABLE t (a INT, b INT, c INT -- third\n -- no\n)", "", "", "", "third", "a line alone belongs to what follows"},
		{
			"ornaments", "CREATE TABLE t (\n -------------\n -- first --\n /***\n * is\n * -5\n ***/\n a INT, /* === */\n b INT, c INT)", "", "first is -5",
			"", "", "rulers and frames say nothing",
		},
		{"quoted column", "CREATE TABLE t (\"a\" INT, -- first\n [b] INT, -- second\n `C` INT -- third\n)", "", "first", "second", "third", ""},
		{"windows lines", "CREATE TABLE t (\r\n a INT, -- first\r\n b INT, -- second\r\n c INT\r\n)", "", "first", "second", "", ""},
		{"view", "CREATE TABLE x(a,b,c); CREATE VIEW t AS -- the view\n SELECT a, -- no\n b, c FROM x", "the view", "", "", "", "a query is not read"},
		{
			"view with names",
			"CREATE TABLE x(a,b,c); CREATE VIEW t(a, -- first\n b, c) AS /* the view */ WITH y(a,b /* no */) AS (SELECT a,b FROM x) SELECT 1,2,3 FROM y",
			"the view", "first", "", "", "the names of a view are",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := inspect(t, c.ddl)
			table, ok := s.Lookup("", "t")
			if !ok {
				t.Fatal("no table")
			}
			want := map[string]string{"": c.table, "a": c.a, "b": c.b, "c": c.cDoc}
			got := map[string]string{"": table.Description}
			for _, name := range []string{"a", "b", "c"} {
				column, _ := table.Column(name)
				got[name] = column.Description
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s\n-want +got\n%s", c.why, diff)
			}
		})
	}
}

func TestInspectAttached(t *testing.T) {
	dir := t.TempDir()
	pool := need.Value(sql.Open("sqlite3", filepath.Join(dir, "main.db")))(t)
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	need.Value(pool.Exec(`CREATE TABLE t(a INTEGER PRIMARY KEY);
		ATTACH '` + filepath.Join(dir, "other.db") + `' AS "the other";
		CREATE TABLE "the other".t(x INTEGER PRIMARY KEY, y UNIQUE);
		CREATE TABLE "the other".u(t REFERENCES t);
		CREATE TEMP TABLE hidden(a)`))(t)
	s := catalogOf(t, pool).Schema
	var got []string
	for _, table := range s.Tables {
		got = append(got, fmt.Sprintf("%s.%s %d %v %v", table.Schema, table.Name, len(table.Columns), table.Unique, table.ForeignKeys))
	}
	want := []string{".t 1 [] []", "the other.t 2 [[y]] []", "the other.u 1 [] [{[t] the other t [x]}]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestVersion(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a)")
	version := func() string {
		t.Helper()
		return catalogOf(t, pool).Version
	}
	first := version()
	need.Value(pool.Exec("INSERT INTO t VALUES (1)"))(t)
	if got := version(); got != first {
		t.Errorf("rows changed the version from %q to %q", first, got)
	}
	need.Value(pool.Exec("ALTER TABLE t ADD COLUMN b"))(t)
	if got := version(); got == first {
		t.Errorf("a new column left the version at %q", got)
	}
}

// TestInspectBroken: one view or module that SQLite cannot open takes nothing
// else with it.
func TestInspectBroken(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE base(a);
		CREATE VIEW good AS SELECT a FROM base;
		CREATE VIEW bad AS SELECT a FROM gone;
		CREATE TABLE gone(a); DROP TABLE gone;
		CREATE TABLE notes_data(id INTEGER PRIMARY KEY, block BLOB);
		CREATE TABLE notes_of(a);
		PRAGMA writable_schema = ON;
		INSERT INTO sqlite_master VALUES ('table','notes','notes',0,'CREATE VIRTUAL TABLE notes USING nosuchmodule(a)');
		PRAGMA writable_schema = RESET`)
	s := catalogOf(t, pool).Schema
	var got []string
	for _, table := range s.Tables {
		got = append(got, table.Name)
	}
	if diff := cmp.Diff([]string{"base", "good", "notes_of"}, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestInspectBig(t *testing.T) {
	pool, _ := open(t, "BEGIN;"+exectest.Many(1000)+"COMMIT")
	s := catalogOf(t, pool).Schema
	if len(s.Tables) != 1000 {
		t.Fatalf("%d tables", len(s.Tables))
	}
	last := s.Tables[999]
	if last.Name != "many999" || len(last.Columns) != 20 || len(last.ForeignKeys) != 1 || len(last.Unique) != 1 {
		t.Errorf("%+v", last)
	}
}

func TestBrokenViewIsTold(t *testing.T) {
	const script = fixture + "CREATE VIEW lost AS SELECT a FROM gone; CREATE VIEW whole AS SELECT a FROM t"
	tests := []struct {
		name, script string
		policy       exec.Policy
		want         []trace.Warning
		why          string
	}{
		{"none", fixture + "CREATE VIEW whole AS SELECT a FROM t", exec.Policy{}, nil, "nothing is broken"},
		{
			"a view", script, exec.Policy{},
			[]trace.Warning{{Code: "broken-view", Message: "the view lost is left out of the schema, since SQLite cannot open it: no such table: main.gone"}},
			"a table was dropped",
		},
		{
			"under a policy", script, exec.Policy{DenyTables: []string{"users"}},
			[]trace.Warning{{Code: "broken-view", Message: "the view lost is left out of the schema, since SQLite cannot open it"}},
			"the reason may name what is denied",
		},
		{"denied itself", script, exec.Policy{DenyTables: []string{"lost"}}, nil, "its name is not told"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool, _ := open(t, tt.script)
			db := newDB(t, pool, exec.Config{Policy: tt.policy})
			s := need.Value(db.Schema(t.Context()))(t)
			var got []trace.Warning
			for _, w := range db.Warnings() {
				if w.Code != "sensitive-columns" {
					got = append(got, w)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.why, diff)
			}
			if _, ok := s.Lookup("", "lost"); ok {
				t.Errorf("the schema has the view lost")
			}
		})
	}
}
