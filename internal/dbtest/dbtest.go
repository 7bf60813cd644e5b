// Package dbtest has what tests of packages on databases share. Suites of dialects are in exec/exectest and
// internal/dialecttest.
package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// Fixture makes the two tables that every part of exectest.Conformance starts from.
const Fixture = `CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');
`

// PolicyScript makes the tables and views of the statements under a policy.
const PolicyScript = `CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER PRIMARY KEY, name VARCHAR(40), password VARCHAR(40));
CREATE TABLE keyring(password VARCHAR(40) PRIMARY KEY, note VARCHAR(40));
CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id INTEGER, total REAL);
CREATE VIEW names AS SELECT id, name FROM users;
CREATE VIEW logins AS SELECT id, password AS p FROM users;
CREATE VIEW matched AS SELECT users.id FROM users JOIN keyring USING (password);
CREATE VIEW matched_again AS SELECT id FROM matched;
CREATE VIEW natural_keys AS SELECT note FROM keyring NATURAL JOIN users;
INSERT INTO t VALUES (1, 'alpha'), (2, 'beta');
INSERT INTO users(id, name, password) VALUES (1, 'ann', 's3cret-1'), (2, 'bob', 's3cret-2');
INSERT INTO keyring VALUES ('s3cret-1', 'first');
INSERT INTO orders VALUES (1, 1, 2.5);
`

// DenyColumn denies a column of these tables.
var DenyColumn = exec.Policy{DenyColumns: []string{"users.password"}}

// Crossed are the 5^14 rows of a join of the table t of [Fixture] with itself.
const Crossed = " FROM t AS x0 CROSS JOIN t AS x1 CROSS JOIN t AS x2 CROSS JOIN t AS x3 CROSS JOIN t AS x4 CROSS " +
	"JOIN t AS x5 CROSS JOIN t AS x6" +
	" CROSS JOIN t AS x7 CROSS JOIN t AS x8 CROSS JOIN t AS x9 CROSS JOIN t AS y0 CROSS JOIN t AS y1 CROSS " +
	"JOIN t AS y2 CROSS JOIN t AS y3"

// Endless counts six billion rows: an exectest.Engine.Endless for an engine that takes long for that.
const Endless = "SELECT count(*)" + Crossed

// NewDB is exec.New, and fails t where there is no DB.
func NewDB(t testing.TB, pool *sql.DB, d exec.Dialect, c exec.Config) *exec.DB {
	t.Helper()
	db, err := exec.New(pool, d, c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// ReadyDB is NewDB for one that is ready.
func ReadyDB(t testing.TB, pool *sql.DB, d exec.Dialect, c exec.Config) *exec.DB {
	t.Helper()
	db := NewDB(t, pool, d, c)
	if err := db.Ready(context.Background()); err != nil {
		t.Fatal(err)
	}
	return db
}

// Ready has a DB read what it needs, unless there is an error: of exec.New, say.
func Ready(db *exec.DB, err error) (*exec.DB, error) {
	if err == nil {
		err = db.Ready(context.Background())
	}
	return db, err
}

// Answers returns an error unless db answers the statement with so many rows.
func Answers(ctx context.Context, db *exec.DB, text string, rows int) error {
	table, err := db.Query(ctx, text)
	if err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	if len(table.Rows) != rows || len(table.Columns) == 0 {
		return fmt.Errorf("%s: %d rows of %d columns, want %d rows", text, len(table.Rows), len(table.Columns), rows)
	}
	return nil
}

// RanNothing reports whether a statement failed before any of it ran.
func RanNothing(err error) bool {
	var invalid *exec.InvalidError
	return errors.As(err, new(*exec.RefusedError)) || errors.As(err, &invalid) && invalid.Fault != "run"
}

// querier is a pool, or a connection.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Texts returns the rows of a query, the values of each with blanks between them. NULL is "".
func Texts(ctx context.Context, q querier, query string) (lines []string, err error) {
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	row, dest := make([]sql.NullString, len(names)), make([]any, len(names))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return nil, err
		}
		values := make([]string, len(row))
		for i, v := range row {
			values[i] = v.String
		}
		lines = append(lines, strings.Join(values, " "))
	}
	return lines, rows.Err()
}

// Lines are the rows of several queries, by [Texts], one a line.
func Lines(ctx context.Context, q querier, queries ...string) (string, error) {
	out := ""
	for _, query := range queries {
		lines, err := Texts(ctx, q, query)
		if err != nil {
			return "", err
		}
		out += strings.Join(lines, "\n") + "\n"
	}
	return out, nil
}

// Columns are the columns of a schema, sorted: "users.name".
func Columns(s *schema.Schema) (names []string) {
	for _, t := range s.Tables {
		for _, c := range t.Columns {
			names = append(names, t.Name+"."+c.Name)
		}
	}
	slices.Sort(names)
	return names
}

// MemoryGrowth starts to watch the memory of the process and returns what tells by how many bytes it grew at most
// since. An engine's memory may be outside of Go's heap, so the system has to say; where it does not, nothing grows.
func MemoryGrowth() func() int64 {
	if os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) != nil { // 5 resets the peak
		return func() int64 { return 0 }
	}
	before := memory("VmRSS:")
	return func() int64 { return memory("VmHWM:") - before }
}

// memory reads one figure out of /proc/self/status.
func memory(field string) int64 {
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			kib, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10
		}
	}
	return 0
}
