package postgres_test

import (
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/trace"
)

// TestSample: rows of long and short tables, views and foreign kinds, under the guard.
func TestSample(t *testing.T) {
	const script = `CREATE TABLE long(id integer PRIMARY KEY, text text, doc json);
		INSERT INTO long SELECT i, repeat('ü', 300), '{"a": 1}' FROM generate_series(1, 120000) i;
		CREATE TABLE short(a integer, b bytea); INSERT INTO short SELECT i, '\x0102030405' FROM generate_series(1, 30) i;
		CREATE VIEW v AS SELECT id FROM long; CREATE SCHEMA app; CREATE TABLE app."Odd"("from" integer); INSERT INTO app."Odd" VALUES (1), (2);
		CREATE TABLE parts(k integer) PARTITION BY LIST (k); CREATE TABLE p1 PARTITION OF parts DEFAULT; INSERT INTO parts SELECT i FROM generate_series(1, 30000) i`
	pool, _ := open(t, script)
	db, err := exec.New(pool, postgres.Dialect{}, exec.Config{Policy: revealed(exec.Policy{})})
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
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
	pool, _ := open(t, `CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t(id integer, m mood, n numeric, d date, code char(4), password text);
		INSERT INTO t SELECT i, (CASE WHEN i % 3 = 0 THEN 'sad' ELSE 'ok' END)::mood, i / 4.0, date '2024-01-01' + i % 2, 'c', 'x' FROM generate_series(1, 40) i`)
	db, err := exec.New(pool, postgres.Dialect{}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := db.Schema(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := db.Profile(t.Context(), s, exec.ProfileOptions{})
	if err != nil {
		t.Fatal(err)
	}
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
	pool, dsn := open(t, "DROP ROLE IF EXISTS warned; CREATE ROLE warned LOGIN; CREATE TABLE t(a integer); GRANT SELECT ON t TO warned")
	t.Cleanup(func() { _, _ = pool.Exec("DROP OWNED BY warned; DROP ROLE warned") })
	limited, err := sql.Open("pgx", strings.Replace(dsn, "postgres@", "warned@", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer limited.Close()
	codes := func(pool *sql.DB) (codes []string) {
		t.Helper()
		db, err := exec.New(pool, postgres.Dialect{}, exec.Config{Policy: revealed(exec.Policy{})})
		if err != nil {
			t.Fatal(err)
		}
		ctx, span := trace.Start(trace.Into(t.Context(), trace.New("test")), "schema")
		for range 2 {
			if _, err := db.Schema(ctx); err != nil {
				t.Fatal(err)
			}
		}
		for _, w := range span.Warnings() {
			codes = append(codes, w.Code)
		}
		return codes
	}
	if got := codes(pool); !cmp.Equal(got, []string{"privileged-user"}) {
		t.Errorf("superuser: %v", got)
	}
	if got := codes(limited); !cmp.Equal(got, []string{"temp-files-unbounded"}) {
		t.Errorf("reader: %v", got)
	}
	if _, err := pool.Exec("ALTER TABLE t OWNER TO warned; ALTER ROLE warned SET temp_file_limit = '1MB'"); err != nil {
		t.Fatal(err)
	}
	limited.SetMaxIdleConns(0) // a new session has the setting
	if got := codes(limited); !cmp.Equal(got, []string{"privileged-user"}) {
		t.Errorf("owner: %v", got)
	}
}
