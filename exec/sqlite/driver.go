package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// query runs one text of ours straight on a driver connection, inside
// sql.Conn.Raw: a guard runs half a dozen PRAGMAs a statement, and database/sql
// would start a goroutine for each. Blobs come back as strings.
func query(ctx context.Context, dc driver.Conn, text string) ([][]driver.Value, error) {
	rows, err := open(ctx, dc, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out [][]driver.Value
	for {
		row := make([]driver.Value, len(rows.Columns()))
		err := rows.Next(row)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		for i, v := range row {
			if b, ok := v.([]byte); ok {
				row[i] = string(b)
			}
		}
		out = append(out, row)
	}
}

func open(ctx context.Context, dc driver.Conn, text string) (driver.Rows, error) {
	if q, ok := dc.(driver.QueryerContext); ok {
		rows, err := q.QueryContext(ctx, text, nil)
		if !errors.Is(err, driver.ErrSkip) {
			return rows, err
		}
	}
	var stmt driver.Stmt
	var err error
	if p, ok := dc.(driver.ConnPrepareContext); ok {
		stmt, err = p.PrepareContext(ctx, text)
	} else {
		stmt, err = dc.Prepare(text)
	}
	if err != nil {
		return nil, err
	}
	var rows driver.Rows
	if q, ok := stmt.(driver.StmtQueryContext); ok {
		rows, err = q.QueryContext(ctx, nil)
	} else {
		rows, err = stmt.Query(nil) //nolint:staticcheck // all that an old driver has
	}
	if err != nil {
		stmt.Close()
		return nil, err
	}
	return closingRows{rows, stmt}, nil
}

// closingRows closes the statement of its rows with them.
type closingRows struct {
	driver.Rows
	stmt driver.Stmt
}

func (r closingRows) Close() error { return errors.Join(r.Rows.Close(), r.stmt.Close()) }

// number runs a text that answers with one integer.
func number(ctx context.Context, dc driver.Conn, text string) (int64, error) {
	rows, err := query(ctx, dc, text)
	if err != nil {
		return 0, err
	}
	if len(rows) == 1 && len(rows[0]) == 1 {
		if n, ok := rows[0][0].(int64); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s did not answer with one number", text)
}

// text returns a value as text, "" for NULL.
func text(v driver.Value) string {
	s, _ := v.(string)
	return s
}
