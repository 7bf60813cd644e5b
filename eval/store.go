package eval

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/result"
)

// Status is how the execution of a statement ended.
type Status string

// The statuses of an [Execution].
const (
	StatusOK       Status = "ok"        // it has a result, read in full
	StatusRefused  Status = "refused"   // the text check or the guard refused it: prose, several statements, a write
	StatusError    Status = "error"     // the engine rejected it
	StatusTimeout  Status = "timeout"   // it went over the limit on time
	StatusTooLarge Status = "too_large" // it went over a limit on rows, columns or bytes
)

// Execution is what is known of a statement after it ran once. It holds no rows;
// [Store.Table] has them.
type Execution struct {
	Status  Status // how it ended
	Err     string // why it is not StatusOK; "" when it is
	Rows    int    // rows of the result; of one that is too large, those that were read
	Columns int    // columns of the result
}

// OK reports whether the statement has a result.
func (x Execution) OK() bool { return x.Status == StatusOK }

// Empty reports whether the statement has a result without rows.
func (x Execution) Empty() bool { return x.OK() && x.Rows == 0 }

// Default bounds of a [Store].
const (
	// DefaultRows of a result and DefaultTimeout of a statement are what the
	// recorded verdicts were made with.
	DefaultRows    = 200_000
	DefaultTimeout = 10 * time.Second
	// DefaultBytes leaves room for every honest result and bounds what one
	// statement can do to memory.
	DefaultBytes = 64 << 20
)

// StoreConfig configures a [Store].
type StoreConfig struct {
	// Find returns the path of the database of an id. An error that is a
	// [*DatabaseError] is a fault of the questions about it, any other one ends the
	// scoring. It is needed for databases that [Store.Use] does not give.
	Find func(id string) (path string, err error)
	// Open opens the file at a path, best read-only. It is called once a
	// database. With go-sqlite3:
	//
	//	sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
	Open func(path string) (*sql.DB, error)

	Dialect exec.Dialect // nil: sqlite.Dialect{}
	Policy  exec.Policy  // what statements may read and call; zero: what exec allows
	// Bounds are those of one statement. Zero fields: DefaultRows,
	// DefaultTimeout, DefaultBytes, and for the rest what exec has. Recorded
	// verdicts were made with the default ones.
	Bounds exec.Bounds
	// Workers is how many statements may run at once, over all databases; 0: 2.
	Workers int
	// TableBytes is about how much memory is used for tables that may be needed
	// again, golds above all; 0: 8 MiB, dozens of ordinary ones.
	TableBytes int
}

// Store runs statements on databases, each distinct statement once, and
// remembers what came of it: status, counts and fingerprints. Statements are
// the same when their normal forms are (sqltext.Dialect.Normalize) and both
// pass the text check, so spelling and comments do not count.
//
// Everything runs under the guard of package exec. What a statement did, good or
// bad, is no error of a Store's methods; an error means that it could not be
// asked: the database is missing or locked, the context ended. Such a statement
// is asked again the next time.
//
// Memory grows with the number of distinct statements, by their length and some
// 300 bytes, not with their results. Safe for concurrent use.
type Store struct {
	config  StoreConfig
	bounds  exec.Bounds
	running *semaphore.Weighted

	mu        sync.Mutex
	databases map[string]*database
	tables    tableCache

	asked, executed, again atomic.Int64
}

// NewStore returns a Store. It opens nothing before it has to.
func NewStore(c StoreConfig) *Store {
	if c.Dialect == nil {
		c.Dialect = sqlite.Dialect{}
	}
	if c.Workers <= 0 {
		c.Workers = 2
	}
	if c.TableBytes <= 0 {
		c.TableBytes = 8 << 20
	}
	b := c.Bounds
	if b.Rows == 0 {
		b.Rows = DefaultRows
	}
	if b.Bytes == 0 {
		b.Bytes = DefaultBytes
	}
	if b.Timeout == 0 {
		b.Timeout = DefaultTimeout
	}
	return &Store{
		config: c, bounds: b,
		running:   semaphore.NewWeighted(int64(c.Workers)),
		databases: map[string]*database{},
		tables:    tableCache{left: c.TableBytes, most: c.TableBytes},
	}
}

// Workers returns how many statements may run at once.
func (s *Store) Workers() int { return s.config.Workers }

// Use makes db the database of an id. It stays the caller's: Close does not close
// it. It has to allow as many rows and as long a time as the Store's bounds say.
func (s *Store) Use(id string, db *exec.DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.databases[id] = newDatabase(id, db)
}

// Close closes the databases that the Store opened. No method may run then or
// later.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, d := range s.databases {
		errs = append(errs, d.close())
	}
	s.databases = map[string]*database{}
	return errors.Join(errs...)
}

// StoreStats says what a Store saved.
type StoreStats struct {
	Asked      int // executions asked for
	Executed   int // statements that ran: the distinct ones
	Again      int // statements that ran once more because their table was needed again
	Statements int // distinct statements known
}

// Stats returns what was done so far.
func (s *Store) Stats() StoreStats {
	st := StoreStats{Asked: int(s.asked.Load()), Executed: int(s.executed.Load()), Again: int(s.again.Load())}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.databases {
		st.Statements += d.size()
	}
	return st
}

// Execute runs a statement on the database of an id, unless it ran before.
func (s *Store) Execute(ctx context.Context, db, sql string) (Execution, error) {
	e, err := s.entry(ctx, db, sql)
	if err != nil {
		return Execution{}, err
	}
	return e.execution, nil
}

// Table returns the rows of a statement, nil without an error when it has no
// result. It runs the statement again when its rows are not kept any more. Do not
// change them.
func (s *Store) Table(ctx context.Context, db, sql string) (*result.Table, error) {
	e, t, err := s.fetch(ctx, db, sql)
	if err != nil || t != nil {
		return t, err
	}
	return s.table(ctx, e)
}

// Fingerprint returns the fingerprint of a statement's rows in one sense of
// equality; ok is false where the statement has no result.
func (s *Store) Fingerprint(ctx context.Context, db, sql string, eq result.Equality) (fp string, ok bool, err error) {
	e, t, err := s.fetch(ctx, db, sql)
	if err != nil || !e.execution.OK() {
		return "", false, err
	}
	fp, err = s.fingerprint(ctx, e, t, eq)
	return fp, err == nil, err
}

// fingerprint is that of an entry with a result; t is the result where it is at
// hand.
func (s *Store) fingerprint(ctx context.Context, e *entry, t *result.Table, eq result.Equality) (fp string, err error) {
	if fp, ok := e.known(eq); ok {
		return fp, nil
	}
	if t == nil {
		if t, err = s.table(ctx, e); err != nil {
			return "", err
		}
	}
	fp, ok := eq.Fingerprint(t)
	if !ok {
		return "", fmt.Errorf("eval: a result on database %s was not read in full the second time", e.db.id)
	}
	e.learn(eq, fp)
	return fp, nil
}

// Time runs statements in turn, each n times, and returns the wall times of each, after a round that does not count: in
// turn, because a machine that is slow for a while is then slow for all. They run as they are, never as the guard
// rewrites some to read their values (exec.Runner.Time). Nothing else of this Store runs meanwhile. Where a statement
// has no result there are no times.
func (s *Store) Time(ctx context.Context, db string, n int, statements ...string) ([][]time.Duration, error) {
	var list []*entry
	for _, sql := range statements {
		e, err := s.entry(ctx, db, sql)
		if err != nil || !e.execution.OK() {
			return nil, err
		}
		list = append(list, e)
	}
	if len(list) == 0 {
		return nil, nil
	}
	release, err := s.enter(ctx, s.config.Workers, "to time")
	if err != nil {
		return nil, err
	}
	defer release()
	runner, err := list[0].db.db.Runner(s.bounds)
	if err != nil {
		return nil, err
	}
	defer runner.Close()
	times := make([][]time.Duration, len(list))
	for round := range n + 1 {
		for i, e := range list {
			took, err := runner.Time(ctx, e.sql)
			if err != nil {
				return nil, fmt.Errorf("eval: timing a statement on %s: %w", db, err)
			}
			if round > 0 {
				times[i] = append(times[i], took)
			}
		}
	}
	return times, nil
}

// enter waits until n more statements may run.
func (s *Store) enter(ctx context.Context, n int, to string) (release func(), err error) {
	if err := s.running.Acquire(ctx, int64(n)); err != nil {
		return nil, fmt.Errorf("eval: waiting %s a statement: %w", to, err)
	}
	return func() { s.running.Release(int64(n)) }, nil
}
