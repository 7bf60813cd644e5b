package sqlite

import (
	"context"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// Warnings implements exec.Warner. It looks at one connection of the pool.
func (Dialect) Warnings(ctx context.Context, q exec.Queryer) ([]trace.Warning, error) {
	rows, err := q.QueryContext(ctx, "PRAGMA temp_store")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var store int
	for rows.Next() {
		if err := rows.Scan(&store); err != nil {
			return nil, err
		}
	}
	const inMemory = 2
	if store != inMemory {
		return nil, rows.Err()
	}
	// Setting it back would delete the temporary tables of the connection.
	return []trace.Warning{{
		Code:    "temp-store-memory",
		Message: "PRAGMA temp_store is MEMORY on this pool: a statement that sorts or groups much can take gigabytes of memory before its time is up",
	}}, rows.Err()
}
