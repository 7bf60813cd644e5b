package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"modernc.org/sqlite"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// single returns a pool of one connection to a database with the fixture, and a DB on it.
func single(t *testing.T, dsn string, d exec.Dialect, c exec.Config) (*sql.DB, *exec.DB) {
	t.Helper()
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(exectest.Fixture); err != nil {
		t.Fatal(err)
	}
	db, err := exec.New(pool, d, c)
	if err != nil {
		t.Fatal(err)
	}
	return pool, db
}

// TestWalls: where one wall is away, the others hold.
func TestWalls(t *testing.T) {
	blind := exectest.Change(Dialect{}, exectest.Changes{
		Read: func(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
			_, _ = read()
			return &guard.Names{}, nil
		},
	})
	_, db := single(t, ":memory:", blind, exec.Config{Policy: exectest.DenyColumn})
	for _, text := range []string{
		"SELECT password FROM users", "SELECT count(*) FROM users", "SELECT sql FROM sqlite_master", "SELECT load_extension('x')",
		"SELECT json_group_array(a) FROM t", "SELECT 1 WHERE 's3cret-1' IN (SELECT password FROM users)",
	} {
		var refused *exec.RefusedError
		if table, err := db.Query(t.Context(), text); !errors.As(err, &refused) {
			t.Errorf("without names, %s: %v, %v", text, table, err)
		}
	}

	// Past all of them, the settings of the connection refuse to write.
	pool, _ := single(t, ":memory:", Dialect{}, exec.Config{})
	open, err := Dialect{}.Guard(exec.GuardConfig{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	o, err := open(t.Context(), conn, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"DELETE FROM t", "CREATE TABLE x(a)", "ATTACH ':memory:' AS x"} {
		s := &exec.Statement{Statement: sqltext.Dialect{}.Parse(text), Names: &guard.Names{Own: 1_000_000}}
		rows, err := o.Run(t.Context(), s, exec.Bounds{})
		if err == nil {
			err = errors.Join(rows.Close(), errors.New("it ran"))
		}
		if typed := (Dialect{}).Classify(err); !exec.IsRejection(typed) {
			t.Errorf("%s: %v", text, typed)
		}
	}
	if err := o.Close(false); err != nil {
		t.Error(err)
	}
	if _, err := conn.ExecContext(t.Context(), "INSERT INTO t VALUES (6, 'written')"); err != nil {
		t.Errorf("the caller cannot write any more: %v", err)
	}
}

// TestUnguarded: a connection that cannot be guarded is refused, and stays as it is.
func TestUnguarded(t *testing.T) {
	for _, tt := range []struct{ dsn, before, after string }{
		{"", "BEGIN; INSERT INTO t VALUES (6, 'begun')", "COMMIT"},
		{"", "CREATE TEMP TABLE t(a)", "DROP TABLE temp.t"},
		{"", "ATTACH ':memory:' AS other", "DETACH other"},
		{"?_texttotime=1", "SELECT 1", "SELECT 1"},
	} {
		pool, db := single(t, filepath.Join(t.TempDir(), "test.db")+tt.dsn, Dialect{}, exec.Config{})
		if _, err := pool.Exec(tt.before); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Query(t.Context(), "SELECT a FROM t"); !errors.Is(err, exec.ErrUnguarded) {
			t.Errorf("%s%s: %v", tt.dsn, tt.before, err)
		}
		if _, err := pool.Exec(tt.after); err != nil {
			t.Errorf("%s: the connection is another one: %v", tt.after, err)
		}
	}
}

// TestMemory: a database in memory outlives a statement that was stopped.
func TestMemory(t *testing.T) {
	pool, db := single(t, ":memory:", Dialect{}, exec.Config{})
	for range 3 {
		var limit *exec.LimitError
		if _, err := db.QueryWithin(t.Context(), engine().Endless, exec.Bounds{Timeout: 50 * time.Millisecond}); !errors.As(err, &limit) {
			t.Errorf("an endless statement: %v", err)
		}
		if table, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil || len(table.Rows) != 5 {
			t.Errorf("the next one: %v, %v", table, err)
		}
	}
	if _, err := pool.Exec("DELETE FROM t"); err != nil {
		t.Error(err)
	}
}

// TestStored: values are those that are stored, in the order and under the names of the statement, whatever the driver
// makes of the types of columns.
func TestStored(t *testing.T) {
	pool, db := single(t, ":memory:", Dialect{}, exec.Config{})
	if _, err := pool.Exec(`CREATE TABLE d(a DATE, b DATETIME, c TIMESTAMP, e BOOLEAN, "f ""g" date);
		INSERT INTO d VALUES ('2001-02-03', 1, '2001-02-03T04:05:06Z', 7, 'never'), ('1999', x'01', NULL, 'yes', 0.5)`); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"SELECT a, a, b, c, e FROM d -- all":             "[a a b c e] [[2001-02-03 2001-02-03 1 2001-02-03T04:05:06Z 7] [1999 1999 [1] <nil> yes]]",
		"SELECT * FROM d ORDER BY a":                     `[a b c e f "g] [[1999 [1] <nil> yes 0.5] [2001-02-03 1 2001-02-03T04:05:06Z 7 never]]`,
		"SELECT a FROM d ORDER BY b DESC LIMIT 1":        "[a] [[1999]]",
		"SELECT a FROM d UNION SELECT 0 ORDER BY 1 DESC": "[a] [[2001-02-03] [1999] [0]]",
		"WITH x AS (SELECT a FROM d) SELECT a FROM x":    "[a] [[2001-02-03] [1999]]",
	} {
		table, err := db.Query(t.Context(), text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprint(table.Columns, table.Rows); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestFunctions: what the application registers may not be called, also under the name of a function of SQLite.
func TestFunctions(t *testing.T) {
	called := 0
	for _, name := range []string{"dialect_own", "soundex"} {
		sqlite.MustRegisterDeterministicScalarFunction(name, 1, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
			called++
			return int64(1), nil
		})
	}
	_, db := single(t, ":memory:", Dialect{}, exec.Config{})
	for _, text := range []string{"SELECT dialect_own('x')", "SELECT soundex('x')", "SELECT a FROM t WHERE a = SOUNDEX('x')"} {
		var refused *exec.RefusedError
		if _, err := db.Query(t.Context(), text); !errors.As(err, &refused) || refused.Reason != exec.ReasonFunction {
			t.Errorf("%s: %v", text, err)
		}
	}
	if called > 0 {
		t.Error("a function was called")
	}
	_, db = single(t, ":memory:", Dialect{}, exec.Config{Policy: exec.Policy{AllowFunctions: []string{"Dialect_Own"}}})
	if _, err := db.Query(t.Context(), "SELECT dialect_own('x')"); err != nil || called == 0 {
		t.Errorf("allowed: %v", err)
	}
}

// TestErrors: errors say what is at fault, and repeat no stored value.
func TestErrors(t *testing.T) {
	_, db := single(t, ":memory:", Dialect{}, exec.Config{})
	for text, want := range map[string]string{
		"SELECT x FROM t":                                                   "invalid statement (schema): no such column: x",
		"SELECT a FROM gone":                                                "invalid statement (schema): no such table: gone",
		"SELECT a FROM t WHERE":                                             "invalid statement (syntax): incomplete input",
		"SELECT a FROM t t1, t WHERE ":                                      "invalid statement (syntax): incomplete input",
		"SELECT sum(count(a)) FROM t":                                       "invalid statement (compile): misuse of aggregate function count()",
		"SELECT abs(-9223372036854775808)":                                  "invalid statement (run): integer overflow",
		"SELECT json_extract('{}', b) FROM t":                               "invalid statement (run): bad JSON path: ",
		"SELECT " + strings.Repeat("1+", 300) + "1":                         "refused (too-complex): Expression tree is too large (maximum depth 200)",
		"SELECT printf('%.*c', 9000000, 'x')":                               "over the limit on cell",
		"SELECT " + strings.Repeat("1,", 600) + "1":                         "refused (too-complex): too many columns in result set",
		"SELECT a FROM t WHERE a IN (" + strings.Repeat("1,", 15000) + "1)": "",
	} {
		_, err := db.Query(t.Context(), text)
		if got := fmt.Sprint(err); want == "" && err != nil && !exec.IsRejection(err) || !strings.HasPrefix(got, "exec: "+want) && want != "" {
			t.Errorf("%.60s: %s, want %s", text, got, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Query(ctx, "SELECT 1"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
