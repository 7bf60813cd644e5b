package exectest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// Value is an expression and its value in a result.
type Value struct {
	SQL  string // the expression, as written after SELECT
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
		{"NULL", nil}, {"1", int64(1)}, {"-1", int64(-1)}, {"9007199254740993", int64(9007199254740993)}, {"'x'", "x"},
		{"''", ""}, {"' 1 '", " 1 "},
		{"a FROM t WHERE a = 2", int64(2)}, {"b FROM t WHERE a = 3", nil}, {"b FROM t WHERE a = 5", "北京"},
		{"count(*) FROM t", int64(5)},
	}, e.Values...) {
		table, err := db.Query(t.Context(), "SELECT "+v.SQL)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w", v.SQL, err))
		case len(table.Rows) != 1 || len(table.Rows[0]) != 1:
			errs = append(errs, fmt.Errorf("%s: %v, want one value", v.SQL, table.Rows))
		// As text, NaN is itself and -0 is not 0.
		case !reflect.DeepEqual(v.Want, table.Rows[0][0]) && fmt.Sprintf("%#v", v.Want) != fmt.Sprintf("%#v",
			table.Rows[0][0]):
			errs = append(errs, fmt.Errorf("%s is %#v, want %#v", v.SQL, table.Rows[0][0], v.Want))
		}
	}
	return errors.Join(errs...)
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
	const wide = "SELECT 1 AS c0, 1 AS c1, 1 AS c2, 1 AS c3, 1 AS c4, 1 AS c5, 1 AS c6, 1 AS c7, 1 AS c8, 1 AS c9"
	const many = "SELECT x0.a, x1.b" + dbtest.Crossed // which nobody can read to the end
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
		{"six billion rows, the rest of which nobody reads", many, exec.Bounds{Rows: 10}, 10, true, false, ""},
		{"exactly as many bytes", "SELECT 'abcd' FROM t", exec.Bounds{Bytes: 20}, 5, false, false, ""},
		{"one byte too many", "SELECT 'abcd' FROM t", exec.Bounds{Bytes: 19}, 4, true, true, ""},
		{"bytes of six billion rows", many, exec.Bounds{Rows: 1e6, Bytes: 1000}, 0, true, true, ""},
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
			s, err := db.Runner(exec.Bounds{})
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
			if err := dbtest.Answers(t.Context(), db, "SELECT a FROM t", 5); err != nil {
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
	db, err := d.db(exec.Config{})
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
	probe := func(table, column string, value any, want bool) func() error {
		return func() error {
			found, err := db.Probe(ctx, "", table, column, value)
			if err == nil && found != want {
				err = fmt.Errorf("%v was found: %v", value, found)
			}
			return err
		}
	}
	var errs []error
	for _, call := range []struct {
		why   string
		fails bool
		call  func() error
	}{
		{"a statement", false, func() error { _, err := db.Query(ctx, "SELECT a FROM t"); return err }},
		{"a refused statement", true, func() error { _, err := db.Query(ctx, "DELETE FROM t"); return err }},
		{"a statement that does not compile", true, func() error {
			_, err := db.Query(ctx, "SELECT nosuch FROM t")
			return err
		}},
		{"an unknown table", true, func() error { _, err := db.Query(ctx, "SELECT 1 FROM nosuch"); return err }},
		{"an analysis", false, func() error { _, err := db.Analyze(ctx, "SELECT a FROM t"); return err }},
		{"a plan", false, func() error { _, err := db.Explain(ctx, "SELECT a FROM t"); return err }},
		{"an examination", false, func() error { _, err := db.Examine(ctx, "SELECT a FROM t WHERE b = 'nix'"); return err }},
		{"a probe", false, probe("users", "name", "ann", true)},
		{"a probe for a number", false, probe("users", "id", int64(9), false)},
		{"a probe for NULL", false, probe("t", "b", nil, true)},
		{"a sample", false, func() error { _, err := db.Sample(ctx, *users, exec.SampleOptions{Rows: 5}); return err }},
		{"a profile", false, func() error { _, err := db.Profile(ctx, s, exec.ProfileOptions{}); return err }},
		{"the schema", false, func() error { _, err := db.Schema(ctx); return err }},
		{"a session", false, func() error {
			s, err := db.Runner(exec.Bounds{})
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
		// On a loaded machine a statement of ours may end by its time limit, of a second at least, and cost its connection
		// then. So a call that took so long is tried again. A call that took less may not cost its connection even once.
		for try := 1; ; try++ {
			_, before, err := d.look(ctx)
			if err != nil {
				return err
			}
			began := time.Now()
			if err := call.call(); (err != nil) != call.fails {
				errs = append(errs, fmt.Errorf("%s: %w", call.why, orNone(err)))
			}
			if err := same(); err != nil {
				errs = append(errs, fmt.Errorf("after %s: %w", call.why, err))
			}
			slow := time.Since(began) >= time.Second
			_, after, err := d.look(ctx)
			if err == nil && before == after {
				break
			}
			if err != nil || !slow || try == 3 {
				errs = append(errs, fmt.Errorf("%s cost the connection: %v", call.why, err))
				break
			}
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
	if err := dbtest.Answers(ctx, db, "SELECT a FROM t", 5); err != nil {
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
	if err := dbtest.Answers(ctx, db, "SELECT a FROM t", 5); err != nil {
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
	if err := dbtest.Answers(ctx, db, "SELECT a FROM t", 5); err != nil {
		errs = append(errs, fmt.Errorf("once nobody holds the lock: %w", err))
	}
	return errors.Join(errs...)
}

// checkOnce counts what one examination takes: the engine's parser reads a statement once, and the engine is asked
// about it once, whatever is done with it then.
func checkOnce(t testing.TB, e Engine) error {
	d := e.open(t, e.fixture())
	var reads, confirms, plans, runs atomic.Int64
	d.Dialect = Change(e.Dialect, Changes{
		Read: func(_ *exec.Statement, read func() (*guard.Names, error)) (*guard.Names, error) {
			reads.Add(1)
			return read()
		},
		Confirm: func(_ *exec.Statement, confirm func() (guard.EngineReport, error)) (guard.EngineReport, error) {
			confirms.Add(1)
			return confirm()
		},
		Explain: func(_ *exec.Statement, explain func() (exec.Plan, error)) (exec.Plan, error) {
			plans.Add(1)
			return explain()
		},
		Run: func(_ context.Context, _ *exec.Statement, _ exec.Bounds, run func() (*exec.Rows, error)) (*exec.Rows, error) {
			runs.Add(1)
			return run()
		},
	})
	db, err := d.db(exec.Config{})
	if err != nil {
		return err
	}
	c, err := db.Examine(t.Context(), "SELECT a FROM t WHERE b = 'alpha'")
	if err != nil || c.Table == nil || len(c.Table.Rows) != 1 || c.Plan == nil {
		return fmt.Errorf("an examination found %+v, %w", c, orNone(err))
	}
	if got := [4]int64{reads.Load(), confirms.Load(), plans.Load(), runs.Load()}; got != [4]int64{1, 1, 1, 1} {
		return fmt.Errorf("one examination took %v of Read, Confirm, Explain and Run, want one of each", got)
	}
	return nil
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
	s, err := db.Runner(exec.Bounds{Rows: 4, Timeout: 2 * e.deadline()})
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
					errs[i] = errors.Join(errs[i], dbtest.Answers(t.Context(), db, "SELECT a FROM t", 5))
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
