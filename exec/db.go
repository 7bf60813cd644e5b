package exec

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Config configures a [DB]. The zero Config is ready to use.
type Config struct {
	Policy Policy // which tables, columns and functions statements may read; the zero Policy: everything
	Limits Limits // bounds on what statements may cost; zero fields have their defaults
	// Unwrap returns the engine's own driver connection when a library wraps the driver, for tracing or counting. Its
	// argument is the value that sql.Conn.Raw passes, and it may return that value. nil: the driver is not wrapped.
	Unwrap func(driverConn any) any
	// Profiles stores column profiles so that several programs can share them. nil: every program profiles by itself.
	Profiles schema.Profiles
}

// DB runs untrusted, read-only statements on a *sql.DB.
//
// Each statement passes the text check, runs alone on a guarded connection, and has limits on time, rows and bytes. The
// connection then returns to the pool unchanged. A cancelled statement's connection is closed instead, unless its
// database is in memory. At most Limits.Connections connections are in use at once, and no call uses two.
//
// A statement has the rights of the pool. To limit what a user may read, use the rights of the database, one pool for
// each user, or Policy.Rows and [DB.For]. A DB is safe for concurrent use.
type DB struct {
	*ruling
	lookOnly bool   // outside statements are only checked, not run
	scope    *Scope // the scope whose rows are read; nil: no scope
	scopeID  string // identifies scope; "": no scope
}

// database is a pool, and what is known of it whatever the policy.
type database struct {
	pool     *sql.DB
	dialect  Dialect
	language Language
	limits   Limits
	unwrap   func(driverConn any) any
	profiles schema.Profiles
	slots    chan struct{} // one a held connection
	left     leftovers
	broken   atomic.Pointer[error]
	file     atomic.Value // GuardedConn.File of the last connection that had one
	heard    warnings
	kept     snapshot.Store
}

// ruling is a policy as it holds on a database, of which a DB, its copy by WithoutExecution and its views by For may
// have the same.
type ruling struct {
	*database
	policy     Policy
	id         string // identifies the policy, and the user for an ImpersonatingDialect; "": the policy of New
	rules      []guard.Rule
	ruled      guard.RewriteRules
	open       Open
	walls      []wall
	inspecting *semaphore.Weighted               // one caller looks at the schema at a time
	checked    atomic.Bool                       // the names of the policy were looked up
	shown      atomic.Pointer[map[string]string] // shownNames of the schema that was read last
}

// New returns a DB on pool. The caller owns the pool: the DB never closes it, and other code may continue to use it.
//
// New does not contact the database; see [DB.Ready]. Its error joins all faults in c.
func New(pool *sql.DB, d Dialect, c Config) (*DB, error) {
	if pool == nil || d == nil {
		return nil, errors.New("exec: New needs a *sql.DB and a Dialect")
	}
	if err := errors.Join(c.Limits.validate(), c.Policy.Validate()); err != nil {
		return nil, err
	}
	limits := c.Limits.filled()
	if most := pool.Stats().MaxOpenConnections; most > 0 {
		limits.Connections = min(limits.Connections, most)
	}
	ruled, err := (&database{
		pool: pool, dialect: d, language: d.Language(), limits: limits, unwrap: c.Unwrap, profiles: c.Profiles,
		slots: make(chan struct{}, limits.Connections),
	}).under(c.Policy, d)
	if err != nil {
		return nil, err
	}
	return &DB{ruling: ruled}, nil
}

// WithoutExecution returns a copy of db that checks statements but does not run them. The methods Query, QueryWithin
// and Time of the copy and of its runners return [ErrNoExecution], and [RunCheck] does nothing. The package's own
// statements still run, for example the statements of [DB.Sample], [DB.Profile] and [DB.Probe]. The copy shares
// connections, limits and schema with db.
func (db *DB) WithoutExecution() *DB {
	looking := *db
	looking.lookOnly = true
	return &looking
}

// readyTimeout is the least that Ready has.
const readyTimeout = 5 * time.Second

// Ready takes one connection, guards it, reads the catalog and returns the connection. Its timeout is 5 seconds, or
// Limits.Answer.Timeout if that is longer, because reading the catalog of a large database takes time. Ready also
// compiles each row rule of the policy. The error has the reason why no statement could run:
//
//   - the database cannot be opened, or the file is not a database;
//   - the policy names something that the database does not have;
//   - the driver lacks the hooks ([*UnguardedError]); the error says what to do.
//
// Without this call, the first statement returns that error. Ready adds the [DB.Warnings] to the span in ctx.
func (db *DB) Ready(ctx context.Context) error {
	_, err := with(&Runner{db: db}, func(s *Runner) (struct{}, error) {
		return onConnection(ctx, s, max(readyTimeout, db.limits.Answer.Timeout), func(_ context.Context, h *held) (struct{},
			error) {
			db.warnCatalog(h.catalog)
			return struct{}{}, nil
		})
	})
	for _, w := range db.Warnings() {
		trace.FromContext(ctx).Warn(w.Code, w.Message)
	}
	return err
}

// Dialect returns the dialect that was passed to [New].
func (db *DB) Dialect() Dialect { return db.dialect }

// Language returns the name of the engine and the rules for writing its SQL.
func (db *DB) Language() Language { return db.language }

// Limits returns the limits in force, with defaults filled in.
func (db *DB) Limits() Limits { return db.limits }

// slot takes a slot, without a connection.
//
// The wait for a slot ends only with ctx. Every holder of a slot is bounded, and with a timeout one slow statement
// would fail the quick ones that wait after it. If statements that do not end hold the slots, it fails.
func (db *DB) slot(ctx context.Context) error {
	if db.left.count(0) > cap(db.slots) {
		return fmt.Errorf("%w: statements that nobody waits for still run", ErrBusy)
	}
	select {
	case db.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("exec: waiting for a connection: %w", ctx.Err())
	}
}

// connect takes a connection, without a guard. The wait for the pool is bounded by wait, since the caller of the pool
// may hold connections for ever.
func (db *DB) connect(ctx context.Context, wait time.Duration) (*sql.Conn, error) {
	if err := db.broken.Load(); err != nil {
		return nil, *err
	}
	if file, ok := db.file.Load().(string); ok {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, unavailable{errors.New("exec: opening a connection: the file of the database is gone")}
		}
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	conn, err := db.pool.Conn(waiting)
	deadline, ends := ctx.Deadline()
	switch {
	case err == nil:
		return conn, nil
	case ctx.Err() != nil: // whatever the driver makes of it
		return nil, fmt.Errorf("exec: waiting for a connection: %w", ctx.Err())
	case ends && !time.Now().Before(deadline): // a driver that dials may see it before the context does
		return nil, fmt.Errorf("exec: waiting for a connection: %w", context.DeadlineExceeded)
	case waiting.Err() != nil:
		stats := db.pool.Stats()
		if stats.InUse < stats.MaxOpenConnections || stats.MaxOpenConnections == 0 {
			return nil, fmt.Errorf("%w: opening a connection took more than %v, as it may where somebody holds a lock", ErrBusy,
				wait)
		}
		return nil, fmt.Errorf("%w: the pool had no connection free within %v", ErrBusy, wait)
	}
	if typed := db.dialect.Classify(err); !IsRejection(typed) {
		err = typed
	}
	return nil, unavailable{fmt.Errorf("exec: opening a connection: %w", err)}
}

// with runs f and closes s.
func with[T any](s *Runner, f func(*Runner) (T, error)) (value T, err error) {
	defer func() {
		if cerr := s.Close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
	}()
	return f(s)
}

// looking returns a runner for statements that are looked at and compared.
func (db *DB) looking() *Runner { return &Runner{db: db, bounds: db.limits.Candidate} }

// check is the text check. It gives its refusals the type of this package.
func (db *DB) check(sql string) (*sqltext.Statement, error) {
	statement, err := db.language.Text.Check(sql)
	if err == nil {
		return db.named(statement), nil
	}
	var refused *sqltext.RefusedError
	if errors.As(err, &refused) {
		return nil, db.language.advised(&RefusedError{Reason: refused.Reason, Detail: refused.Detail, Writes: refused.Writes},
			nil)
	}
	return nil, &RefusedError{Reason: "guard", Detail: err.Error()}
}

// ended maps the error of a context that ended: the caller's own error if the caller's context ended, a limit if our
// time-out fired. A lock that outlasted our time-out stays an error about a lock.
func ended(ctx, ours context.Context, timeout time.Duration, err error) error {
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

// Limits bounds what statements may cost. A zero field has its default; [New] rejects a negative one.
type Limits struct {
	// Candidate bounds a statement whose rows are compared with others: 10,000 rows, 4 MiB, 3 s.
	Candidate Bounds
	// Answer bounds a statement whose rows are shown to the user: 1,000 rows, 4 MiB, 30 s.
	Answer Bounds
	// Stream bounds a statement that Runner.Stream reads row by row: 10 minutes, values of at most 1,000,000 bytes.
	// Rows and Bytes are ignored, because a stream stores no rows. CellBytes cannot be larger than both
	// Candidate.CellBytes and Answer.CellBytes. The time includes the time that the reader spends between rows.
	Stream Bounds
	// EngineCost refuses a statement with a higher estimated cost, in the engine's own unit (Plan.EngineCost). 0: no
	// limit. If it is set, each statement is planned before it runs.
	EngineCost float64
	// Connections is the largest number of connections in use at once, one for each running statement: 4, or fewer if
	// the pool has a smaller maximum.
	Connections int
}

// Bounds bounds one statement. A zero field has a default that depends on where the Bounds are used; see [Limits].
type Bounds struct {
	Rows      int           // rows stored; one more is read, so that Truncated is exact
	Bytes     int64         // bytes stored: texts, blobs, column names beyond 64 bytes each, and 16 for any other value
	CellBytes int           // bytes of one value, in SQLite also of each value read on the way: 1,000,000
	Columns   int           // columns of the result: 500, which is also the maximum
	Timeout   time.Duration // time limit, measured from when the guard is on
}

// or returns b with zero fields taken from d.
func (b Bounds) or(d Bounds) Bounds {
	return Bounds{
		cmp.Or(b.Rows, d.Rows), cmp.Or(b.Bytes, d.Bytes), cmp.Or(b.CellBytes, d.CellBytes), cmp.Or(b.Columns, d.Columns),
		cmp.Or(b.Timeout, d.Timeout),
	}
}

func (b Bounds) validate(name string) error {
	if b.Rows < 0 || b.Bytes < 0 || b.CellBytes < 0 || b.Columns < 0 || b.Timeout < 0 {
		return fmt.Errorf("exec: Limits.%s: a bound is negative", name)
	}
	return nil
}

// filled returns l with every default written out.
func (l Limits) filled() Limits {
	l.Candidate = l.Candidate.or(Bounds{10_000, 4 << 20, 1_000_000, 500, 3 * time.Second})
	l.Answer = l.Answer.or(Bounds{1_000, 4 << 20, 1_000_000, 500, 30 * time.Second})
	l.Connections = cmp.Or(l.Connections, 4)
	return l
}

// mostStreamed is the largest number of rows that every engine can be asked for, one more included.
const mostStreamed = math.MaxInt32 - 1

// stream is Stream with its defaults.
func (l Limits) stream() Bounds {
	b := l.Stream.or(Bounds{CellBytes: 1_000_000, Columns: 500, Timeout: 10 * time.Minute})
	b.Rows, b.Bytes = mostStreamed, math.MaxInt64
	b.CellBytes = min(b.CellBytes, max(l.Candidate.CellBytes, l.Answer.CellBytes))
	return b
}

func (l Limits) validate() error {
	var err error
	if l.Connections < 0 {
		err = errors.New("exec: Limits.Connections is negative")
	}
	if !(l.EngineCost >= 0) { // NaN too
		err = errors.Join(err, errors.New("exec: Limits.EngineCost is negative or no number"))
	}
	return errors.Join(l.Candidate.validate("Candidate"), l.Answer.validate("Answer"), l.Stream.validate("Stream"), err)
}
