package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestWornConnection holds one connection so often that it is due.
func TestWornConnection(t *testing.T) {
	for _, test := range []struct {
		why   string
		dsn   func(t *testing.T) string
		drops bool
	}{
		{"on disk", func(t *testing.T) string { return filepath.Join(t.TempDir(), "test.db") }, true},
		{"in memory", func(*testing.T) string { return ":memory:" }, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			pool := testutil.Value(sql.Open("sqlite3", test.dsn(t)))(t)
			defer pool.Close()
			pool.SetMaxOpenConns(1)
			first := connectionOf(t, pool)
			open := testutil.Value(sqlite.Dialect{}.Guard(exec.GuardConfig{}))(t)
			ctx := context.Background()
			held := 0
			for ; held < 10_050 && connectionOf(t, pool) == first; held++ {
				conn := testutil.Value(pool.Conn(ctx))(t)
				h := testutil.Value(open(ctx, conn, 1e9))(t)
				testutil.OK(t, h.Close(false))
				conn.Close()
			}
			if dropped := held < 10_050; dropped != test.drops {
				t.Errorf("dropped after %d: %v, want %v", held, dropped, test.drops)
			}
		})
	}
}

// hooked is a connector that sets every new connection up.
type hooked struct {
	dsn  string
	hook func(*sqlite3.SQLiteConn) error
}

func (h hooked) Connect(context.Context) (driver.Conn, error) { return h.Driver().Open(h.dsn) }
func (h hooked) Driver() driver.Driver                        { return &sqlite3.SQLiteDriver{ConnectHook: h.hook} }

// TestOwnFunctions is about functions of the application, one of which takes the
// place of a built-in one.
func TestOwnFunctions(t *testing.T) {
	_, file := open(t, fixture)
	called := 0
	own := func(s string) string { called++; return s }
	pool := sql.OpenDB(hooked{file, func(c *sqlite3.SQLiteConn) error {
		return errors.Join(c.RegisterFunc("audit", own, true), c.RegisterFunc("upper", own, true))
	}})
	defer pool.Close()
	ctx := context.Background()
	careful := newDB(t, pool, exec.Config{})
	for _, text := range []string{"SELECT audit(b) FROM t", "SELECT upper(b) FROM t"} {
		var refused *exec.RefusedError
		if _, err := careful.Query(ctx, text); !errors.As(err, &refused) || refused.Reason != "function" {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := careful.Query(ctx, "SELECT lower(b) FROM t"); err != nil {
		t.Error(err)
	}
	if called != 0 {
		t.Errorf("called %d times", called)
	}
	trusting := newDB(t, pool, exec.Config{Policy: exec.Policy{AllowFunctions: []string{"Audit", "upper"}}})
	if _, err := trusting.Query(ctx, "SELECT audit(upper(b)) FROM t WHERE b IS NOT NULL"); err != nil || called != 8 {
		t.Errorf("called %d times, %v", called, err)
	}
}

// TestVirtualTables uses them on connections that did not make them, and after
// somebody else changed the schema.
func TestVirtualTables(t *testing.T) {
	other, file := open(t, dbtest.PolicyScript+secrets)
	pool := testutil.Value(sql.Open("sqlite3", file))(t)
	defer pool.Close()
	db := newDB(t, pool, exec.Config{})
	ctx := context.Background()
	look := func() {
		t.Helper()
		for _, text := range []string{
			"SELECT body FROM docs WHERE docs MATCH 'hidden'",
			"SELECT id FROM boxes WHERE x1 = 1",
			"SELECT count(*) FROM doc_terms WHERE col = '*'",
		} {
			table, err := db.Query(ctx, text)
			if err != nil || len(table.Rows) != 1 {
				t.Errorf("%s: %v, %v", text, table, err)
			}
		}
	}
	look()
	testutil.Value(other.Exec("CREATE TABLE another(x)"))(t)
	look()
	for _, text := range []string{"INSERT INTO docs(docs) VALUES ('optimize')", "SELECT optimize(docs) FROM docs",
		"SELECT rtreecheck('boxes')"} {
		if _, err := db.Query(ctx, text); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestAttached reads a database that the application attached.
func TestAttached(t *testing.T) {
	_, file := open(t, dbtest.PolicyScript+secrets)
	pool, _ := open(t, fixture)
	pool.SetMaxOpenConns(1)
	testutil.Value(pool.Exec("ATTACH ? AS \"the other\"", file))(t)
	ctx := context.Background()
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{
		DenyColumns: []string{`"the other".users.password`}, DenyTables: []string{"main.t"}, Reveal: []string{"*"},
	}})
	for text, allowed := range map[string]bool{
		`SELECT name FROM "the other".users`:             true,
		`SELECT password FROM "the other".users`:         false,
		`SELECT password FROM users`:                     true, // that of main
		`SELECT a FROM t`:                                false,
		`SELECT a FROM "the other".t`:                    true,
		`SELECT total FROM orders`:                       true, // main has none
		`SELECT count(*) FROM "the other".sqlite_master`: false,
		`SELECT count(*) FROM "the other".users JOIN "the other".keyring k USING (id)`: false, // no such column
	} {
		if _, err := db.Query(ctx, text); (err == nil) != allowed {
			t.Errorf("%s: %v", text, err)
		}
	}
	db = newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{`"the other".users.password`},
		DenyTables: []string{`"the other".t`, "main.users"}}})
	for text, want := range map[string]string{
		"SELECT a FROM t":             "", // that of main
		"SELECT count(*) FROM main.t": "",
		`SELECT a FROM "the other".t`: "exec: refused (table): the other.t: no such table, " +
			"or you may not read it",
		"SELECT count(*) FROM t": "exec: refused (table): the other.t may not be read, " +
			"and t could be that one: name its schema",
		"SELECT id FROM users": "exec: refused (table): users: no such table, " +
			"or you may not read it",
		"SELECT count(*) FROM users": "exec: refused (table): users: no such table, " +
			"or you may not read it",
		`SELECT password FROM "the other".users`: "exec: refused (column): password: no such column, " +
			"or you may not read it",
		`SELECT count(*) FROM "the other".sqlite_master`: "exec: refused (table): the other.sqlite_master: no such table, " +
			"or you may not read it",
		`SELECT count(*) FROM "the other".keyring, users`: "exec: refused (table): users: no such table, " +
			"or you may not read it",
	} {
		if _, err := db.Query(ctx, text); (err != nil || want != "") && fmt.Sprint(err) != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	a, err := db.Analyze(ctx, `SELECT name FROM "the other".users`)
	want := []exec.TableRead{{Schema: "the other", Table: "users", Columns: []string{"name"}}}
	if err != nil || !cmp.Equal(want, a.Tables) {
		t.Errorf("%+v, %v", a, err)
	}
}

// TestStatementCache runs a text that the application has in the cache of the
// connection, compiled without a guard.
func TestStatementCache(t *testing.T) {
	_, file := open(t, fixture)
	pool := testutil.Value(sql.Open("sqlite3", "file:"+file+"?_stmt_cache_size=10"))(t)
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	const text = "SELECT password FROM users"
	use := func() {
		t.Helper()
		var s string
		for range 3 {
			testutil.OK(t, pool.QueryRow(text).Scan(&s))
		}
	}
	use()
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	if table, err := db.Query(context.Background(), text); !errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("%v, %v", table, err)
	}
	use()
}

// TestTempStore warns of sorts in memory.
func TestTempStore(t *testing.T) {
	pool, _ := open(t, fixture)
	pool.SetMaxOpenConns(1)
	db := newDB(t, pool, exec.Config{Policy: exec.Policy{Reveal: []string{"password"}}})
	codes := func() (codes []string) {
		testutil.Value(db.Schema(t.Context()))(t)
		for _, w := range db.Warnings() {
			codes = append(codes, w.Code)
		}
		return codes
	}
	if got := codes(); got != nil {
		t.Errorf("warnings %v", got)
	}
	testutil.Value(pool.Exec("PRAGMA temp_store = MEMORY"))(t)
	db = newDB(t, pool, exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}}) // it is looked at with the catalog
	if got := codes(); !cmp.Equal(got, []string{"temp-store-memory"}) {
		t.Errorf("warnings %v", got)
	}
	if _, err := db.Query(context.Background(), "SELECT a FROM t ORDER BY b"); err != nil {
		t.Error(err)
	}
}

// BenchmarkHold puts the guard on a connection and takes it off.
func BenchmarkHold(b *testing.B) {
	pool, _ := open(b, fixture)
	for _, bench := range []struct {
		name   string
		policy exec.Policy
	}{
		{"plain", exec.Policy{}},
		{"policy", exec.Policy{DenyColumns: []string{"users.password"}}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			ctx := context.Background()
			open, err := sqlite.Dialect{}.Guard(exec.GuardConfig{Policy: bench.policy})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				conn, err := pool.Conn(ctx) // anew: the guard drops one after 10,000 installs
				if err != nil {
					b.Fatal(err)
				}
				held, err := open(ctx, conn, time.Second)
				if err != nil {
					b.Fatal(err)
				}
				if err := held.Close(false); err != nil {
					b.Fatal(err)
				}
				conn.Close()
			}
		})
	}
}

// TestCompilingEnds: SQLite compiles without a look at the context.
func TestCompilingEnds(t *testing.T) {
	pool, _ := open(t, fixture)
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	held := guarded(t, conn, exec.GuardConfig{}, 0)
	s := admitted(t, held, "SELECT a FROM t")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := held.Confirm(ended, s); !errors.Is(err, context.Canceled) {
		t.Errorf("compiled for a context that has ended: %v", err)
	}
}

// TestCompiledOnce: one examination compiles a new statement once, and once more for its plan.
func TestCompiledOnce(t *testing.T) {
	for _, test := range []struct {
		why, sql string
		want     []string // "prepare" and "run" of the statement
	}{
		{"a statement", "SELECT a FROM t WHERE a > 1", []string{
			"prepare STATEMENT", "prepare EXPLAIN QUERY PLAN STATEMENT", "run EXPLAIN QUERY PLAN STATEMENT", "run STATEMENT"}},
		{"a declared type that drivers convert", "SELECT day FROM d", []string{
			"prepare STATEMENT", "prepare EXPLAIN QUERY PLAN STATEMENT", "run EXPLAIN QUERY PLAN STATEMENT", "run STATEMENT",
			"prepare WITH stored", "run WITH stored",
		}},
		{"a name that may be a string", `SELECT a, "nosuch" FROM t`, []string{
			"prepare STATEMENT", "prepare SELECT a, `nosuch` FROM t", "prepare SELECT a, `nosuch` FROM t",
			"prepare EXPLAIN QUERY PLAN STATEMENT", "run EXPLAIN QUERY PLAN STATEMENT", "prepare STATEMENT", "run STATEMENT",
		}},
	} {
		t.Run(test.why, func(t *testing.T) {
			connector, pool := faultyPool(t, "file")
			testutil.Value(pool.Exec("CREATE TABLE d(day DATE); INSERT INTO d VALUES ('2020-01-01')"))(t)
			db := dbtest.NewDB(t, pool, sqlite.Dialect{}, connector.config(exec.Config{}))
			var got []string
			connector.Fail(func(event string) error {
				if verb, text, _ := strings.Cut(event, " "); verb == "prepare" || verb == "run" {
					text = strings.ReplaceAll(text, test.sql, "STATEMENT")
					if strings.HasPrefix(text, "WITH stored_") {
						text = "WITH stored"
					}
					got = append(got, verb+" "+text)
				}
				return nil
			})
			_, err := db.Examine(t.Context(), test.sql)
			connector.Fail(nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestStoredValues reads what go-sqlite3 would make something else of.
func TestStoredValues(t *testing.T) {
	pool, _ := open(t, `
CREATE TABLE d(n INTEGER, day DATE, at DATETIME, ts TIMESTAMP, ok BOOLEAN, "odd ""name" date, plain TEXT);
INSERT INTO d VALUES
	(1, '2020-01-01', '2020-01-01 10:00:00', '2020-01-01T10:00:00Z', 1, '2020-01-01', '2020-01-01'),
	(2, NULL, NULL, NULL, NULL, NULL, NULL),
	(3, '0000-00-00', '', '0001-01-01 00:00:00', 0, 'not a date', ''),
	(4, 1577836800, 1577836800000, -1, 7, 2458849.5, 3),
	(5, '2020-1-1', x'00ff', 1.5, 'true', 'NULL', 1.0);
CREATE VIEW v AS SELECT day AS d, ok FROM d;
CREATE TABLE stored(day DATE); INSERT INTO stored VALUES ('2020-01-01');
CREATE VIEW over_stored AS SELECT day FROM stored;`)
	db := newDB(t, pool, exec.Config{})
	tests := []struct {
		why, sql string
		columns  []string
		rows     [][]any
	}{
		{
			"every kind of value in every kind of column", `SELECT * FROM d`,
			[]string{"n", "day", "at", "ts", "ok", `odd "name`, "plain"},
			[][]any{
				{int64(1), "2020-01-01", "2020-01-01 10:00:00", "2020-01-01T10:00:00Z", int64(1), "2020-01-01", "2020-01-01"},
				{int64(2), nil, nil, nil, nil, nil, nil},
				{int64(3), "0000-00-00", "", "0001-01-01 00:00:00", int64(0), "not a date", ""},
				{int64(4), int64(1577836800), int64(1577836800000), int64(-1), int64(7), 2458849.5, "3"},
				{int64(5), "2020-1-1", []byte{0, 255}, 1.5, "true", "NULL", "1.0"},
			},
		},
		{
			"a column and an expression over it are alike", `SELECT day, day || '' FROM d WHERE n = 5`,
			[]string{"day", "day || ''"}, [][]any{{"2020-1-1", "2020-1-1"}},
		},
		{
			"in the order asked for", `SELECT day FROM d ORDER BY n DESC`,
			[]string{"day"}, [][]any{{"2020-1-1"}, {int64(1577836800)}, {"0000-00-00"}, {nil}, {"2020-01-01"}},
		},
		{
			"with a limit", `SELECT n, ok FROM d ORDER BY ok DESC, n LIMIT 2 OFFSET 1`,
			[]string{"n", "ok"}, [][]any{{int64(4), int64(7)}, {int64(1), int64(1)}},
		},
		{
			"through a view, a comment at the end", "SELECT d, ok FROM v LIMIT 1 -- the first",
			[]string{"d", "ok"}, [][]any{{"2020-01-01", int64(1)}},
		},
		{
			"through WITH and a compound", "WITH x AS (SELECT day, n FROM d WHERE n < 3) SELECT day FROM x UNION ALL " +
				"SELECT day FROM d WHERE n = 3",
			[]string{"day"}, [][]any{{"2020-01-01"}, {nil}, {"0000-00-00"}},
		},
		{
			"grouped", "SELECT ok, count(*) FROM d GROUP BY ok ORDER BY ok",
			[]string{"ok", "count(*)"}, [][]any{{nil, int64(1)}, {int64(0), int64(1)}, {int64(1), int64(1)},
				{int64(7), int64(1)}, {"true", int64(1)}},
		},
		{
			"equal and empty names", `SELECT day, day, 1 AS "" FROM d LIMIT 1`,
			[]string{"day", "day", ""}, [][]any{{"2020-01-01", "2020-01-01", int64(1)}},
		},
		{"a table of the name that the wrapping once had", "SELECT day FROM stored", []string{"day"},
			[][]any{{"2020-01-01"}}},
		{"a view over it", "SELECT day FROM over_stored", []string{"day"}, [][]any{{"2020-01-01"}}},
		{"a CTE of that name", "WITH stored(c0) AS (SELECT day FROM d WHERE n = 1) SELECT c0 FROM stored", []string{"c0"},
			[][]any{{"2020-01-01"}}},
		{"no rows", "SELECT day FROM d WHERE 0", []string{"day"}, [][]any{}},
		{
			"numbers keep their type", "SELECT 1, 1.0, 9223372036854775807, 9e999, -0.0, x'', ''",
			[]string{"1", "1.0", "9223372036854775807", "9e999", "-0.0", "x''", "''"},
			[][]any{{int64(1), 1.0, int64(math.MaxInt64), math.Inf(1), 0.0, []byte{}, ""}},
		},
		{
			"text that is not UTF-8", "SELECT CAST(x'ff41' AS TEXT)",
			[]string{"CAST(x'ff41' AS TEXT)"}, [][]any{{"\xffA"}},
		},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			got := testutil.Value(db.Query(context.Background(), test.sql))(t)
			if diff := cmp.Diff(test.columns, got.Columns); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.rows, got.Rows); diff != "" {
				t.Errorf("rows (-want +got):\n%s", diff)
			}
		})
	}
}

// TestStoredOrder compares the order of rows with that of the same statement over
// columns without a declared type, which needs no wrapping. It guards the one
// thing that asStored takes from SQLite without a promise.
func TestStoredOrder(t *testing.T) {
	const rows = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
		SELECT i, date('2020-01-01', (i * 37 % 101) || ' days'), i * 31 % 7 > 3, i * 17 % 23 FROM n;`
	pool, _ := open(t, `
CREATE TABLE typed(id INTEGER PRIMARY KEY, day DATE, ok BOOLEAN, k INTEGER);
CREATE TABLE plain(id INTEGER PRIMARY KEY, day TEXT, ok INTEGER, k INTEGER);
CREATE INDEX typed_k ON typed(k, day);
CREATE INDEX plain_k ON plain(k, day);
INSERT INTO typed `+rows+`INSERT INTO plain `+rows)
	limits := exec.Limits{Answer: exec.Bounds{Rows: 100_000}}
	// Where a rule reads the clock, the statement is materialized.
	rules := exec.Policy{Rows: map[string]string{"typed": "date('now') > :least", "plain": "id > :least"}}
	ruled := newDB(t, pool, exec.Config{Limits: limits, Policy: rules})
	ruled = testutil.Value(ruled.For(&exec.Scope{Key: "all", Params: map[string]any{"least": 0}}, nil))(t)
	pool.SetMaxOpenConns(1)
	for _, reversed := range []string{"0", "1"} {
		testutil.Value(pool.Exec("PRAGMA reverse_unordered_selects = " + reversed))(t)
		sameOrder(t, newDB(t, pool, exec.Config{Limits: limits}))
		sameOrder(t, ruled)
	}
}

func sameOrder(t *testing.T, db *exec.DB) {
	for _, format := range []string{
		"SELECT * FROM %s",
		"SELECT * FROM %s ORDER BY day, id",
		"SELECT day FROM %s ORDER BY ok DESC, k, id DESC",
		"SELECT day, ok FROM %s ORDER BY id %% 10, id LIMIT 50",
		"SELECT day, ok FROM %s ORDER BY 1 DESC, id LIMIT 50 OFFSET 100",
		"SELECT DISTINCT day FROM %s ORDER BY day DESC",
		"SELECT day, count(*) FROM %s GROUP BY day ORDER BY 2 DESC, 1",
		"SELECT day, max(k) FROM %s GROUP BY day",
		"SELECT day FROM %s WHERE k = 5",
		"SELECT a.day, b.ok FROM %[1]s a JOIN %[1]s b ON a.k = b.id ORDER BY b.day DESC, a.id",
		"SELECT day FROM %[1]s WHERE k < 4 UNION SELECT day FROM %[1]s WHERE k > 20 ORDER BY 1 DESC",
		"SELECT day FROM %[1]s WHERE k < 4 UNION ALL SELECT day FROM %[1]s WHERE k > 20",
		"SELECT day, row_number() OVER (ORDER BY k, id) AS r FROM %s ORDER BY r",
		"SELECT day, sum(k) OVER (PARTITION BY ok ORDER BY id) FROM %s ORDER BY ok, id",
		"WITH top AS (SELECT day, k FROM %s ORDER BY k DESC, id LIMIT 40) SELECT day FROM top",
		"SELECT day FROM (SELECT day, id FROM %s ORDER BY k, id) ORDER BY id DESC",
		"SELECT day FROM %s ORDER BY (SELECT -id), day",
	} {
		t.Run(format, func(t *testing.T) {
			typed := testutil.Value(db.Query(context.Background(), fmt.Sprintf(format, "typed")))(t)
			plain := testutil.Value(db.Query(context.Background(), fmt.Sprintf(format, "plain")))(t)
			if len(plain.Rows) < 10 {
				t.Fatalf("only %d rows", len(plain.Rows))
			}
			if diff := cmp.Diff(plain.Rows, typed.Rows); diff != "" {
				t.Errorf("order (-plain +typed):\n%s", diff)
			}
		})
	}
}
