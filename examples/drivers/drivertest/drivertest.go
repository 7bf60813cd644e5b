// Package drivertest holds a driver for SQLite to what the guard promises.
package drivertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
)

// fixture is the two tables of the payloads' README.
const fixture = `
CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');`

// Driver is one way to open a database.
type Driver struct {
	Open    func(file string) (*sql.DB, error)
	Dialect sqlite.Dialect
	Unwrap  func(any) any
	Options []texttosql.Option // of an engine
}

// Run holds a driver to what holds for github.com/mattn/go-sqlite3.
func (c Driver) Run(t *testing.T) {
	t.Run("payloads", c.payloads)
	t.Run("errors", c.errors)
	t.Run("engine", c.engine)
	t.Run("timeout", c.timeout)
}

func (c Driver) pool(t *testing.T) *sql.DB {
	t.Helper()
	pool, err := c.Open(filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := pool.Exec(fixture); err != nil {
		t.Fatal(err)
	}
	return pool
}

// payloads: what the guard refuses, lets through and ends with mattn/go-sqlite3 it does with the other drivers.
func (c Driver) payloads(t *testing.T) {
	pool := c.pool(t)
	db, err := exec.New(pool, c.Dialect, exec.Config{
		Policy: exec.Policy{DenyColumns: []string{"users.password"}},
		Limits: exec.Limits{Answer: exec.Bounds{Timeout: 2 * time.Second}}, Unwrap: c.Unwrap,
	})
	if err != nil {
		t.Fatal(err)
	}
	const refuse, survive = -1, -2
	for _, tt := range []struct {
		sql  string
		rows int
		why  string
	}{
		{"SELECT a, b FROM t", 5, "a plain query"},
		{"WITH x AS (SELECT a FROM t) SELECT count(*) FROM x JOIN t USING (a)", 1, "a common table expression"},
		{"SELECT name FROM users WHERE name LIKE 'a%' OR id IN (SELECT a FROM t)", 3, "a subquery"},
		{"SELECT b FROM t WHERE b = 'beta;gamma' -- ; DROP TABLE t", 1, "semicolons in a string and a comment"},
		{"DELETE FROM t", refuse, "a write"},
		{"WITH x AS (SELECT 1) INSERT INTO t SELECT 1, 'x' FROM x", refuse, "a write behind WITH"},
		{"UPDATE t SET a = 1 RETURNING a", refuse, "a write that returns rows"},
		{"CREATE TABLE more (a)", refuse, "a definition"},
		{"CREATE TEMP TABLE more AS SELECT * FROM t", refuse, "a temporary one"},
		{"SELECT 1; DROP TABLE t", refuse, "two statements"},
		{"ATTACH 'other.db' AS other", refuse, "another file"},
		{"PRAGMA writable_schema = ON", refuse, "a setting"},
		{"PRAGMA table_info(t)", refuse, "a setting that only reads"},
		{"SELECT load_extension('x')", refuse, "code from a file"},
		{"SELECT writefile('x', 'y')", refuse, "a function of the shell"},
		{"BEGIN", refuse, "a transaction"},
		{"VACUUM INTO 'copy.db'", refuse, "a copy"},
		{"EXPLAIN SELECT 1", refuse, "the program of a statement"},
		{"SELECT password FROM users", refuse, "a denied column"},
		{"SELECT * FROM users", refuse, "a denied column behind a star"},
		{"SELECT count(*) FROM t WHERE b = (SELECT max(password) FROM users)", refuse, "a denied column in a condition"},
		{"SELECT sql FROM sqlite_master", refuse, "the catalog"},
		{"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n", survive,
			"a query without end"},
	} {
		table, err := db.Query(t.Context(), tt.sql)
		var refused *exec.RefusedError
		var invalid *exec.InvalidError
		switch rejected := errors.As(err, &refused) || errors.As(err, &invalid); {
		case tt.rows == refuse && !rejected:
			t.Errorf("%s: %v, want a refusal: %s", tt.sql, err, tt.why)
		case tt.rows >= 0 && (err != nil || len(table.Rows) != tt.rows):
			t.Errorf("%s: %v, want %d rows: %s", tt.sql, err, tt.rows, tt.why)
		case tt.rows == survive && (err == nil || !exec.IsRejection(err)):
			t.Errorf("%s: %v: %s", tt.sql, err, tt.why)
		}
	}
	if _, err := pool.Exec("INSERT INTO t VALUES (6, 'written')"); err != nil {
		t.Errorf("the caller cannot write any more: %v", err)
	}
}

// errors: errors have the same types and words, whatever the driver puts around them.
func (c Driver) errors(t *testing.T) {
	pool := c.pool(t)
	db, err := exec.New(pool, c.Dialect, exec.Config{Unwrap: c.Unwrap})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ sql, want, why string }{
		{"SELECT x FROM t", "schema: no such column: x", "for a repair"},
		{"SELECT a FROM gone", "schema: no such table: gone", "for a repair"},
		{"SELECT a FROM t WHERE", "syntax: incomplete input", "for a repair"},
		{"SELECT abs(-9223372036854775808)", "run: integer overflow", "met while it runs"},
		{"SELECT json_extract('{}', 'secret')", "run: bad JSON path: '…'", "values are masked"},
	} {
		_, err := db.Query(t.Context(), tt.sql)
		var invalid *exec.InvalidError
		if got := fmt.Sprint(err); errors.As(err, &invalid) {
			got = invalid.Fault + ": " + invalid.Message
			if got != tt.want {
				t.Errorf("%s: %s, want %s: %s", tt.sql, got, tt.want, tt.why)
			}
		} else {
			t.Errorf("%s: %s, want %s: %s", tt.sql, got, tt.want, tt.why)
		}
	}
}

// engine: an engine of each pool answers and guards.
func (c Driver) engine(t *testing.T) {
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT b FROM t WHERE a = 1", StopReason: llm.StopEnd}, nil
	})
	engine, err := texttosql.New(c.pool(t), model, c.Options...)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := engine.Ask(t.Context(), "What is the first b?")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]any{{"alpha"}}, answer.Rows.Rows); diff != "" {
		t.Error(diff)
	}
	if _, err := engine.Check(t.Context(), "DELETE FROM t"); !errors.Is(err, exec.ErrNotReadOnly) {
		t.Errorf("a write: %v", err)
	}
}

// timeout: a statement without an end is stopped by its time-out, and the connection serves again.
func (c Driver) timeout(t *testing.T) {
	db, err := exec.New(c.pool(t), c.Dialect,
		exec.Config{Unwrap: c.Unwrap, Limits: exec.Limits{Answer: exec.Bounds{Timeout: time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	var limit *exec.LimitError
	_, err = db.Query(t.Context(), "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n")
	if !errors.As(err, &limit) || limit.Limit != "time" {
		t.Errorf("got %v, want the limit on time", err)
	}
}
