package exec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/texttosql/texttosql/sqltext"
)

// Config configures a [DB]. The zero Config is ready to use.
type Config struct {
	Policy Policy
	Limits Limits
	// Unwrap returns the engine's own driver connection for the one that
	// database/sql has, where a library wraps the driver to trace or count. It
	// is called with what sql.Conn.Raw gives. nil: the driver is not wrapped.
	Unwrap func(driverConn any) any
}

// DB runs reading statements on a *sql.DB. Safe for concurrent use.
type DB struct {
	pool    *sql.DB
	dialect Dialect
	policy  Policy
	limits  Limits
	guard   Guard
	slots   chan struct{} // one a held connection
	broken  atomic.Pointer[error]
}

// New returns a DB on pool.
func New(pool *sql.DB, d Dialect, c Config) (*DB, error) {
	if pool == nil || d == nil {
		return nil, errors.New("exec: New needs a *sql.DB and a Dialect")
	}
	if err := c.Limits.validate(); err != nil {
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
	return &DB{
		pool: pool, dialect: d, policy: c.Policy, limits: limits, guard: guard,
		slots: make(chan struct{}, limits.Connections),
	}, nil
}

// Dialect returns the dialect that the DB was made with.
func (db *DB) Dialect() Dialect { return db.dialect }

// Limits returns the limits in force, defaults written out.
func (db *DB) Limits() Limits { return db.limits }

// Policy returns the policy that the DB was made with.
func (db *DB) Policy() Policy { return db.policy }

// check is the text check: it returns the one trimmed statement.
func (db *DB) check(sql string) (string, error) {
	checked, err := db.dialect.Text().Check(sql)
	var refused *sqltext.RefusedError
	if errors.As(err, &refused) {
		return "", &RefusedError{Rule: Rule(refused.Rule), Detail: refused.Detail, Writes: refused.Writes}
	}
	return checked, err
}

// connected runs f on a connection without a guard. It is for our own texts that
// read the catalog, which a guard forbids, and for nothing else.
func (db *DB) connected(ctx context.Context, wait time.Duration, f func(ctx context.Context, conn *sql.Conn) error) error {
	if err := db.broken.Load(); err != nil {
		return *err
	}
	select {
	case db.slots <- struct{}{}:
		defer func() { <-db.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := db.pool.Conn(waiting)
	if err != nil {
		return fmt.Errorf("exec: taking a connection: %w", err)
	}
	defer conn.Close()
	return f(ctx, conn)
}

// own runs f on a guarded connection for statements of ours.
func (db *DB) own(ctx context.Context, timeout time.Duration, f func(ctx context.Context, h Held) error) error {
	return db.held(ctx, Own, timeout, f)
}

// generated runs f on a guarded connection for one statement from outside, which
// has passed the text check and, where the guard needs it, was vetted. f gets
// the checked text. ctx in f ends after timeout.
func (db *DB) generated(ctx context.Context, sql string, timeout time.Duration, f func(ctx context.Context, h Held, sql string) error) error {
	sql, err := db.check(sql)
	if err != nil {
		return err
	}
	return db.held(ctx, Generated, timeout, func(ctx context.Context, h Held) error {
		if _, err := h.Vet(ctx, sql); err != nil {
			return err
		}
		return f(ctx, h, sql)
	})
}

func (db *DB) held(ctx context.Context, use Use, timeout time.Duration, f func(ctx context.Context, h Held) error) error {
	return db.connected(ctx, timeout, func(ctx context.Context, conn *sql.Conn) (err error) {
		h, err := db.guard.Hold(ctx, conn, use)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		finished := false
		defer func() {
			if rerr := h.Release(!finished || ctx.Err() != nil); rerr != nil && errors.Is(rerr, ErrBroken) {
				db.broken.CompareAndSwap(nil, &rerr)
				err = errors.Join(err, rerr)
			}
		}()
		err = f(ctx, h)
		finished = true
		return err
	})
}
