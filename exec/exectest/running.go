package exectest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/trace"
)

// Value is an expression and what a result holds for it.
type Value struct {
	SQL  string // after SELECT
	Want any    // nil, an int64, a float64, a result.Decimal, a string or a []byte
}

func checkValues(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	var errs []error
	for _, v := range append([]Value{
		{"NULL", nil}, {"1", int64(1)}, {"-1", int64(-1)}, {"9007199254740993", int64(9007199254740993)}, {"'x'", "x"}, {"''", ""}, {"' 1 '", " 1 "},
		{"a FROM t WHERE a = 2", int64(2)}, {"b FROM t WHERE a = 3", nil}, {"b FROM t WHERE a = 5", "北京"}, {"count(*) FROM t", int64(5)},
	}, e.Values...) {
		table, err := db.Query(t.Context(), "SELECT "+v.SQL)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", v.SQL, err))
		case len(table.Rows) != 1 || len(table.Rows[0]) != 1:
			errs = append(errs, fmt.Errorf("%s: %v, want one value", v.SQL, table.Rows))
		// As text, NaN is itself and -0 is not 0.
		case !reflect.DeepEqual(v.Want, table.Rows[0][0]) && fmt.Sprintf("%#v", v.Want) != fmt.Sprintf("%#v", table.Rows[0][0]):
			errs = append(errs, fmt.Errorf("%s is %#v, want %#v", v.SQL, table.Rows[0][0], v.Want))
		}
	}
	return errors.Join(errs...)
}

// manyRows is a statement of 5^14 rows, which nobody can read to the end.
func manyRows() string {
	return "SELECT x0.a, x1.b FROM t AS x0" + strings.Join(slices.Collect(func(yield func(string) bool) {
		for i := range 13 {
			if !yield(fmt.Sprintf(" CROSS JOIN t AS x%d", i+1)) {
				return
			}
		}
	}), "")
}

func checkLimits(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	same, err := d.watch(t.Context())
	if err != nil {
		return err
	}
	wide := "SELECT 1 AS c0" + strings.Join(slices.Collect(func(yield func(string) bool) {
		for i := range 9 {
			if !yield(fmt.Sprintf(", 1 AS c%d", i+1)) {
				return
			}
		}
	}), "")
	var errs []error
	for _, test := range []struct {
		why, sql   string
		bounds     exec.Bounds
		rows       int
		cut, large bool
		limit      string
	}{
		{"fewer rows than allowed", "SELECT a FROM t", exec.Bounds{Rows: 6}, 5, false, false, ""},
		{"exactly as many rows", "SELECT a FROM t", exec.Bounds{Rows: 5}, 5, false, false, ""},
		{"one row too many", "SELECT a FROM t", exec.Bounds{Rows: 4}, 4, true, false, ""},
		{"a LIMIT of the statement is its own", "SELECT a FROM t LIMIT 3", exec.Bounds{Rows: 3}, 3, false, false, ""},
		{"no rows", "SELECT a FROM t WHERE a = 0", exec.Bounds{Rows: 1}, 0, false, false, ""},
		{"six billion rows, the rest of which nobody reads", manyRows(), exec.Bounds{Rows: 10}, 10, true, false, ""},
		{"exactly as many bytes", "SELECT 'abcd' FROM t", exec.Bounds{Bytes: 20}, 5, false, false, ""},
		{"one byte too many", "SELECT 'abcd' FROM t", exec.Bounds{Bytes: 19}, 4, true, true, ""},
		{"bytes of six billion rows", manyRows(), exec.Bounds{Rows: 1e6, Bytes: 1000}, 0, true, true, ""},
		{"as many columns", wide, exec.Bounds{Columns: 10}, 1, false, false, ""},
		{"a column too many", wide, exec.Bounds{Columns: 9}, 0, false, false, "columns"},
		{"time", e.Endless, exec.Bounds{Timeout: e.deadline()}, 0, false, false, "time"},
	} {
		took := e.stopwatch()
		table, err := db.QueryWithin(t.Context(), test.sql, test.bounds)
		spent := took()
		switch {
		case test.limit != "":
			if limited(err) != test.limit || !exec.IsRejection(err) {
				errs = append(errs, fmt.Errorf("%s: %w, want the limit on %s", test.why, orNone(err), test.limit))
			}
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", test.why, err))
		case test.rows > 0 && len(table.Rows) != test.rows, table.Truncated != test.cut, table.TooLarge != test.large:
			errs = append(errs, fmt.Errorf("%s: %d rows, truncated %v, too large %v; want %d, %v, %v",
				test.why, len(table.Rows), table.Truncated, table.TooLarge, test.rows, test.cut, test.large))
		}
		if spent > 10*e.deadline() {
			errs = append(errs, fmt.Errorf("%s: took %v", test.why, spent))
		}
		if err := same(); err != nil {
			errs = append(errs, fmt.Errorf("after %s: %w", test.why, err))
		}
	}
	return errors.Join(errs...)
}

func orNone(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}

func checkCancel(t testing.TB, e Engine) error {
	d := e.faulty(t, e.fixture())
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	same, err := d.watch(t.Context())
	if err != nil {
		return err
	}
	calls := map[string]func(context.Context) error{
		"Query": func(ctx context.Context) error { _, err := db.Query(ctx, e.Endless); return err },
		"Session": func(ctx context.Context) error {
			s, err := db.Session(exec.Bounds{})
			if err != nil {
				return err
			}
			_, err = s.Query(ctx, e.Endless)
			_, again := s.Query(context.Background(), "SELECT a FROM t")
			if again != nil {
				return fmt.Errorf("the session's next statement: %w", again)
			}
			return errors.Join(err, s.Close())
		},
	}
	var errs []error
	for name, call := range calls {
		for _, when := range []string{"before", "during"} {
			ctx, cancel := context.WithCancel(t.Context())
			if when == "before" {
				cancel()
			}
			d.faults.Fail(func(event string) error {
				if strings.Contains(event, e.Endless) { // the guard is on
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				return nil
			})
			err := call(ctx)
			d.faults.Fail(nil)
			cancel()
			if !errors.Is(err, context.Canceled) || exec.IsRejection(err) {
				errs = append(errs, fmt.Errorf("%s, cancelled %s: %w, want context.Canceled", name, when, orNone(err)))
			}
			if err := same(); err != nil {
				errs = append(errs, fmt.Errorf("%s, cancelled %s: %w", name, when, err))
			}
			if err := answers(t.Context(), db, "SELECT a FROM t", 5); err != nil {
				errs = append(errs, fmt.Errorf("the statement after %s, cancelled %s: %w", name, when, err))
			}
		}
	}
	return errors.Join(errs...)
}

// checkState looks at the connection after every kind of call.
func checkState(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	ctx := t.Context()
	same, err := d.watch(ctx)
	if err != nil {
		return err
	}
	db, err := d.db(exec.Config{Policy: exec.Policy{Reveal: []string{"*"}}})
	if err != nil {
		return err
	}
	s, err := db.Schema(ctx)
	if err != nil {
		return err
	}
	users, ok := s.Lookup("", "users")
	if !ok {
		return errors.New("the schema has no table users")
	}
	var errs []error
	for _, call := range []struct {
		why   string
		fails bool
		call  func() error
	}{
		{"a statement", false, func() error { _, err := db.Query(ctx, "SELECT a FROM t"); return err }},
		{"a refused statement", true, func() error { _, err := db.Query(ctx, "DELETE FROM t"); return err }},
		{"a statement that does not compile", true, func() error { _, err := db.Query(ctx, "SELECT nosuch FROM t"); return err }},
		{"an unknown table", true, func() error { _, err := db.Query(ctx, "SELECT 1 FROM nosuch"); return err }},
		{"an analysis", false, func() error { _, err := db.Analyze(ctx, "SELECT a FROM t"); return err }},
		{"a plan", false, func() error { _, err := db.Explain(ctx, "SELECT a FROM t"); return err }},
		{"an examination", false, func() error { _, err := db.Examine(ctx, "SELECT a FROM t WHERE b = 'nix'"); return err }},
		{"a probe", false, func() error {
			found, err := db.Probe(ctx, "", "users", "name", "ann")
			if err == nil && !found {
				err = errors.New("ann was not found")
			}
			return err
		}},
		{"a probe for a number", false, func() error {
			found, err := db.Probe(ctx, "", "users", "id", int64(9))
			if err == nil && found {
				err = errors.New("9 was found")
			}
			return err
		}},
		{"a probe for NULL", false, func() error {
			found, err := db.Probe(ctx, "", "t", "b", nil)
			if err == nil && !found {
				err = errors.New("NULL was not found")
			}
			return err
		}},
		{"a sample", false, func() error { _, err := db.Sample(ctx, *users, exec.SampleOptions{Rows: 5}); return err }},
		{"a profile", false, func() error { _, err := db.Profile(ctx, s, exec.ProfileOptions{}); return err }},
		{"the schema", false, func() error { _, err := db.Schema(ctx); return err }},
		{"a session", false, func() error {
			s, err := db.Session(exec.Bounds{})
			if err != nil {
				return err
			}
			_, first := s.Query(ctx, "SELECT a FROM t")
			_, second := s.Query(ctx, "DELETE FROM t")
			if !errors.Is(second, exec.ErrNotReadOnly) {
				first = errors.Join(first, fmt.Errorf("DELETE in a session: %w", orNone(second)))
			}
			_, third := s.Explain(ctx, "SELECT id FROM users")
			return errors.Join(first, third, s.Close())
		}},
	} {
		_, before, err := d.look(ctx)
		if err != nil {
			return err
		}
		if err := call.call(); (err != nil) != call.fails {
			errs = append(errs, fmt.Errorf("%s: %w", call.why, orNone(err)))
		}
		if err := same(); err != nil {
			errs = append(errs, fmt.Errorf("after %s: %w", call.why, err))
		}
		if _, after, err := d.look(ctx); err != nil || before != after {
			errs = append(errs, fmt.Errorf("%s cost the connection: %v", call.why, err))
		}
	}
	return errors.Join(errs...)
}

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
	bounded := exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: 5 * time.Second}, Candidate: exec.Bounds{Timeout: 5 * time.Second}}}
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
			return answers(ctx, cold, "SELECT a FROM t", 5)
		}},
		{"a later statement", func() error { return answers(ctx, warm, "SELECT a FROM t", 5) }},
		{"a plan", func() error { _, err := warm.Explain(ctx, "SELECT a FROM t"); return err }},
	} {
		at, names, err := d.events(call.call)
		if err != nil {
			return fmt.Errorf("%s, without a fault: %w", call.why, err)
		}
		for j, position := range at {
			for _, f := range faults {
				if f.kind == "a lost connection" && i != 1 { // those of the middle one say it
					continue
				}
				verb, _, _ := strings.Cut(names[j], " ")
				if f.kind == "a panic" && slices.Contains([]string{"connect", "reset", "close", "rows", "statement", "run"}, verb) {
					continue
				}
				count := 0
				d.faults.Fail(func(string) error {
					if count++; count-1 == position {
						return f.fail()
					}
					return nil
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
				} else if err := answers(ctx, warm, "SELECT a FROM t", 5); err != nil {
					found = append(found, fmt.Errorf("the next statement: %w", err))
				}
				if found == nil {
					continue
				}
				errs = append(errs, fmt.Errorf("%s with %s at %d, %.80q: %w", call.why, f.kind, position, names[j], errors.Join(found...)))
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
		_, names, err := d.events(func() error { return answers(ctx, db, text, 5) })
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
		root := trace.New("question")
		done := make(chan error, 1)
		go func() { _, err := db.Query(trace.Into(ctx, root), text); done <- err }()
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
		case where == "the statement" && len(root.Warnings()) == 0:
			errs = append(errs, fmt.Errorf("a driver stuck at %q: no warning", block))
		}
		if where != "the guard" { // there the connection may still be opening, and the pool has no other
			if err := answers(ctx, db, text, 5); err != nil {
				errs = append(errs, fmt.Errorf("while the driver is stuck at %q: %w", block, err))
			}
		}
		close(release)
		d.faults.Fail(nil)
		if err := d.idle(); err != nil {
			errs = append(errs, fmt.Errorf("after the driver was stuck at %q: %w", block, err))
		}
		if err := answers(ctx, db, text, 5); err != nil {
			errs = append(errs, fmt.Errorf("after the driver was stuck at %q: %w", block, err))
		}
	}
	return errors.Join(errs...)
}

// checkBusy is about a pool without a free connection, one that cannot be opened, and a lock.
func checkBusy(t testing.TB, e Engine) error {
	d := e.faulty(t, e.fixture())
	ctx := t.Context()
	db, err := d.db(exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: 2 * e.deadline()}}})
	if err != nil {
		return err
	}
	var errs []error
	conn, err := d.user.Conn(ctx)
	if err != nil {
		return err
	}
	if _, err := db.Query(ctx, "SELECT a FROM t"); !errors.Is(err, exec.ErrBusy) {
		errs = append(errs, fmt.Errorf("a pool whose connection is taken: %w, want ErrBusy", orNone(err)))
	}
	if err := conn.Close(); err != nil {
		return err
	}
	if err := answers(ctx, db, "SELECT a FROM t", 5); err != nil {
		errs = append(errs, fmt.Errorf("once it is free: %w", err))
	}

	d.user.SetMaxIdleConns(0)
	down := errors.New("the server is down")
	d.faults.Fail(func(event string) error {
		if event == "connect" {
			return down
		}
		return nil
	})
	if _, err := db.Query(ctx, "SELECT a FROM t"); !errors.Is(err, down) || exec.IsRejection(err) {
		errs = append(errs, fmt.Errorf("a server that is down: %w", orNone(err)))
	}
	d.faults.Fail(nil)
	if err := answers(ctx, db, "SELECT a FROM t", 5); err != nil {
		errs = append(errs, fmt.Errorf("once it is up: %w", err))
	}
	if e.Lock == "" {
		return errors.Join(errs...)
	}

	owner, err := d.owner.Conn(ctx)
	if err != nil {
		return err
	}
	_, err = owner.ExecContext(ctx, e.Lock)
	if err != nil {
		return fmt.Errorf("%s: %w", e.Lock, err)
	}
	took := e.stopwatch()
	_, err = db.Query(ctx, "SELECT a FROM t")
	if spent := took(); !errors.Is(err, exec.ErrBusy) || exec.IsRejection(err) || spent > 5*e.deadline() {
		errs = append(errs, fmt.Errorf("a locked table: %w after %v, want ErrBusy", orNone(err), spent))
	}
	_ = owner.Raw(func(any) error { return driver.ErrBadConn }) // the lock goes with the connection
	owner.Close()
	if err := answers(ctx, db, "SELECT a FROM t", 5); err != nil {
		errs = append(errs, fmt.Errorf("once nobody holds the lock: %w", err))
	}
	return errors.Join(errs...)
}

// checkSession runs statements one after the other on one connection.
func checkSession(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	ctx := t.Context()
	db, err := d.db(exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	if err != nil {
		return err
	}
	state, _, err := d.look(ctx)
	if err != nil {
		return err
	}
	same := func() error {
		now, _, err := d.look(ctx)
		if err == nil && now != state {
			err = fmt.Errorf("the connection changed: %s", difference(state, now))
		}
		return err
	}
	s, err := db.Session(exec.Bounds{Rows: 4, Timeout: 2 * e.deadline()})
	if err != nil {
		return err
	}
	defer s.Close()
	var errs []error
	for round := range 3 {
		for _, step := range []struct {
			sql  string
			ends func(rows int, err error) bool
		}{
			{"SELECT a FROM t", func(rows int, err error) bool { return err == nil && rows == 4 }},
			{"DELETE FROM t", func(_ int, err error) bool { return errors.Is(err, exec.ErrNotReadOnly) }},
			{"SELECT id FROM users", func(rows int, err error) bool { return err == nil && rows == 3 }},
			{"SELECT password FROM users", func(_ int, err error) bool { _, is := refused(err); return is }},
			{"SELECT nosuch FROM t", func(_ int, err error) bool { return exec.IsRejection(err) }},
			{"SELECT b FROM t WHERE a = 2", func(rows int, err error) bool { return err == nil && rows == 1 }},
			{e.Endless, func(_ int, err error) bool { return limited(err) == "time" }},
			{"SELECT a FROM t WHERE a < 3", func(rows int, err error) bool { return err == nil && rows == 2 }},
		} {
			if round > 0 && step.sql == e.Endless {
				continue
			}
			table, err := s.Query(ctx, step.sql)
			rows := -1
			if err == nil {
				rows = len(table.Rows)
			}
			if !step.ends(rows, err) {
				errs = append(errs, fmt.Errorf("round %d, %s: %d rows, %w", round, step.sql, rows, orNone(err)))
			}
		}
		if round == 0 { // what others write is seen
			if err := d.change("INSERT INTO t VALUES (0, 'new')"); err != nil {
				return err
			}
			table, err := s.Query(ctx, "SELECT b FROM t WHERE a = 0")
			if err != nil || len(table.Rows) != 1 {
				errs = append(errs, fmt.Errorf("a row that was written meanwhile: %v, %w", table, orNone(err)))
			}
			if err := d.change("DELETE FROM t WHERE a = 0"); err != nil {
				return err
			}
		}
		if round == 1 { // a closed session opens again
			if err := s.Close(); err != nil {
				errs = append(errs, err)
			}
			if err := same(); err != nil {
				errs = append(errs, fmt.Errorf("after Close: %w", err))
			}
		}
	}
	errs = append(errs, s.Close(), same())
	return errors.Join(errs...)
}

// checkParallel runs statements at the same time. Run it with -race.
func checkParallel(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	d.user.SetMaxOpenConns(2)
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	errs := make([]error, 8)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() {
			for range 5 {
				switch i % 4 {
				case 0:
					errs[i] = errors.Join(errs[i], answers(t.Context(), db, "SELECT a FROM t", 5))
				case 1:
					_, err := db.Explain(t.Context(), "SELECT a FROM t")
					errs[i] = errors.Join(errs[i], err)
				case 2:
					_, err := db.Schema(t.Context())
					errs[i] = errors.Join(errs[i], err)
				case 3:
					if _, err := db.Query(t.Context(), "DELETE FROM t"); !errors.Is(err, exec.ErrNotReadOnly) {
						errs[i] = errors.Join(errs[i], fmt.Errorf("DELETE: %w", orNone(err)))
					}
				}
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
