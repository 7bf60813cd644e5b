package exec_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
)

// open makes a database file of script and a DB on it.
func open(t testing.TB, script string, c exec.Config) (*sql.DB, *exec.DB) {
	t.Helper()
	// the file need not survive a crash
	pool := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(t.TempDir(), "test.db")+"?_sync=OFF"))(t)
	// database/sql keeps two, and DB.Warnings says so where a machine is busy enough to need a third.
	pool.SetMaxIdleConns(64)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec(script))(t)
	db, err := exec.New(pool, sqlite.Dialect{}, c)
	if err == nil {
		err = db.Ready(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return pool, db
}

const count10 = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10) "

// TestBounds: what exectest.Conformance does not ask of every engine.
func TestBounds(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a)", exec.Config{})
	tests := []struct {
		why    string
		sql    string
		bounds exec.Bounds
		rows   int
		cut    bool // Truncated
		large  bool // TooLarge
		limit  string
	}{
		{"blobs count too", count10 + "SELECT x'00010203' FROM n", exec.Bounds{Bytes: 39}, 9, true, true, ""},
		{"numbers and NULL count 16", count10 + "SELECT i, NULL FROM n", exec.Bounds{Bytes: 10 * 32}, 10, false, false, ""},
		{"a number too much", count10 + "SELECT i, NULL FROM n", exec.Bounds{Bytes: 10*32 - 1}, 9, true, true, ""},
		{
			"the row that is too large is not the first too many",
			count10 + "SELECT i, CASE i WHEN 10 THEN 'abcdefghij' END FROM n",
			exec.Bounds{Rows: 9, CellBytes: 5}, 9, true, false, "",
		},
		{"a cell too large", count10 + "SELECT CASE i WHEN 4 THEN 'abcdefghij' END FROM n", exec.Bounds{CellBytes: 9}, 10,
			false, false, ""},
		{"a cell as large as allowed", count10 + "SELECT CASE i WHEN 4 THEN 'abcdefghij' END FROM n",
			exec.Bounds{CellBytes: 10}, 10, false, false, ""},
		{"names within what is free", `SELECT 1 AS "` + strings.Repeat("n", 64) + `"`, exec.Bounds{Bytes: 16}, 1, false,
			false, ""},
		{"names count too", `SELECT 1 AS "` + strings.Repeat("n", 84) + `"`, exec.Bounds{Bytes: 35}, 0, true, true, ""},
		{"names alone too many", `SELECT 1 AS "` + strings.Repeat("n", 164) + `"`, exec.Bounds{Bytes: 99}, 0, false, false,
			"bytes"},
		{"a value over the engine's limit", "SELECT hex(printf('%.*c', 999999, 'x'))", exec.Bounds{}, 0, false, false,
			"cell"},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			table, err := db.QueryWithin(context.Background(), test.sql, test.bounds)
			if test.limit != "" {
				var limit *exec.LimitError
				if !errors.As(err, &limit) || limit.Limit != test.limit || limit.Max == "" || !exec.IsRejection(err) {
					t.Errorf("error %v, want the limit on %s", err, test.limit)
				}
				if test.limit == "cell" &&
					(limit.Max != "1000000 bytes" || !strings.Contains(err.Error(), "Limits.Candidate.CellBytes")) {
					t.Errorf("the error does not say what to do: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(table.Rows) != test.rows || table.Truncated != test.cut || table.TooLarge != test.large {
				t.Errorf("%d rows, truncated %v, too large %v; want %d, %v, %v",
					len(table.Rows), table.Truncated, table.TooLarge, test.rows, test.cut, test.large)
			}
		})
	}
}

// TestCut: a value over the limit on one value is cut, and marked with its length. No row is lost.
func TestCut(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a)", exec.Config{})
	for _, test := range []struct {
		why, sql string
		cell     int
		want     [][]any
		cut      bool
	}{
		{"a text keeps its beginning", "SELECT 1, 'abcdefghij' UNION ALL SELECT 2, 'b'", 4,
			[][]any{{int64(1), "abcd… 10 bytes"}, {int64(2), "b"}}, true},
		{"no letter is cut in two", "SELECT 'aäöü'", 4, [][]any{{"aä… 7 bytes"}}, true},
		{"a blob has its length alone", "SELECT x'0001020304'", 4, [][]any{{"… 5 bytes"}}, true},
		{"the length has separators", "SELECT printf('%.*c', 5000, 'x')", 4999,
			[][]any{{strings.Repeat("x", 4000) + "… 5,000 bytes"}}, true},
		{"as long as allowed", "SELECT 'abcd'", 4, [][]any{{"abcd"}}, false},
	} {
		got, err := db.QueryWithin(t.Context(), test.sql, exec.Bounds{CellBytes: test.cell})
		if err != nil {
			t.Errorf("%s: %v", test.why, err)
			continue
		}
		if diff := cmp.Diff(test.want, got.Rows); diff != "" || got.Cut != test.cut || got.Truncated {
			t.Errorf("%s: cut %v, truncated %v, rows (-want +got):\n%s", test.why, got.Cut, got.Truncated, diff)
		}
		if (result.Equality{}).Equal(got, got) == test.cut {
			t.Errorf("%s: what is cut equals something", test.why)
		}
	}
}

func TestLimitsAreChecked(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a)", exec.Config{})
	for _, c := range []exec.Config{
		{Limits: exec.Limits{Candidate: exec.Bounds{Rows: -1}}},
		{Limits: exec.Limits{Answer: exec.Bounds{Timeout: -1}}},
		{Limits: exec.Limits{Connections: -1}},
		{Policy: exec.Policy{DenyTables: []string{""}}},
		{Policy: exec.Policy{DenyTables: []string{"a.b.c.d"}}},
		{Policy: exec.Policy{AllowTables: []string{`"open`}}},
		{Policy: exec.Policy{DenyColumns: []string{"a.b.c.d.e"}}},
		{Policy: exec.Policy{AllowFunctions: []string{"main.f"}}},
	} {
		if _, err := exec.New(pool, sqlite.Dialect{}, c); err == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if _, err := exec.New(nil, sqlite.Dialect{}, exec.Config{}); err == nil {
		t.Error("a nil pool is accepted")
	}
	if _, err := exec.New(pool, nil, exec.Config{}); err == nil {
		t.Error("a nil dialect is accepted")
	}
	db := dbtest.NewDB(t, pool, sqlite.Dialect{}, exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Rows: 7}}})
	want := exec.Limits{
		Candidate:   exec.Bounds{Rows: 7, Bytes: 4 << 20, CellBytes: 1e6, Columns: 500, Timeout: 3 * time.Second},
		Answer:      exec.Bounds{Rows: 1000, Bytes: 4 << 20, CellBytes: 1e6, Columns: 500, Timeout: 30 * time.Second},
		Connections: 4,
	}
	if diff := cmp.Diff(want, db.Limits()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if _, err := db.QueryWithin(context.Background(), "SELECT 1", exec.Bounds{Rows: -1}); err == nil {
		t.Error("negative bounds are accepted")
	}
}

func TestErrors(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t VALUES (1, 's3cret')", exec.Config{})
	refused := func(rule string) *exec.RefusedError { return &exec.RefusedError{Reason: rule} }
	invalid := func(fault string, name string) *exec.InvalidError {
		return &exec.InvalidError{Fault: fault, Name: name}
	}
	tests := []struct {
		why, sql string
		want     error // compared by rule, or by fault and name
		writes   bool
	}{
		{"a write", "DELETE FROM t", refused("not-read-only"), true},
		{"a write behind WITH", "WITH x AS (SELECT 1) DELETE FROM t", refused("not-read-only"), true},
		{"several statements", "SELECT 1; SELECT 2", refused("several-statements"), false},
		{"a write behind a read", "SELECT 1; DELETE FROM t", refused("several-statements"), true},
		{"nothing", " ", refused("empty"), false},
		{"a placeholder", "SELECT ?", refused("placeholder"), false},
		{"an unknown relation of SQLite", "SELECT * FROM sqlite_master", refused("table"), false},
		{"a function off the list", "SELECT load_extension('x')", refused("function"), false},
		{"too deep", "SELECT 1" + strings.Repeat("+1", 1000), refused("too-complex"), false},
		{"a program too long", "WITH c AS (SELECT 1 AS x WHERE 1 IN (" + strings.Repeat("(SELECT 1),", 1000) +
			"1)) SELECT 1 WHERE 1 IN (" +
			strings.Repeat("(SELECT x FROM c),", 60) + "1)", refused("too-complex"), false},
		{"a compound too long", "SELECT 1" + strings.Repeat(" UNION ALL SELECT 1", 60), refused("too-complex"), false},
		{"too many tables", "SELECT 1 FROM t" + strings.Repeat(", t", 70), refused("too-complex"), false},
		{"a function that the build lacks", "SELECT sqrt(a) FROM t", invalid("compile", ""), false},
		{"a syntax error", "SELECT FROM WHERE", invalid("syntax", ""), false},
		{"an end too early", "SELECT a FROM", invalid("syntax", ""), false},
		{"no such table", "SELECT a FROM tt", invalid("schema", "tt"), false},
		{"no such column", "SELECT t.c FROM t", invalid("schema", "t.c"), false},
		{"no such function", "SELECT year(a) FROM t", invalid("schema", "year"), false},
		{"an ambiguous column", "SELECT a FROM t, t AS u", invalid("schema", "a"), false},
		{"a misplaced aggregate", "SELECT a FROM t WHERE count(*) > 1", invalid("compile", ""), false},
		{"a wrong number of arguments", "SELECT abs(1, 2)", invalid("compile", ""), false},
		{"an overflow while it runs", "SELECT abs(-9223372036854775808)", invalid("run", ""), false},
		{"JSON that does not parse", "SELECT json_extract(b, '$') FROM t", invalid("run", ""), false},
	}
	for _, test := range tests {
		t.Run(test.why, func(t *testing.T) {
			_, err := db.Query(context.Background(), test.sql)
			if !exec.IsRejection(err) {
				t.Fatalf("no rejection: %v", err)
			}
			if errors.Is(err, exec.ErrNotReadOnly) != test.writes {
				t.Errorf("ErrNotReadOnly is not %v: %v", test.writes, err)
			}
			if strings.Contains(err.Error(), "s3cret") {
				t.Errorf("a stored value is in the error: %v", err)
			}
			switch want := test.want.(type) {
			case *exec.RefusedError:
				var got *exec.RefusedError
				if !errors.As(err, &got) || got.Reason != want.Reason {
					t.Errorf("got %v, want the rule %s", err, want.Reason)
				}
			case *exec.InvalidError:
				var got *exec.InvalidError
				if !errors.As(err, &got) || got.Fault != want.Fault || got.Name != want.Name {
					t.Errorf("got %v, want the fault %s %q", err, want.Fault, want.Name)
				}
			}
		})
	}
}

// TestErrorsShowNames: what a person would not see of a name is written out.
func TestErrorsShowNames(t *testing.T) {
	_, db := open(t, "CREATE TABLE t(a)", exec.Config{Policy: exec.Policy{DenyColumns: []string{"a"}}})
	for sql, want := range map[string]string{
		"SELECT t.\"a\u200b\" FROM t": `exec: refused (column): a\u200b: no such column, or you may not read it`,
		"SELECT 1 FROM \"\u202et\"":   `exec: invalid statement (schema): no such table: \u202et`,
		"SELECT 1 FROM \"t\u00a0\n\"": `exec: invalid statement (schema): no such table: t\u00a0\n`,
		"SELECT 1 FROM \"größe 東京'\"": `exec: invalid statement (schema): no such table: größe 東京'`,
	} {
		if _, err := db.Query(t.Context(), sql); err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", sql, err, want)
		}
	}
}

// TestBusy holds a lock that no reader gets past. The pool's connections wait an
// hour for one, and SQLite does so whatever the context says: we wait for as long
// as the limits say, and no longer than the context lasts.
func TestBusy(t *testing.T) {
	for _, test := range []struct {
		why string
		run func(ctx context.Context, db *exec.DB) error
	}{
		{"a statement", func(ctx context.Context, db *exec.DB) error {
			_, err := db.Query(ctx, "SELECT a FROM t")
			return err
		}},
		{"a compilation", func(ctx context.Context, db *exec.DB) error {
			_, err := db.Analyze(ctx, "SELECT a FROM t")
			return err
		}},
		{"a statement of ours", func(ctx context.Context, db *exec.DB) error {
			_, err := db.Probe(ctx, "", "t", "a", "x")
			return err
		}},
		{"a session", func(ctx context.Context, db *exec.DB) error {
			s, err := db.Runner(exec.Bounds{})
			if err != nil {
				return err
			}
			defer s.Close()
			_, err = s.Query(ctx, "SELECT a FROM t")
			return err
		}},
		{"the schema", func(ctx context.Context, db *exec.DB) error { _, err := db.Schema(ctx); return err }},
	} {
		t.Run(test.why, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			pool := testutil.Value(sql.Open("sqlite3", "file:"+path+"?_busy_timeout=3600000"))(t)
			defer pool.Close()
			pool.SetMaxOpenConns(1) // to open another one would wait for the lock
			testutil.Value(pool.Exec("CREATE TABLE t(a)"))(t)
			within := func(timeout time.Duration) *exec.DB {
				db := testutil.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Limits: exec.Limits{
					Candidate: exec.Bounds{Timeout: timeout}, Answer: exec.Bounds{Timeout: timeout},
				}}))(t)
				return db
			}
			patient, hasty := within(time.Hour), within(100*time.Millisecond)
			other := locking(t, path, "BEGIN EXCLUSIVE")
			if err := test.run(t.Context(), hasty); !errors.Is(err, exec.ErrBusy) || exec.IsRejection(err) {
				t.Errorf("error %v", err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(10*time.Millisecond, cancel)
			if err := test.run(ctx, patient); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
			testutil.Value(other.Exec("COMMIT"))(t)
			var timeout int
			if err := pool.QueryRow("PRAGMA busy_timeout").Scan(&timeout); err != nil || timeout != 3600000 {
				t.Errorf("the connection now waits %d ms for a lock, %v", timeout, err)
			}
			if err := test.run(t.Context(), patient); err != nil {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// late is a connection where a lock comes after the guard, and stays.
type late struct {
	exec.Conn
	catalog bool // reading the catalog meets it too
}

func locked(ctx context.Context) error {
	<-ctx.Done()
	return fmt.Errorf("%w: database is locked", exec.ErrBusy)
}

func (l late) Catalog(ctx context.Context) (*exec.Catalog, error) {
	if l.catalog {
		return nil, locked(ctx)
	}
	return l.Conn.Catalog(ctx)
}

func (late) Run(ctx context.Context, _ *exec.Statement, _ exec.Bounds) (*exec.Rows, error) {
	return nil, locked(ctx)
}

// TestBusyUntilTheTimeout: a lock that was there when the time was over is not
// a limit of the statement.
func TestBusyUntilTheTimeout(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a)", exec.Config{})
	for _, catalog := range []bool{false, true} {
		db := testutil.Value(exec.New(pool, exectest.Change(sqlite.Dialect{}, exectest.Changes{
			Open: func(_ context.Context, _ *sql.Conn, open func() (exec.GuardedConn, error)) (exec.GuardedConn, error) {
				o, err := open()
				o.Conn = late{o.Conn, catalog}
				return o, err
			},
		}), exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: 50 * time.Millisecond}}}))(t)
		if _, err := db.Query(t.Context(), "SELECT a FROM t"); !errors.Is(err, exec.ErrBusy) || exec.IsRejection(err) {
			t.Errorf("a statement: %v", err)
		}
		if _, err := db.Schema(t.Context()); catalog && (!errors.Is(err, exec.ErrBusy) || exec.IsRejection(err)) {
			t.Errorf("the schema: %v", err)
		}
	}
}

// locking is a pool of one connection, on which script leaves a transaction open.
func locking(t *testing.T, path, script string) *sql.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", path))(t)
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1) // the transaction stays on it
	testutil.Value(pool.Exec(script))(t)
	return pool
}

// TestBusyAtOpening: go-sqlite3 meets the lock while it opens a connection.
func TestBusyAtOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	locking(t, path, "CREATE TABLE t(a); BEGIN EXCLUSIVE")
	pool, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	db := dbtest.NewDB(t, pool, sqlite.Dialect{}, exec.Config{})
	if _, err = db.Query(t.Context(), "SELECT a FROM t"); !errors.Is(err, exec.ErrBusy) || exec.IsRejection(err) {
		t.Errorf("error %v", err)
	}
}

// slowOpening is a driver whose connections never open.
type slowOpening struct{}

func (slowOpening) Connect(ctx context.Context) (driver.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (slowOpening) Driver() driver.Driver { return nil }

// TestSlowOpening: a pool with room is not said to be exhausted.
func TestSlowOpening(t *testing.T) {
	pool := sql.OpenDB(slowOpening{})
	defer pool.Close()
	db := dbtest.NewDB(t, pool, sqlite.Dialect{}, exec.Config{})
	_, err := db.QueryWithin(t.Context(), "SELECT 1", exec.Bounds{Timeout: 20 * time.Millisecond})
	if !errors.Is(err, exec.ErrBusy) || !strings.Contains(err.Error(), "opening a connection took more than") {
		t.Errorf("error %v", err)
	}
}

// dialling is a driver that sees the deadline before the context does.
type dialling struct{ slowOpening }

func (dialling) Connect(ctx context.Context) (driver.Conn, error) {
	for deadline, _ := ctx.Deadline(); time.Now().Before(deadline); {
	}
	return nil, errors.New("dial tcp: i/o timeout")
}

// TestDeadlineAtOpening: the caller's deadline has his name, whatever the driver makes of it.
func TestDeadlineAtOpening(t *testing.T) {
	pool := sql.OpenDB(dialling{})
	defer pool.Close()
	db := dbtest.NewDB(t, pool, sqlite.Dialect{}, exec.Config{})
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Millisecond)
		if _, err := db.Query(ctx, "SELECT 1"); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		cancel()
	}
}

// TestPoolInUse asks for a connection that somebody else keeps.
func TestPoolInUse(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a)", exec.Config{})
	pool.SetMaxOpenConns(1)
	db := dbtest.NewDB(t, pool, sqlite.Dialect{}, exec.Config{})
	if got := db.Limits().Connections; got != 1 {
		t.Errorf("%d connections of a pool of one", got)
	}
	rows := testutil.Value(pool.Query("SELECT 1"))(t)
	_, err := db.QueryWithin(context.Background(), "SELECT 1", exec.Bounds{Timeout: 20 * time.Millisecond})
	want := exec.ErrBusy.Error() + ": the pool had no connection free within 20ms" // and not how many others have
	if !errors.Is(err, exec.ErrBusy) || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := db.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	rows.Close()
	if _, err := db.Query(context.Background(), "SELECT 1"); err != nil {
		t.Error(err)
	}
}

// TestParallel runs many statements at once: none waits for ever, none holds more
// connections than it may, and each gets its own rows.
func TestParallel(t *testing.T) {
	pool, db := open(t, "CREATE TABLE t(a)", exec.Config{Limits: exec.Limits{Connections: 3}})
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			ctx := context.Background()
			want := &result.Table{Columns: []string{"x"}, Rows: [][]any{{int64(i)}}}
			text := "SELECT " + strings.Repeat("1 + ", i) + "0 AS x"
			got, err := db.Query(ctx, text)
			if err != nil || !cmp.Equal(want, got, cmpopts.IgnoreFields(result.Table{}, "Types")) {
				t.Errorf("%d: %v, %v", i, got, err)
			}
			if i%3 == 0 {
				if _, err := db.Schema(ctx); err != nil {
					t.Error(err)
				}
			}
			if in := pool.Stats().InUse; in > 3 {
				t.Errorf("%d connections in use", in)
			}
		})
	}
	wg.Wait()
	if in := pool.Stats().InUse; in != 0 {
		t.Errorf("%d connections still in use", in)
	}
}

// TestManyColumns: more columns than SQLite may return are over a limit, which has a number.
func TestManyColumns(t *testing.T) {
	var limit *exec.LimitError
	_, db := open(t, "SELECT 1", exec.Config{})
	_, err := db.Query(t.Context(), "SELECT 1"+strings.Repeat(", 1", 600))
	if !errors.As(err, &limit) || limit.Limit != "columns" || limit.Max != "500" {
		t.Errorf("got %v", err)
	}
}

// TestLayersOfViews: stacks of ordinary views are read, and a statement that multiplies by itself is not.
func TestLayersOfViews(t *testing.T) {
	stack := func(layers, columns int, expression string) string {
		list := func(of string) string {
			items := make([]string, columns)
			for i := range items {
				items[i] = strings.ReplaceAll(of, "#", fmt.Sprint(i))
			}
			return strings.Join(items, ", ")
		}
		script := "CREATE TABLE s0(" + list("c# INT") + "); INSERT INTO s0(c0) VALUES (1);"
		for i := range layers {
			script += fmt.Sprintf("CREATE VIEW s%d AS SELECT %s FROM s%d;", i+1, list(expression+" AS c#"), i)
		}
		return script
	}
	const coalesce, cases = "COALESCE(c#, 0)", "CASE WHEN c# IS NULL THEN 0 ELSE c# END"
	for _, test := range []struct {
		why, script, sql string
		refused          bool
	}{
		{"four layers", stack(4, 250, coalesce), "SELECT c0 FROM s4", false},
		{"that name a column twice", stack(4, 250, cases), "SELECT c0 FROM s4", false},
		{"ten layers", stack(10, 30, coalesce), "SELECT * FROM s10", false},
		{"six layers that name a column twice", stack(6, 30, cases), "SELECT c0, c29 FROM s6", false},
		{"sixteen layers that do", stack(16, 2, cases), "SELECT c0 FROM s16", true},
		{"layers of the statement's own", "CREATE TABLE s0(c0 INT)", "WITH a0 AS (SELECT c0 AS c FROM s0)" +
			func() (all string) {
				for i := range 20 {
					all += fmt.Sprintf(", a%d AS (SELECT c + c AS c FROM a%d)", i+1, i)
				}
				return all
			}() + " SELECT c FROM a20", true},
	} {
		_, db := open(t, test.script, exec.Config{})
		_, err := db.Query(t.Context(), test.sql)
		if refused := errors.As(err, new(*exec.RefusedError)); refused != test.refused || err != nil && !refused {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}
