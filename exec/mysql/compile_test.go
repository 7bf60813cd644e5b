package mysql_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestStacks: stacks of ordinary views are read.
func TestStacks(t *testing.T) { dialecttest.Stacks(t, engine("", "reader")) }

// BenchmarkCompile: the server plans the statement, and tells what the session had of memory at most.
func BenchmarkCompile(b *testing.B) {
	growing := attack.Growing("AS", 4, 5, 6, 8, 10, 12)
	dialecttest.BenchmarkCompile(b, engine("", "root"), growing, func(ctx context.Context, conn *sql.Conn,
		text string) (bytes int64, err error) {
		if _, err := conn.ExecContext(ctx, "EXPLAIN "+text); err != nil {
			return 0, err
		}
		var name string
		err = conn.QueryRowContext(ctx, "SHOW SESSION STATUS LIKE 'Max_memory_used'").Scan(&name, &bytes)
		return bytes, err
	})
}
