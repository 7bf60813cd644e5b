package attack

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
)

// BenchmarkVersion tells what it costs to ask whether the schema of 10,000 tables changed. The statements that make
// them end with option; hold puts the guard on a connection of the pool that open returned.
func BenchmarkVersion(b *testing.B, option string, open func(b *testing.B) *sql.DB,
	hold func(b *testing.B, pool *sql.DB) exec.Conn) {
	columns := ""
	for i := range 19 {
		columns += fmt.Sprintf(", c%d INT", i)
	}
	for _, tables := range []int{100, 10_000} {
		b.Run(fmt.Sprint(tables), func(b *testing.B) {
			pool := open(b)
			for n := 0; n < tables; n += 100 {
				var script strings.Builder
				for i := range 100 {
					fmt.Fprintf(&script, "CREATE TABLE t%d (id INT PRIMARY KEY%s)%s;", n+i, columns, option)
				}
				testutil.Value(pool.Exec(script.String()))(b)
			}
			conn := hold(b, pool)
			testutil.Value(conn.Version(b.Context()))(b) // the first one may read all
			for b.Loop() {
				if _, err := conn.Version(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
