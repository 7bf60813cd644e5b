package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// profiled returns a table of a new database with its profile.
func profiled(t *testing.T, script, table string, c exec.Config, o exec.ProfileOptions) *schema.Table {
	t.Helper()
	pool, _ := open(t, script)
	db := newDB(t, pool, c)
	s := testutil.Value(db.Schema(t.Context()))(t)
	s = testutil.Value(db.Profile(t.Context(), s, o))(t)
	out, ok := s.Lookup("", table)
	if !ok {
		t.Fatalf("no table %s", table)
	}
	return out
}

func column(t *testing.T, table *schema.Table, name string) *schema.Profile {
	t.Helper()
	c, ok := table.Column(name)
	if !ok {
		t.Fatalf("no column %s", name)
	}
	return c.Profile
}

func TestProfile(t *testing.T) {
	table := profiled(t, `CREATE TABLE t(kind TEXT, n, seen DATE, ok BOOLEAN, note TEXT, empty);
		INSERT INTO t VALUES ('b', 1, '2020-01-01', 1, 'x', NULL), ('a', 1.0, 'no date', 0, NULL, NULL),
			('b', 'text', '2021-01-01', 5, printf('%.300c', 'a'), NULL), ('a', x'00ff', NULL, 1, printf('%.300c', 'a') || 'b', NULL),
			('a', 2.5, '2020-01-01', 1, '', NULL)`, "t", exec.Config{}, exec.ProfileOptions{})
	if table.Rows == nil || *table.Rows != 5 || table.RowsAtLeast {
		t.Errorf("rows %v, at least %v", table.Rows, table.RowsAtLeast)
	}
	want := map[string]*schema.Profile{
		"kind": {Sampled: 5, Complete: true, Distinct: 2, Min: "a", Max: "b",
			Top: []schema.Value{{Value: "a", Count: 3}, {Value: "b", Count: 2}}, Examples: []any{"a", "b"}},
		// 1 and 1.0 are equal; a blob is no example.
		"n": {Sampled: 5, Complete: true, Distinct: 4, Min: int64(1), Max: []byte{0, 255},
			Top: []schema.Value{{Value: int64(1), Count: 2}, {Value: 2.5, Count: 1}, {Value: "text", Count: 1},
				{Value: []byte{0, 255}, Count: 1}},
			Examples: []any{int64(1), 2.5, "text"}},
		// The driver would make dates and truth values of these.
		"seen": {Sampled: 5, Complete: true, Nulls: 1, Distinct: 3, Min: "2020-01-01", Max: "no date",
			Top: []schema.Value{{Value: "2020-01-01", Count: 2}, {Value: "2021-01-01", Count: 1},
				{Value: "no date", Count: 1}},
			Examples: []any{"2020-01-01", "2021-01-01", "no date"}},
		"ok": {Sampled: 5, Complete: true, Distinct: 3, Min: int64(0), Max: int64(5),
			Top:      []schema.Value{{Value: int64(1), Count: 3}, {Value: int64(0), Count: 1}, {Value: int64(5), Count: 1}},
			Examples: []any{int64(0), int64(1), int64(5)}},
		// The two long texts agree in what is read of them and are not shown.
		"note": {
			Sampled: 5, Complete: true, Nulls: 1, Distinct: 3, Min: "", Max: "x", Top: []schema.Value{{Value: "", Count: 1},
				{Value: "x", Count: 1}},
			Examples: []any{"x"},
		},
		"empty": {Sampled: 5, Complete: true, Nulls: 5},
	}
	for name, profile := range want {
		if diff := cmp.Diff(profile, column(t, table, name)); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

// numbers makes a table of n rows.
func numbers(n int, table string) string {
	return fmt.Sprintf(`CREATE TABLE %[2]s;
		INSERT INTO t(a, b) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %[1]d) SELECT i, i %% 7 FROM n`, n, table)
}

func TestProfileLongTable(t *testing.T) {
	for _, c := range []struct {
		name, table string
		spread      bool
		why         string
	}{
		{"rowid", "t(a, b)", true, ""},
		{"key", "t(a INTEGER PRIMARY KEY, b)", true, ""},
		{"hidden rowid", "t(a, b, rowid, oid)", true, "_rowid_ is left"},
		{"no rowid name", "t(a, b, rowid, oid, _rowid_)", false, "nothing to search by: the start of the table"},
		{"without rowid", "t(a PRIMARY KEY, b) WITHOUT ROWID", false, "the same"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := exec.ProfileOptions{Rows: 1000, Count: 5000}
			table := profiled(t, numbers(20_000, c.table), "t", exec.Config{}, o)
			if *table.Rows != 5000 || !table.RowsAtLeast {
				t.Errorf("rows %d, at least %v", *table.Rows, table.RowsAtLeast)
			}
			p := column(t, table, "a")
			if p.Sampled != 1000 || p.Complete || p.Distinct != 1000 || p.Min != int64(1) {
				t.Errorf("%+v", p)
			}
			if got := p.Max.(int64) > 19_000; got != c.spread {
				t.Errorf("the largest value seen is %v: %s", p.Max, c.why)
			}
		})
	}
}

func TestProfileGaps(t *testing.T) {
	table := profiled(t, numbers(3000, "t(a INTEGER PRIMARY KEY, b)")+`;
		UPDATE t SET a = -9223372036854775808 WHERE a = 1; UPDATE t SET a = 9223372036854775807 WHERE a = 3000`,
		"t", exec.Config{}, exec.ProfileOptions{Rows: 1000})
	p := column(t, table, "a")
	// Nearly all rows lie in one of the 20 parts: the first rows serve better.
	if p.Sampled != 1000 || p.Min != int64(-1<<63) || p.Max != int64(1000) || *table.Rows != 3000 || p.Complete {
		t.Errorf("%+v of %d rows", p, *table.Rows)
	}
}

func TestProfileDeterminism(t *testing.T) {
	pool, _ := open(t, numbers(5000, "t(a INTEGER PRIMARY KEY, b)"))
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	profile := func(seed uint64) *schema.Profile {
		out := testutil.Value(db.Profile(t.Context(), s, exec.ProfileOptions{Rows: 100, Seed: seed}))(t)
		table, _ := out.Lookup("", "t")
		return column(t, table, "a")
	}
	first := profile(1)
	for range 5 {
		if diff := cmp.Diff(first, profile(1)); diff != "" {
			t.Fatalf("one seed, two profiles\n%s", diff)
		}
	}
	if cmp.Equal(first.Examples, profile(2).Examples) {
		t.Error("two seeds give the same examples of 5,000 values")
	}
	if s.Tables[0].Columns[0].Profile != nil {
		t.Error("the schema given was changed")
	}
}

func TestProfilePolicy(t *testing.T) {
	pool, _ := open(t, fixture)
	db := newDB(t, pool,
		exec.Config{Policy: exec.Policy{DenyTables: []string{"t"}, DenyColumns: []string{"users.password"}}})
	full := catalogOf(t, pool).Schema // more than the policy allows
	for i := range full.Tables {
		for c := range full.Tables[i].Columns {
			if full.Tables[i].Columns[c].Name == "name" {
				full.Tables[i].Columns[c].Sensitive = true
			}
		}
	}
	out, err := db.Profile(t.Context(), full, exec.ProfileOptions{})
	if err == nil || !strings.Contains(err.Error(), "profiling t:") {
		t.Errorf("no error for the denied table: %v", err)
	}
	users, _ := out.Lookup("", "users")
	if column(t, users, "id") == nil || column(t, users, "name") != nil || column(t, users, "password") != nil {
		t.Errorf("profiles of denied or sensitive columns: %+v", users.Columns)
	}
	if denied, _ := out.Lookup("", "t"); denied.Rows != nil || denied.Columns[0].Profile != nil {
		t.Errorf("a denied table was profiled: %+v", denied)
	}

	whole, _ := full.Lookup("", "users")
	sample := testutil.Value(db.Sample(t.Context(), *whole, exec.SampleOptions{Rows: 2}))(t)
	want := &result.Table{Columns: []string{"id"}, Types: []result.Type{{Name: "INTEGER", Kind: result.KindInt}},
		Rows: [][]any{{int64(1)}, {int64(2)}}, Truncated: true}
	if diff := cmp.Diff(want, sample); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if _, err := db.Sample(t.Context(), schema.Table{Name: "t", Columns: []schema.Column{{Name: "a"}}},
		exec.SampleOptions{Rows: 1}); err == nil {
		t.Error("a denied table was sampled")
	}
}

// TestProfileHugeValue: a value over the limit on cells costs its column the
// profile, and nothing else.
func TestProfileHugeValue(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE t(a INTEGER, doc TEXT, pic BLOB, b TEXT);
		INSERT INTO t VALUES (1, printf('%.2000000c', 'x'), zeroblob(3000000), 'y')`)
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	out, err := db.Profile(t.Context(), s, exec.ProfileOptions{})
	var limit *exec.LimitError
	if !errors.As(err, &limit) || !strings.Contains(err.Error(), "column doc") {
		t.Errorf("error %v", err)
	}
	table, _ := out.Lookup("", "t")
	if *table.Rows != 1 || column(t, table, "a") == nil || column(t, table, "b") == nil || column(t, table, "doc") != nil {
		t.Errorf("%+v", table)
	}
	sample := testutil.Value(db.Sample(t.Context(), s.Tables[0], exec.SampleOptions{Rows: 3}))(t)
	if diff := cmp.Diff(testutil.Value(db.Query(t.Context(), "SELECT a, b FROM t"))(t), sample); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestProfileViews(t *testing.T) {
	script := numbers(100, "t(a INTEGER PRIMARY KEY, b)") + `; CREATE VIEW v AS SELECT b, count(*) AS n FROM t GROUP BY b;
		CREATE VIRTUAL TABLE notes USING fts4(body); INSERT INTO notes VALUES ('one'), ('two')`
	v := profiled(t, script, "v", exec.Config{}, exec.ProfileOptions{})
	if v.Rows != nil || column(t, v, "n") != nil {
		t.Errorf("a view was profiled unasked: %+v", v)
	}
	v = profiled(t, script, "v", exec.Config{}, exec.ProfileOptions{Tables: []string{"V"}})
	if *v.Rows != 7 || column(t, v, "n").Distinct != 2 {
		t.Errorf("%+v", v)
	}
	notes := profiled(t, script, "notes", exec.Config{}, exec.ProfileOptions{})
	if *notes.Rows != 2 || column(t, notes, "body").Distinct != 2 {
		t.Errorf("a virtual table: %+v", notes)
	}
}

func TestProfileOptionFaults(t *testing.T) {
	pool, _ := open(t, fixture)
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	if out, err := db.Profile(t.Context(), s, exec.ProfileOptions{Rows: -1}); err == nil || out != nil {
		t.Errorf("negative rows: %v", err)
	}
	out, err := db.Profile(t.Context(), s, exec.ProfileOptions{Tables: []string{"main.t", "nosuch"}})
	if err == nil || !strings.Contains(err.Error(), "nosuch") || out == nil {
		t.Errorf("unknown table: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Profile(ended, s, exec.ProfileOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := db.Sample(t.Context(), s.Tables[0], exec.SampleOptions{Rows: 0}); err == nil {
		t.Error("no error for 0 rows")
	}
}

// TestProfileTimeout: a view that never ends costs its time-out, and the others
// are profiled.
func TestProfileTimeout(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE t(a); INSERT INTO t VALUES (1);
		CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) AS i FROM n`)
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	out, err := db.Profile(t.Context(), s, exec.ProfileOptions{Tables: []string{"endless", "t"},
		TableTimeout: 500 * time.Millisecond})
	var limit *exec.LimitError
	if !errors.As(err, &limit) || limit.Limit != "time" || limit.Max != "500ms" {
		t.Errorf("error %v", err)
	}
	if table, _ := out.Lookup("", "t"); column(t, table, "a") == nil {
		t.Error("the other table has no profile")
	}
	if view, _ := out.Lookup("", "endless"); column(t, view, "i") != nil {
		t.Error("the endless view has a profile")
	}
}

// TestSampleRowsReadsLittle counts what a spread sample of a long table reads.
func TestSampleRowsReadsLittle(t *testing.T) {
	pool, _ := open(t, numbers(50_000, "t(a INTEGER PRIMARY KEY, b)")+"; CREATE INDEX i ON t(b)")
	db := newDB(t, pool, exec.Config{})
	var statements, rows atomic.Int64
	run := func(ctx context.Context, sql string, n int) (*result.Table, error) {
		statements.Add(1)
		plan, err := db.Explain(ctx, sql)
		if err != nil {
			return nil, err
		}
		if strings.Contains(sql, "BETWEEN") && plan.Cost() > 0 {
			t.Errorf("%s is no search: %s", sql, plan.Signature())
		}
		out, err := db.QueryWithin(ctx, sql, exec.Bounds{Rows: n})
		if err == nil {
			rows.Add(int64(len(out.Rows)))
		}
		return out, err
	}
	s := testutil.Value(db.Schema(t.Context()))(t)
	got := testutil.Value(sqlite.Dialect{}.SampleRows(t.Context(), run, s.Tables[0], exec.SampleOptions{
		Columns: []string{"b"}, Rows: 1007, Count: 2000, Spread: true,
	}))(t)
	if len(got.Rows) != 1007 || got.Count != 2000 || !got.CountAtLeast || got.Complete {
		t.Errorf("%d rows, count %d, at least %v, complete %v", len(got.Rows), got.Count, got.CountAtLeast, got.Complete)
	}
	if statements.Load() != 22 || rows.Load() != 1009 {
		t.Errorf("%d statements read %d rows", statements.Load(), rows.Load())
	}
}

// TestSampleOrder: an index that covers the columns must not change the order.
func TestSampleOrder(t *testing.T) {
	pool, _ := open(t,
		`CREATE TABLE "a ""b"(x, y); CREATE INDEX i ON "a ""b"(x); INSERT INTO "a ""b" VALUES (3, 1), (1, 2), (2, 3)`)
	db := newDB(t, pool, exec.Config{})
	got := testutil.Value(db.Sample(t.Context(), schema.Table{Name: `a "b`, Columns: []schema.Column{{Name: "x"}}},
		exec.SampleOptions{Rows: 2}))(t)
	want := &result.Table{Columns: []string{"x"}, Types: []result.Type{{}}, Rows: [][]any{{int64(3)}, {int64(1)}},
		Truncated: true}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestSampleShown: a sample shows values as a statement does, also where some columns are left out.
func TestSampleShown(t *testing.T) {
	pool, _ := open(t,
		`CREATE TABLE t(id INTEGER PRIMARY KEY, paid BOOLEAN, password TEXT, price DECIMAL(9,2), at TIMESTAMP);
INSERT INTO t VALUES (1, 1, 'a', 2.5, '2024-01-01 10:00:00'), (2, 0, 'b', 3, NULL)`)
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	sample := testutil.Value(db.Sample(t.Context(), s.Tables[0], exec.SampleOptions{Rows: 5}))(t)
	rows := testutil.Value(db.Query(t.Context(), "SELECT id, paid, price, at FROM t ORDER BY id"))(t)
	if diff := cmp.Diff(rows.Shown(), sample.Shown()); diff != "" {
		t.Errorf("-statement +sample\n%s", diff)
	}
}

func BenchmarkProfile(b *testing.B) {
	pool, _ := open(b, numbers(200_000, "t(a INTEGER PRIMARY KEY, b)"))
	db := newDB(b, pool, exec.Config{})
	s, err := db.Schema(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := db.Profile(b.Context(), s, exec.ProfileOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// TestProfileWide: more columns than one statement reads.
func TestProfileWide(t *testing.T) {
	var b strings.Builder
	b.WriteString("CREATE TABLE t(c0")
	for i := 1; i < 700; i++ {
		fmt.Fprintf(&b, ", c%d DEFAULT %d", i, i)
	}
	table := profiled(t, b.String()+"); INSERT INTO t(c0) VALUES (0), (1)", "t", exec.Config{}, exec.ProfileOptions{})
	if *table.Rows != 2 {
		t.Errorf("%d rows", *table.Rows)
	}
	for i, c := range table.Columns {
		if i > 0 && (c.Profile == nil || c.Profile.Min != int64(i)) {
			t.Fatalf("%s: %+v", c.Name, c.Profile)
		}
	}
}

// TestProfileAttached: two tables of one name in two databases.
func TestProfileAttached(t *testing.T) {
	pool, file := open(t, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)")
	pool.SetMaxOpenConns(1)
	testutil.Value(pool.Exec(`ATTACH '` + filepath.Join(filepath.Dir(file), "other.db") + `' AS "the other";
		CREATE TABLE "the other".t(a); INSERT INTO "the other".t VALUES (3)`))(t)
	db := newDB(t, pool, exec.Config{})
	s := testutil.Value(db.Schema(t.Context()))(t)
	s = testutil.Value(db.Profile(t.Context(), s, exec.ProfileOptions{}))(t)
	for name, want := range map[string]int64{"": 2, "the other": 1} {
		table, _ := s.Lookup(name, "t")
		if *table.Rows != want || column(t, table, "a").Sampled != want {
			t.Errorf("%q: %d rows", name, *table.Rows)
		}
		sample, err := db.Sample(t.Context(), *table, exec.SampleOptions{Rows: 5})
		if err != nil || int64(len(sample.Rows)) != want {
			t.Errorf("%q: %+v, %v", name, sample, err)
		}
	}
}

// TestSpreadFew: of a few rows the first is a random one too.
func TestSpreadFew(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE n (id INTEGER PRIMARY KEY);
		WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM c WHERE n < 3000) INSERT INTO n SELECT n FROM c`)
	db := newDB(t, pool, exec.Config{})
	first := map[any]bool{}
	for seed := range uint64(5) {
		got, err := db.Sample(t.Context(), schema.Table{Name: "n", Columns: []schema.Column{{Name: "id"}}},
			exec.SampleOptions{Rows: 3, Spread: true, Seed: seed})
		if err != nil || len(got.Rows) != 3 {
			t.Fatal(got, err)
		}
		for i, row := range got.Rows {
			if id := row[0].(int64); (id-1)/1000 != int64(i) {
				t.Errorf("seed %d: row %d is %d, of another third", seed, i, id)
			}
		}
		first[got.Rows[0][0]] = true
	}
	if len(first) != 5 || first[int64(1)] {
		t.Errorf("first rows by seed: %v", first)
	}
	for rows := range 9 {
		pool, _ := open(t,
			fmt.Sprintf("CREATE TABLE n (id INTEGER PRIMARY KEY); INSERT INTO n SELECT value "+
				"FROM json_each('[1,2,3,4,5,6,7,8]') LIMIT %d", rows))
		got, err := newDB(t, pool, exec.Config{}).Sample(t.Context(),
			schema.Table{Name: "n", Columns: []schema.Column{{Name: "id"}}},
			exec.SampleOptions{Rows: 3, Spread: true})
		if err != nil || len(got.Rows) != min(rows, 3) {
			t.Errorf("of %d rows came %v, %v", rows, got, err)
		}
	}
}
