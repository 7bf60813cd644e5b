package postgres_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/schema"
)

func inspect(t testing.TB, pool *sql.DB) *schema.Schema {
	t.Helper()
	s := readCatalog(t, pool, exec.Policy{})
	s.Schema.Version = s.Version
	return s.Schema
}

// TestInspectAwkward holds everything that makes a schema awkward to a golden file: go test
// ./exec/postgres -run InspectAwkward -update
func TestInspectAwkward(t *testing.T) {
	script, err := os.ReadFile(filepath.Join("testdata", "awkward.sql"))
	if err != nil {
		t.Fatal(err)
	}
	pool, _ := open(t, string(script))
	if _, err := pool.Exec("CREATE TEMP TABLE passing (a integer)"); err != nil {
		t.Fatal(err)
	}
	s := inspect(t, pool)
	s.Version = ""
	got, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "awkward.golden.json", append(got, '\n'))
}

func TestInspectEmpty(t *testing.T) {
	pool, _ := open(t, "")
	if s := inspect(t, pool); len(s.Tables) != 0 || s.Tables == nil || s.Dialect != "postgres" || s.Version == "" || s.Default != "public" {
		t.Errorf("%+v", s)
	}
}

// TestInspectRights: the schema of a user who may not read everything.
func TestInspectRights(t *testing.T) {
	pool, dsn := open(t, `CREATE SCHEMA closed; CREATE TABLE closed.a(x integer); CREATE TABLE b(x integer, secret text, y integer PRIMARY KEY);
		CREATE TABLE c(b integer REFERENCES b); CREATE TABLE hidden(x integer); CREATE VIEW owners AS SELECT * FROM hidden;
		CREATE VIEW readers WITH (security_invoker=true) AS SELECT * FROM hidden;
		DROP ROLE IF EXISTS inspector; CREATE ROLE inspector LOGIN;
		GRANT SELECT ON closed.a, c, owners, readers TO inspector; GRANT SELECT (x, y) ON b TO inspector`)
	t.Cleanup(func() { _, _ = pool.Exec("DROP OWNED BY inspector; DROP ROLE inspector") })
	limited, err := sql.Open("pgx", strings.Replace(dsn, "postgres@", "inspector@", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer limited.Close()
	s := readCatalog(t, limited, exec.Policy{})
	var got []string
	for _, table := range s.Schema.Tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name)
		}
	}
	want := []string{"b.x", "b.y", "c.b", "owners.x"}
	if !cmp.Equal(got, want) || len(s.Warnings) != 2 || s.Warnings[0].Code != "broken-view" {
		t.Errorf("%v, want %v; %v", got, want, s.Warnings)
	}
	if b, _ := s.Schema.Lookup("", "b"); !cmp.Equal(b.PrimaryKey, []string{"y"}) {
		t.Errorf("key %v", b.PrimaryKey)
	}
}

// TestDefaultSchema: it is that of the connection.
func TestDefaultSchema(t *testing.T) {
	_, dsn := open(t, `CREATE SCHEMA app; CREATE TABLE app.a(x integer); CREATE TABLE b(x integer, a integer)`)
	for path, want := range map[string]string{"app,public": "app", "missing,public": "public", "pg_catalog,app": "app", "missing": "", `"$user",app`: "app"} {
		pool, err := sql.Open("pgx", dsn+"&search_path="+path)
		if err != nil {
			t.Fatal(err)
		}
		s := inspect(t, pool)
		if s.Default != want {
			t.Errorf("%s: %q, want %q", path, s.Default, want)
		}
		for _, table := range s.Tables {
			of := map[string]string{"a": "app", "b": "public"}[table.Name]
			if of == want {
				of = ""
			}
			if table.Schema != of {
				t.Errorf("%s: %s is in %q, want %q", path, table.Name, table.Schema, of)
			}
		}
		pool.Close()
	}
}

// versionOf asks a connection under guard.
func versionOf(ctx context.Context, pool *sql.DB) (string, error) {
	conn, err := pool.Conn(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	open, err := postgres.Dialect{}.Guard(exec.GuardConfig{})
	if err != nil {
		return "", err
	}
	o, err := open(ctx, conn, time.Minute)
	if err != nil {
		return "", err
	}
	defer o.Close(false)
	return o.Conn.Version(ctx)
}

// TestVersion: what changes a schema changes its version, as soon as the server has counted it.
func TestVersion(t *testing.T) {
	pool, dsn := open(t, "")
	version := func() string {
		t.Helper()
		v, err := versionOf(t.Context(), pool)
		if err != nil || v == "" {
			t.Fatalf("%q, %v", v, err)
		}
		return v
	}
	// A Runner that ends leaves its counts at once.
	change := func(text string) {
		t.Helper()
		other, err := sql.Open("pgx", dsn)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := other.Exec(text); err != nil {
			t.Fatal(err)
		}
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
	}
	settled := func(before string) string { // the server counts when the session has gone
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if v := version(); v != before {
				before = v
				time.Sleep(50 * time.Millisecond)
				if version() == before {
					return before
				}
			}
		}
		t.Fatal("no other version within 20 seconds")
		return ""
	}
	last := version()
	change(`CREATE TABLE a(x integer, y integer); CREATE TYPE mood AS ENUM ('sad'); CREATE VIEW v AS SELECT x FROM a;
		CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'; INSERT INTO a SELECT i, i FROM generate_series(1, 1000) i`)
	last = settled(last)
	for _, text := range []string{
		"ALTER TABLE a RENAME COLUMN y TO z", "COMMENT ON COLUMN a.z IS 'last'", "COMMENT ON TABLE a IS 'all'",
		"CREATE FUNCTION lower(integer) RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'",
		"CREATE OR REPLACE VIEW v AS SELECT x FROM a WHERE x > 0", "ALTER TYPE mood ADD VALUE 'ok'", "CREATE TABLE b(x integer)",
		"ALTER TABLE a ALTER x SET NOT NULL", "ALTER TABLE a ALTER x SET DEFAULT 3", "CREATE UNIQUE INDEX ON b(x)",
		"ALTER TABLE a ADD CHECK (x > 0)", "CREATE ROLE version_reader; GRANT SELECT ON a TO version_reader; DROP OWNED BY version_reader; DROP ROLE version_reader",
		"DROP TABLE b", "ALTER SCHEMA public RENAME TO other",
	} {
		change(text)
		last = settled(last)
	}
	for _, text := range []string{"ANALYZE", "INSERT INTO other.a VALUES (9, 9)"} {
		change(text)
		time.Sleep(100 * time.Millisecond)
		if v := version(); v != last {
			t.Errorf("%s: the version was %s and is %s", text, last, v)
		}
	}
}

// wide is a schema of n tables with 20 columns each, 50 views, keys and comments.
func wide(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "CREATE TABLE t%d (id integer PRIMARY KEY, parent integer REFERENCES t%d, code varchar(10) UNIQUE", i, max(0, i-1))
		for j := range 17 {
			fmt.Fprintf(&b, ", c%d %s", j, []string{"text", "integer NOT NULL DEFAULT 0", "numeric(10,2)", "timestamp", "date"}[j%5])
		}
		fmt.Fprintf(&b, "); COMMENT ON TABLE t%[1]d IS 'table %[1]d'; COMMENT ON COLUMN t%[1]d.c0 IS 'column of %[1]d';\n", i)
	}
	for i := range 50 {
		fmt.Fprintf(&b, "CREATE VIEW v%d AS SELECT a.id, b.c1 FROM t%d a JOIN t%d b ON b.id = a.parent;\n", i, i, i)
	}
	return b.String()
}

// BenchmarkInspect reads a schema of 1,000 tables with 20 columns; 150 ms are the bar.
func BenchmarkInspect(b *testing.B) {
	pool, _ := open(b, wide(1000))
	if s := inspect(b, pool); len(s.Tables) != 1050 || len(s.Tables[999].Columns) != 20 || len(s.Tables[999].ForeignKeys) != 1 {
		b.Fatal(len(s.Tables), s.Tables[999])
	}
	for b.Loop() {
		inspect(b, pool)
	}
}

// BenchmarkVersion is asked before each use of a cached schema.
func BenchmarkVersion(b *testing.B) {
	pool, _ := open(b, wide(100))
	for b.Loop() {
		if _, err := versionOf(b.Context(), pool); err != nil {
			b.Fatal(err)
		}
	}
}
