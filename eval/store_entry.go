package eval

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// database is one open database and what is known of its statements.
type database struct {
	id    string
	ready chan struct{} // closed when db or err is set
	path  string        // of the file; "" when the caller gave db
	db    *exec.DB
	pool  *sql.DB // to close; nil when the caller gave db
	err   error

	mu       sync.Mutex
	idle     []*exec.Runner    // of a database that the Store opened, ready for a statement
	spelled  map[string]*entry // by text as it came
	distinct map[string]*entry // by normal form
}

func newDatabase(id string, db *exec.DB) *database {
	d := &database{id: id, db: db, ready: make(chan struct{}), spelled: map[string]*entry{}, distinct: map[string]*entry{}}
	if db != nil {
		close(d.ready)
	}
	return d
}

// entry is one distinct statement. turn is held by the one that runs it; done
// says that the rest is set, for good.
type entry struct {
	db   *database
	sql  string
	turn *semaphore.Weighted

	mu           sync.Mutex
	done         bool
	execution    Execution
	fingerprints []fingerprint
}

type fingerprint struct {
	equality result.Equality
	text     string
}

func (e *entry) known(eq result.Equality) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, f := range e.fingerprints {
		if f.equality == eq {
			return f.text, true
		}
	}
	return "", false
}

func (e *entry) learn(eq result.Equality, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.ContainsFunc(e.fingerprints, func(f fingerprint) bool { return f.equality == eq }) {
		return
	}
	e.fingerprints = append(e.fingerprints, fingerprint{eq, text})
}

func (e *entry) finished() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.done
}

// database returns the database of an id, opened. The first one to ask opens it;
// the others wait for that, and try themselves where only the context of the first
// one ended.
func (s *Store) database(ctx context.Context, id string) (*database, error) {
	for {
		d, err := s.opened(ctx, id)
		if err == nil || ctx.Err() != nil || errors.Is(err, exec.ErrBusy) || s.holds(d) {
			return d, err
		}
	}
}

// holds reports whether what became of opening d is kept.
func (s *Store) holds(d *database) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.databases[d.id] == d
}

func (s *Store) opened(ctx context.Context, id string) (*database, error) {
	s.mu.Lock()
	d, known := s.databases[id]
	if !known {
		d = newDatabase(id, nil)
		s.databases[id] = d
	}
	s.mu.Unlock()
	if !known {
		d.err = s.open(ctx, d)
		if d.err != nil && (ctx.Err() != nil || errors.Is(d.err, exec.ErrBusy)) {
			s.mu.Lock()
			delete(s.databases, id) // not the database's fault, or not for long: the next one tries again
			s.mu.Unlock()
		}
		close(d.ready)
	}
	select {
	case <-d.ready:
		return d, d.err
	case <-ctx.Done():
		return nil, fmt.Errorf("eval: waiting for database %s: %w", id, ctx.Err())
	}
}

// open finds and opens the file of a database. What is wrong with the file is a
// *DatabaseError.
func (s *Store) open(ctx context.Context, d *database) (err error) {
	c := s.config
	c.Policy.Reveal = []string{"*"} // right answers read what they read, and nobody is shown rows
	if c.Find == nil || c.Open == nil {
		return fmt.Errorf("eval: database %s: StoreConfig needs Find and Open", d.id)
	}
	if d.path, err = c.Find(d.id); err != nil {
		return err
	}
	pool, err := c.Open(d.path)
	if err != nil {
		return d.unreadable(ctx, err)
	}
	db, err := exec.New(pool, c.Dialect, exec.Config{
		Policy: c.Policy,
		// Idle sessions keep theirs, and Store.Time has one of its own.
		Limits: exec.Limits{Candidate: s.bounds, Answer: s.bounds, Connections: c.Workers + 1},
	})
	if err == nil {
		err = db.Ready(ctx)
	}
	if err != nil {
		pool.Close()
		return d.unreadable(ctx, err)
	}
	d.db, d.pool = db, pool
	return nil
}

// unreadable says that err is the database's fault, unless the context ended or
// somebody else holds a lock: then it may go better the next time.
func (d *database) unreadable(ctx context.Context, err error) error {
	if d.path == "" || ctx.Err() != nil || errors.Is(err, exec.ErrBusy) {
		return fmt.Errorf("eval: database %s: %w", cmp.Or(d.path, d.id), err)
	}
	return &DatabaseError{ID: d.id, Path: d.path, Err: err}
}

// entry returns the entry of a statement that has run.
func (s *Store) entry(ctx context.Context, id, text string) (*entry, error) {
	e, _, err := s.fetch(ctx, id, text)
	return e, err
}

// fetch is entry for a caller who needs the rows: it has them too where they are
// at hand, that is where this call ran the statement.
func (s *Store) fetch(ctx context.Context, id, text string) (*entry, *result.Table, error) {
	s.asked.Add(1)
	d, err := s.database(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	e := d.entry(s.config.Dialect.Language().Text, text)
	if e.finished() {
		return e, nil, nil
	}
	if err := e.turn.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("eval: waiting for a statement: %w", err)
	}
	defer e.turn.Release(1)
	if e.finished() {
		return e, nil, nil
	}
	x, t, err := s.run(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	s.executed.Add(1)
	s.tables.put(e, t)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.execution, e.done = x, true
	return e, t, nil
}

// entry finds or makes the entry of a text.
func (d *database) entry(dialect sqltext.Dialect, text string) *entry {
	d.mu.Lock()
	e := d.spelled[text]
	d.mu.Unlock()
	if e != nil {
		return e
	}
	// A text that is refused is no other spelling of one that is not.
	key := "refused\x00" + text
	if checked, err := dialect.Check(text); err == nil {
		key = checked.Normalize()
	}
	// The text may be a part of a long line that should not be kept for it.
	text = strings.Clone(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	e = d.distinct[key]
	if e == nil {
		e = &entry{db: d, sql: text, turn: semaphore.NewWeighted(1)}
		d.distinct[key] = e
	}
	d.spelled[text] = e
	return e
}

// run executes a statement. The error is one that says nothing about it.
func (s *Store) run(ctx context.Context, e *entry) (Execution, *result.Table, error) {
	release, err := s.enter(ctx, 1, "for")
	if err != nil {
		return Execution{}, nil, err
	}
	defer release()
	t, err := e.db.query(ctx, e.sql, s.bounds)
	x := Execution{Status: statusOK}
	if err != nil {
		if !exec.IsRejection(err) || ctx.Err() != nil {
			return x, nil, e.db.unreadable(ctx, err)
		}
		x.Status, x.Err = statusOf(err), err.Error()
		return x, nil, nil
	}
	x.Rows, x.Columns = len(t.Rows), len(t.Columns)
	if t.Truncated || t.Cut {
		x.Status, x.Err = statusTooLarge, fmt.Sprintf("more than %d rows or %d bytes", s.bounds.Rows, s.bounds.Bytes)
		return x, nil, nil
	}
	return x, t, nil
}

// query runs a statement. On a database that the Store opened the connection
// stays guarded for the next one; one that is the caller's is given back.
func (d *database) query(ctx context.Context, text string, b exec.Bounds) (*result.Table, error) {
	if d.pool == nil {
		return d.db.QueryWithin(ctx, text, b)
	}
	runner, err := d.session(b)
	if err != nil {
		return nil, err
	}
	defer d.giveBack(runner)
	return runner.Query(ctx, text)
}

// session takes an idle session or opens one. There are never more than
// statements run at once.
func (d *database) session(b exec.Bounds) (*exec.Runner, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.idle); n > 0 {
		runner := d.idle[n-1]
		d.idle = d.idle[:n-1]
		return runner, nil
	}
	return d.db.Runner(b)
}

func (d *database) giveBack(runner *exec.Runner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle = append(d.idle, runner)
}

// close closes what the Store opened.
func (d *database) close() error {
	var errs []error
	for _, runner := range d.idle {
		errs = append(errs, runner.Close())
	}
	d.idle = nil
	if d.pool != nil {
		errs = append(errs, d.pool.Close())
	}
	return errors.Join(errs...)
}

func statusOf(err error) string {
	var refused *exec.RefusedError
	var limit *exec.LimitError
	switch {
	case errors.As(err, &refused):
		return statusRefused
	case errors.As(err, &limit) && limit.Limit == "time":
		return statusTimeout
	case errors.As(err, &limit):
		return statusTooLarge
	}
	return statusError
}

// table returns the rows of an entry that has run, nil when it has no result.
func (s *Store) table(ctx context.Context, e *entry) (*result.Table, error) {
	if !e.execution.OK() {
		return nil, nil
	}
	if t := s.tables.get(e); t != nil {
		return t, nil
	}
	s.again.Add(1)
	x, t, err := s.run(ctx, e)
	if err != nil {
		return nil, err
	}
	if !x.OK() {
		return nil, fmt.Errorf("eval: a statement on %s has no result the second time: %s", e.db.id, x.Err)
	}
	s.tables.put(e, t)
	return t, nil
}
