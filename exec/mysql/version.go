package mysql

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/internal/bridge"
)

// DefaultSchema returns the database of the connection.
func (Dialect) DefaultSchema(ctx context.Context, q bridge.Queryer) (name string, err error) {
	var found sql.NullString
	err = each(ctx, q, "SELECT DATABASE()", func(scan func(...any) error) error { return scan(&found) })
	if err == nil && !found.Valid {
		err = &exec.UnguardedError{
			Reason: "the connection has no database selected",
			Remedy: "name one behind the slash of the DSN: user@tcp(host:3306)/shop",
		}
	}
	return found.String, err
}

// Version returns a hash of what the database has: the names, kinds, comments and CREATE_TIME of its tables, the
// definitions of its views, and the names and times of its functions and procedures. The server raises CREATE_TIME at
// each ALTER, to the second: what is altered twice within one second and read in between shows its new version only at
// its next change.
func (Dialect) Version(ctx context.Context, q bridge.Queryer) (string, error) { return version(ctx, q) }

const versionQuery = `SELECT TABLE_TYPE, TABLE_NAME, CREATE_TIME, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE <> 'TEMPORARY'
UNION ALL SELECT 'view', TABLE_NAME, NULL, VIEW_DEFINITION FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE()
UNION ALL SELECT ROUTINE_TYPE, ROUTINE_NAME, LAST_ALTERED, SECURITY_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()`

func version(ctx context.Context, q bridge.Queryer) (string, error) {
	var all []string // sorted here: the server would write them into a table for that
	err := each(ctx, q, versionQuery, func(scan func(...any) error) error {
		var row [4]sql.RawBytes
		if err := scan(&row[0], &row[1], &row[2], &row[3]); err != nil {
			return err
		}
		all = append(all, fmt.Sprintf("%q", row))
		return nil
	})
	slices.Sort(all)
	return fmt.Sprintf("%.16x", sha256.Sum256([]byte(strings.Join(all, "\n")))), err
}

// each runs a query of ours and calls row for each of its rows.
func each(ctx context.Context, q bridge.Queryer, query string, row func(scan func(...any) error) error) error {
	conn, _ := q.(*sql.Conn)
	if h, ok := q.(*held); ok && h.reads {
		conn = h.conn
	}
	if conn != nil {
		return straight(ctx, conn, query, row)
	}
	rows, err := q.QueryContext(ctx, query)
	if err != nil {
		return classify(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return fmt.Errorf("mysql: reading the catalog: %w", err)
		}
	}
	if err := rows.Err(); err != nil {
		return classify(err)
	}
	return nil
}
