package dialecttest

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// Many makes n tables of 20 columns, each with a key, a unique constraint, and a foreign key to the one before.
func Many(n int) string {
	var script strings.Builder
	for i := range n {
		fmt.Fprintf(&script, "CREATE TABLE many%d(id INTEGER PRIMARY KEY, ref INTEGER, code VARCHAR(40) NOT NULL", i)
		for c := 3; c < 20; c++ {
			fmt.Fprintf(&script, ", c%d %s", c, []string{"INTEGER", "VARCHAR(40)", "DATE", "DECIMAL(10, 2)",
				"INTEGER DEFAULT 0"}[c%5])
		}
		fmt.Fprintf(&script, ", UNIQUE (code), FOREIGN KEY (ref) REFERENCES many%d(id));\n", max(0, i-1))
	}
	return script.String()
}

// Benchmark tells what the guard costs a statement, and what the default checks of one cost that is new each time:
// alone and on one connection, without a policy and under one that denies a column, beside the bare driver; and what it
// takes to read the schema of [Many] tables, and to see that it is the same. "least-µs" is the fastest one, which is
// not about what else runs on the machine.
func Benchmark(b *testing.B, e exectest.Engine) {
	const text = "SELECT u.name, t.b FROM users AS u JOIN t ON t.a = u.id WHERE u.id < %d ORDER BY u.name"
	fixture := cmp.Or(e.Fixture, dbtest.Fixture)
	bare, newDB := sql.OpenDB(e.Open(b, fixture).User), e.Make(b, fixture)
	defer bare.Close()
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
	measure("bare", func(text string) error { _, err := dbtest.Texts(b.Context(), bare, text); return err })
	for name, policy := range map[string]exec.Policy{"open": {}, "policy": dbtest.DenyColumn} {
		db, err := dbtest.Ready(newDB(exec.Config{Policy: policy}))
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
	many := e.Make(b, fixture+Many(1000))
	known, err := dbtest.Ready(many(exec.Config{}))
	if err != nil {
		b.Fatal(err)
	}
	measure("schema/same", func(string) error { _, err := known.Schema(b.Context()); return err })
	measure("schema/new", func(string) error { _, err := dbtest.Ready(many(exec.Config{})); return err })
}
