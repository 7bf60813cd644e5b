package sqlite_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
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
	script, err := os.ReadFile(filepath.Join("testdata", "awkward.sql"))
	if err != nil {
		t.Fatal(err)
	}
	s := inspect(t, string(script))
	if len(s.Functions) < 50 || !slices.Contains(s.Functions, "json_extract") || !slices.IsSorted(s.Functions) {
		t.Errorf("functions: %q", s.Functions)
	}
	s.Functions = nil // another build has others
	s.Version = ""
	got, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
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
	pool, err := sql.Open("sqlite3", filepath.Join(dir, "main.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	_, err = pool.Exec(`CREATE TABLE t(a INTEGER PRIMARY KEY);
		ATTACH '` + filepath.Join(dir, "other.db") + `' AS "the other";
		CREATE TABLE "the other".t(x INTEGER PRIMARY KEY, y UNIQUE);
		CREATE TABLE "the other".u(t REFERENCES t);
		CREATE TEMP TABLE hidden(a)`)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := pool.Exec("INSERT INTO t VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	if got := version(); got != first {
		t.Errorf("rows changed the version from %q to %q", first, got)
	}
	if _, err := pool.Exec("ALTER TABLE t ADD COLUMN b"); err != nil {
		t.Fatal(err)
	}
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

// bigSchema makes 1,000 tables of 20 columns with a key, a unique constraint and
// a foreign key each.
func bigSchema(t testing.TB) (pool *sql.DB, file string) {
	var b strings.Builder
	b.WriteString("BEGIN;")
	types := [...]string{"INTEGER", "TEXT", "REAL", "VARCHAR(40)"}
	for i := range 1000 {
		fmt.Fprintf(&b, "CREATE TABLE table_%d (id INTEGER PRIMARY KEY", i)
		for c := 1; c < 20; c++ {
			fmt.Fprintf(&b, ", column_%d %s", c, types[c%len(types)])
			if c%3 == 0 {
				b.WriteString(" NOT NULL")
			}
			if c%5 == 0 {
				b.WriteString(" DEFAULT 0")
			}
		}
		b.WriteString(", UNIQUE (column_2, column_3)")
		if i > 0 {
			fmt.Fprintf(&b, ", FOREIGN KEY (column_1) REFERENCES table_%d(id)", i-1)
		}
		b.WriteString(");")
	}
	b.WriteString("COMMIT")
	return open(t, b.String())
}

func TestInspectBig(t *testing.T) {
	pool, _ := bigSchema(t)
	s := catalogOf(t, pool).Schema
	if len(s.Tables) != 1000 {
		t.Fatalf("%d tables", len(s.Tables))
	}
	last := s.Tables[999]
	if last.Name != "table_999" || len(last.Columns) != 20 || len(last.ForeignKeys) != 1 || len(last.Unique) != 1 {
		t.Errorf("%+v", last)
	}
}

// BenchmarkInspect reads 1,000 tables of 20 columns, on a connection of its own
// each time and on one that has parsed the schema. Where there is a python3, it
// reports the CPU time as a multiple of what bare PRAGMAs take in Python's sqlite3
// (testdata/pragmas.py), measured in the same run; the goal is 2.
func BenchmarkInspect(b *testing.B) {
	pool, file := bigSchema(b)
	python := pragmas(b, file)
	connect := func(b *testing.B) *sql.Conn {
		conn, err := pool.Conn(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		return conn
	}
	inspect := func(b *testing.B, conn *sql.Conn) {
		held := guarded(b, conn, exec.GuardConfig{}, time.Minute)
		if _, err := held.Catalog(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := held.Close(false); err != nil {
			b.Fatal(err)
		}
	}
	report := func(b *testing.B, spent, python time.Duration) {
		b.ReportMetric(float64(spent.Milliseconds())/float64(b.N), "ms/schema")
		if python > 0 {
			b.ReportMetric(float64(spent)/float64(b.N)/float64(python), "×python")
		}
	}
	b.Run("fresh", func(b *testing.B) {
		pool.SetMaxIdleConns(-1)
		start := time.Now()
		for b.Loop() {
			conn := connect(b)
			inspect(b, conn)
			conn.Close()
		}
		report(b, time.Since(start), python[0])
	})
	b.Run("again", func(b *testing.B) {
		conn := connect(b)
		defer conn.Close()
		inspect(b, conn)
		start := time.Now()
		for b.Loop() {
			inspect(b, conn)
		}
		report(b, time.Since(start), python[1])
	})
}

// pragmas is the CPU time that Python takes to read the schema of file: on a
// fresh connection, and again. Zeros without a python3.
func pragmas(b *testing.B, file string) (times [2]time.Duration) {
	out, err := osexec.Command("python3", filepath.Join("testdata", "pragmas.py"), file).Output()
	if err != nil {
		b.Logf("no comparison with Python: %v", err)
		return times
	}
	var fresh, again float64
	if _, err := fmt.Sscan(string(out), &fresh, &again); err != nil {
		b.Fatalf("%q: %v", out, err)
	}
	return [2]time.Duration{time.Duration(fresh * float64(time.Second)), time.Duration(again * float64(time.Second))}
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
			root := trace.New("test")
			s, err := db.Schema(trace.Into(t.Context(), root))
			if err != nil {
				t.Fatal(err)
			}
			var got []trace.Warning
			for _, w := range root.Warnings() {
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
