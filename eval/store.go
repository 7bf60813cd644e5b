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
	"github.com/texttosql/texttosql/internal/evalbounds"
	"github.com/texttosql/texttosql/result"
)

// The statuses of an [Execution].
const (
	statusOK       = "ok"
	statusRefused  = "refused"
	statusError    = "error"
	statusTimeout  = "timeout"
	statusTooLarge = "too_large"
)

// Execution describes a statement that ran once. It holds no rows; [Store.Table] returns them.
type Execution struct {
	// Status is how the statement ended:
	//   - "ok": it has a result, which was read in full.
	//   - "refused": the text check or the guard refused it, for example prose, several statements or a write.
	//   - "error": the engine rejected it.
	//   - "timeout": it exceeded the time limit.
	//   - "too_large": it exceeded a limit on rows, columns or bytes.
	Status  string
	Err     string // why it is not "ok"; "" when it is
	Rows    int    // rows of the result; if it is too large, the rows that were read
	Columns int    // columns of the result
}

// OK reports whether the statement has a result.
func (x Execution) OK() bool { return x.Status == statusOK }

// Empty reports whether the statement has a result without rows.
func (x Execution) Empty() bool { return x.OK() && x.Rows == 0 }

// StoreConfig configures a [Store].
type StoreConfig struct {
	// Find returns the path of the database with this id. A [*DatabaseError] is a fault of the questions about the
	// database; any other error ends the scoring. Find is required unless [Store.Use] provides every database.
	Find func(id string) (path string, err error)
	// Open opens the file at a path, best read-only. It is called once per database. With go-sqlite3:
	//
	//	sql.Open("sqlite3", "file:"+path+"?mode=ro&immutable=1")
	Open func(path string) (*sql.DB, error)

	Dialect exec.Dialect // nil: sqlite.Dialect{}
	Policy  exec.Policy  // what statements may read and call; zero: the default of package exec
	// Bounds are the limits of one statement. Zero fields mean 200,000 rows, 10 seconds and 64 MB, and otherwise the
	// defaults of package exec. Recorded verdicts were made with these defaults.
	Bounds exec.Bounds
	// Workers limits the statements that run at once, over all databases; 0 means 2.
	Workers int
	// TableBytes is the approximate memory for tables that may be needed again, mainly golds; 0 means 8 MiB, enough
	// for dozens of ordinary ones.
	TableBytes int
}

// Store runs statements on databases, each distinct statement once. It remembers the status, counts and fingerprints.
// Two statements are the same if their normal forms are equal (sqltext.Statement.Normalize) and both pass the text
// check. So spelling and comments do not count.
//
// Every statement runs under the guard of package exec. A statement that fails is not an error of a Store's methods.
// An error means that the statement could not run: the database is missing or locked, or the context ended. Such a
// statement runs again the next time.
//
// Memory grows with the number and length of distinct statements, plus about 300 bytes each, not with their results.
// Safe for concurrent use.
type Store struct {
	config  StoreConfig
	bounds  exec.Bounds
	running *semaphore.Weighted

	mu        sync.Mutex
	databases map[string]*database
	tables    tableCache

	asked, executed, again atomic.Int64
}

// NewStore returns a Store. It opens a database only when it is needed.
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
		b.Rows = evalbounds.Rows
	}
	if b.Bytes == 0 {
		b.Bytes = evalbounds.Bytes
	}
	if b.Timeout == 0 {
		b.Timeout = evalbounds.Timeout
	}
	return &Store{
		config: c, bounds: b,
		running:   semaphore.NewWeighted(int64(c.Workers)),
		databases: map[string]*database{},
		tables:    tableCache{left: c.TableBytes, most: c.TableBytes},
	}
}

// Workers returns the maximum number of statements that run at once.
func (s *Store) Workers() int { return s.config.Workers }

// Use makes db the database of an id. The caller remains its owner: Store.Close does not close it. It must allow at
// least the rows and the time of the Store's bounds.
func (s *Store) Use(id string, db *exec.DB) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.databases[id] = newDatabase(id, db)
}

// Close closes the databases that the Store opened. No method may run during or after Close.
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

// Execute runs a statement on the database of an id, unless it ran before.
func (s *Store) Execute(ctx context.Context, db, sql string) (Execution, error) {
	e, err := s.entry(ctx, db, sql)
	if err != nil {
		return Execution{}, err
	}
	return e.execution, nil
}

// Table returns the rows of a statement, or nil without an error if it has no result. It runs the statement again if
// its rows are no longer in memory. Do not change the rows.
func (s *Store) Table(ctx context.Context, db, sql string) (*result.Table, error) {
	e, t, err := s.fetch(ctx, db, sql)
	if err != nil || t != nil {
		return t, err
	}
	return s.table(ctx, e)
}

// Fingerprint returns the fingerprint of a statement's rows under one equality; ok is false if the
// statement has no result.
func (s *Store) Fingerprint(ctx context.Context, db, sql string, eq result.Equality) (fp string, ok bool, err error) {
	e, t, err := s.fetch(ctx, db, sql)
	if err != nil || !e.execution.OK() {
		return "", false, err
	}
	fp, err = s.fingerprint(ctx, e, t, eq)
	return fp, err == nil, err
}

// fingerprint returns the fingerprint of an entry with a result. t is the result if it is at hand, otherwise nil.
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

// Time runs the statements in turn, each n times, and returns the wall times of each. A first round does not count.
// It alternates between the statements, so that a slow phase of the machine affects all of them. They run unchanged,
// without the guard's rewrites to read values (exec.Runner.Time). No other call on this Store runs meanwhile. If a
// statement has no result, no times are returned.
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
