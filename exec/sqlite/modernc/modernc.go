// Package modernc opens databases for the guard with modernc.org/sqlite, which needs no C compiler. It is a module of
// its own.
//
//	pool := sql.OpenDB(modernc.Connector{DSN: "file:shop.db?mode=ro"})
//	engine, err := texttosql.New(pool, model)
package modernc

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"modernc.org/sqlite"
)

// Connector opens connections of modernc.org/sqlite for the guard.
//
// The driver has an authorizer, but it sets limits only through a *sql.Conn, which is locked while the guard is set
// up. So each connection has its own pool of one connection, through which its limits are set.
//
// Safe for concurrent use.
type Connector struct {
	DSN string // the data source name: "file:shop.db?mode=ro"
}

// Driver returns the driver of modernc.org/sqlite, from which the engine recognises the dialect.
func (Connector) Driver() driver.Driver { return &sqlite.Driver{} }

// Connect opens a connection.
func (m Connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := m.Driver().Open(m.DSN)
	if err != nil {
		return nil, err
	}
	all, ok := inner.(wholeConn)
	if !ok {
		return nil, errors.Join(errors.New("modernc.org/sqlite has no authorizer before v1.61"), inner.Close())
	}
	pool := sql.OpenDB(given{inner})
	own, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close(), inner.Close())
	}
	return &conn{all, pool, own}, nil
}

// given is a connector of one connection.
type given struct{ conn driver.Conn }

func (g given) Connect(context.Context) (driver.Conn, error) { return g.conn, nil }
func (g given) Driver() driver.Driver                        { return &sqlite.Driver{} }

// wholeConn is what database/sql and the guard need of a connection.
type wholeConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
	driver.ExecerContext
	driver.QueryerContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
	RegisterAuthorizer(sqlite.AuthorizerFn) error
}

// conn is a connection with the hooks of the guard.
type conn struct {
	wholeConn
	pool *sql.DB   // of own
	own  *sql.Conn // the same connection
}

// RegisterAuthorizer panics where the driver fails: the guard recovers and refuses the statement.
func (c *conn) RegisterAuthorizer(callback func(op int, arg1, arg2, database string) int) {
	var own sqlite.AuthorizerFn
	if callback != nil {
		own = func(op sqlite.AuthorizerActionCode, arg1, arg2, database, _ string) sqlite.AuthorizerReturnCode {
			return sqlite.AuthorizerReturnCode(callback(int(op), arg1, arg2, database))
		}
	}
	if err := c.wholeConn.RegisterAuthorizer(own); err != nil {
		panic(err)
	}
}

func (c *conn) SetLimit(id, value int) int {
	old, err := sqlite.Limit(c.own, id, value)
	if err != nil {
		panic(err)
	}
	return old
}

// Close closes the connection with its pool.
func (c *conn) Close() error { return errors.Join(c.own.Close(), c.pool.Close()) }
