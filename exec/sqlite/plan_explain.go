package sqlite

import (
	"context"

	"github.com/texttosql/texttosql/exec"
)

// Explain returns the plan of one statement that has passed the text check.
//
// EXPLAIN QUERY PLAN compiles and does not run, but it must never be put in
// front of unchecked text: with go-sqlite3, EXPLAIN QUERY PLAN SELECT 1; DROP
// TABLE t drops the table, because the driver runs every statement of a text.
func (Dialect) Explain(ctx context.Context, q exec.Queryer, sql string) (exec.Plan, error) {
	found, err := q.QueryContext(ctx, "EXPLAIN QUERY PLAN "+sql)
	if err != nil {
		return exec.Plan{}, err
	}
	defer found.Close()
	rows := []exec.PlanRow{} // a plan without rows is a plan
	for found.Next() {
		var (
			row    exec.PlanRow
			unused int
		)
		if err := found.Scan(&row.ID, &row.Parent, &unused, &row.Detail); err != nil {
			return exec.Plan{}, err
		}
		rows = append(rows, row)
	}
	if err := found.Err(); err != nil {
		return exec.Plan{}, err
	}
	return ReadPlan(sql, rows), nil
}
