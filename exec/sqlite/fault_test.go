package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestFaults breaks one thing after the other and looks at what the next user of
// the pool gets, on disk and in memory.
func TestFaults(t *testing.T) {
	type outcome int
	const (
		skipped outcome = iota // the driver loses the database before we do anything
		answered
		failed // the statement, and nothing more
		broken // the DB refuses further work: only in memory
	)
	boom := errors.New("disk I/O error: injected")
	on := func(events ...string) func(string) error {
		return func(event string) error {
			for _, e := range events {
				if strings.HasPrefix(event, e) {
					return boom
				}
			}
			return nil
		}
	}
	panicking := func(event string) func(string) error {
		return func(e string) error {
			if e == event {
				panic("injected")
			}
			return nil
		}
	}
	afterwards := func(event string) func(string) error {
		off := false
		return func(e string) error {
			if off && strings.HasPrefix(e, event) {
				off = false
				return boom
			}
			off = off || e == "authorizer off"
			return nil
		}
	}
	tests := []struct {
		why          string
		fail         func(string) error
		disk, memory outcome
	}{
		{"nothing fails", nil, answered, answered},
		{"the first PRAGMA fails", on("PRAGMA busy_timeout"), failed, failed},
		{"the list of databases fails", on("PRAGMA database_list"), failed, failed},
		{"an error that nobody knows", func(e string) error {
			if strings.HasPrefix(e, "SELECT name FROM pragma_module_list") {
				return errors.New("bad luck")
			}
			return nil
		}, failed, failed},
		{"the version fails", on(`PRAGMA "main".schema_version`), failed, failed},
		{"the catalog fails", on("SELECT type"), failed, failed},
		{"the functions fail", on("PRAGMA function_list"), failed, failed},
		{"query_only cannot be set", on("PRAGMA query_only = 1"), failed, failed},
		{"a limit panics", on("limit 5 250000"), failed, failed},
		{"the authorizer panics", on("authorizer on"), failed, failed},
		{"the statement cannot be prepared", on("prepare"), failed, failed},
		{"the driver gives the connection up", func(e string) error {
			if e == "prepare" {
				return driver.ErrBadConn
			}
			return nil
		}, failed, skipped},
		{"the driver panics", panicking("prepare"), failed, failed},
		{"the authorizer cannot be removed", on("authorizer off"), answered, broken},
		{"a limit cannot be restored", afterwards("limit 0 1000000000"), answered, broken},
		{"query_only cannot be restored", afterwards("PRAGMA query_only = 0"), answered, broken},
		{"a limit can never be restored, not for the catalog either", on("limit 0 1000000000"), failed, broken},
		{"busy_timeout cannot be restored", afterwards("PRAGMA busy_timeout"), answered, broken},
		{"nothing can be undone after a failure", on("authorizer on", "PRAGMA query_only = 0"), failed, broken},
	}
	for _, test := range tests {
		for place, want := range map[string]outcome{"disk": test.disk, "memory": test.memory} {
			t.Run(test.why+" on "+place, func(t *testing.T) {
				if want == skipped {
					t.Skip("database/sql drops what the driver gives up")
				}
				connector, pool := faultyPool(t, map[string]string{"disk": "file", "memory": ":memory:"}[place])
				before := settingsOf(t, pool)
				db := dbtest.NewDB(t, pool, sqlite.Dialect{}, connector.config(exec.Config{}))
				connector.fails(test.fail)
				err := catch(func() error { _, err := db.Query(context.Background(), "SELECT a FROM t"); return err })
				connector.fails(nil)

				if (err == nil) != (want == answered) {
					t.Errorf("Query: %v", err)
				}
				if errors.Is(err, exec.ErrBroken) != (want == broken) {
					t.Errorf("Query: %v", err)
				}
				if want == failed && exec.IsRejection(err) {
					t.Errorf("the statement is blamed: %v", err)
				}
				var rows int
				if err := pool.QueryRow("SELECT count(*) FROM t").Scan(&rows); err != nil || rows != 5 {
					t.Errorf("the caller's data: %d rows, %v", rows, err)
				}
				again, err := db.Query(context.Background(), "SELECT a FROM t")
				if want == broken {
					if !errors.Is(err, exec.ErrBroken) {
						t.Errorf("a broken DB goes on: %v, %v", again, err)
					}
					return
				}
				if err != nil || len(again.Rows) != 5 {
					t.Errorf("the next statement: %v, %v", again, err)
				}
				if after := settingsOf(t, pool); after != before {
					t.Errorf("settings %+v, before %+v", after, before)
				}
				if _, err := pool.Exec("INSERT INTO t VALUES (6, 'written')"); err != nil {
					t.Errorf("the caller cannot write any more: %v", err)
				}
			})
		}
	}
}

// TestCancelled interrupts a statement that runs.
func TestCancelled(t *testing.T) {
	for _, test := range []struct {
		why    string
		dsn    string
		cancel bool // by the caller; else our own limit ends it
		drops  bool
	}{
		{"by the caller, in memory", ":memory:", true, false},
		{"by the limit, in memory", ":memory:", false, false},
	} {
		t.Run(test.why, func(t *testing.T) {
			connector, pool := faultyPool(t, test.dsn)
			before := settingsOf(t, pool)
			address := connectionOf(t, pool)

			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			c := exec.Config{}
			if !test.cancel {
				c.Limits.Answer.Timeout = 500 * time.Millisecond
			}
			db := newDB(t, pool, connector.config(c))
			connector.fails(func(event string) error {
				if event == "prepare" && test.cancel { // not before the guard is on
					time.AfterFunc(50*time.Millisecond, cancel)
				}
				return nil
			})
			_, err := db.Query(ctx, endless)
			connector.fails(nil)
			var limit *exec.LimitError
			if test.cancel && !errors.Is(err, context.Canceled) || !test.cancel &&
				!(errors.As(err, &limit) && limit.Limit == "time") {
				t.Errorf("error %v", err)
			}
			if got := connectionOf(t, pool) != address; got != test.drops {
				t.Errorf("connection dropped: %v, want %v", got, test.drops)
			}
			if after := settingsOf(t, pool); after != before {
				t.Errorf("settings %+v, before %+v", after, before)
			}
			if _, err := pool.Exec("INSERT INTO t VALUES (6, 'written')"); err != nil {
				t.Errorf("the caller cannot write any more: %v", err)
			}
			table, err := db.Query(context.Background(), "SELECT a FROM t")
			if err != nil || len(table.Rows) != 6 {
				t.Errorf("the next statement: %v, %v", table, err)
			}
		})
	}
}

// TestFailedStatement keeps the connection of a statement that failed by itself.
func TestFailedStatement(t *testing.T) {
	pool, _ := open(t, fixture)
	pool.SetMaxOpenConns(1)
	db := newDB(t, pool, exec.Config{})
	address := connectionOf(t, pool)
	for _, text := range []string{"SELECT abs(-9223372036854775808)", "SELECT json_extract('{', '$') FROM t"} {
		if _, err := db.Query(context.Background(), text); err == nil {
			t.Errorf("%s: no error", text)
		}
		if connectionOf(t, pool) != address {
			t.Errorf("%s: the connection was dropped", text)
		}
	}
}

// connectionOf returns the address of the connection that the pool has free.
func connectionOf(t *testing.T, pool *sql.DB) (address any) {
	t.Helper()
	conn := testutil.Value(pool.Conn(context.Background()))(t)
	defer conn.Close()
	testutil.OK(t, conn.Raw(func(dc any) error { address = dc; return nil }))
	return address
}

// TestUnguarded is about connections that cannot be guarded.
func TestUnguarded(t *testing.T) {
	ctx := context.Background()
	ready := func(t *testing.T, pool *sql.DB, d sqlite.Dialect, c exec.Config) error {
		t.Helper()
		db := dbtest.NewDB(t, pool, d, c)
		return db.Ready(ctx)
	}
	hidden := func(t *testing.T) *sql.DB {
		_, file := open(t, fixture)
		pool := sql.OpenDB(wrapping{exectest.ConnectorOf(t, "sqlite3", file)})
		t.Cleanup(func() { pool.Close() })
		return pool
	}
	inner := func(dc any) any { return dc.(*plainConn).Conn }

	t.Run("a driver without hooks", func(t *testing.T) {
		pool := hidden(t)
		before := 0
		err := ready(t, pool, sqlite.Dialect{}, exec.Config{})
		if !errors.As(err, new(*exec.UnguardedError)) {
			t.Fatalf("error %v", err)
		}
		for _, want := range []string{"plainConn", "exec.Config.Unwrap", "texttosql.WithDialect", "mattn/go-sqlite3",
			"Hooks"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("the error does not say %q: %v", want, err)
			}
		}
		if err := pool.QueryRow("PRAGMA query_only").Scan(&before); err != nil || before != 0 {
			t.Errorf("query_only is %d, %v", before, err)
		}
	})
	t.Run("a wrapped driver is unwrapped", func(t *testing.T) {
		pool := hidden(t)
		db := newDB(t, pool, exec.Config{Unwrap: inner})
		table, err := db.Query(ctx, "SELECT a FROM t")
		if err != nil || len(table.Rows) != 5 {
			t.Errorf("%v, %v", table, err)
		}
		if _, err := db.Query(ctx, "SELECT load_extension('x')"); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a driver is adapted", func(t *testing.T) {
		pool := hidden(t)
		d := sqlite.Dialect{Hooks: func(dc any) sqlite.Hooks { return dc.(*plainConn).Conn.(sqlite.Hooks) }}
		if err := ready(t, pool, d, exec.Config{}); err != nil {
			t.Error(err)
		}
	})
	t.Run("a temporary table hides one of the schema", func(t *testing.T) {
		pool, _ := open(t, fixture)
		pool.SetMaxOpenConns(1)
		testutil.Value(pool.Exec("CREATE TEMP VIEW Users AS SELECT 1 AS id"))(t)
		before := settingsOf(t, pool)
		err := ready(t, pool, sqlite.Dialect{}, exec.Config{})
		if !errors.As(err, new(*exec.UnguardedError)) || !strings.Contains(err.Error(), "users") {
			t.Errorf("error %v", err)
		}
		if after := settingsOf(t, pool); after != before {
			t.Errorf("settings %+v, before %+v", after, before)
		}
	})
	t.Run("another temporary table cannot be read", func(t *testing.T) {
		pool, _ := open(t, fixture)
		pool.SetMaxOpenConns(1)
		testutil.Value(pool.Exec("CREATE TEMP TABLE basket AS SELECT 1 AS id"))(t)
		db := newDB(t, pool, exec.Config{})
		for _, text := range []string{
			"SELECT id FROM basket", "SELECT count(*) FROM basket", "SELECT count(*) FROM temp.basket",
			"SELECT count(*) FROM users NATURAL JOIN basket",
		} {
			if _, err := db.Query(ctx, text); !errors.As(err, new(*exec.RefusedError)) {
				t.Errorf("%s: %v", text, err)
			}
		}
	})
	t.Run("not a database", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "test.db")
		pool := testutil.Value(sql.Open("sqlite3", "file:"+file+"?mode=ro"))(t)
		defer pool.Close()
		if err := ready(t, pool, sqlite.Dialect{}, exec.Config{}); err == nil || exec.IsRejection(err) ||
			!strings.Contains(err.Error(),
				"unable to open database file") {
			t.Errorf("error %v", err)
		}
	})
}

// wrapping hides the hooks of a connection, as libraries that trace do.
type wrapping struct{ driver.Connector }

func (w wrapping) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := w.Connector.Connect(ctx)
	return &plainConn{c}, err
}

// plainConn has nothing but what every driver has.
type plainConn struct{ driver.Conn }

// TestOwnAuthorizer is about an application that registers an authorizer.
func TestOwnAuthorizer(t *testing.T) {
	pool, _ := open(t, fixture)
	pool.SetMaxOpenConns(1)
	asked := 0
	own := func(op int, arg1, _, _ string) int {
		asked++
		if op == 20 && arg1 == "users" { // SQLITE_READ
			return 1
		}
		return 0
	}
	conn := testutil.Value(pool.Conn(context.Background()))(t)
	testutil.OK(t, conn.Raw(func(dc any) error { dc.(sqlite.Hooks).RegisterAuthorizer(own); return nil }))
	conn.Close()

	db := dbtest.NewDB(t, pool, sqlite.Dialect{Authorizer: own}, exec.Config{})
	if _, err := db.Query(context.Background(), "SELECT a FROM t"); err != nil {
		t.Error(err)
	}
	if _, err := db.Query(context.Background(), "SELECT id FROM users"); !errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("the guard does not ask the application: %v", err)
	}
	asked = 0
	if _, err := pool.Exec("SELECT id FROM users"); err == nil || asked == 0 {
		t.Errorf("the application's authorizer is gone: asked %d times, %v", asked, err)
	}
}

// TestWhoWaitsForLocks: the guard waits itself for the lock that it meets first, and
// lets SQLite wait before it reads the catalog: a writer that comes and goes would
// else make it begin again for ever.
func TestWhoWaitsForLocks(t *testing.T) {
	var events []string
	connector, pool := faultyPool(t, "file")
	connector.fails(func(event string) error {
		events = append(events, event)
		return nil
	})
	db := dbtest.NewDB(t, pool, sqlite.Dialect{}, connector.config(exec.Config{}))
	events = nil
	testutil.Value(db.Query(t.Context(), "SELECT a FROM t"))(t)
	at := func(what string) int {
		return slices.IndexFunc(events, func(e string) bool { return strings.Contains(e, what) })
	}
	off, first, on, catalog := at("busy_timeout = 0"), at("schema_version"), at("busy_timeout = 5000"), at("sqlite_master")
	if !(0 <= off && off < first && first < on && on < catalog) {
		t.Errorf("busy_timeout off at %d, first look at %d, on at %d, catalog at %d:\n%s", off, first, on, catalog,
			strings.Join(events, "\n"))
	}
}

// faulty is a connector whose calls fail where a test wants them to, those of SQLite's hooks too.
type faulty struct{ exectest.Faults }

// faultyPool is a pool of one connection over the fixture, in a "file" of its own or in ":memory:", where every
// connection is another database.
func faultyPool(t *testing.T, place string) (*faulty, *sql.DB) {
	t.Helper()
	if place == "file" {
		place = filepath.Join(t.TempDir(), "test.db")
	}
	connector := &faulty{exectest.Faults{Connector: exectest.ConnectorOf(t, "sqlite3", place)}}
	pool := sql.OpenDB(connector)
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	testutil.Value(pool.Exec(fixture))(t)
	return connector, pool
}

// fails has ask asked before each call: with the text of a statement that runs, with "prepare", or with the name of
// another call.
func (f *faulty) fails(ask func(event string) error) {
	if ask == nil {
		f.Fail(nil)
		return
	}
	f.Fail(func(event string) error {
		verb, text, _ := strings.Cut(event, " ")
		switch verb {
		case "query", "exec":
			event = text
		case "prepare":
			event = verb
		}
		return ask(event)
	})
}

// config is c for a DB on the pool of f.
func (f *faulty) config(c exec.Config) exec.Config {
	c.Unwrap = func(dc any) any { return faultyHooks{exectest.Unwrap(dc).(sqlite.Hooks), f} }
	return c
}

type faultyHooks struct {
	sqlite.Hooks
	faults *faulty
}

func (h faultyHooks) RegisterAuthorizer(callback func(int, string, string, string) int) {
	name := "authorizer off"
	if callback != nil {
		name = "authorizer on"
	}
	if err := h.faults.Event(name); err != nil {
		panic(err) // a method without an error has no other way
	}
	h.Hooks.RegisterAuthorizer(callback)
}

func (h faultyHooks) SetLimit(id, value int) int {
	if err := h.faults.Event(fmt.Sprintf("limit %d %d", id, value)); err != nil {
		panic(err)
	}
	return h.Hooks.SetLimit(id, value)
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
