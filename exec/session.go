package exec

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/texttosql/texttosql/result"
)

// Session runs many statements of untrusted origin, one after the other, on one
// connection that stays guarded between them. It is for programs that run
// thousands of small statements, as a scorer does, where putting the guard on and
// off takes a quarter of the time.
//
// Every statement passes the same checks and has the same limits as with
// [DB.QueryWithin]. A session holds one of Limits.Connections from its first
// statement until Close, so keep few, and close them.
//
// Not safe for concurrent use.
type Session struct {
	db     *DB
	bounds Bounds
	conn   *sql.Conn
	held   Held // nil between a lost connection and the next statement
}

// Stepper is a [Held] that can run a statement to its end without making anything
// of its values, as its text says and not as QueryContext may have to rewrite it.
// It returns the number of rows, which is at most one more than most.
type Stepper interface {
	Step(ctx context.Context, sql string, most int) (rows int, err error)
}

// Session returns a session with the bounds of each of its statements; zero
// fields are those of Limits.Answer, and CellBytes has the limit that QueryWithin
// says. It takes no connection yet.
func (db *DB) Session(b Bounds) (*Session, error) {
	if db.lookOnly {
		return nil, ErrNoExecution
	}
	b, err := db.bounds(b)
	if err != nil {
		return nil, err
	}
	return &Session{db: db, bounds: b}, nil
}

// Query runs one statement as [DB.QueryWithin] does. After a statement that ran
// until its time was over, or until ctx ended, the next one has another
// connection.
func (s *Session) Query(ctx context.Context, sql string) (t *result.Table, err error) {
	err = s.run(ctx, sql, func(ctx context.Context, sql string) (err error) {
		t, err = read(ctx, s.held, sql, s.bounds)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Time returns how long a statement runs, from its compilation to its last row
// or the first row beyond Bounds.Rows, whose values are not looked at. Where the
// guard has to rewrite statements to read their values, this is the time of the
// statement as it is. An engine without a [Stepper] is timed reading the values.
func (s *Session) Time(ctx context.Context, sql string) (took time.Duration, err error) {
	err = s.run(ctx, sql, func(ctx context.Context, sql string) (err error) {
		start := time.Now()
		defer func() { took = time.Since(start) }()
		if stepper, ok := s.held.(Stepper); ok {
			_, err = stepper.Step(ctx, sql, s.bounds.Rows)
		} else {
			_, err = read(ctx, s.held, sql, s.bounds)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	return took, nil
}

// Close takes the guard off and gives the connection back. A closed session may
// be used again, which opens it.
func (s *Session) Close() error { return s.release(false) }

// run runs f with the checked text on the session's connection.
func (s *Session) run(ctx context.Context, text string, f func(ctx context.Context, sql string) error) (err error) {
	text, err = s.db.check(text)
	if err != nil {
		return err
	}
	if s.held == nil {
		if err := s.hold(ctx); err != nil {
			return err
		}
	}
	running, cancel := context.WithTimeout(ctx, s.bounds.Timeout)
	defer cancel()
	finished := false
	defer func() {
		if finished && running.Err() == nil {
			return
		}
		// An interrupt may still be on its way to the connection.
		if rerr := s.release(true); rerr != nil {
			err = errors.Join(err, rerr)
		}
	}()
	err = f(running, text)
	finished = true
	return s.db.ended(ctx, running, s.bounds.Timeout, err)
}

// hold takes a connection and puts the guard on it.
func (s *Session) hold(ctx context.Context) error {
	conn, err := s.db.connect(ctx, s.bounds.Timeout)
	if err != nil {
		return err
	}
	held, err := s.db.hold(ctx, conn, HoldOptions{Timeout: s.bounds.Timeout})
	if err != nil {
		s.db.disconnect(conn)
		return err
	}
	s.conn, s.held = conn, held
	return nil
}

// release takes the guard off, if it is on.
func (s *Session) release(drop bool) error {
	if s.held == nil {
		return nil
	}
	defer s.db.disconnect(s.conn)
	held := s.held
	s.held = nil
	return s.db.release(held, drop)
}
