package sqlite

import (
	"context"
	"database/sql"

	"github.com/texttosql/texttosql/exec"
)

// Explain returns the plan of one statement that has passed the text check.
//
// EXPLAIN QUERY PLAN compiles and does not run, but it must never be put in
// front of unchecked text: with go-sqlite3, EXPLAIN QUERY PLAN SELECT 1; DROP
// TABLE t drops the table, because the driver runs every statement of a text.
func (Dialect) Explain(ctx context.Context, q exec.Queryer, sql string) (exec.Plan, error) {
	query := q.QueryContext
	if h, ok := q.(*held); ok {
		query = h.explain
	}
	found, err := query(ctx, "EXPLAIN QUERY PLAN "+sql)
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

// explain is QueryContext for a text that EXPLAIN starts: what its rows hold is
// SQLite's own, so neither types nor lengths have to be looked at. They cost no
// work and wait for no lock, so nothing has to stop them in the middle.
func (h *held) explain(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if err := h.compile(ctx, text); err != nil {
		return nil, err
	}
	rows, err := h.statement.QueryContext(context.WithoutCancel(ctx), args...)
	if err != nil {
		return nil, h.classify(err, true)
	}
	h.rows = rows
	return rows, nil
}
