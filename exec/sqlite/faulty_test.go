package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/mattn/go-sqlite3"
)

// faultyPool is a pool of one connection over the fixture, in a "file" of its own or in ":memory:", where every connection
// is another database.
func faultyPool(t *testing.T, place string) (*faulty, *sql.DB) {
	t.Helper()
	connector := &faulty{dsn: place}
	if place == "file" {
		connector.dsn = filepath.Join(t.TempDir(), "test.db")
	}
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec(fixture); err != nil {
		t.Fatal(err)
	}
	return connector, pool
}

// faulty is a connector whose connections fail where a test wants them to.
type faulty struct {
	dsn  string
	fail func(event string) error // asked before each event; may panic; nil: nothing fails
}

func (f *faulty) Connect(context.Context) (driver.Conn, error) {
	c, err := (&sqlite3.SQLiteDriver{}).Open(f.dsn)
	if err != nil {
		return nil, err
	}
	return &faultyConn{c.(*sqlite3.SQLiteConn), f}, nil
}

func (f *faulty) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

func (f *faulty) event(name string) error {
	if f.fail == nil {
		return nil
	}
	return f.fail(name)
}

// faultyConn is a whole connection of go-sqlite3, so it has its hooks.
type faultyConn struct {
	*sqlite3.SQLiteConn
	faults *faulty
}

func (c *faultyConn) RegisterAuthorizer(callback func(int, string, string, string) int) {
	name := "authorizer off"
	if callback != nil {
		name = "authorizer on"
	}
	if err := c.faults.event(name); err != nil {
		panic(err) // a method without an error has no other way
	}
	c.SQLiteConn.RegisterAuthorizer(callback)
}

func (c *faultyConn) SetLimit(id, value int) int {
	if err := c.faults.event(fmt.Sprintf("limit %d %d", id, value)); err != nil {
		panic(err)
	}
	return c.SQLiteConn.SetLimit(id, value)
}

func (c *faultyConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	if err := c.faults.event(query); err != nil {
		return nil, err
	}
	return c.SQLiteConn.QueryContext(ctx, query, args)
}

func (c *faultyConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	if err := c.faults.event(query); err != nil {
		return nil, err
	}
	return c.SQLiteConn.ExecContext(ctx, query, args)
}

func (c *faultyConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	if err := c.faults.event("prepare"); err != nil {
		return nil, err
	}
	return c.SQLiteConn.PrepareContext(ctx, query)
}

// catch returns a panic as an error.
func catch(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}
