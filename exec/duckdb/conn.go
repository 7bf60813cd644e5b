package duckdb

import (
	"context"
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	bindings "github.com/duckdb/duckdb-go-bindings"
	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/duckdb/duckdb-go/v2/mapping"

	"github.com/texttosql/texttosql/exec/guard"
)

// The driver has a whole result made before its first row is read, outside of memory_limit, and interrupts a statement
// half a second late. DuckDB itself can stream. So the handles of Open have connections of their own around those of
// the driver, which stream where the guard asks for it and interrupt by themselves.
//
// The driver (v2.10504.0) exports no stream and no handle of a connection: neither Conn, Stmt nor their functions have one.
// But its package mapping exports the calls of DuckDB's own interface, as variables. init puts functions around four of
// them that note what belongs to a connection of Open, and leave all others alone. With a driver that does not make these
// calls Open fails: errUnknownDriver.
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
			c.(*conn).prepared = *out
		}
		return state
	}
	mapping.PendingPrepared = func(p mapping.PreparedStatement, out *mapping.PendingResult) mapping.State {
		s, ok := streamed.Load(uintptr(p.Ptr))
		if !ok {
			return start(p, out)
		}
		state := bindings.PendingPreparedStreaming(p, out) // there is no other stream
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

// guarded marks the context of a call of the guard, and exactly one whose result may have no lossy column.
type (
	guarded struct{}
	exactly struct{}
)

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
	zone    string // TimeZone, which nobody may change
}

// location is the zone in which times are shown.
func (m *made) location() (*time.Location, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return guard.Zone(m.zone)
}

// handleDriver is the driver of a handle of Open, by which it is recognised.
type handleDriver struct{}

// Open refuses to open what only the functions Open and OpenFolder open.
func (handleDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("duckdb: the functions Open and OpenFolder make handles")
}

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
	prepared mapping.PreparedStatement // that was prepared last
	touched  bool                      // somebody else than the guard ran statements on it, since the guard looked
	macros   bool                      // one of them may have made a macro
}

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
	if ctx.Value(guarded{}) == nil {
		c.touch(ctx, text)
		return c.Conn.PrepareContext(ctx, text)
	}
	end := watch(ctx, c.on)
	defer end()
	c.prepared = mapping.PreparedStatement{}
	// The driver's own interrupts come late, so it does not know the context.
	inner, err := c.Conn.PrepareContext(context.WithoutCancel(ctx), text)
	if err != nil {
		return nil, errors.Join(ctx.Err(), err)
	}
	s := &stmt{Stmt: inner.(*duckdb.Stmt), on: c.on, address: uintptr(c.prepared.Ptr), memory: c.made.memory}
	if s.address == 0 {
		return nil, errors.Join(errUnknownDriver, s.Close())
	}
	s.lossy = ctx.Value(exactly{}) != nil && isLossy(c.prepared)
	return s, nil
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
	on      mapping.Connection
	address uintptr
	result  *mapping.Result // of the last run
	memory  int64           // by which the process may grow while it runs
	lossy   bool            // it does not run, since the driver would change values
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.lossy {
		return nil, errLossy
	}
	ctx, release := bounded(ctx, s.memory)
	watched := watch(ctx, s.on)
	end := func() bool { defer release(); return watched() }
	s.result = nil
	streamed.Store(s.address, s)
	inner, err := s.Stmt.QueryContext(context.WithoutCancel(ctx), args)
	streamed.Delete(s.address)
	if err == nil {
		if whole, ok := inner.(wholeRows); ok && s.result != nil {
			return &rows{wholeRows: whole, result: s.result, end: end, ctx: ctx}, nil
		}
		err = errors.Join(errUnknownDriver, inner.Close())
	}
	ended, cause := ctx.Err(), context.Cause(ctx)
	end()
	if cause == errMemory {
		return nil, outOfMemory
	}
	return nil, errors.Join(ended, err)
}

// errUnknownDriver is about another version of the driver than the one that this package was made for.
var errUnknownDriver = errors.New("duckdb: the driver is not github.com/duckdb/duckdb-go/v2 v2.10504.0, whose results this package knows how to stream")

// interruptEvery is how often a statement is interrupted whose context has ended: one that begins to run after an
// interrupt does not know of it.
const interruptEvery = 5 * time.Millisecond

// watch interrupts what runs on a connection once a context has ended. end waits until no interrupt comes any more, and
// reports whether one came.
func watch(ctx context.Context, on mapping.Connection) (end func() bool) {
	over, done := make(chan struct{}), make(chan struct{})
	cancel := context.AfterFunc(ctx, func() {
		defer close(done)
		for {
			mapping.Interrupt(on)
			select {
			case <-over:
				return
			case <-time.After(interruptEvery):
			}
		}
	})
	return sync.OnceValue(func() bool {
		close(over)
		if cancel() {
			return false
		}
		<-done
		return true
	})
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
	end    func() bool
	ctx    context.Context // ends as the statement does
}

func (r *rows) Next(dest []driver.Value) error {
	err := r.wholeRows.Next(dest)
	if err != nil && context.Cause(r.ctx) == errMemory {
		return outOfMemory
	}
	if err == io.EOF {
		if text := mapping.ResultError(r.result); text != "" {
			return &duckdb.Error{Type: duckdb.ErrorType(mapping.ResultErrorType(r.result)), Msg: text}
		}
		if r.end() {
			return &duckdb.Error{Type: duckdb.ErrorTypeInterrupt, Msg: "INTERRUPT Error: Interrupted!"}
		}
	}
	return err
}

func (r *rows) Close() error {
	r.end()
	return r.wholeRows.Close()
}
