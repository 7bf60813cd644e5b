package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// Warnings looks at one connection of the pool.
func (Dialect) Warnings(ctx context.Context, q exec.Queryer) ([]trace.Warning, error) {
	var store int64
	err := each(ctx, q, "PRAGMA temp_store", 1, func(row []driver.Value) { store = integer(row[0]) })
	const inMemory = 2
	if err != nil || store != inMemory {
		return nil, err
	}
	// Setting it back would delete the temporary tables of the connection.
	return []trace.Warning{{
		Code:    "temp-store-memory",
		Message: "PRAGMA temp_store is MEMORY on this pool: a statement that sorts or groups much can take gigabytes of memory before its time is up",
	}}, nil
}
