package enginetest_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
)

// TestMemoryDatabase: a database in memory lives in its one connection, which is
// given back as it was, also after a statement that ran into its time limit.
func TestMemoryDatabase(t *testing.T) {
	db := testutil.Value(sql.Open("sqlite3", ":memory:"))(t)
	defer db.Close()
	db.SetMaxOpenConns(1)
	testutil.Value(db.Exec(shop + "CREATE TEMP TABLE mine (x)"))(t)
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "endless", Replies: llmtest.Texts(endless, usa, usa), Repeat: true},
		{Replies: llmtest.Texts(usa), Repeat: true},
	}}
	e, err := texttosql.New(db, script, texttosql.WithSamples(3),
		texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: 2 * time.Second}}))
	if err != nil {
		t.Fatal(err)
	}
	answers(t, e)
	if r, err := e.Ask(t.Context(), "an endless one?"); err != nil || r.SQL != usa {
		t.Errorf("with an endless candidate: %+v, %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := e.Ask(ctx, "an endless one?"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a question that was cancelled: %v", err)
	}
	answers(t, e)
	// The caller's own work goes on, with its temp table.
	if _, err := db.Exec("INSERT INTO mine VALUES (1); INSERT INTO customers VALUES (9,'Eve','Peru',NULL)"); err != nil {
		t.Errorf("the connection was not given back as it was: %v", err)
	}
}

// TestPoolOfOne: everything works on one connection, for many questions at once,
// and a connection that the caller keeps ends in an error and not in silence.
func TestPoolOfOne(t *testing.T) {
	db := open(t, shop)
	db.SetMaxOpenConns(1)
	e := testutil.Value(texttosql.New(db, always(usa),
		texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: time.Minute},
			Answer: exec.Bounds{Timeout: time.Minute}})))(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { answers(t, e) })
	}
	all.Wait()
	held := testutil.Value(db.Conn(t.Context()))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := e.Ask(ctx, whoInUSA); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, exec.ErrBusy) {
		t.Errorf("with the connection held: %v", err)
	}
	held.Close()
	answers(t, e)
}

// wrapping is a driver as tracing libraries make them: its connections have only
// what database/sql asks for.
type wrapping struct{ driver.Driver }

func (w wrapping) Open(name string) (driver.Conn, error) {
	conn, err := w.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &wrappedConn{conn}, nil
}

type wrappedConn struct{ inner driver.Conn }

func (c *wrappedConn) Prepare(query string) (driver.Stmt, error) { return c.inner.Prepare(query) }

func (c *wrappedConn) Close() error { return c.inner.Close() }

//lint:ignore SA1019 the interface has it
func (c *wrappedConn) Begin() (driver.Tx, error) { return c.inner.Begin() }

func (c *wrappedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.inner.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}

func (c *wrappedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.inner.(driver.QueryerContext).QueryContext(ctx, query, args)
}

type opener struct {
	driver driver.Driver
	name   string
}

func (o opener) Connect(context.Context) (driver.Conn, error) { return o.driver.Open(o.name) }

func (o opener) Driver() driver.Driver { return o.driver }

// TestWrappedDriver is unwrapped by a hook; without one it is refused, with what
// to do about it.
func TestWrappedDriver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.sqlite")
	plain := testutil.Value(sql.Open("sqlite3", "file:"+path))(t)
	defer plain.Close()
	testutil.Value(plain.Exec(shop))(t)
	db := sql.OpenDB(opener{wrapping{&sqlite3.SQLiteDriver{}}, "file:" + path})
	defer db.Close()
	unwrap := func(conn any) any {
		if c, ok := conn.(*wrappedConn); ok {
			return c.inner
		}
		return conn
	}
	tests := []struct {
		name string
		opts []texttosql.Option
		want string // part of the error; "" for none
		why  string
	}{
		{"nothing said", nil, "WithDialect", "nobody knows what it wraps"},
		{"dialect without hook", []texttosql.Option{texttosql.WithDialect(sqlite.Dialect{})}, "Unwrap",
			"the guard has nothing to hold on to"},
		{
			"hook that does not unwrap",
			[]texttosql.Option{texttosql.WithDialect(sqlite.Dialect{}, func(conn any) any { return conn })},
			"RegisterAuthorizer",
			"the same",
		},
		{"hook", []texttosql.Option{texttosql.WithDialect(nil, unwrap)}, "", "the connection inside tells the dialect"},
		{
			"hook alone that does not unwrap",
			[]texttosql.Option{texttosql.WithDialect(nil, func(conn any) any { return conn })}, "WithDialect",
			"still nobody knows",
		},
		{"hook and dialect", []texttosql.Option{texttosql.WithDialect(sqlite.Dialect{}, unwrap)}, "", "both may be said"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := texttosql.New(db, always(usa), tt.opts...)
			if err == nil {
				err = e.Ready(t.Context())
			}
			if tt.want != "" {
				if !errors.As(err, new(*exec.UnguardedError)) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q: %s", err, tt.want, tt.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			answers(t, e)
			if _, err := e.Check(t.Context(), "DROP TABLE orders"); !errors.Is(err, exec.ErrNotReadOnly) {
				t.Errorf("not guarded: %v", err)
			}
		})
	}
}

// TestReadOnlyHandle: nothing is written, so a handle that cannot write will do.
func TestReadOnlyHandle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.sqlite")
	writer := testutil.Value(sql.Open("sqlite3", "file:"+path))(t)
	testutil.Value(writer.Exec(shop))(t)
	writer.Close()
	testutil.OK(t, os.Chmod(path, 0o444))
	for _, mode := range []string{"?mode=ro", "?mode=ro&immutable=1", "?mode=ro&_query_only=1"} {
		db := testutil.Value(sql.Open("sqlite3", "file:"+path+mode))(t)
		e := testutil.Value(texttosql.New(db, always(usa)))(t)
		answers(t, e)
		db.Close()
	}
}

// lockable is the shop in a file that somebody else can lock; db waits so many
// milliseconds for that to end.
func lockable(t *testing.T, patience int) (db *sql.DB, lock func() (unlock func())) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.sqlite")
	open := func(options string) *sql.DB {
		db := testutil.Value(sql.Open("sqlite3", "file:"+path+options))(t)
		t.Cleanup(func() { db.Close() })
		return db
	}
	db = open(fmt.Sprintf("?_busy_timeout=%d", patience))
	testutil.Value(db.Exec(shop))(t)
	other := open("?_txlock=exclusive")
	return db, func() func() {
		tx := testutil.Value(other.Begin())(t)
		return func() { tx.Rollback() }
	}
}

// TestLockedDatabase: while somebody else holds the lock there is no answer but an
// error that says so, and no candidate is blamed for it; afterwards there is one.
func TestLockedDatabase(t *testing.T) {
	db, lock := lockable(t, 1)
	e := testutil.Value(texttosql.New(db, always(usa), texttosql.WithSamples(3), texttosql.WithLimits(exec.Limits{
		Candidate: exec.Bounds{Timeout: 2 * time.Second}, Answer: exec.Bounds{Timeout: 2 * time.Second},
	})))(t)
	answers(t, e)
	unlock := lock()
	r, err := e.Ask(t.Context(), whoInUSA)
	if err == nil || !strings.Contains(err.Error(), "locked") || r == nil || r.Trace == nil || len(r.Candidates) > 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	unlock()
	answers(t, e)
}

// TestLockedAtTheEnd: a lock at the end is not the winner's fault. A winner that
// nobody examined is no answer then; one that was examined lacks its rows alone.
func TestLockedAtTheEnd(t *testing.T) {
	for _, tt := range []struct {
		why      string
		examined bool
		doing    string
		sql      string
	}{
		{"a strategy of its own", false, "checking the winner", ""},
		{"an examiner saw it", true, "running the answer", usa},
	} {
		t.Run(tt.why, func(t *testing.T) {
			db, lock := lockable(t, 1)
			s := strategy.Func(func(ctx context.Context, env *strategy.Env, task strategy.Task) (*strategy.Outcome, error) {
				defer func() { lock() }() // and never unlocked
				out, err := strategy.Direct{}.Generate(ctx, env, task)
				if !tt.examined {
					out.Candidates[0].Statement = nil
				}
				return out, err
			})
			e := testutil.Value(texttosql.New(db, always(usa), texttosql.WithStrategy(s)))(t)
			r, err := e.Ask(t.Context(), whoInUSA)
			if !errors.Is(err, exec.ErrBusy) || !strings.HasPrefix(err.Error(), "texttosql: "+tt.doing+": ") ||
				errors.Is(err, texttosql.ErrBudget) {
				t.Errorf("error %v", err)
			}
			if r.SQL != tt.sql || r.Confidence > 0 != tt.examined || len(r.Candidates) != 1 || r.Rows != nil {
				t.Errorf("got %+v", r)
			}
		})
	}
}

// TestLockedAndCancelled: a question whose context ends while the schema is locked
// ends too, though the pool waits an hour for a lock.
func TestLockedAndCancelled(t *testing.T) {
	db, lock := lockable(t, 3_600_000)
	long := exec.Bounds{Timeout: time.Hour}
	e := testutil.Value(texttosql.New(db, always(usa),
		texttosql.WithLimits(exec.Limits{Candidate: long, Answer: long})))(t)
	lock()
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := e.Ask(ctx, whoInUSA); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// TestDatabaseVanishes in the middle of a question: an error about the database,
// with the trace of what was done until then.
func TestDatabaseVanishes(t *testing.T) {
	for name, vanish := range map[string]func(db *sql.DB, path string){
		"closed":  func(db *sql.DB, _ string) { db.Close() },
		"deleted": func(db *sql.DB, path string) { db.SetMaxIdleConns(0); os.Remove(path) },
		"deleted, under a name that makes a file": func(db *sql.DB, path string) { db.SetMaxIdleConns(0); os.Remove(path) },
		"overwritten": func(db *sql.DB, path string) {
			db.SetMaxIdleConns(0)
			os.WriteFile(path, []byte(strings.Repeat("no database at all ", 1000)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.sqlite")
			mode := "?mode=rw"
			if strings.HasSuffix(name, "makes a file") {
				mode = ""
			}
			db := testutil.Value(sql.Open("sqlite3", "file:"+path+mode))(t)
			defer db.Close()
			maker := testutil.Value(sql.Open("sqlite3", "file:"+path))(t)
			testutil.Value(maker.Exec(shop))(t)
			maker.Close()
			var once sync.Once
			e := testutil.Value(texttosql.New(db, llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				once.Do(func() { vanish(db, path) })
				return llm.Response{Text: usa}, nil
			}), texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(3)))(t)
			r, err := e.Ask(t.Context(), whoInUSA)
			if err == nil || r == nil || r.Usage.Calls == 0 || r.Rows != nil {
				t.Fatalf("got %+v, %v", r, err)
			}
			for _, c := range r.Candidates {
				t.Errorf("a candidate is blamed: %+v", c)
			}
			if left, _ := filepath.Glob(path); len(left) > 0 && strings.HasPrefix(name, "deleted") {
				t.Error("an empty file was made")
			}
		})
	}
}
