package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/sqltext"
)

// Explain returns the plan of one statement that has passed the text check.
//
// EXPLAIN QUERY PLAN does not run the statement. Still the text check is needed: go-sqlite3 runs every statement of a
// text, so EXPLAIN QUERY PLAN SELECT 1; DROP TABLE t drops the table.
func (Dialect) Explain(ctx context.Context, q exec.Queryer, s *sqltext.Statement) (exec.Plan, error) {
	rows := []exec.PlanRow{} // a plan without rows is a plan
	add := func(row []driver.Value) {
		rows = append(rows, exec.PlanRow{ID: int(integer(row[0])), Parent: int(integer(row[1])), Detail: text(row[3])})
	}
	explain := "EXPLAIN QUERY PLAN " + s.SQL()
	var err error
	if h, ok := q.(*held); ok {
		// The rows are made by SQLite itself: no type and no length has to be checked, and nothing waits for a lock, so
		// nothing has to be stopped in the middle.
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
