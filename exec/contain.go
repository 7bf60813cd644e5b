package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/abandon"
	"github.com/texttosql/texttosql/trace"
)

// mostGrace is how long work may go on after the end of its context before nobody waits for it any more. An engine that
// looks at an interrupt needs a few milliseconds.
const mostGrace = 100 * time.Millisecond

// start runs f in the goroutine of the session, which starts with its first job and ends with the hold: its stack has
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

// rest ends the goroutine of the session, once its job has ended.
func (s *Runner) rest() {
	if s.jobs != nil {
		close(s.jobs)
		s.jobs = nil
	}
}

// leftovers counts the statements that nobody waits for and that still run.
type leftovers struct {
	mu sync.Mutex
	n  int
}

// abandon gives up a connection on which something still runs. The slot becomes free for another connection, and with
// another a pool that is full may open one more: it must see the same database. There are at most as many leftovers as
// slots; the slots of more stay taken. The function that abandon returns takes all of it back.
func (db *DB) abandon(ctx context.Context, another bool) (back func()) {
	db.left.mu.Lock()
	defer db.left.mu.Unlock()
	db.left.n++
	free := db.left.n <= cap(db.slots)
	if free {
		<-db.slots
	}
	most := db.pool.Stats().MaxOpenConnections
	grow := free && another && most > 0
	if grow {
		db.pool.SetMaxOpenConns(most + 1)
	}
	trace.From(ctx).Root().Warn("statement-still-running",
		fmt.Sprintf("the database does not stop: %d statements that nobody waits for still run, each on a connection of its own", db.left.n))
	return func() {
		db.left.mu.Lock()
		defer db.left.mu.Unlock()
		db.left.n--
		if grow {
			db.pool.SetMaxOpenConns(db.pool.Stats().MaxOpenConnections - 1)
		}
		if !free {
			<-db.slots
		}
	}
}

// run runs f on a connection under guard. ctx in f ends after timeout. The connection is dropped if f panics or runs
// until ctx ends, because an interrupt may still be on its way to it then, and where it is not fit for another statement.
// If f runs on, the connection is abandoned.
func run[T any](ctx context.Context, s *Runner, timeout time.Duration, f func(ctx context.Context, h *held) (T, error)) (value T, err error) {
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
	value, err, left := abandon.Contain(running, min(mostGrace, timeout/10), s.start, func() (T, error) { return f(running, h) },
		func(T) { s.db.giveBack(h, <-back) })
	if left {
		s.rest()
		s.held = nil
		back <- s.db.abandon(ctx, !h.Private)
		err = &LimitError{Limit: "time", Max: timeout.String(), Running: true}
		if ctx.Err() == nil {
			return value, err
		}
	}
	finished = true
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
