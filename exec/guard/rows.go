package guard

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/driverrows"
)

// QueryEach runs one text of the guard on a connection and calls row for each row of the result. row must scan the row
// at once and must not use the connection. QueryEach bypasses database/sql: if a driver panics in a query, database/sql
// never returns the connection. args are passed to the driver; sql.NamedArg is allowed. QueryEach returns errors of the
// driver or of row.
//
// scan accepts pointers to string, int, int64, bool, float64, []byte, sql.RawBytes (the driver's bytes until the next
// row) and any, and every sql.Scanner.
func QueryEach(ctx context.Context, conn *sql.Conn, text string, row func(scan func(dest ...any) error) error,
	args ...any) error {
	return conn.Raw(func(dc any) error { return driverrows.Scan(ctx, dc, text, row, args...) })
}

// Texts runs one text as [QueryEach] does and returns its rows. Numbers are formatted with fmt.Sprint, NULL as "".
func Texts(ctx context.Context, conn *sql.Conn, text string, args ...any) (rows [][]string, err error) {
	err = conn.Raw(func(dc any) error {
		return driverrows.Each(ctx, dc, text, args, func(values []driver.Value) error {
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

// Query prepares a statement and runs it, for exec.Rows. If a driver panics in sql.Conn.QueryContext, database/sql
// never returns the connection. Close the statement after its rows; after an error it is closed already.
func Query(ctx context.Context, conn *sql.Conn, text string, args ...any) (rows *sql.Rows, statement *sql.Stmt,
	err error) {
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

// Discard makes database/sql close a connection instead of reusing it. Discard accepts a closed connection.
func Discard(conn *sql.Conn) error {
	err := conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}
