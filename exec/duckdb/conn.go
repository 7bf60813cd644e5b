package duckdb

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"
)

// The driver has a whole result made before its first row is read, outside of memory_limit, and interrupts a statement
// half a second late. DuckDB itself can stream. So the handles of Open have connections of their own around those of
// the driver, which stream where the guard asks for it and interrupt by themselves.
//
// The driver exports no stream, but its package mapping exports the calls of DuckDB's own interface, as variables. init
// puts functions around four of them that note what belongs to a connection of Open, and leave all others alone. A driver
// that does not make these calls has no handle that works: errUnknownDriver.
var (
	marks    sync.Map // a text of Connect -> the *conn that runs it
	handles  sync.Map // address of a connection -> its *conn
	streamed sync.Map // address of a prepared statement -> its *stmt, while it starts
	pending  sync.Map // address of a pending result -> the *stmt that it is of
)

func init() {
	extract, prepare := mapping.ExtractStatements, mapping.PrepareExtractedStatement
	start, execute := mapping.PendingPrepared, mapping.ExecutePending
	mapping.ExtractStatements = func(on mapping.Connection, text string, out *mapping.ExtractedStatements) mapping.IdxT {
		if c, ok := marks.Load(text); ok {
			c.(*conn).on = on
		}
		return extract(on, text, out)
	}
	mapping.PrepareExtractedStatement = func(on mapping.Connection, from mapping.ExtractedStatements, i mapping.IdxT, out *mapping.PreparedStatement) mapping.State {
		state := prepare(on, from, i, out)
		if c, ok := handles.Load(uintptr(on.Ptr)); ok {
			c.(*conn).prepared = uintptr(out.Ptr)
		}
		return state
	}
	mapping.PendingPrepared = func(p mapping.PreparedStatement, out *mapping.PendingResult) mapping.State {
		s, ok := streamed.Load(uintptr(p.Ptr))
		if !ok {
			return start(p, out)
		}
		state := bindings.PendingPreparedStreaming(p, out) //nolint:staticcheck // there is no other stream
		if state == mapping.StateSuccess {
			pending.Store(uintptr(out.Ptr), s)
		}
		return state
	}
	mapping.ExecutePending = func(p mapping.PendingResult, out *mapping.Result) mapping.State {
		state := execute(p, out)
		if s, ok := pending.LoadAndDelete(uintptr(p.Ptr)); ok {
			s.(*stmt).result = out
		}
		return state
	}
}

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
	place   string // of this handle alone
	mu      sync.Mutex
	version string
}

// handleDriver is the driver of a handle of Open, by which it is recognised.
type handleDriver struct{}

// Open refuses to open what only the functions Open and OpenFolder open.
func (handleDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("duckdb: the functions Open and OpenFolder make handles")
}

// Driver implements driver.Connector.
func (c *connector) Driver() driver.Driver { return handleDriver{} }

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	out := &conn{Conn: inner.(*duckdb.Conn), made: c.made}
	// Of a stream one chunk is made ahead: DuckDB does not count the bytes of long texts.
	text := "SET streaming_buffer_size = '1KB' -- " + rand.Text()
	marks.Store(text, out)
	_, err = out.Conn.ExecContext(ctx, text, nil)
	marks.Delete(text)
	if err == nil && out.on.Ptr == nil {
		err = errUnknownDriver
	}
	if err != nil {
		return nil, errors.Join(err, out.Conn.Close())
	}
	handles.Store(uintptr(out.on.Ptr), out)
	return out, nil
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
	made     *made
	on       mapping.Connection
	prepared uintptr // the address of the statement that was prepared last
	touched  bool    // somebody else than the guard ran statements on it, since the guard looked
	macros   bool    // one of them may have made a macro
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	handles.Delete(uintptr(c.on.Ptr))
	return c.Conn.Close()
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

// PrepareContext streams the results of what the guard prepares.
func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	c.touch(ctx, text)
	if ctx.Value(guarded{}) == nil {
		return c.Conn.PrepareContext(ctx, text)
	}
	return c.prepare(ctx, text)
}

func (c *conn) Prepare(text string) (driver.Stmt, error) {
	c.touch(context.Background(), text)
	return c.Conn.Prepare(text)
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	c.touch(ctx, "")
	return c.Conn.BeginTx(ctx, o)
}

// QueryContext streams what the guard runs.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	c.touch(ctx, text)
	if ctx.Value(guarded{}) == nil {
		return c.Conn.QueryContext(ctx, text, args)
	}
	s, err := c.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	r, err := s.query(ctx, args)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	r.after = s.Close
	return r, nil
}

// stmt is a prepared statement of the guard.
type stmt struct {
	*duckdb.Stmt
	on      mapping.Connection
	address uintptr
	result  *mapping.Result // of the last run
}

// prepare compiles a text, which computes what is constant in it.
func (c *conn) prepare(ctx context.Context, text string) (*stmt, error) {
	w := watch(ctx, c.on)
	defer w.end()
	c.prepared = 0
	// The driver's own interrupts come late, so it does not know the context.
	inner, err := c.Conn.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	s := &stmt{Stmt: inner.(*duckdb.Stmt), on: c.on, address: c.prepared}
	if s.address == 0 {
		return nil, errors.Join(errUnknownDriver, s.Close())
	}
	return s, nil
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	r, err := s.query(ctx, args)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (s *stmt) query(ctx context.Context, args []driver.NamedValue) (_ *rows, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	w := watch(ctx, s.on)
	defer func() {
		if err != nil {
			w.end()
			err = errors.Join(ctx.Err(), err)
		}
	}()
	s.result = nil
	streamed.Store(s.address, s)
	inner, err := s.Stmt.QueryContext(context.WithoutCancel(ctx), args)
	streamed.Delete(s.address)
	if err != nil {
		return nil, err
	}
	whole, ok := inner.(wholeRows)
	if !ok || s.result == nil {
		return nil, errors.Join(errUnknownDriver, inner.Close())
	}
	return &rows{wholeRows: whole, result: s.result, watch: w}, nil
}

// errUnknownDriver is about another version of the driver than the one that this package was made for.
var errUnknownDriver = errors.New("duckdb: the driver is not github.com/duckdb/duckdb-go/v2 v2.10504.0, whose results this package knows how to stream")

// interruptEvery is how often a statement is interrupted whose context has ended: one that begins to run after an
// interrupt does not know of it.
const interruptEvery = 5 * time.Millisecond

// watcher interrupts what runs on a connection once a context has ended.
type watcher struct {
	stop, done chan struct{}
	fired      atomic.Bool
	once       sync.Once
}

func watch(ctx context.Context, on mapping.Connection) *watcher {
	w := &watcher{stop: make(chan struct{}), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		select {
		case <-w.stop:
			return
		case <-ctx.Done():
		}
		w.fired.Store(true)
		for {
			mapping.Interrupt(on)
			select {
			case <-w.stop:
				return
			case <-time.After(interruptEvery):
			}
		}
	}()
	return w
}

// ended reports whether the context ended.
func (w *watcher) ended() bool { return w.fired.Load() }

// end waits until no interrupt comes any more.
func (w *watcher) end() {
	w.once.Do(func() { close(w.stop); <-w.done })
}

// wholeRows is what the rows of the driver are.
type wholeRows interface {
	driver.Rows
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeScanType
}

// rows is the driver's, with the error behind the last row, which the driver takes for the end.
type rows struct {
	wholeRows
	result *mapping.Result
	watch  *watcher
	after  func() error
	closed bool
}

func (r *rows) Next(dest []driver.Value) error {
	err := r.wholeRows.Next(dest)
	if err == io.EOF {
		if text := mapping.ResultError(r.result); text != "" {
			return &duckdb.Error{Type: duckdb.ErrorType(mapping.ResultErrorType(r.result)), Msg: text}
		}
		if r.watch.ended() {
			return &duckdb.Error{Type: duckdb.ErrorTypeInterrupt, Msg: "INTERRUPT Error: Interrupted!"}
		}
	}
	return err
}

func (r *rows) Close() error {
	if r.closed {
		return nil
	}
	r.closed = true
	r.watch.end()
	err := r.wholeRows.Close()
	if r.after != nil {
		err = errors.Join(err, r.after())
	}
	return err
}
