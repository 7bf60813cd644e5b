package guard

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// Each runs one text of the guard's own on a connection and calls row for each row of the result, which has to scan it at
// once. It goes past database/sql: where a driver panics in a query, database/sql never gives the connection back. row
// must not use the connection. args are those of the driver, also as sql.NamedArg. Errors are those of the driver, or of row.
//
// scan takes pointers to string, int, int64, bool, float64, []byte, sql.RawBytes (those of the driver until the next row),
// any, and every sql.Scanner.
func Each(ctx context.Context, conn *sql.Conn, text string, row func(scan func(dest ...any) error) error, args ...any) error {
	return conn.Raw(func(dc any) error { return EachRaw(ctx, dc, text, row, args...) })
}

// EachRaw is [Each] on a connection of the driver, inside of sql.Conn.Raw.
func EachRaw(ctx context.Context, driverConn any, text string, row func(scan func(dest ...any) error) error, args ...any) error {
	return each(ctx, driverConn, text, args, func(values []driver.Value) error {
		return row(func(dest ...any) error { return assign(values, dest) })
	})
}

// Texts runs one text as [Each] does and returns its rows. Numbers are written as fmt.Sprint writes them, NULL as "".
func Texts(ctx context.Context, conn *sql.Conn, text string, args ...any) (rows [][]string, err error) {
	err = conn.Raw(func(dc any) error {
		return each(ctx, dc, text, args, func(values []driver.Value) error {
			row := make([]string, len(values))
			for i, v := range values {
				switch v := v.(type) {
				case nil:
				case []byte:
					row[i] = string(v)
				default:
					row[i] = fmt.Sprint(v)
				}
			}
			rows = append(rows, row)
			return nil
		})
	})
	return rows, err
}

// Query prepares a statement and runs it, for exec.Rows. Where a driver panics in sql.Conn.QueryContext, database/sql never
// gives the connection back. The statement has to be closed behind its rows; after an error it is closed.
func Query(ctx context.Context, conn *sql.Conn, text string, args ...any) (rows *sql.Rows, statement *sql.Stmt, err error) {
	if statement, err = conn.PrepareContext(ctx, text); err != nil {
		return nil, nil, err
	}
	defer func() {
		if rows == nil {
			statement.Close()
		}
	}()
	rows, err = statement.QueryContext(ctx, args...)
	return rows, statement, err
}

// Drop makes database/sql close a connection instead of keeping it. One that is closed already is no error.
func Drop(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

func each(ctx context.Context, dc any, text string, args []any, row func(values []driver.Value) error) (err error) {
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

// assign copies one row as sql.Rows.Scan does.
func assign(values []driver.Value, dest []any) error {
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
