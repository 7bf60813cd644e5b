package mysql

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// straight is each for a text of ours on a connection, past database/sql: where a driver panics in a query of its own,
// database/sql never gives the connection back. row must not use the connection.
func straight(ctx context.Context, conn *sql.Conn, query string, row func(scan func(...any) error) error) error {
	var fault error // of row
	err := conn.Raw(func(dc any) error {
		rows, err := start(ctx, dc, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		next := make([]driver.Value, len(rows.Columns()))
		scan := func(dest ...any) error { return assign(next, dest) }
		for {
			switch err := rows.Next(next); {
			case errors.Is(err, io.EOF):
				return nil
			case err != nil:
				return err
			}
			if fault = row(scan); fault != nil {
				return nil
			}
		}
	})
	if err != nil {
		return classify(err)
	}
	if fault != nil {
		return fmt.Errorf("mysql: reading the catalog: %w", fault)
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

// assign copies one row as sql.Rows.Scan does, for the kinds of variables that this package has. Raw bytes are those of
// the driver until the next row.
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
			b, ok := v.([]byte)
			if !ok && v != nil {
				err = into(&b, v)
			}
			*d = b
		case *string:
			if b, ok := v.([]byte); ok {
				*d = string(b)
			} else {
				err = into(d, v)
			}
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
