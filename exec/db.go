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
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Config configures a [DB]. The zero Config is ready to use.
type Config struct {
	Policy Policy // what statements may read; the zero Policy: everything
	Limits Limits // what statements may cost; zero fields are their defaults
	// Unwrap returns the engine's own driver connection for the one that database/sql has, where a library wraps the
	// driver to trace or count. It is called with what sql.Conn.Raw gives, and may return its argument. nil: the driver
	// is not wrapped.
	Unwrap func(driverConn any) any
	// Profiles keeps what was seen of the rows of tables between programs. nil: every program looks itself.
	Profiles schema.Profiles
}

// DB runs reading statements of untrusted origin on a *sql.DB.
//
// Each statement passes the text check, runs alone on a guarded connection, and has limits on time, rows and bytes. The
// connection then goes back to the pool as it was. After a cancelled statement it is closed instead, unless its
// database lives in memory. At most Limits.Connections connections are held at once, and no call holds two.
//
// A statement has the rights of the pool. Who may ask what is decided by the database, by a pool for each user, or by
// Policy.Rows and [DB.For]. Safe for concurrent use.
type DB struct {
	*ruling
	lookOnly bool   // statements from outside do not run
	scope    *Scope // whose rows are read; nil: there is none
	scopeID  string // tells scope apart; "": there is none
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
	file     atomic.Value // Opened.File of the last connection that had one
	heard    warnings
	kept     snapshot.Store
}

// ruling is a policy as it holds on a database, of which a DB, its copy by WithoutExecution and its views by For may have the
// same.
type ruling struct {
	*database
	policy     Policy
	id         string // tells the policy apart, with whom a Scoper asks as; "": that of New
	rules      []guard.Rule
	ruled      guard.Splicing
	open       Open
	walls      []wall
	inspecting *semaphore.Weighted               // one caller looks at the schema at a time
	checked    atomic.Bool                       // the names of the policy were looked up
	shown      atomic.Pointer[map[string]string] // shownNames of the schema that was read last
}

// New returns a DB on pool. The pool stays the caller's: nothing here closes it, and other work may go on with it.
//
// New does not touch the database; see [DB.Ready]. Its error joins all faults in c.
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
		pool: pool, dialect: d, language: d.Language(), limits: limits, unwrap: c.Unwrap, profiles: c.Profiles, slots: make(chan struct{}, limits.Connections),
	}).under(c.Policy, d)
	if err != nil {
		return nil, err
	}
	return &DB{ruling: ruled}, nil
}

// WithoutExecution returns a copy of db that looks at statements and runs none. The methods Query, QueryWithin and Time
// of it and of its runners return [ErrNoExecution], and [Execute] finds nothing. Statements of this package still run,
// as those of [DB.Sample], [DB.Profile] and [DB.Probe]. The copy shares connections, limits and schema with db.
func (db *DB) WithoutExecution() *DB {
	looking := *db
	looking.lookOnly = true
	return &looking
}

// readyTimeout is the least that Ready has.
const readyTimeout = 5 * time.Second

// Ready takes one connection, guards it, reads the catalog and gives the connection back. It takes 5 seconds at most, or
// Limits.Answer.Timeout where that is more, since the catalog of a large database takes a while. Its error says why no statement could run:
// the database cannot be opened or is no database; the policy names something that the database does not have; or the
// driver lacks the hooks, with what to do about it ([ErrUnguarded]). Without this call the first statement has that
// error. Where the policy has rules about rows, each was compiled. The [DB.Warnings] go to the span in ctx.
func (db *DB) Ready(ctx context.Context) error {
	_, err := with(&Runner{db: db}, func(s *Runner) (struct{}, error) {
		return onConnection(ctx, s, max(readyTimeout, db.limits.Answer.Timeout), func(_ context.Context, h *held) (struct{}, error) {
			db.warnCatalog(h.catalog)
			return struct{}{}, nil
		})
	})
	for _, w := range db.Warnings() {
		trace.From(ctx).Warn(w.Code, w.Message)
	}
	return err
}

// Dialect returns the dialect that the DB was made with.
func (db *DB) Dialect() Dialect { return db.dialect }

// Language is how the engine is named and how its SQL is written.
func (db *DB) Language() Language { return db.language }

// Limits returns the limits in force, with defaults filled in.
func (db *DB) Limits() Limits { return db.limits }

// slot takes a slot, without a connection.
//
// The wait for a slot ends with ctx alone: whoever holds one is bounded, and a timeout here would let one slow
// statement fail the quick ones behind it. Where the slots are taken by statements that do not end, it fails.
func (db *DB) slot(ctx context.Context) error {
	db.left.mu.Lock()
	n := db.left.n
	db.left.mu.Unlock()
	if n > cap(db.slots) {
		return fmt.Errorf("%w: %d statements that nobody waits for still run", ErrBusy, n)
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
			return nil, fmt.Errorf("%w: opening a connection took more than %v, as it may where somebody holds a lock", ErrBusy, wait)
		}
		return nil, fmt.Errorf("%w: the pool had no connection free within %v (%d in use)", ErrBusy, wait, stats.InUse)
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
		return nil, &RefusedError{Reason: refused.Reason, Detail: refused.Detail, Writes: refused.Writes}
	}
	return nil, &RefusedError{Reason: ReasonGuard, Detail: err.Error()}
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

// Limits bounds what statements may cost. The zero value of each field is its default; a negative one is an error of
// [New].
type Limits struct {
	// Candidate bounds a statement that is run to be compared with others: 10,000 rows, 4 MiB, 3 s.
	Candidate Bounds
	// Answer bounds a statement whose rows are shown: 1,000 rows, 4 MiB, 30 s.
	Answer Bounds
	// Stream bounds a statement whose rows are read one after the other, by Runner.Stream: 10 minutes, values of 1,000,000
	// bytes. Rows and Bytes are not looked at: there may be any number, since none is kept. CellBytes cannot rise above the
	// larger of those of Candidate and Answer. The time goes on while the reader does something else.
	Stream Bounds
	// EngineCost refuses a statement that the engine estimates to cost more, in its own unit (Plan.EngineCost); 0: none.
	// Each statement is then planned before it runs.
	EngineCost float64
	// Connections is how many connections are held at once, one a running statement: 4, or fewer where the pool has a
	// smaller maximum.
	Connections int
}

// Bounds bounds one statement. The zero value of a field is a default, which depends on where the Bounds are used; see
// [Limits].
type Bounds struct {
	Rows      int           // rows kept; one more is looked for, so Truncated is exact
	Bytes     int64         // bytes of all text and blobs kept and of the columns' names beyond 64 each, 16 for any other value
	CellBytes int           // bytes of one value, in SQLite of each that is read on the way too: 1,000,000
	Columns   int           // columns of the result: 500, which is also the most
	Timeout   time.Duration // the limit on time, from the moment the guard is on
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
