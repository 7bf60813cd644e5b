package duckdb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// each runs a query of ours and calls row for each of its rows.
func each(ctx context.Context, q bridge.Queryer, query string, row func(scan func(...any) error) error, args ...any) error {
	ctx = ours(ctx)
	conn, _ := q.(*sql.Conn)
	if h, ok := q.(*held); ok && h.reads {
		conn = h.conn
	}
	if conn != nil {
		return straight(ctx, conn, query, row, args)
	}
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return fmt.Errorf("duckdb: reading the catalog: %w", err)
		}
	}
	return rows.Err()
}

// straight is each on a connection, past database/sql: where a driver panics in a query of its own, database/sql never
// gives the connection back.
func straight(ctx context.Context, conn *sql.Conn, query string, row func(scan func(...any) error) error, args []any) error {
	var all [][]driver.Value
	err := conn.Raw(func(dc any) error {
		q, ok := dc.(driver.QueryerContext)
		if !ok {
			return fmt.Errorf("duckdb: the driver connection %T runs no text without a prepared statement", dc)
		}
		named := make([]driver.NamedValue, len(args))
		for i, arg := range args {
			named[i] = driver.NamedValue{Ordinal: i + 1, Value: arg}
		}
		rows, err := q.QueryContext(ctx, query, named)
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
			all = append(all, slices.Clone(next))
		}
	})
	if err != nil {
		return err
	}
	for _, values := range all {
		if err := row(func(dest ...any) error { return assign(values, dest) }); err != nil {
			return fmt.Errorf("duckdb: reading the catalog: %w", err)
		}
	}
	return nil
}

// do runs a statement of ours that has no rows.
func do(ctx context.Context, conn *sql.Conn, text string) error {
	return conn.Raw(func(dc any) error {
		x, ok := dc.(driver.ExecerContext)
		if !ok {
			return fmt.Errorf("duckdb: the driver connection %T runs no text without a prepared statement", dc)
		}
		_, err := x.ExecContext(ours(ctx), text, nil)
		return err
	})
}

// assign copies one row as sql.Rows.Scan does, for the kinds of variables that this package has.
func assign(values []driver.Value, dest []any) error {
	if len(values) != len(dest) {
		return fmt.Errorf("%d columns for %d variables", len(values), len(dest))
	}
	for i, v := range values {
		var err error
		switch d := dest[i].(type) {
		case *any:
			*d = v
		case sql.Scanner:
			err = d.Scan(v)
		case *string:
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
