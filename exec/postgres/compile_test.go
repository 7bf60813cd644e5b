package postgres_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestStacks: stacks of ordinary views are read.
func TestStacks(t *testing.T) { dialecttest.Stacks(t, engine("", "reader")) }

// BenchmarkCompile: the server plans the statement, and the system tells the most that its process had of memory beside
// what it began with.
func BenchmarkCompile(b *testing.B) {
	growing := attack.Growing("AS NOT MATERIALIZED", 4, 6, 8, 10, 12, 14)
	dialecttest.BenchmarkCompile(b, engine("", "postgres"), growing, func(ctx context.Context, conn *sql.Conn,
		text string) (bytes int64, err error) {
		var pid int
		if err := conn.QueryRowContext(ctx, "SELECT pg_backend_pid()").Scan(&pid); err != nil {
			return 0, err
		}
		before := peak(pid)
		_, err = conn.ExecContext(ctx, "EXPLAIN "+text)
		return peak(pid) - before, err
	})
}

// peak is the most memory that a process had of its own, in bytes; 0 where the system does not tell.
func peak(pid int) (bytes int64) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if _, rest, ok := strings.Cut(string(status), "VmHWM:"); ok {
		_, _ = fmt.Sscan(rest, &bytes)
	}
	return bytes << 10
}
