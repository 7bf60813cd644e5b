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
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
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
	script := testutil.Value(os.ReadFile(filepath.Join("testdata", "awkward.sql")))(t)
	s := inspect(t, string(script))
	if len(s.Functions) < 50 || !slices.Contains(s.Functions, "json_extract") || !slices.IsSorted(s.Functions) {
		t.Errorf("functions: %q", s.Functions)
	}
	s.Functions = nil // another build has others
	s.Version = ""
	got := testutil.Value(json.MarshalIndent(s, "", "  "))(t)
	got = append(got, '\n')
	golden.Check(t, "awkward.golden.json", got)
}

func TestInspectEmpty(t *testing.T) {
	s := inspect(t, "")
	if len(s.Tables) != 0 || s.Tables == nil || s.Dialect != "sqlite" || s.Default != "main" {
		t.Errorf("%+v", s)
	}
}

func TestInspectAttached(t *testing.T) {
	dir := t.TempDir()
	pool := testutil.Value(sql.Open("sqlite3", filepath.Join(dir, "main.db")))(t)
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	testutil.Value(pool.Exec(`CREATE TABLE t(a INTEGER PRIMARY KEY);
		ATTACH '` + filepath.Join(dir, "other.db") + `' AS "the other";
		CREATE TABLE "the other".t(x INTEGER PRIMARY KEY, y UNIQUE);
		CREATE TABLE "the other".u(t REFERENCES t);
		CREATE TEMP TABLE hidden(a)`))(t)
	s := catalogOf(t, pool).Schema
	var got []string
	for _, table := range s.Tables {
		got = append(got, fmt.Sprintf("%s.%s %d %v %v", table.Schema, table.Name, len(table.Columns), table.Unique,
			table.ForeignKeys))
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
	testutil.Value(pool.Exec("INSERT INTO t VALUES (1)"))(t)
	if got := version(); got != first {
		t.Errorf("rows changed the version from %q to %q", first, got)
	}
	testutil.Value(pool.Exec("ALTER TABLE t ADD COLUMN b"))(t)
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
	pool, _ := open(t, "BEGIN;"+dialecttest.Many(1000)+"COMMIT")
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
			[]trace.Warning{{Code: "broken-view", Message: "the view lost is left out of the schema, " +
				"since SQLite cannot open it: no such table: main.gone"}},
			"a table was dropped",
		},
		{
			"under a policy", script, exec.Policy{DenyTables: []string{"users"}},
			[]trace.Warning{{Code: "broken-view", Message: "the view lost is left out of the schema, " +
				"since SQLite cannot open it"}},
			"the reason may name what is denied",
		},
		{"denied itself", script, exec.Policy{DenyTables: []string{"lost"}}, nil, "its name is not told"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			pool, _ := open(t, tt.script)
			db := newDB(t, pool, exec.Config{Policy: tt.policy})
			s := testutil.Value(db.Schema(t.Context()))(t)
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
