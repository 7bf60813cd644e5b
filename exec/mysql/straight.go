package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
)

// straight is each for a text of ours on a connection, past database/sql: where a driver panics in a query of its own,
// database/sql never gives the connection back.
func straight(ctx context.Context, conn *sql.Conn, query string, row func(scan func(...any) error) error) error {
	var all [][]driver.Value
	err := conn.Raw(func(dc any) error {
		rows, err := start(ctx, dc, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		next := make([]driver.Value, len(rows.Columns()))
		for {
			switch err := rows.Next(next); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			for i, v := range next {
				if b, ok := v.([]byte); ok { // the driver's until the next row
					next[i] = slices.Clone(b)
				}
			}
			all = append(all, slices.Clone(next))
		}
	})
	if err != nil {
		return classify(err)
	}
	for _, values := range all {
		if err := row(func(dest ...any) error { return assign(values, dest) }); err != nil {
			return fmt.Errorf("mysql: reading the catalog: %w", err)
		}
	}
	return nil
}

func start(ctx context.Context, dc any, query string) (driver.Rows, error) {
	if q, ok := dc.(driver.QueryerContext); ok {
		if rows, err := q.QueryContext(ctx, query, nil); !errors.Is(err, driver.ErrSkip) {
			return rows, err
		}
	}
	return nil, fmt.Errorf("mysql: the driver connection %T runs no text without a prepared statement", dc)
}

// assign copies one row as sql.Rows.Scan does, for the kinds of variables that this package has.
func assign(values []driver.Value, dest []any) error {
	if len(values) != len(dest) {
		return fmt.Errorf("%d columns for %d variables", len(values), len(dest))
	}
	for i, v := range values {
		var err error
		switch d := dest[i].(type) {
		case sql.Scanner:
			err = d.Scan(v)
		case *sql.RawBytes:
			var b []byte
			if v != nil {
				err = into(&b, v)
			}
			*d = b
		case *string:
			err = into(d, v)
		case *int:
			err = into(d, v)
		case *int64:
			err = into(d, v)
		case *bool:
			err = into(d, v)
		default:
			err = fmt.Errorf("a variable of type %T", d)
		}
		if err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

func into[T any](d *T, v driver.Value) error {
	var n sql.Null[T]
	err := n.Scan(v)
	if err == nil && !n.Valid {
		err = errors.New("it is NULL")
	}
	*d = n.V
	return err
}
