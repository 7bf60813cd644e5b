package exectest

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/trace"
)

// events returns the calls of the driver in f, of equal ones in a row the first and the last.
func (d *database) events(f func() error) (at []int, names []string, err error) {
	n := 0
	d.faults.Fail(func(event string) error {
		if k := len(names); k > 1 && names[k-1] == event && names[k-2] == event {
			at[k-1] = n
		} else {
			at, names = append(at, n), append(names, event)
		}
		n++
		return nil
	})
	err = f()
	d.faults.Fail(nil)
	return at, names, err
}

// catch returns a panic as an error.
func catch(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return f()
}

// checkFaults breaks each call of the driver, one at a time, and looks at what the next user of the pool gets. It does
// not panic where database/sql itself loses the connection: while it opens, resets or closes something, or runs a
// prepared statement.
func checkFaults(t testing.TB, e Engine) error {
	fault := e.Fault
	if fault == nil {
		fault = io.ErrUnexpectedEOF
	}
	faults := []struct {
		kind string
		fail func() error
	}{
		{"an error", func() error { return fault }},
		{"a lost connection", func() error { return driver.ErrBadConn }},
		{"a panic", func() error { panic("injected") }},
	}
	ctx := t.Context()
	var (
		d    *database
		warm *exec.DB
		same func() error
		errs []error
		n    int
	)
	bounded := exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: 5 * time.Second},
		Candidate: exec.Bounds{Timeout: 5 * time.Second}}}
	fresh := func() (err error) {
		d = e.faulty(t, e.fixture())
		if same, err = d.watch(ctx); err == nil {
			warm, err = d.db(bounded)
		}
		return err
	}
	if err := fresh(); err != nil {
		return err
	}
	for i, call := range []struct {
		why  string
		call func() error
	}{
		{"the first statement", func() error {
			cold, err := d.unready(bounded)
			if err != nil {
				return err
			}
			return dbtest.Answers(ctx, cold, "SELECT a FROM t", 5)
		}},
		{"a later statement", func() error { return dbtest.Answers(ctx, warm, "SELECT a FROM t", 5) }},
		{"a plan", func() error { _, err := warm.Explain(ctx, "SELECT a FROM t"); return err }},
	} {
		at, names, err := d.events(call.call)
		if err != nil {
			return fmt.Errorf("%s, without a fault: %w", call.why, err)
		}
		for j, position := range at {
			if testing.Short() && slices.Contains(names[:j], names[j]) {
				continue // each kind of call once
			}
			for _, f := range faults {
				if f.kind == "a lost connection" && i != 1 { // those of the middle one say it
					continue
				}
				verb, _, _ := strings.Cut(names[j], " ")
				if f.kind == "a panic" && slices.Contains([]string{"connect", "reset", "close", "rows", "statement", "run"}, verb) {
					continue
				}
				// What a guard remembers for a time is asked or not, so the call may be a later one than it was. A panic at
				// another call would be one that database/sql does not survive.
				count, failed := 0, false
				d.faults.Fail(func(event string) error {
					count++
					if failed || count <= position || event != names[j] {
						return nil
					}
					failed = true
					return f.fail()
				})
				err := catch(call.call)
				d.faults.Fail(nil)
				n++
				var found []error
				if exec.IsRejection(err) {
					found = append(found, fmt.Errorf("the statement is blamed: %w", err))
				}
				if err := same(); err != nil {
					found = append(found, fmt.Errorf("left behind: %w", err))
				} else if err := dbtest.Answers(ctx, warm, "SELECT a FROM t", 5); err != nil {
					found = append(found, fmt.Errorf("the next statement: %w", err))
				}
				if found == nil {
					continue
				}
				errs = append(errs, fmt.Errorf("%s with %s at %d, %.80q: %w", call.why, f.kind, position, names[j],
					errors.Join(found...)))
				if err := fresh(); err != nil || len(errs) > 9 {
					return errors.Join(append(errs, err)...)
				}
				if _, _, err := d.events(call.call); err != nil { // its caches are those of the one before
					return err
				}
			}
		}
	}
	t.Logf("%d faults", n)
	return errors.Join(errs...)
}

// checkStuck is about a driver that does not come back: nobody waits for it, others go on, and the pool gets its
// connection back in the end.
func checkStuck(t testing.TB, e Engine) error {
	const text = "SELECT a FROM t"
	var errs []error
	for _, where := range []string{"the statement", "the guard", "its end"} {
		d := e.faulty(t, e.fixture())
		ctx := t.Context()
		db, err := d.db(exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: e.deadline()}}})
		if err != nil {
			return err
		}
		_, names, err := d.events(func() error { return dbtest.Answers(ctx, db, text, 5) })
		if err != nil {
			return err
		}
		position := slices.IndexFunc(names, func(name string) bool { return strings.Contains(name, text) })
		switch where {
		case "the guard":
			position = slices.IndexFunc(names, func(name string) bool { return name != "reset" && name != "connect" })
		case "its end":
			position = len(names) - 1
		}
		var seen atomic.Int64
		block := names[position]
		for _, name := range names[:position] {
			if name == block {
				seen.Add(-1)
			}
		}
		release := make(chan struct{})
		d.faults.Fail(func(event string) error {
			if event == block && seen.Add(1) == 1 {
				<-release
			}
			return nil
		})
		root := trace.Tracer{}.New("question")
		done := make(chan error, 1)
		go func() { _, err := db.Query(ctx, text); done <- err }()
		select {
		case err = <-done:
		case <-time.After(patience):
			close(release)
			return fmt.Errorf("a driver stuck at %q: the call waits for it", block)
		}
		var limit *exec.LimitError
		running := errors.As(err, &limit) && limit.Running
		if strings.Contains(block, text) { // the guard may not use database/sql
			where = "the statement"
		}
		switch {
		case where == "the statement" && !running, where == "the guard" && !errors.Is(err, exec.ErrBusy) && !running,
			where == "its end" && err != nil && !running:
			errs = append(errs, fmt.Errorf("a driver stuck at %q: %w", block, orNone(err)))
		}
		if where == "the statement" {
			time.Sleep(1100 * time.Millisecond) // from then on it is not merely late
		}
		if where != "the guard" { // there the connection may still be opening, and the pool has no other
			err := dbtest.Answers(trace.NewContext(ctx, root), db, text, 5)
			if where == "the statement" && len(root.Warnings()) == 0 {
				err = errors.New("no warning")
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("while the driver is stuck at %q: %w", block, err))
			}
		}
		close(release)
		d.faults.Fail(nil)
		if err := d.idle(); err != nil {
			errs = append(errs, fmt.Errorf("after the driver was stuck at %q: %w", block, err))
		}
		if err := dbtest.Answers(ctx, db, text, 5); err != nil {
			errs = append(errs, fmt.Errorf("after the driver was stuck at %q: %w", block, err))
		}
	}
	return errors.Join(errs...)
}
