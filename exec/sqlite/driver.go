package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// scan runs one text of ours straight on a driver connection, inside sql.Conn.Raw, and calls f for each of its rows,
// which have so many columns. A guard runs half a dozen PRAGMAs a statement, and database/sql would make them cost
// several times as much. A row lives until the next one.
func scan(ctx context.Context, dc driver.Conn, text string, columns int, f func(row []driver.Value)) error {
	rows, err := open(ctx, dc, text)
	if err != nil {
		return err
	}
	return drain(rows, columns, f)
}

// drain calls f for each of rows and closes them.
func drain(rows driver.Rows, columns int, f func(row []driver.Value)) error {
	defer rows.Close()
	rows.Columns() // as database/sql does; github.com/ncruces/go-sqlite3 panics in Next without it
	row := make([]driver.Value, columns)
	for {
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f(row)
	}
}

// run runs one text of ours that answers nothing worth reading.
func run(ctx context.Context, dc driver.Conn, text string) error {
	if x, ok := dc.(driver.ExecerContext); ok {
		if _, err := x.ExecContext(ctx, text, nil); !errors.Is(err, driver.ErrSkip) {
			return err
		}
	}
	return scan(ctx, dc, text, 1, func([]driver.Value) {})
}

func open(ctx context.Context, dc driver.Conn, text string) (driver.Rows, error) {
	if q, ok := dc.(driver.QueryerContext); ok {
		rows, err := q.QueryContext(ctx, text, nil)
		if !errors.Is(err, driver.ErrSkip) {
			return rows, err
		}
	}
	stmt, err := prepare(ctx, dc, text)
	if err != nil {
		return nil, err
	}
	rows, err := start(ctx, stmt)
	if err != nil {
		stmt.Close()
		return nil, err
	}
	return closingRows{rows, stmt}, nil
}

func prepare(ctx context.Context, dc driver.Conn, text string) (driver.Stmt, error) {
	if p, ok := dc.(driver.ConnPrepareContext); ok {
		return p.PrepareContext(ctx, text)
	}
	return dc.Prepare(text)
}

func start(ctx context.Context, stmt driver.Stmt) (driver.Rows, error) {
	if q, ok := stmt.(driver.StmtQueryContext); ok {
		return q.QueryContext(ctx, nil)
	}
	return stmt.Query(nil) //nolint:staticcheck // all that an old driver has
}

// closingRows closes the statement of its rows with them.
type closingRows struct {
	driver.Rows
	stmt driver.Stmt
}

func (r closingRows) Close() error { return errors.Join(r.Rows.Close(), r.stmt.Close()) }

// number runs a text that answers with one integer.
func number(ctx context.Context, dc driver.Conn, text string) (n int64, err error) {
	found := 0
	err = scan(ctx, dc, text, 1, func(row []driver.Value) {
		if v, ok := row[0].(int64); ok {
			n = v
			found++
		}
	})
	if err == nil && found != 1 {
		err = fmt.Errorf("%s did not answer with one number", text)
	}
	return n, err
}

// text returns a value as text, "" for NULL.
func text(v driver.Value) string {
	switch v := v.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	}
	return ""
}

// integer returns a value as a number, 0 for what is none.
func integer(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}
