package postgres_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
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
	script := testutil.Value(os.ReadFile(filepath.Join("testdata", "awkward.sql")))(t)
	pool, _ := open(t, string(script))
	testutil.Value(pool.Exec("CREATE TEMP TABLE passing (a integer)"))(t)
	s := inspect(t, pool)
	s.Version = ""
	got := testutil.Value(json.MarshalIndent(s, "", "  "))(t)
	golden.Check(t, "awkward.golden.json", append(got, '\n'))
}

func TestInspectEmpty(t *testing.T) {
	pool, _ := open(t, "")
	if s := inspect(t, pool); len(s.Tables) != 0 || s.Tables == nil || s.Dialect != "postgres" || s.Version == "" ||
		s.Default != "public" {
		t.Errorf("%+v", s)
	}
}

// TestInspectRights: the schema of a user who may not read everything.
func TestInspectRights(t *testing.T) {
	pool, dsn := open(t,
		`CREATE SCHEMA closed; CREATE TABLE closed.a(x integer); CREATE TABLE b(x integer, secret text, y integer PRIMARY KEY);
		CREATE TABLE c(b integer REFERENCES b); CREATE TABLE hidden(x integer); CREATE VIEW owners AS SELECT * FROM hidden;
		CREATE VIEW readers WITH (security_invoker=true) AS SELECT * FROM hidden;
		DROP ROLE IF EXISTS inspector; CREATE ROLE inspector LOGIN;
		GRANT SELECT ON closed.a, c, owners, readers TO inspector; GRANT SELECT (x, y) ON b TO inspector`)
	t.Cleanup(func() { _, _ = pool.Exec("DROP OWNED BY inspector; DROP ROLE inspector") })
	limited := testutil.Value(sql.Open("pgx", strings.Replace(dsn, "postgres@", "inspector@", 1)))(t)
	defer limited.Close()
	s := readCatalog(t, limited, exec.Policy{})
	var got []string
	for _, table := range s.Schema.Tables {
		for _, c := range table.Columns {
			got = append(got, table.Name+"."+c.Name)
		}
	}
	want := []string{"b.x", "b.y", "c.b", "owners.x"}
	if !cmp.Equal(got, want) || len(s.Warnings) != 2 || s.Warnings[1].Code != "broken-view" {
		t.Errorf("%v, want %v; %v", got, want, s.Warnings)
	}
	if b, _ := s.Schema.Lookup("", "b"); !cmp.Equal(b.PrimaryKey, []string{"y"}) {
		t.Errorf("key %v", b.PrimaryKey)
	}
}

// TestDefaultSchema: it is that of the connection.
func TestDefaultSchema(t *testing.T) {
	_, dsn := open(t, `CREATE SCHEMA app; CREATE TABLE app.a(x integer); CREATE TABLE b(x integer, a integer)`)
	for path, want := range map[string]string{"app,public": "app", "missing,public": "public", "pg_catalog,app": "app",
		"missing": "", `"$user",app`: "app"} {
		pool := testutil.Value(sql.Open("pgx", dsn+"&search_path="+path))(t)
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
		other := testutil.Value(sql.Open("pgx", dsn))(t)
		testutil.Value(other.Exec(text))(t)
		testutil.OK(t, other.Close())
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
		"CREATE FUNCTION lower(integer) RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"CREATE OR REPLACE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 2'",
		"CREATE OR REPLACE VIEW v AS SELECT x FROM a WHERE x > 0", "ALTER TYPE mood ADD VALUE 'ok'",
		"CREATE TABLE b(x integer)",
		"ALTER TABLE a ALTER x SET NOT NULL", "ALTER TABLE a ALTER x SET DEFAULT 3", "CREATE UNIQUE INDEX ON b(x)",
		"ALTER TABLE a ADD CHECK (x > 0)", "CREATE ROLE version_reader; GRANT SELECT ON a TO version_reader; " +
			"DROP OWNED BY version_reader; DROP ROLE version_reader",
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

// TestSample: rows of long and short tables, views and foreign kinds, under the guard.
func TestSample(t *testing.T) {
	const script = `CREATE TABLE long(id integer PRIMARY KEY, text text, doc json);
		INSERT INTO long SELECT i, repeat('ü', 300), '{"a": 1}' FROM generate_series(1, 120000) i;
		CREATE TABLE short(a integer, b bytea); INSERT INTO short SELECT i, '\x0102030405' FROM generate_series(1, 30) i;
		CREATE VIEW v AS SELECT id FROM long; CREATE SCHEMA app; CREATE TABLE app."Odd"("from" integer); INSERT INTO app."Odd" VALUES (1), (2);
		CREATE TABLE parts(k integer) PARTITION BY LIST (k); CREATE TABLE p1 PARTITION OF parts DEFAULT; INSERT INTO parts SELECT i FROM generate_series(1, 30000) i`
	pool, _ := open(t, script)
	db := dbtest.NewDB(t, pool, postgres.Dialect{}, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	for _, tt := range []struct {
		schema, table string
		o             exec.SampleOptions
		least, most   int
		whole, far    bool // whole: all rows of the table; far: from all over it
		reason        string
	}{
		{"", "short", exec.SampleOptions{Rows: 50, Cut: 2}, 30, 30, true, false, "a short table"},
		{"", "short", exec.SampleOptions{Rows: 3}, 3, 3, false, false, "its first rows"},
		{"", "long", exec.SampleOptions{Rows: 3, Cut: 256}, 3, 3, false, false, "the first rows of a long table"},
		{"", "long", exec.SampleOptions{Rows: 3, Spread: true, Seed: 7}, 3, 3, false, true, "rows of a prompt"},
		{"", "long", exec.SampleOptions{Rows: 5000, Spread: true, Seed: 7, Cut: 10}, 2500, 5000, false, true, "many rows"},
		{"", "parts", exec.SampleOptions{Rows: 50, Spread: true}, 25, 50, false, true, "partitions"},
		{"", "v", exec.SampleOptions{Rows: 4, Spread: true}, 4, 4, false, false, "a view has first rows only"},
		{"app", "Odd", exec.SampleOptions{Rows: 4, Spread: true}, 2, 2, true, false, "a schema and names that need quotes"},
	} {
		table, ok := s.Lookup(tt.schema, tt.table)
		if !ok {
			t.Fatal(tt.table)
		}
		got, err := db.Sample(t.Context(), *table, tt.o)
		if err != nil || len(got.Rows) < tt.least || len(got.Rows) > tt.most || got.Truncated == tt.whole && !tt.far {
			t.Errorf("%s: %v, %v", tt.reason, got, err)
			continue
		}
		if again, err := db.Sample(t.Context(), *table, tt.o); err != nil || !cmp.Equal(again.Rows, got.Rows) {
			t.Errorf("%s: another sample with the same options (%v)", tt.reason, err)
		}
		ids := make([]int64, len(got.Rows))
		for i, row := range got.Rows {
			ids[i], _ = row[0].(int64)
			for _, v := range row {
				if text, ok := v.(string); ok && tt.o.Cut > 0 && len([]rune(text)) > tt.o.Cut {
					t.Errorf("%s: a text of %d bytes", tt.reason, len(text))
				}
			}
		}
		if tt.far && slices.Max(ids)-slices.Min(ids) < 10_000 {
			t.Errorf("%s: only from %d to %d", tt.reason, slices.Min(ids), slices.Max(ids))
		}
	}
}

// TestProfile: types and counts of a profile.
func TestProfile(t *testing.T) {
	pool, _ := open(t,
		`CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t(id integer, m mood, n numeric, d date, code char(4), password text);
		INSERT INTO t SELECT i, (CASE WHEN i % 3 = 0 THEN 'sad' ELSE 'ok' END)::mood, i / 4.0, date '2024-01-01' + i % 2, 'c', 'x' FROM generate_series(1, 40) i`)
	db := dbtest.NewDB(t, pool, postgres.Dialect{}, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	got := testutil.Value(db.Profile(t.Context(), s, exec.ProfileOptions{}))(t)
	columns := got.Tables[0].Columns
	if *got.Tables[0].Rows != 40 || len(columns) != 5 {
		t.Errorf("%+v", got.Tables[0])
	}
	for i, want := range []string{"1 40 40", "ok sad 2", "0.25 10 40", "2024-01-01 2024-01-02 2", "c c 1"} {
		p := columns[i].Profile
		if s := fmt.Sprint(p.Min, " ", p.Max, " ", p.Distinct); s != want || !p.Complete {
			t.Errorf("%s: %s, want %s", columns[i].Name, s, want)
		}
	}
}

// TestWarnings: a superuser and an owner are told, once.
func TestWarnings(t *testing.T) {
	pool, dsn := open(t, "DROP ROLE IF EXISTS warned; CREATE ROLE warned LOGIN; CREATE TABLE t(a integer); GRANT SELECT "+
		"ON t TO warned")
	t.Cleanup(func() { _, _ = pool.Exec("DROP OWNED BY warned; DROP ROLE warned") })
	limited := testutil.Value(sql.Open("pgx", strings.Replace(dsn, "postgres@", "warned@", 1)))(t)
	defer limited.Close()
	codes := func(pool *sql.DB) (codes []string) {
		t.Helper()
		db := dbtest.NewDB(t, pool, postgres.Dialect{}, exec.Config{})
		for range 2 {
			testutil.Value(db.Schema(t.Context()))(t)
		}
		for _, w := range db.Warnings() {
			if w.Code != "idle-connections" { // of the pool, which this test sets
				codes = append(codes, w.Code)
			}
		}
		return codes
	}
	if got := codes(pool); !cmp.Equal(got, []string{"privileged-user"}) {
		t.Errorf("superuser: %v", got)
	}
	if got := codes(limited); !cmp.Equal(got, []string{"temp-files-unbounded"}) {
		t.Errorf("reader: %v", got)
	}
	testutil.Value(pool.Exec("ALTER TABLE t OWNER TO warned; ALTER ROLE warned SET temp_file_limit = '1MB'"))(t)
	limited.SetMaxIdleConns(0) // a new session has the setting
	if got := codes(limited); !cmp.Equal(got, []string{"privileged-user"}) {
		t.Errorf("owner: %v", got)
	}
}

// TestToldTypes: the schema tells what is in a composite type and whose rows a table has, and a result the names of
// types.
func TestToldTypes(t *testing.T) {
	pool, _ := open(t,
		`CREATE EXTENSION citext; CREATE EXTENSION hstore; CREATE TYPE hue AS ENUM ('red'); CREATE TYPE point3 AS (x int, y int);
		CREATE TYPE place AS (street text, "Post Code" varchar(9), at point3);
		CREATE TABLE client(id int PRIMARY KEY, lives place, lived place[], h hue, hs hue[], c citext, s hstore);
		CREATE TABLE owns(c client); INSERT INTO client(id, lives, h, hs, c, s) VALUES (1, ROW('a', 'b', ROW(1, 2)), 'red', '{red}', 'X', 'k=>1');
		CREATE TABLE pet(id int); CREATE TABLE hound(breed text) INHERITS (pet); COMMENT ON TABLE pet IS 'All pets';
		INSERT INTO pet VALUES (1); INSERT INTO hound VALUES (2, 'x'); CREATE TABLE parts(k int) PARTITION BY LIST (k); CREATE TABLE p1 PARTITION OF parts DEFAULT`)
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	client, _ := s.Lookup("", "client")
	fields := "fields (street text, Post Code character varying(9), at point3 (x integer, y integer))"
	for name, want := range map[string]string{"id": "", "lives": fields, "lived": fields, "h": ""} {
		if c, _ := client.Column(name); c.Description != want {
			t.Errorf("%s: %q, want %q", name, c.Description, want)
		}
	}
	told := "All pets; has the rows of hound too, which inherit from it: FROM ONLY leaves them out"
	for name, want := range map[string]string{"pet": told, "hound": "", "parts": ""} {
		if table, _ := s.Lookup("", name); table.Description != want {
			t.Errorf("%s: %q, want %q", name, table.Description, want)
		}
	}
	hidden := newDB(t, pool, exec.Config{Policy: exec.Policy{AllowTables: []string{"pet"}}})
	if table, _ := testutil.Value(hidden.Schema(t.Context()))(t).Lookup("", "pet"); strings.Contains(table.Description,
		"hound") {
		t.Errorf("a child that may not be read is named: %s", table.Description)
	}
	rows := testutil.Value(db.Query(t.Context(),
		"SELECT (SELECT count(*) FROM pet), (SELECT count(*) FROM ONLY pet)"))(t).Rows
	if fmt.Sprint(rows) != "[[2 1]]" {
		t.Errorf("rows of a parent: %v", rows)
	}
	var types []string
	for _, of := range testutil.Value(db.Query(t.Context(), "SELECT h, hs, c, s, lives, lived FROM client"))(t).Types {
		types = append(types, of.Name+" "+string(of.Kind))
	}
	if diff := cmp.Diff([]string{"hue text", "hue[] list", "citext text", "hstore ", "place ", "place[] list"},
		types); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}
