package exectest

import (
	"context"
	"database/sql/driver"
	"errors"
	"reflect"
	"sync/atomic"
)

// Faults (API is not stable) is a connector whose connections fail where a test wants them to. Set Connector before the
// first use. With the other fields zero, nothing fails. Safe for concurrent use.
type Faults struct {
	driver.Connector
	fail atomic.Pointer[func(event string) error]
}

// Fail sets a function that is called before each call of the driver. If ask returns an error, the driver is not called
// and the call returns that error. ask may panic or block. nil: nothing fails.
//
// The events are "connect", "reset", "close", "begin", "commit", "rollback", "next", "prepare TEXT", "query TEXT" and
// "exec TEXT". A prepared statement has "run TEXT". The events "rows closed" and "statement closed" come after their
// call.
func (f *Faults) Fail(ask func(event string) error) {
	if ask == nil {
		f.fail.Store(nil)
		return
	}
	f.fail.Store(&ask)
}

// Event reports a driver call that database/sql does not know: it calls the function that Fail set.
func (f *Faults) Event(name string) error {
	if ask := f.fail.Load(); ask != nil {
		return (*ask)(name)
	}
	return nil
}

// Connect implements driver.Connector.
func (f *Faults) Connect(ctx context.Context) (driver.Conn, error) {
	if err := f.Event("connect"); err != nil {
		return nil, err
	}
	c, err := f.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{c, f}, nil
}

// Unwrap (API is not stable) returns the driver's connection inside a connection of [Faults], and any other value
// unchanged.
func Unwrap(driverConn any) any {
	if c, ok := driverConn.(*conn); ok {
		return c.Conn
	}
	return driverConn
}

// conn has all methods that database/sql may look for. A method that the driver lacks reports that it is not supported.
type conn struct {
	driver.Conn
	faults *Faults
}

func (c *conn) Prepare(text string) (driver.Stmt, error) {
	return c.PrepareContext(context.Background(), text)
}

func (c *conn) PrepareContext(ctx context.Context, text string) (driver.Stmt, error) {
	if err := c.faults.Event("prepare " + text); err != nil {
		return nil, err
	}
	prepare := func() (driver.Stmt, error) { return c.Conn.Prepare(text) }
	if p, ok := c.Conn.(driver.ConnPrepareContext); ok {
		prepare = func() (driver.Stmt, error) { return p.PrepareContext(ctx, text) }
	}
	s, err := prepare()
	if err != nil {
		return nil, err
	}
	return &stmt{s, c, text}, nil
}

func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	q, ok := c.Conn.(driver.QueryerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	if err := c.faults.Event("query " + text); err != nil {
		return nil, err
	}
	r, err := q.QueryContext(ctx, text, args)
	return c.rows(r, err)
}

func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	x, ok := c.Conn.(driver.ExecerContext)
	if !ok {
		return nil, driver.ErrSkip
	}
	if err := c.faults.Event("exec " + text); err != nil {
		return nil, err
	}
	return x.ExecContext(ctx, text, args)
}

func (c *conn) BeginTx(ctx context.Context, o driver.TxOptions) (driver.Tx, error) {
	if err := c.faults.Event("begin"); err != nil {
		return nil, err
	}
	//lint:ignore SA1019 some drivers have no other
	begin := c.Conn.Begin
	if b, ok := c.Conn.(driver.ConnBeginTx); ok {
		begin = func() (driver.Tx, error) { return b.BeginTx(ctx, o) }
	} else if o != (driver.TxOptions{}) {
		return nil, errors.New("exectest: the driver knows no options of transactions")
	}
	t, err := begin()
	if err != nil {
		return nil, err
	}
	return &tx{t, c.faults}, nil
}

func (c *conn) ResetSession(ctx context.Context) error {
	if err := c.faults.Event("reset"); err != nil {
		return err
	}
	if r, ok := c.Conn.(driver.SessionResetter); ok {
		return r.ResetSession(ctx)
	}
	return nil
}

func (c *conn) IsValid() bool {
	v, ok := c.Conn.(driver.Validator)
	return !ok || v.IsValid()
}

func (c *conn) Ping(ctx context.Context) error {
	if p, ok := c.Conn.(driver.Pinger); ok {
		return p.Ping(ctx)
	}
	return nil
}

func (c *conn) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := c.Conn.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return driver.ErrSkip
}

func (c *conn) Close() error {
	return errors.Join(c.Conn.Close(), c.faults.Event("close"))
}

func (c *conn) rows(r driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, err
	}
	return &rows{r, c.faults}, nil
}

type stmt struct {
	driver.Stmt
	conn *conn
	text string
}

func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (driver.Rows, error) {
	if err := s.conn.faults.Event("run " + s.text); err != nil {
		return nil, err
	}
	if q, ok := s.Stmt.(driver.StmtQueryContext); ok {
		r, err := q.QueryContext(ctx, args)
		return s.conn.rows(r, err)
	}
	//lint:ignore SA1019 some drivers have no other
	r, err := s.Stmt.Query(values(args))
	return s.conn.rows(r, err)
}

func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (driver.Result, error) {
	if err := s.conn.faults.Event("run " + s.text); err != nil {
		return nil, err
	}
	if x, ok := s.Stmt.(driver.StmtExecContext); ok {
		return x.ExecContext(ctx, args)
	}
	//lint:ignore SA1019 some drivers have no other
	return s.Stmt.Exec(values(args))
}

func (s *stmt) CheckNamedValue(v *driver.NamedValue) error {
	if n, ok := s.Stmt.(driver.NamedValueChecker); ok {
		return n.CheckNamedValue(v)
	}
	return s.conn.CheckNamedValue(v)
}

func (s *stmt) Close() error {
	return errors.Join(s.Stmt.Close(), s.conn.faults.Event("statement closed"))
}

func values(args []driver.NamedValue) []driver.Value {
	out := make([]driver.Value, len(args))
	for i, a := range args {
		out[i] = a.Value
	}
	return out
}

type tx struct {
	driver.Tx
	faults *Faults
}

func (t *tx) Commit() error {
	if err := t.faults.Event("commit"); err != nil {
		return err
	}
	return t.Tx.Commit()
}

func (t *tx) Rollback() error {
	if err := t.faults.Event("rollback"); err != nil {
		return err
	}
	return t.Tx.Rollback()
}

type rows struct {
	driver.Rows
	faults *Faults
}

func (r *rows) Next(dest []driver.Value) error {
	if err := r.faults.Event("next"); err != nil {
		return err
	}
	return r.Rows.Next(dest)
}

func (r *rows) Close() error {
	return errors.Join(r.Rows.Close(), r.faults.Event("rows closed"))
}

func (r *rows) HasNextResultSet() bool {
	n, ok := r.Rows.(driver.RowsNextResultSet)
	return ok && n.HasNextResultSet()
}

func (r *rows) NextResultSet() error { return r.Rows.(driver.RowsNextResultSet).NextResultSet() }

func (r *rows) ColumnTypeScanType(i int) reflect.Type {
	if c, ok := r.Rows.(driver.RowsColumnTypeScanType); ok {
		return c.ColumnTypeScanType(i)
	}
	return reflect.TypeFor[any]()
}

func (r *rows) ColumnTypeDatabaseTypeName(i int) string {
	if c, ok := r.Rows.(driver.RowsColumnTypeDatabaseTypeName); ok {
		return c.ColumnTypeDatabaseTypeName(i)
	}
	return ""
}

func (r *rows) ColumnTypeLength(i int) (int64, bool) {
	if c, ok := r.Rows.(driver.RowsColumnTypeLength); ok {
		return c.ColumnTypeLength(i)
	}
	return 0, false
}

func (r *rows) ColumnTypeNullable(i int) (nullable, ok bool) {
	if c, ok := r.Rows.(driver.RowsColumnTypeNullable); ok {
		return c.ColumnTypeNullable(i)
	}
	return false, false
}

func (r *rows) ColumnTypePrecisionScale(i int) (precision, scale int64, ok bool) {
	if c, ok := r.Rows.(driver.RowsColumnTypePrecisionScale); ok {
		return c.ColumnTypePrecisionScale(i)
	}
	return 0, 0, false
}
