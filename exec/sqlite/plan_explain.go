package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Explain returns the plan of one statement that has passed the text check.
//
// EXPLAIN QUERY PLAN compiles and does not run, but it must never be put in front of unchecked text: with go-sqlite3,
// EXPLAIN QUERY PLAN SELECT 1; DROP TABLE t drops the table, because the driver runs every statement of a text.
func (Dialect) Explain(ctx context.Context, q exec.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	rows := []exec.PlanRow{} // a plan without rows is a plan
	add := func(row []driver.Value) {
		rows = append(rows, exec.PlanRow{ID: int(integer(row[0])), Parent: int(integer(row[1])), Detail: text(row[3])})
	}
	explain := "EXPLAIN QUERY PLAN " + s.SQL()
	var err error
	if h, ok := q.(*held); ok {
		// What the rows hold is SQLite's own, so neither types nor lengths have to be looked at. They cost no work and
		// wait for no lock, so nothing has to stop them in the middle.
		err = h.alone(ctx, explain, s, func(stmt driver.Stmt) error {
			found, err := start(context.WithoutCancel(ctx), stmt)
			if err != nil {
				return err
			}
			return drain(found, 4, add)
		})
	} else {
		err = each(ctx, q, explain, 4, add)
	}
	if err != nil {
		return exec.Plan{}, err
	}
	return readPlan(s, rows), nil
}
