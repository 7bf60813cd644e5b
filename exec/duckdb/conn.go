package duckdb

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"reflect"
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

// streamed are the prepared statements, by their address, whose results come as a stream.
var streamed sync.Map

func init() {
	prepared := mapping.PendingPrepared
	mapping.PendingPrepared = func(s mapping.PreparedStatement, out *mapping.PendingResult) mapping.State {
		if _, ok := streamed.Load(uintptr(s.Ptr)); ok {
			return bindings.PendingPreparedStreaming(s, out) //nolint:staticcheck // there is no other stream
		}
		return prepared(s, out)
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

// made is what Open found in a database, which nothing changes while it is open.
type made struct {
	mu      sync.Mutex
	version string
	macros  map[string]bool // names in lower case; nil: not read yet
}

func (c *connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	on := inner.(*duckdb.Conn)
	// Of a stream one chunk is made ahead: DuckDB does not count the bytes of long texts.
	if _, err := on.ExecContext(ctx, "SET streaming_buffer_size = '1KB'", nil); err != nil {
		return nil, errors.Join(err, on.Close())
	}
	return &conn{Conn: on, made: c.made}, nil
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
}

// prepare compiles a text, which computes what is constant in it.
func (c *conn) prepare(ctx context.Context, text string) (*stmt, error) {
	handle, ok := pointer(c.Conn, "conn", "Ptr")
	if !ok {
		return nil, errUnknownDriver
	}
	s := &stmt{on: mapping.Connection{Ptr: handle.UnsafePointer()}}
	w := watch(ctx, s.on)
	defer w.end()
	// The driver's own interrupts come late, so it does not know the context.
	prepared, err := c.Conn.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	s.Stmt = prepared.(*duckdb.Stmt)
	address, ok := pointer(s.Stmt, "preparedStmt", "Ptr")
	if !ok {
		return nil, errors.Join(errUnknownDriver, s.Close())
	}
	s.address = address.Pointer()
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
	streamed.Store(s.address, true)
	inner, err := s.Stmt.QueryContext(context.WithoutCancel(ctx), args)
	streamed.Delete(s.address)
	if err != nil {
		return nil, err
	}
	res, ok := pointer(inner, "res", "")
	whole, isWhole := inner.(wholeRows)
	if !ok || !isWhole {
		return nil, errors.Join(errUnknownDriver, inner.Close())
	}
	return &rows{wholeRows: whole, result: (*mapping.Result)(res.UnsafePointer()), watch: w}, nil
}

// errUnknownDriver is about another version of the driver than the one that this package was made for.
var errUnknownDriver = errors.New("duckdb: the driver is not github.com/duckdb/duckdb-go/v2 v2.10504.0, whose results this package knows how to stream")

// pointer finds a field of what v points to, and a field of that. Without inner it is the address of the field.
func pointer(v any, field, inner string) (reflect.Value, bool) {
	p := reflect.ValueOf(v)
	if p.Kind() != reflect.Pointer || p.IsNil() || p.Elem().Kind() != reflect.Struct {
		return reflect.Value{}, false
	}
	f := p.Elem().FieldByName(field)
	if !f.IsValid() {
		return f, false
	}
	if inner == "" {
		return f.Addr(), f.Type() == reflect.TypeFor[mapping.Result]()
	}
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return f, false
		}
		f = f.Elem()
	}
	if f.Kind() != reflect.Struct {
		return f, false
	}
	f = f.FieldByName(inner)
	return f, f.IsValid() && f.Kind() == reflect.UnsafePointer
}

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
