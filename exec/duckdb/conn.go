package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"strings"
	"sync"
	"time"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"github.com/texttosql/texttosql/exec/guard"
)

// guarded marks the context of a call of the guard.
type guarded struct{}

// connector makes the connections of a handle.
type connector struct {
	*duckdb.Connector
	made    *made
	cleanup func() error
}

// made is what is known of a database, which nothing changes while it is open.
type made struct {
	place   string   // of this handle alone
	memory  int64    // Options.MemoryBytes
	left    []string // the files of a folder that cannot be read, and why
	mu      sync.Mutex
	version string
	zone    string          // TimeZone, which nobody may change
	gone    map[string]bool // what statements said of files that cannot be read any more
}

// lost notes that a file cannot be read any more. The catalog is read again then, and leaves out the views over it.
func (m *made) lost(why string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone == nil {
		m.gone = map[string]bool{}
	}
	m.gone[why] = true
}

// location is the zone in which times are shown.
func (m *made) location() (*time.Location, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return guard.Zone(m.zone)
}

// handleDriver is the driver of a handle of Open, by which it is recognised.
type handleDriver struct{}

// Open always fails: only the functions Open and OpenFolder open a database.
func (handleDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("duckdb: the functions Open and OpenFolder make handles")
}

func (c *connector) Driver() driver.Driver { return handleDriver{} }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: inner.(*duckdb.Conn), made: c.made}, nil
}

// Close implements io.Closer for sql.DB.Close.
func (c *connector) Close() error {
	err := c.Connector.Close()
	if c.cleanup != nil {
		err = errors.Join(err, c.cleanup())
	}
	return err
}

// conn is a connection of a handle of Open.
type conn struct {
	*duckdb.Conn
	made    *made
	touched bool // somebody else than the guard ran statements on it, since the guard looked
	macros  bool // one of them may have made a macro
}

// touch notes that a text runs. The list of macros takes DuckDB too long to read it again.
func (c *conn) touch(ctx context.Context, text string) {
	if ctx.Value(guarded{}) == nil {
		text = strings.ToLower(text)
		c.touched, c.macros = true, c.macros || strings.Contains(text, "macro") || strings.Contains(text, "function")
	}
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	c.touch(ctx, text)
	return c.Conn.ExecContext(ctx, text, args)
}

// PrepareContext bounds the memory of what the guard prepares.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.touch(ctx, text)
	inner, err := c.Conn.PrepareContext(ctx, text)
	if err != nil || ctx.Value(guarded{}) == nil {
		return inner, err
	}
	return &stmt{Stmt: inner.(*duckdb.Stmt), memory: c.made.memory}, nil
}

func (c *conn) Prepare(text string) (driver.Stmt, error) {
	c.touch(context.Background(), text)
	return c.Conn.Prepare(text)
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.touch(ctx, "")
	return c.Conn.BeginTx(ctx, o)
}

// QueryContext has the guard prepare what it runs.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	if ctx.Value(guarded{}) != nil {
		return nil, driver.ErrSkip
	}
	c.touch(ctx, text)
	return c.Conn.QueryContext(ctx, text, args)
}

// stmt is a prepared statement of the guard.
type stmt struct {
	*duckdb.Stmt
	memory int64 // by which the process may grow while it runs
}

// late is how long the driver returns after a statement whose context has ended: it interrupts the statement, and
// sleeps.
const late = 550 * time.Millisecond

// QueryContext has the driver make the whole result. A statement is interrupted so long before the deadline of its
// context as the driver is late, and when the process has grown by too much.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	early, stop := ctx, func() {}
	if deadline, ok := ctx.Deadline(); ok {
		early, stop = context.WithDeadline(ctx, deadline.Add(-min(late, time.Until(deadline)/2)))
	}
	defer stop()
	within, end := bounded(early, s.memory)
	defer end()
	rows, err := s.Stmt.QueryContext(within, args)
	switch {
	case err == nil:
		return rows, nil
	case context.Cause(within) == errMemory:
		return nil, outOfMemory
	case early.Err() != nil:
		<-ctx.Done()
		return nil, errors.Join(ctx.Err(), err)
	}
	return nil, err
}
