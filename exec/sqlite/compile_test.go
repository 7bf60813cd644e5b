package sqlite_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestStacks: stacks of ordinary views are read.
func TestStacks(t *testing.T) { dialecttest.Stacks(t, engine()) }

// BenchmarkCompile: SQLite prepares the statement, and the system tells by what the process grew.
func BenchmarkCompile(b *testing.B) {
	growing := attack.Growing("AS NOT MATERIALIZED", 4, 6, 8, 10, 12)
	dialecttest.BenchmarkCompile(b, engine(), growing, func(ctx context.Context, conn *sql.Conn, text string) (bytes int64,
		err error) {
		grown := dbtest.MemoryGrowth()
		statement, err := conn.PrepareContext(ctx, text)
		if err != nil {
			return 0, err
		}
		return grown(), statement.Close()
	})
}
