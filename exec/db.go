package exec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Config configures a [DB]. The zero Config is ready to use.
type Config struct {
	Policy Policy // what statements may read; the zero Policy: everything
	Limits Limits // what statements may cost; zero fields are their defaults
	// Unwrap returns the engine's own driver connection for the one that
	// database/sql has, where a library wraps the driver to trace or count. It
	// is called with what sql.Conn.Raw gives, and may return its argument. nil:
	// the driver is not wrapped.
	Unwrap func(driverConn any) any
}

// DB runs reading statements of untrusted origin on a *sql.DB.
//
// Each statement passes the text check, runs alone on a connection that is
// guarded first, and has limits on time, rows and bytes. The connection then
// goes back to the pool as it was; after a cancelled statement it is closed
// instead, unless its database lives in memory. At most Limits.Connections
// connections are held at once, one a running statement, and no call holds two.
//
// The rights are those of the pool: who may ask what is for the database, or for
// a pool of its own a user, to decide. Safe for concurrent use.
type DB struct {
	*shared
	lookOnly bool // statements from outside do not run
}

// shared is what a DB and the one that WithoutExecution makes of it have in common.
type shared struct {
	pool    *sql.DB
	dialect Dialect
	policy  Policy
	limits  Limits
	guard   Guard
	slots   chan struct{} // one a held connection
	broken  atomic.Pointer[error]
	schemas schemaCache
}

// New returns a DB on pool, which stays the caller's: nothing here closes it, and
// other work may go on with it.
//
// It does not touch the database, see [DB.Ready]; its errors are faults in c, all
// at once.
func New(pool *sql.DB, d Dialect, c Config) (*DB, error) {
	if pool == nil || d == nil {
		return nil, errors.New("exec: New needs a *sql.DB and a Dialect")
	}
	if err := errors.Join(c.Limits.validate(), c.Policy.validate()); err != nil {
		return nil, err
	}
	limits := c.Limits.filled()
	if most := pool.Stats().MaxOpenConnections; most > 0 {
		limits.Connections = min(limits.Connections, most)
	}
	guard, err := d.Guard(GuardConfig{
		Policy: c.Policy, Unwrap: c.Unwrap,
		CellBytes: max(limits.Candidate.CellBytes, limits.Answer.CellBytes),
	})
	if err != nil {
		return nil, err
	}
	return &DB{shared: &shared{
		pool: pool, dialect: d, policy: c.Policy, limits: limits, guard: guard,
		slots:   make(chan struct{}, limits.Connections),
		schemas: newSchemaCache(),
	}}, nil
}

// WithoutExecution returns db as one that looks at statements and runs none:
// [DB.Query], [DB.QueryWithin] and [DB.Session] return [ErrNoExecution], and
// [Execute] finds nothing. What this package writes itself still runs, as [DB.Sample],
// [DB.Profile] and [DB.Probe] do. Connections, limits and schema are those of db.
func (db *DB) WithoutExecution() *DB { return &DB{shared: db.shared, lookOnly: true} }

// readyTimeout bounds Ready where its context does not.
const readyTimeout = 5 * time.Second

// Ready takes one connection, guards it and gives it back, within 5 seconds. Its
// error says why no statement could run: the database cannot be opened or is no
// database, the policy names something that it does not have, or, matching
// [ErrUnguarded], the driver lacks the hooks and what to do about that. Without
// this call the first statement says so.
func (db *DB) Ready(ctx context.Context) error {
	return db.own(ctx, readyTimeout, func(context.Context, Held) error { return nil })
}

// Dialect returns the dialect that the DB was made with.
func (db *DB) Dialect() Dialect { return db.dialect }

// Limits returns the limits in force, defaults written out.
func (db *DB) Limits() Limits { return db.limits }

// connect takes a slot and a connection, without a guard; disconnect gives both
// back.
//
// The wait for a slot ends with ctx alone: whoever holds one is bounded, and a
// timeout here would let one slow statement fail the quick ones behind it. The
// wait for the pool is bounded by wait, since the caller of the pool may hold
// connections for ever.
func (db *DB) connect(ctx context.Context, wait time.Duration) (conn *sql.Conn, err error) {
	select {
	case db.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("exec: waiting for a connection: %w", ctx.Err())
	}
	defer func() {
		if conn == nil { // also where the driver panics
			<-db.slots
		}
	}()
	if err := db.broken.Load(); err != nil {
		return nil, *err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err = db.pool.Conn(waiting)
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("exec: waiting for a connection: %w", ctx.Err())
	case waiting.Err() != nil:
		stats := db.pool.Stats()
		if stats.InUse < stats.MaxOpenConnections || stats.MaxOpenConnections == 0 {
			return nil, fmt.Errorf("%w: opening a connection took more than %v, as it may where somebody holds a lock", ErrBusy, wait)
		}
		return nil, fmt.Errorf("%w: the pool had no connection free within %v (%d in use)", ErrBusy, wait, stats.InUse)
	}
	if c, ok := db.dialect.(Classifier); ok {
		err = c.Classify(err)
	}
	return nil, fmt.Errorf("exec: opening a connection: %w", err)
}

func (db *DB) disconnect(conn *sql.Conn) {
	conn.Close()
	<-db.slots
}

// own runs f on a guarded connection for statements of ours. ctx in f ends
// after timeout.
func (db *DB) own(ctx context.Context, timeout time.Duration, f func(ctx context.Context, h Held) error) error {
	return db.held(ctx, HoldOptions{Use: Own, Timeout: timeout}, f)
}

// generated runs f on a guarded connection for one statement from outside. f
// gets the text that passed the text check; ctx in f ends after timeout.
func (db *DB) generated(ctx context.Context, sql string, timeout time.Duration, f func(ctx context.Context, h Held, sql string) error) error {
	sql, err := db.check(sql)
	if err != nil {
		return err
	}
	return db.held(ctx, HoldOptions{Timeout: timeout}, func(ctx context.Context, h Held) error {
		return f(ctx, h, sql)
	})
}

// held runs f on a guarded connection. The connection is dropped when f panics,
// fails in the middle of something, or ran until ctx ended: an interrupt may
// still be on its way to the connection then.
func (db *DB) held(ctx context.Context, o HoldOptions, f func(ctx context.Context, h Held) error) (err error) {
	conn, err := db.connect(ctx, o.Timeout)
	if err != nil {
		return err
	}
	defer db.disconnect(conn)
	h, err := db.hold(ctx, conn, o)
	if err != nil {
		return err
	}
	running, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	finished := false
	defer func() {
		if rerr := db.release(h, !finished || running.Err() != nil); rerr != nil {
			err = errors.Join(err, rerr)
		}
	}()
	err = f(running, h)
	finished = true
	return db.ended(ctx, running, o.Timeout, err)
}

// hold puts the guard on conn, within o.Timeout; release takes it off.
func (db *DB) hold(ctx context.Context, conn *sql.Conn, o HoldOptions) (Held, error) {
	installing, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	h, err := db.guard.Hold(installing, conn, o)
	if err == nil {
		return h, nil
	}
	db.mark(err)
	if ctx.Err() == nil && installing.Err() != nil {
		return nil, fmt.Errorf("%w: guarding a connection took longer than %v", ErrBusy, o.Timeout)
	}
	return nil, db.ended(ctx, installing, o.Timeout, err)
}

func (db *DB) release(h Held, drop bool) error {
	err := h.Release(drop)
	if err != nil {
		db.mark(err)
	}
	return err
}

// ended gives an error that came from the end of a context its right name: the
// caller's own error where the caller's context ended, a limit where ours did. A
// lock that outlasted ours is still a lock, and no fault of the statement.
func (db *DB) ended(ctx, ours context.Context, timeout time.Duration, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("exec: statement cancelled: %w", ctx.Err())
	case ours.Err() != nil && !errors.Is(err, ErrBusy):
		return &LimitError{Limit: "time", Max: timeout.String()}
	default:
		return err
	}
}

// mark remembers that a connection could not be restored.
func (db *DB) mark(err error) {
	if errors.Is(err, ErrBroken) {
		db.broken.CompareAndSwap(nil, &err)
	}
}
