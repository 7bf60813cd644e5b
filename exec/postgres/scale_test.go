package postgres_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/postgres"
)

// BenchmarkVersion: what it costs to ask whether the schema of 10,000 tables changed.
func BenchmarkVersion(b *testing.B) {
	columns := strings.Repeat(", c%d INT", 19)
	numbers := make([]any, 19)
	for i := range numbers {
		numbers[i] = i
	}
	columns = fmt.Sprintf(columns, numbers...)
	for _, tables := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tables), func(b *testing.B) {
			pool, _ := open(b, "")
			for n := 0; n < tables; n += 100 {
				var script strings.Builder
				for i := range 100 {
					fmt.Fprintf(&script, "CREATE TABLE t%d (id INT PRIMARY KEY%s);", n+i, columns)
				}
				if _, err := pool.Exec(script.String()); err != nil {
					b.Fatal(err)
				}
			}
			open, err := postgres.Dialect{}.Guard(exec.GuardConfig{})
			if err != nil {
				b.Fatal(err)
			}
			held, err := pool.Conn(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			defer held.Close()
			conn, err := open(b.Context(), held, time.Minute)
			if err != nil {
				b.Fatal(err)
			}
			defer conn.Close(false)
			for b.Loop() {
				if _, err := conn.Conn.Version(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
