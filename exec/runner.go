package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/internal/llmerr"
	"github.com/texttosql/texttosql/internal/slots"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Runner runs untrusted statements, one after the other, on one connection that stays guarded between them. It is for
// programs that run many small statements, because adding and removing the guard takes longer than most of them. It
// also runs the checks of one examination.
//
// Every statement passes the text check and the guard and has the same limits as with [DB]. A Runner takes one of
// Limits.Connections at its first statement and holds it until Close. After a statement that reached its time limit, or
// whose ctx ended, the next statement uses another connection.
//
// A Runner is not safe for concurrent use.
type Runner struct {
	db     *DB
	bounds Bounds
	own    bool              // exec wrote the statements: they run without execution too
	sink   *result.RowWriter // set by Stream, while it runs

	last  *sqltext.Statement // the statement that was checked last
	held  *held              // nil between a lost connection and the next statement
	jobs  chan func()        // sends work to the goroutine that runs the statements; nil without one
	depth int                // nesting depth of method calls: the outermost call ends a use of the connection
}

// Runner returns a runner whose queries have the bounds b. Zero fields have the values of Limits.Answer, and CellBytes
// has the limit that [DB.QueryWithin] documents. It takes no connection yet. A negative bound is an error.
func (db *DB) Runner(b Bounds) (*Runner, error) {
	b, err := db.bounds(b)
	if err != nil {
		return nil, err
	}
	return &Runner{db: db, bounds: b}, nil
}

// Dialect returns the dialect of the database.
func (s *Runner) Dialect() Dialect { return s.db.dialect }

// Query runs one statement as [DB.QueryWithin] does.
func (s *Runner) Query(ctx context.Context, sql string) (*result.Table, error) {
	return s.query(ctx, sql, s.bounds)
}

// QueryStatement is Query for a statement that passed the text check of this database's dialect. For any other
// statement it runs that check first.
func (s *Runner) QueryStatement(ctx context.Context, statement *sqltext.Statement) (*result.Table, error) {
	if err := s.take(statement); err != nil {
		return nil, err
	}
	return s.Query(ctx, s.last.SQL())
}

func (s *Runner) query(ctx context.Context, sql string, b Bounds) (t *result.Table, err error) {
	if s.db.lookOnly && !s.own {
		return nil, ErrNoExecution
	}
	return oneUse(ctx, s, func() (t *result.Table, err error) {
		if s.db.limits.EngineCost > 0 && !s.own {
			if _, err := s.Explain(ctx, sql); err != nil {
				return nil, err
			}
		}
		ctx, span := trace.Start(ctx, "exec.query", trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(sql)},
			trace.Attr{Key: "engine", Value: s.db.Language().Name})
		defer span.End()
		t, err = onStatement(ctx, s, sql, b.Timeout, func(ctx context.Context, h *held, a *Statement) (*result.Table, error) {
			if h.Engine != "" {
				span.Set("engine", h.Engine)
			}
			if h.sink = s.sink; h.sink != nil {
				h.sink.Within(ctx) // else a slow reader holds the connection beyond the time limit
				defer h.sink.Within(context.Background())
			}
			defer func() { h.sink = nil }()
			return h.read(ctx, a, b)
		})
		if err != nil {
			span.Fail(err)
			return nil, err
		}
		span.Set("rows", len(t.Rows))
		if t.Truncated {
			span.Set("truncated", true)
		}
		return t, nil
	})
}

// Analyze runs [DB.Analyze] on the Runner's connection.
func (s *Runner) Analyze(ctx context.Context, sql string) (Analysis, error) {
	return oneUse(ctx, s, func() (Analysis, error) {
		return onStatement(ctx, s, sql, s.db.limits.Candidate.Timeout,
			func(_ context.Context, _ *held, a *Statement) (Analysis, error) {
				return a.analysis(), nil
			})
	})
}

// Explain runs [DB.Explain] on the Runner's connection. For a statement over Limits.EngineCost it returns the plan and
// a *LimitError.
func (s *Runner) Explain(ctx context.Context, sql string) (Plan, error) {
	return oneUse(ctx, s, func() (Plan, error) {
		return onStatement(ctx, s, sql, s.db.limits.Candidate.Timeout, func(ctx context.Context, h *held, a *Statement) (Plan,
			error) {
			return h.plan(ctx, a)
		})
	})
}

// Time returns how long a statement takes, from its start to its last row, with all values read, or to the first row
// beyond Bounds.Rows.
func (s *Runner) Time(ctx context.Context, sql string) (time.Duration, error) {
	if s.db.lookOnly {
		return 0, ErrNoExecution
	}
	return oneUse(ctx, s, func() (time.Duration, error) {
		return onStatement(ctx, s, sql, s.bounds.Timeout, func(ctx context.Context, h *held, a *Statement) (time.Duration,
			error) {
			start := time.Now()
			if _, err := h.read(ctx, a, s.bounds); err != nil {
				return 0, err
			}
			return time.Since(start), nil
		})
	})
}

// Probe runs [DB.Probe] on the Runner's connection.
func (s *Runner) Probe(ctx context.Context, schemaName, table, column string, value any) (found bool, err error) {
	quote := s.db.language.Quote
	// A name with its table in front can only be a column: "x" alone is a string to SQLite where no such column exists.
	text := "SELECT 1 FROM " + schema.TableName{Schema: schemaName, Name: table}.Quoted(s.db.language) + " WHERE " +
		quote(table) + "." + quote(column)
	var args []any
	switch value.(type) {
	case nil:
		text += " IS NULL"
	case int64, float64, string, []byte:
		text += " = " + s.db.language.Placeholder(1)
		args = []any{value}
	default:
		return false, fmt.Errorf("exec: Probe: value of type %T", value)
	}
	statement := s.db.named(s.db.language.Text.Parse(text + " LIMIT 1"))
	found, err = oneUse(ctx, s, func() (bool, error) {
		return onConnection(ctx, s, min(time.Second, s.db.limits.Candidate.Timeout), func(ctx context.Context, h *held) (bool,
			error) {
			a, err := h.admit(ctx, statement, args)
			if err != nil {
				return false, err
			}
			a.quiet = true
			t, err := h.read(ctx, a, Bounds{Rows: 1, Bytes: valueBytes, CellBytes: 1, Columns: 1})
			return err == nil && len(t.Rows) > 0, err
		})
	})
	var fault *InvalidError
	if errors.As(err, &fault) && fault.Fault == "run" { // the value does not fit the type: 'Norway' as a date
		return false, nil
	}
	return found, err
}

// Schema returns the schema that the Runner's statements are checked against. Before the first statement it returns the
// result of [DB.Schema].
func (s *Runner) Schema(ctx context.Context) (*schema.Schema, error) {
	h, err := s.present(ctx)
	if err != nil {
		return nil, err
	}
	return s.db.schemaOf(ctx, h.at, h.catalog)
}

// present returns the connection of the Runner, which takes one if it has none.
func (s *Runner) present(ctx context.Context) (h *held, err error) {
	if s.held != nil {
		return s.held, nil
	}
	h, err = onConnection(ctx, s, s.db.limits.Answer.Timeout, func(_ context.Context, h *held) (*held, error) {
		return h, nil
	})
	if err != nil {
		err = fmt.Errorf("exec: reading the schema: %w", err)
	}
	return h, err
}

// Close removes the guard and returns the connection. A closed runner may be used again, which opens it.
func (s *Runner) Close() error { return s.release(false) }

// check is the text check. A text that was checked last is not checked again.
func (s *Runner) check(sql string) (*sqltext.Statement, error) {
	if s.last == nil || s.last.SQL() != sql {
		statement, err := s.db.check(sql)
		if err != nil {
			return nil, err
		}
		s.last = statement
	}
	return s.last, nil
}

// take makes statement the one that was checked last. It checks a statement that did not pass the text check of this
// dialect.
func (s *Runner) take(statement *sqltext.Statement) error {
	if statement.Checked() && statement.Dialect() == s.db.language.Text {
		s.last = s.db.named(statement)
		return nil
	}
	_, err := s.check(statement.SQL())
	return err
}

// onStatement runs f with the statement that a text from outside holds, once it is admitted.
func onStatement[T any](ctx context.Context, s *Runner, sql string, timeout time.Duration,
	f func(ctx context.Context, h *held, a *Statement) (T, error)) (value T, err error) {
	statement, err := s.check(sql)
	if err != nil {
		return value, s.cut(ctx, err)
	}
	return onConnection(ctx, s, timeout, func(ctx context.Context, h *held) (value T, err error) {
		a, err := h.admit(ctx, statement, nil)
		if err != nil {
			return value, err
		}
		return f(ctx, h, a)
	})
}

// cut returns the error of a text whose tokens may be other ones to the server. Where backslashes escape by a mode of
// the session, a session with another mode than the dialect is the fault.
func (s *Runner) cut(ctx context.Context, err error) error {
	refused, ok := err.(*RefusedError)
	if !ok || !s.db.language.Text.Backslash || refused.Reason != "unterminated" && refused.Reason != "several-statements" {
		return err
	}
	if _, other := s.present(ctx); errors.As(other, new(*UnguardedError)) {
		return other
	}
	return err
}

// oneUse runs f, which is one use of the connection, or a part of one.
func oneUse[T any](ctx context.Context, s *Runner, f func() (T, error)) (value T, err error) {
	s.depth++
	defer func() {
		if s.depth--; s.depth > 0 || s.held == nil || !s.held.used {
			return
		}
		if s.held.EndUse == nil { // saves a hand-over to the goroutine of the runner
			_ = s.held.finish(ctx) // sends nothing
			return
		}
		_, ferr := onConnection(ctx, s, s.held.wait, func(ctx context.Context, h *held) (struct{}, error) {
			return struct{}{}, h.finish(ctx)
		})
		if err == nil {
			err = ferr
		}
	}()
	return f()
}

// examining is the key of the Runner whose check has a context.
type examining struct{}

// errSecond is the error of a check that waits for a second connection: enough such checks would wait for each other.
var errSecond = errors.New("exec: a check requests a connection beside that of its Runner: " +
	"use the methods of the Runner")

// hold takes a connection and puts the guard on it, within timeout each.
func (s *Runner) hold(ctx context.Context, timeout time.Duration) error {
	db := s.db
	if outer, ok := ctx.Value(examining{}).(*Runner); ok && outer != s && outer.db.database == db.database {
		return errSecond
	}
	gone := slots.Take(ctx)
	defer func() {
		if s.held == nil {
			gone()
			return
		}
		s.held.gone = gone
	}()
	if _, apart := db.dialect.(ImpersonatingDialect); apart { // else a schema is nobody's
		if err := db.scopeError(); err != nil {
			return err
		}
	}
	if n := db.left.count(settled); n > 0 {
		w := trace.Warning{Code: "statement-still-running",
			Message: fmt.Sprintf("the database does not stop: %d statements that nobody waits for still run, "+
				"each on a connection of its own", n)}
		if db.scope == nil {
			trace.FromContext(ctx).Root().Warn(w.Code, w.Message)
		} else { // which does not hear of the statements of others
			db.Warn(w)
		}
	}
	if err := db.slot(ctx); err != nil {
		return err
	}
	back := make(chan func(), 1)
	outer, cancel := context.WithTimeout(ctx, 2*timeout)
	defer cancel()
	free := true
	defer func() {
		if free { // also where the driver panics
			s.rest()
			<-db.slots
		}
	}()
	opening := background.NewWork(func(h *held) { db.giveBack(h, <-back) })
	opening.Value = &held{db: db, wait: timeout, own: s.own}
	s.start(func() {
		defer opening.End()
		opening.Err = opening.Value.connect(ctx, timeout)
	})
	got, err, left := waited(opening, outer, mostGrace)
	switch {
	case left:
		s.rest()
		free = false
		back <- db.abandon(false)
		return ended(ctx, outer, 2*timeout,
			fmt.Errorf("%w: opening and guarding a connection took longer than %v and still goes on", ErrBusy, 2*timeout))
	case err != nil:
		return err
	}
	free = false
	s.held = got
	return nil
}

// connect takes a connection of the pool and puts the guard on it, within timeout each.
func (h *held) connect(ctx context.Context, timeout time.Duration) (err error) {
	if h.conn, err = h.db.connect(ctx, timeout); err != nil {
		return err
	}
	installing, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	err = h.open(installing)
	h.db.mark(err)
	if err != nil && ctx.Err() == nil && installing.Err() != nil {
		return fmt.Errorf("%w: guarding a connection took longer than %v", ErrBusy, timeout)
	}
	return ended(ctx, installing, timeout, err)
}

// open puts the guard on and finds the catalog. After an error, or a panic of the driver, the connection is given back.
func (h *held) open(ctx context.Context) (err error) {
	open := false
	defer func() {
		if open {
			return
		}
		if h.Conn != nil {
			err = errors.Join(err, h.Close(h.unfit))
		}
		h.GuardedConn = GuardedConn{}
		h.conn.Close()
	}()
	if h.GuardedConn, err = h.db.open(ctx, h.conn, h.wait); err != nil {
		return h.db.unblamed(err)
	}
	if h.File != "" {
		h.db.file.Store(h.File)
	}
	h.unfit = true // where the driver panics
	if settings := h.db.settings(); len(settings) > 0 && h.db.ruled.Settings {
		if err := h.Conn.(settingConn).Set(settings); err != nil {
			h.unfit = false
			return err
		}
	}
	err = h.renew(ctx, false)
	open = err == nil
	h.unfit = err != nil && !IsClassified(err)
	return err
}

// release takes the guard off, if it is on, and waits no longer than mostGrace for that.
func (s *Runner) release(drop bool) error {
	if s.held == nil {
		return nil
	}
	db, h := s.db, s.held
	s.held = nil
	defer h.gone()
	free := true
	defer func() {
		if free { // also where the driver panics
			s.rest()
			<-db.slots
		}
	}()
	over, cancel := context.WithCancel(context.Background())
	cancel()
	back := make(chan func(), 1)
	closing := background.NewWork(func(struct{}) { (<-back)() })
	s.start(func() {
		defer closing.End()
		defer h.conn.Close()
		closing.Err = h.Close(drop || h.unfit)
		db.mark(closing.Err)
	})
	_, err, left := waited(closing, over, mostGrace)
	if left {
		s.rest()
		free = false
		back <- db.abandon(!h.Private)
	}
	return err
}

// mostGrace is how long work may go on after the end of its context before nobody waits for it any more. An engine that
// looks at an interrupt needs a few milliseconds.
const mostGrace = 100 * time.Millisecond

// panicError is a panic of the driver, or of what uses it. The connection is dropped.
type panicError struct{ value any }

func (e *panicError) Error() string  { return fmt.Sprintf("%s: %v", e.Public(), e.value) }
func (e *panicError) Public() string { return "exec: the driver panicked" } // the value may hold anything
func (e *panicError) Unwrap() error  { return llmerr.ErrPanic }             // for package failure

// waited is Wait of work with a panic as its error: nobody recovers in the goroutines of some callers.
func waited[T any](work *background.Work[T], ctx context.Context, grace time.Duration) (v T, err error, left bool) {
	defer func() {
		if r := recover(); r != nil {
			err = &panicError{r}
		}
	}()
	return work.Wait(ctx, grace)
}

// start runs f in the goroutine of the runner, which starts with its first job and ends with the hold: its stack has
// to grow once and not for each statement.
func (s *Runner) start(f func()) {
	if s.jobs == nil {
		s.jobs = make(chan func())
		go work(s.jobs)
	}
	s.jobs <- f
}

func work(jobs <-chan func()) {
	ended := false
	defer func() {
		if !ended { // a job called runtime.Goexit
			go work(jobs)
		}
	}()
	deepen(len(jobs))
	for f := range jobs {
		f()
	}
	ended = true
}

// deepen makes the stack of a goroutine large enough for a statement while there is nothing on it to copy.
//
//go:noinline
func deepen(at int) byte {
	var room [12 << 10]byte
	room[at] = 1
	return room[0]
}

// rest ends the goroutine of the runner, once its job has ended.
func (s *Runner) rest() {
	if s.jobs != nil {
		close(s.jobs)
		s.jobs = nil
	}
}

// leftovers are the statements that nobody waits for and that still run, by when they were left.
type leftovers struct {
	mu   sync.Mutex
	left []time.Time
}

// settled is when a statement that was left runs still if its connection does not come back: a driver may be late after
// an interrupt, as DuckDB's is.
const settled = time.Second

// count returns how many of them were left so long ago.
func (l *leftovers) count(ago time.Duration) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, at := range l.left {
		if time.Since(at) >= ago {
			n++
		}
	}
	return n
}

// abandon gives up a connection on which something still runs. The slot becomes free for another connection, and with
// another a pool that is full may open one more: it must see the same database. There are at most as many leftovers as
// slots; the slots of more stay taken. The function that abandon returns takes all of it back.
func (db *DB) abandon(another bool) (back func()) {
	db.left.mu.Lock()
	defer db.left.mu.Unlock()
	at := time.Now()
	db.left.left = append(db.left.left, at)
	free := len(db.left.left) <= cap(db.slots)
	if free {
		<-db.slots
	}
	most := db.pool.Stats().MaxOpenConnections
	grow := free && another && most > 0
	if grow {
		db.pool.SetMaxOpenConns(most + 1)
	}
	return func() {
		db.left.mu.Lock()
		defer db.left.mu.Unlock()
		i := slices.Index(db.left.left, at)
		db.left.left = slices.Delete(db.left.left, i, i+1)
		if grow {
			db.pool.SetMaxOpenConns(db.pool.Stats().MaxOpenConnections - 1)
		}
		if !free {
			<-db.slots
		}
	}
}

// onConnection runs f on a connection under guard. ctx in f ends after timeout. The connection is dropped if f panics
// or runs until ctx ends, because an interrupt may still be on its way to it then, and where it is not fit for another
// statement. If f runs on, the connection is abandoned.
func onConnection[T any](ctx context.Context, s *Runner, timeout time.Duration, f func(ctx context.Context, h *held) (T,
	error)) (value T, err error) {
	if s.held != nil && s.held.wait < timeout {
		if err := s.release(false); err != nil { // it would wait for a lock too short a time
			return value, err
		}
	}
	if s.held == nil {
		if err := s.hold(ctx, max(timeout, s.bounds.Timeout)); err != nil {
			return value, err
		}
	}
	running, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	h, finished := s.held, false
	defer func() {
		if s.held == nil || finished && running.Err() == nil && !h.unfit {
			return
		}
		if rerr := s.release(true); rerr != nil {
			err = errors.Join(err, rerr)
		}
	}()
	back := make(chan func(), 1)
	work := background.NewWork(func(T) { s.db.giveBack(h, <-back) })
	s.start(func() {
		defer work.End()
		work.Value, work.Err = f(running, h)
	})
	value, err, left := waited(work, running, min(mostGrace, timeout/10))
	if left {
		s.rest()
		s.held = nil
		h.gone()
		back <- s.db.abandon(!h.Private)
		err = &LimitError{Limit: "time", Max: timeout.String(), Running: true}
		if ctx.Err() == nil {
			return value, err
		}
	}
	finished = !errors.Is(err, llmerr.ErrPanic)
	return value, ended(ctx, running, timeout, err)
}

// giveBack ends what abandon began, once the connection is idle again.
func (db *DB) giveBack(h *held, back func()) {
	defer back()
	if h == nil {
		return
	}
	if h.Conn != nil {
		db.mark(h.Close(true))
	}
	if h.conn != nil {
		h.conn.Close()
	}
}
