package exectest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

// crossed are the 5^14 rows of a join of the table t of [Fixture] with itself.
const crossed = " FROM t AS x0 CROSS JOIN t AS x1 CROSS JOIN t AS x2 CROSS JOIN t AS x3 CROSS JOIN t AS x4 CROSS JOIN t AS x5 CROSS JOIN t AS x6" +
	" CROSS JOIN t AS x7 CROSS JOIN t AS x8 CROSS JOIN t AS x9 CROSS JOIN t AS y0 CROSS JOIN t AS y1 CROSS JOIN t AS y2 CROSS JOIN t AS y3"

// Endless counts six billion rows: an Engine.Endless for an engine that takes long for that.
const Endless = "SELECT count(*)" + crossed

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

// Many makes n tables of 20 columns, each with a key, a unique constraint, and a foreign key to the one before.
func Many(n int) string {
	var script strings.Builder
	for i := range n {
		fmt.Fprintf(&script, "CREATE TABLE many%d(id INTEGER PRIMARY KEY, ref INTEGER, code VARCHAR(40) NOT NULL", i)
		for c := 3; c < 20; c++ {
			fmt.Fprintf(&script, ", c%d %s", c, []string{"INTEGER", "VARCHAR(40)", "DATE", "DECIMAL(10, 2)", "INTEGER DEFAULT 0"}[c%5])
		}
		fmt.Fprintf(&script, ", UNIQUE (code), FOREIGN KEY (ref) REFERENCES many%d(id));\n", max(0, i-1))
	}
	return script.String()
}

// Benchmark tells what the guard costs a statement, and what the default checks of one cost that is new each time: alone
// and on one connection, without a policy and under one that denies a column, beside the bare driver; and what it takes to
// read the schema of [Many] tables, and to see that it is the same. "least-µs" is the fastest one, which is not about what
// else runs on the machine.
func Benchmark(b *testing.B, e Engine) {
	const text = "SELECT u.name, t.b FROM users AS u JOIN t ON t.a = u.id WHERE u.id < %d ORDER BY u.name"
	d := e.open(b, e.fixture())
	n := 1000
	measure := func(name string, run func(text string) error) {
		b.Run(name, func(b *testing.B) {
			least := time.Hour
			b.ReportAllocs()
			for b.Loop() {
				n++
				start := time.Now()
				if err := run(fmt.Sprintf(text, n)); err != nil {
					b.Fatal(err)
				}
				least = min(least, time.Since(start))
			}
			b.ReportMetric(float64(least.Microseconds()), "least-µs")
		})
	}
	measure("bare", func(text string) error { _, err := Texts(b.Context(), d.user, text); return err })
	for name, policy := range map[string]exec.Policy{"open": {}, "policy": DenyColumn} {
		db, err := d.db(exec.Config{Policy: policy})
		if err != nil {
			b.Fatal(err)
		}
		s, err := db.Runner(exec.Bounds{})
		if err != nil {
			b.Fatal(err)
		}
		measure(name+"/query", func(text string) error { _, err := db.Query(b.Context(), text); return err })
		measure(name+"/examine", func(text string) error { _, err := db.Examine(b.Context(), text); return err })
		measure(name+"/session/query", func(text string) error { _, err := s.Query(b.Context(), text); return err })
		measure(name+"/session/examine", func(text string) error {
			statement, err := e.Dialect.Language().Text.Check(text)
			if err != nil {
				return err
			}
			c, err := s.Examine(b.Context(), statement)
			if err == nil && (c.Table == nil || c.Plan == nil) {
				err = errors.New("no rows or no plan")
			}
			return err
		})
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
	many := e.open(b, e.fixture()+Many(1000))
	known, err := many.db(exec.Config{})
	if err != nil {
		b.Fatal(err)
	}
	measure("schema/same", func(string) error { _, err := known.Schema(b.Context()); return err })
	measure("schema/new", func(string) error { _, err := many.db(exec.Config{}); return err })
}
