// Package otelsql shows how a pool that github.com/XSAM/otelsql traces is guarded: the guard needs the connection
// inside.
//
//	pool, err := otelsql.Open("sqlite3", "file:shop.db?mode=ro") // github.com/mattn/go-sqlite3
//	engine, err := texttosql.New(pool, model, texttosql.WithDialect(nil, Unwrap))
package otelsql

import "database/sql/driver"

// Unwrap returns the connection inside one of otelsql, for texttosql.WithDialect and exec.Config.
func Unwrap(conn any) any {
	if traced, ok := conn.(interface{ Raw() driver.Conn }); ok {
		return traced.Raw()
	}
	return conn
}
