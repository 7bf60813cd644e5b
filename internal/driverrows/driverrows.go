// Package driverrows reads the rows of a statement from a connection of a driver, past database/sql.
package driverrows

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// Scan is guard.QueryEach on a connection of the driver, inside of sql.Conn.Raw.
func Scan(ctx context.Context, driverConn any, text string, row func(scan func(dest ...any) error) error,
	args ...any) error {
	return Each(ctx, driverConn, text, args, func(values []driver.Value) error {
		return row(func(dest ...any) error { return Assign(values, dest) })
	})
}

// Each runs one text and calls row with the values of each row, which are those of the driver until the next row.
func Each(ctx context.Context, dc any, text string, args []any, row func(values []driver.Value) error) (err error) {
	rows, end, err := start(ctx, dc, text, args)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := end(); err == nil {
			err = cerr
		}
	}()
	next := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(next); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := row(next); err != nil {
			return err
		}
	}
}

// start runs a text. end closes what start opened.
func start(ctx context.Context, dc any, text string, args []any) (rows driver.Rows, end func() error, err error) {
	values := make([]driver.NamedValue, len(args))
	for i, arg := range args {
		values[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
		if named, ok := arg.(sql.NamedArg); ok {
			values[i].Name, values[i].Value = named.Name, named.Value
		}
	}
	if q, ok := dc.(driver.QueryerContext); ok {
		if rows, err = q.QueryContext(ctx, text, values); !errors.Is(err, driver.ErrSkip) {
			if err != nil {
				return nil, nil, err
			}
			return rows, rows.Close, nil
		}
	}
	var stmt driver.Stmt
	switch c := dc.(type) {
	case driver.ConnPrepareContext:
		stmt, err = c.PrepareContext(ctx, text)
	case driver.Conn:
		stmt, err = c.Prepare(text)
	default:
		err = fmt.Errorf("guard: %T is no connection of a driver", dc)
	}
	if err != nil {
		return nil, nil, err
	}
	if q, ok := stmt.(driver.StmtQueryContext); ok {
		rows, err = q.QueryContext(ctx, values)
	} else {
		plain := make([]driver.Value, len(args))
		for i, arg := range args {
			plain[i] = arg
		}
		//lint:ignore SA1019 an old driver has no other
		rows, err = stmt.Query(plain)
	}
	if err != nil {
		return nil, nil, errors.Join(err, stmt.Close())
	}
	return rows, func() error { return errors.Join(rows.Close(), stmt.Close()) }, nil
}

// Assign copies one row as sql.Rows.Scan does.
func Assign(values []driver.Value, dest []any) error {
	if len(values) != len(dest) {
		return fmt.Errorf("guard: %d columns for %d variables", len(values), len(dest))
	}
	for i, v := range values {
		if err := assignOne(v, dest[i]); err != nil {
			return fmt.Errorf("guard: column %d: %w", i+1, err)
		}
	}
	return nil
}

func assignOne(v driver.Value, dest any) (err error) {
	switch d := dest.(type) {
	case *any:
		*d = v
	case sql.Scanner:
		return d.Scan(v)
	case *sql.RawBytes:
		b, ok := v.([]byte)
		if !ok && v != nil {
			err = into(&b, v)
		}
		*d = b
	case *string:
		return into(d, v)
	case *[]byte:
		return into(d, v)
	case *int:
		return into(d, v)
	case *int64:
		return into(d, v)
	case *float64:
		return into(d, v)
	case *bool:
		return into(d, v)
	default:
		return fmt.Errorf("a variable of type %T", d)
	}
	return err
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
