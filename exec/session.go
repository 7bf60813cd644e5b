package exec

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/texttosql/texttosql/internal/wait"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/trace"
)

// Session runs statements of untrusted origin, one after the other, on one connection that stays guarded between them.
// It serves programs that run many small statements, since putting the guard on and off takes longer than most of them,
// and the checks of one examination.
//
// Every statement passes the text check and the guard and has the limits that it has with [DB]. A session takes one of
// Limits.Connections at its first statement and keeps it until Close. After a statement that ran until its time was
// over, or until ctx ended, the next one has another connection.
//
// Not safe for concurrent use.
type Session struct {
	db      *DB
	bounds  Bounds
	own     bool // the statements are ours: they run without execution too
	catalog bool // they read the catalog, so there is no guard

	last    *sqltext.Statement // the statement that was checked last
	conn    *sql.Conn
	held    Held          // nil between a lost connection and the next statement
	wait    time.Duration // the time-out that held was made for
	private bool          // no other connection sees the same database
	jobs    chan func()   // to the goroutine that runs the statements; nil while there is none
}

// Session returns a session whose queries have the bounds b; zero fields are those of Limits.Answer, and CellBytes has
// the limit that [DB.QueryWithin] tells. It takes no connection yet. A negative bound is an error.
func (db *DB) Session(b Bounds) (*Session, error) {
	b, err := db.bounds(b)
	if err != nil {
		return nil, err
	}
	return &Session{db: db, bounds: b}, nil
}

// Dialect returns the dialect of the database.
func (s *Session) Dialect() Dialect { return s.db.dialect }

// Query runs one statement as [DB.QueryWithin] does.
func (s *Session) Query(ctx context.Context, sql string) (*result.Table, error) {
	return s.query(ctx, sql, s.bounds)
}

// QueryStatement is Query for a statement that passed the text check of this database's dialect. Any other one passes
// it first.
func (s *Session) QueryStatement(ctx context.Context, statement *sqltext.Statement) (*result.Table, error) {
	if err := s.take(statement); err != nil {
		return nil, err
	}
	return s.Query(ctx, s.last.SQL())
}

func (s *Session) query(ctx context.Context, sql string, b Bounds) (t *result.Table, err error) {
	if s.db.lookOnly && !s.own {
		return nil, ErrNoExecution
	}
	if s.db.limits.EngineCost > 0 && !s.own {
		if _, err := s.Explain(ctx, sql); err != nil {
			return nil, err
		}
	}
	ctx, span := trace.Start(ctx, "exec.query", trace.Attr{Key: "sql", Value: trace.SQL(sql)})
	defer span.End()
	t, err = generated(ctx, s, sql, b.Timeout, func(ctx context.Context, h Held, statement *sqltext.Statement) (*result.Table, error) {
		return readStatement(ctx, h, statement, b)
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
}

// Analyze is [DB.Analyze] on the session's connection.
func (s *Session) Analyze(ctx context.Context, sql string) (Analysis, error) {
	statement, err := s.check(sql)
	if err != nil {
		return Analysis{}, err
	}
	return s.analyze(ctx, statement)
}

func (s *Session) analyze(ctx context.Context, statement *sqltext.Statement) (Analysis, error) {
	return run(ctx, s, s.db.limits.Candidate.Timeout, func(ctx context.Context, h Held) (Analysis, error) {
		return h.Analyze(ctx, statement)
	})
}

// Explain is [DB.Explain] on the session's connection. A statement over Limits.EngineCost gives its plan and a
// *LimitError.
func (s *Session) Explain(ctx context.Context, sql string) (Plan, error) {
	return generated(ctx, s, sql, s.db.limits.Candidate.Timeout, func(ctx context.Context, h Held, statement *sqltext.Statement) (Plan, error) {
		p, err := s.db.dialect.Explain(ctx, h, statement)
		if err != nil {
			return Plan{}, h.Classify(err)
		}
		if most := s.db.limits.EngineCost; most > 0 && p.EngineCost > most {
			return p, &LimitError{Limit: "engine-cost", Max: fmt.Sprint(most)}
		}
		return p, nil
	})
}

// Time returns how long a statement takes, from its compilation to its last row, values read, or to the first row beyond
// Bounds.Rows.
func (s *Session) Time(ctx context.Context, sql string) (time.Duration, error) {
	if s.db.lookOnly {
		return 0, ErrNoExecution
	}
	return generated(ctx, s, sql, s.bounds.Timeout, func(ctx context.Context, h Held, statement *sqltext.Statement) (time.Duration, error) {
		start := time.Now()
		if _, err := readStatement(ctx, h, statement, s.bounds); err != nil {
			return 0, err
		}
		return time.Since(start), nil
	})
}

// Probe is [DB.Probe] on the session's connection.
func (s *Session) Probe(ctx context.Context, schemaName, table, column string, value any) (found bool, err error) {
	quote := s.db.dialect.Quote
	// A name with its table in front can only be a column: "x" alone is a string to SQLite where no such column exists.
	from := quote(table)
	if schemaName != "" {
		from = quote(schemaName) + "." + from
	}
	text := "SELECT 1 FROM " + from + " WHERE " + quote(table) + "." + quote(column)
	var args []any
	switch value.(type) {
	case nil:
		text += " IS NULL"
	case int64, float64, string, []byte:
		text += " = " + s.db.dialect.Placeholder(1)
		args = []any{value}
	default:
		return false, fmt.Errorf("exec: Probe: value of type %T", value)
	}
	found, err = run(ctx, s, min(time.Second, s.db.limits.Candidate.Timeout), func(ctx context.Context, h Held) (bool, error) {
		rows, err := h.QueryContext(ctx, text+" LIMIT 1", args...)
		if err != nil {
			return false, err
		}
		t, err := read(h, rows, Bounds{Rows: 1, Bytes: valueBytes, CellBytes: 1, Columns: 1})
		return err == nil && len(t.Rows) > 0, err
	})
	var fault *InvalidError
	if errors.As(err, &fault) && fault.Fault == FaultRun { // the value is none of the column's type: 'Norway' of a date
		return false, nil
	}
	return found, err
}

// Schema returns the schema that [DB.Schema] read last. If there is none yet it gives the connection back and reads the
// schema.
func (s *Session) Schema(ctx context.Context) (*schema.Schema, error) {
	if current := s.db.schemas.current.Load(); current != nil {
		return current, nil
	}
	if err := s.Close(); err != nil {
		return nil, err
	}
	return s.db.Schema(ctx)
}

// Close takes the guard off and gives the connection back. A closed session may be used again, which opens it.
func (s *Session) Close() error { return s.release(false) }

// check is the text check. A text that was checked last is not checked again.
func (s *Session) check(sql string) (*sqltext.Statement, error) {
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
func (s *Session) take(statement *sqltext.Statement) error {
	if statement.Checked() && statement.Dialect() == s.db.dialect.Text() {
		s.last = statement
		return nil
	}
	_, err := s.check(statement.SQL())
	return err
}

// generated runs f with the statement that a text from outside holds.
func generated[T any](ctx context.Context, s *Session, sql string, timeout time.Duration, f func(ctx context.Context, h Held, statement *sqltext.Statement) (T, error)) (T, error) {
	statement, err := s.check(sql)
	if err != nil {
		var none T
		return none, err
	}
	return run(ctx, s, timeout, func(ctx context.Context, h Held) (T, error) { return f(ctx, h, statement) })
}

// hold takes a connection and puts the guard on it, within timeout each.
func (s *Session) hold(ctx context.Context, timeout time.Duration) error {
	db := s.db
	if err := db.slot(ctx); err != nil {
		return err
	}
	type taken struct {
		conn *sql.Conn
		held Held
	}
	hold := db.guard.Hold
	if s.catalog {
		hold = db.guard.Catalog
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
	got, err, left := wait.Contain(outer, mostGrace, s.start, func() (t taken, err error) {
		if t.conn, err = db.connect(ctx, timeout); err != nil {
			return t, err
		}
		defer func() {
			if t.held == nil { // also where the driver panics
				t.conn.Close()
			}
		}()
		installing, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		t.held, err = hold(installing, t.conn, timeout)
		db.mark(err)
		if err != nil && ctx.Err() == nil && installing.Err() != nil {
			return t, fmt.Errorf("%w: guarding a connection took longer than %v", ErrBusy, timeout)
		}
		return t, ended(ctx, installing, timeout, err)
	}, func(t taken) { db.giveBack(t.conn, t.held, <-back) })
	switch {
	case left:
		s.rest()
		free = false
		back <- db.abandon(ctx, false)
		return ended(ctx, outer, 2*timeout, fmt.Errorf("%w: opening and guarding a connection took longer than %v and still goes on", ErrBusy, 2*timeout))
	case err != nil:
		return err
	}
	free = false
	s.conn, s.held, s.wait = got.conn, got.held, timeout
	p, ok := got.held.(Private)
	s.private = ok && p.Private()
	return nil
}

// release takes the guard off, if it is on, and waits no longer than mostGrace for that.
func (s *Session) release(drop bool) error {
	if s.held == nil {
		return nil
	}
	db, conn, held := s.db, s.conn, s.held
	s.held = nil
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
	_, err, left := wait.Contain(over, mostGrace, s.start, func() (struct{}, error) {
		defer conn.Close()
		err := held.Release(drop)
		db.mark(err)
		return struct{}{}, err
	}, func(struct{}) { (<-back)() })
	if left {
		s.rest()
		free = false
		back <- db.abandon(over, !s.private)
	}
	return err
}
