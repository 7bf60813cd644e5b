package pgstore_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/pgstore"
	"github.com/texttosql/texttosql/session/storetest"
)

var server = servers.Lazy{Start: servers.Postgres}

func TestMain(m *testing.M) {
	if do := children[os.Getenv("PGSTORE_CHILD")]; do != nil {
		do(os.Getenv("PGSTORE_DSN"), os.Getenv("PGSTORE_ID"))
		return
	}
	os.Exit(server.Run(m))
}

// children are what processes of their own do.
var children = map[string]func(dsn, id string){"add": childAdds, "ask": childAsks, "confirm": childConfirms}

// child starts a process; say is its standard output.
func child(t *testing.T, do, dsn, id string) (c *exec.Cmd, say io.Reader) {
	t.Helper()
	c = exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "PGSTORE_CHILD="+do, "PGSTORE_DSN="+dsn, "PGSTORE_ID="+id)
	c.Stderr = os.Stderr
	say, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Kill(); c.Wait() })
	return c, say
}

var databases atomic.Int32

// newDSN returns the DSN of a new database, and a pool on it.
func newDSN(t testing.TB) (string, *sql.DB) {
	t.Helper()
	base := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%%s?sslmode=disable", server.Get(t).Port)
	name := fmt.Sprintf("d%d", databases.Add(1))
	run(t, pool(t, fmt.Sprintf(base, "postgres")), "CREATE DATABASE "+name)
	dsn := fmt.Sprintf(base, name)
	return dsn, pool(t, dsn)
}

func pool(t testing.TB, dsn string) *sql.DB {
	t.Helper()
	db := testutil.Value(sql.Open("pgx", dsn))(t)
	t.Cleanup(func() { db.Close() })
	return db
}

func run(t testing.TB, db *sql.DB, statement string, args ...any) {
	t.Helper()
	testutil.Value(db.Exec(statement, args...))(t)
}

func open(t testing.TB, dsn string, c pgstore.Config) *pgstore.Store {
	t.Helper()
	s := testutil.Value(pgstore.Open(t.Context(), dsn, c))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// Two namespaces of one database see nothing of each other; each is a store.
func TestStore(t *testing.T) {
	for _, c := range [][2]pgstore.Config{{{}, {Schema: "shop"}}, {{Schema: `Shop "2"; x`}, {Schema: "shop"}}} {
		storetest.Conformance(t, func(t *testing.T) session.Store {
			dsn, _ := newDSN(t)
			s, other := open(t, dsn, c[0]), open(t, dsn, c[1])
			r := saved(t, other)
			release := testutil.Value(other.Lock(t.Context(), r.ID))(t)
			testutil.OK(t, other.Lessons("shop").Change(func([]byte) ([]byte, error) { return []byte("[]"), nil }))
			if free, err := s.Lock(t.Context(), r.ID); err != nil {
				t.Errorf("a lease of the other namespace is seen: %v", err)
			} else {
				free()
			}
			t.Cleanup(func() { // after the store was used
				ctx := context.Background()
				if _, err := s.Load(ctx, r.ID); !errors.Is(err, session.ErrNotFound) {
					t.Errorf("a session of the other namespace: %v", err)
				}
				if text, version, err := s.Lessons("shop").Read(""); len(text) > 0 || version != "0" || err != nil {
					t.Errorf("lessons of the other namespace: %s, %s, %v", text, version, err)
				}
				if all, err := other.List(ctx, session.Filter{Every: true, Limit: -1}); err != nil || len(all) != 1 ||
					all[0].ID != r.ID {
					t.Errorf("the other namespace has %v, %v", all, err)
				}
				if _, err := other.Lock(ctx, r.ID); !errors.Is(err, session.ErrLocked) {
					t.Errorf("the lease of the other namespace is gone: %v", err)
				}
				release()
			})
			return s
		})
	}
}

// A store whose role may not make tables, and whose server does not wait for its disk, is one too.
func TestStoreOfAnOwner(t *testing.T) {
	dsn, owner := newDSN(t)
	run(t, owner, `CREATE SCHEMA shop; SET search_path = shop;`+pgstore.Schema+`
		CREATE ROLE clerk LOGIN; ALTER ROLE clerk SET synchronous_commit = off; GRANT USAGE ON SCHEMA shop TO clerk;
		GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA shop TO clerk`)
	dsn = strings.Replace(dsn, "postgres@", "clerk@", 1)
	if _, err := pgstore.Open(t.Context(), dsn, pgstore.Config{}); err == nil {
		t.Error("a role that may not make tables has no error without them")
	}
	storetest.Conformance(t, func(t *testing.T) session.Store {
		run(t, owner, "TRUNCATE shop.texttosql_sessions, shop.texttosql_changes, shop.texttosql_journal, "+
			"shop.texttosql_leases")
		return open(t, dsn+"&search_path=shop", pgstore.Config{})
	})
	open(t, dsn, pgstore.Config{Schema: "shop"}) // it is there: nothing needs to be made
}

func TestOpen(t *testing.T) {
	for _, c := range []pgstore.Config{{Lease: time.Millisecond}, {Lease: -1}, {Connections: -1},
		{Schema: strings.Repeat("x", 64)}, {Schema: "a\x00"}} {
		if _, err := pgstore.Open(t.Context(), "", c); err == nil {
			t.Errorf("%+v is no error", c)
		}
	}
	for _, dsn := range []string{"postgres://me:sesame@127.0.0.1:1/x", "postgres://me:sesame@[/x",
		"host=127.0.0.1 port=1 password=sesame", "nonsense sesame"} {
		if _, err := pgstore.Open(t.Context(), dsn, pgstore.Config{}); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", dsn, err)
		}
	}
	dsn, db := newDSN(t)
	many := make(chan error) // only one of them makes the tables
	for range 8 {
		go func() {
			s, err := pgstore.Open(context.Background(), dsn, pgstore.Config{})
			if err == nil {
				err = s.Close()
			}
			many <- err
		}()
	}
	for range 8 {
		if err := <-many; err != nil {
			t.Error(err)
		}
	}
	run(t, db, "UPDATE texttosql_store SET version = 99")
	var other *pgstore.VersionError
	if _, err := pgstore.Open(t.Context(), dsn, pgstore.Config{}); !errors.As(err, &other) || other.Have != 99 {
		t.Errorf("tables of another version: %v", err)
	}
}

// saved returns a session that was saved once.
func saved(t *testing.T, s *pgstore.Store) session.Record {
	t.Helper()
	r := session.New(session.NewID(), time.Now().UTC())
	testutil.OK(t, s.Save(t.Context(), r))
	r.Revision++
	return r
}

// What was changed in the database is an error and stays as it is; Delete removes it.
func TestDamage(t *testing.T) {
	dsn, db := newDSN(t)
	s := open(t, dsn, pgstore.Config{})
	for _, tt := range []struct{ why, to string }{
		{"a letter", `overlay(whole PLACING 'X'::bytea FROM 20)`},
		{"cut short", `substring(whole FOR 50)`},
		{"empty", `''`},
		{"too large", `convert_to(repeat('x', 3000000), 'UTF8')`},
	} {
		whole, r := saved(t, s), saved(t, s)
		run(t, db, "UPDATE texttosql_sessions SET whole = "+tt.to+" WHERE id = $1", r.ID)
		_, load := s.Load(t.Context(), r.ID)
		list, listed := s.List(t.Context(), session.Filter{Limit: 1})
		for call, err := range map[string]error{"Load": load, "Save": s.Save(t.Context(), r), "List": listed} {
			var broken *session.RecordError
			if !errors.As(err, &broken) || broken.ID != r.ID || broken.File == "" {
				t.Errorf("%s: %s: %v", tt.why, call, err)
			}
		}
		if len(list) != 1 || list[0].ID != whole.ID {
			t.Errorf("%s: the list has %v", tt.why, list)
		}
		if err := errors.Join(s.Delete(t.Context(), r.ID), s.Delete(t.Context(), whole.ID)); err != nil {
			t.Errorf("%s: %v", tt.why, err)
		}
	}
}

// A lease keeps others out, ends with release, runs out, and is worth nothing to whoever slept longer.
func TestHold(t *testing.T) {
	dsn, db := newDSN(t)
	a, b := open(t, dsn, pgstore.Config{Lease: time.Hour}), open(t, dsn, pgstore.Config{Lease: time.Hour})
	r, ctx := saved(t, a), t.Context()
	hold := func(s *pgstore.Store, want error) (release func()) {
		t.Helper()
		release, err := s.Lock(ctx, r.ID)
		if !errors.Is(err, want) {
			t.Fatalf("hold: %v, want %v", err, want)
		}
		return release
	}
	release := hold(a, nil)
	hold(b, session.ErrLocked)
	hold(a, session.ErrLocked) // another call of the same process
	if err := b.Save(ctx, r); !errors.Is(err, session.ErrConflict) {
		t.Errorf("save of what another process holds: %v", err)
	}
	release()
	release = hold(b, nil)
	release()
	release() // nothing more

	release = hold(a, nil)
	run(t, db, "UPDATE texttosql_leases SET until = clock_timestamp() - interval '1 second'") // a sleeps
	if err := a.Save(ctx, r); err != nil {
		t.Error("a lease that ran out and nobody took is no conflict: ", err)
	}
	r.Revision++
	releaseB := hold(b, nil)
	if err := a.Save(ctx, r); !errors.Is(err, session.ErrConflict) {
		t.Errorf("save of whoever lost its lease: %v", err)
	}
	release() // not b's
	hold(a, session.ErrLocked)
	if err := b.Save(ctx, r); err != nil {
		t.Error(err)
	}
	releaseB()
	hold(a, nil)()

	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := a.Lock(ended, r.ID); !errors.Is(err, context.Canceled) {
		t.Errorf("hold after its context ended: %v", err)
	}
	if _, err := a.Lock(ctx, "x"); !errors.Is(err, session.ErrInvalidID) {
		t.Errorf("hold of no id: %v", err)
	}
}

// A lease is renewed as long as it is held, also when the context of Hold has ended.
func TestHoldIsRenewed(t *testing.T) {
	dsn, db := newDSN(t)
	a := open(t, dsn, pgstore.Config{Lease: time.Second})
	ctx, cancel := context.WithCancel(t.Context())
	release := testutil.Value(a.Lock(ctx, session.NewID()))(t)
	defer release()
	cancel()
	var first, last time.Time
	for last = first; last.Equal(first); {
		testutil.OK(t, db.QueryRow("SELECT until FROM texttosql_leases").Scan(&last))
		if first.IsZero() {
			first = last
		}
	}
	if !last.After(first) {
		t.Errorf("%v is not after %v", last, first)
	}
}

// TestSlow: a server that hangs holds nobody for longer than a call may take, and the error does not claim a
// deadline that the caller did not set.
func TestSlow(t *testing.T) {
	defer pgstore.BePatient(30*time.Second, 5*time.Second)
	dsn, db := newDSN(t)
	s := open(t, dsn, pgstore.Config{Lease: time.Second})
	r := saved(t, s)
	gone, leave := context.WithCancel(t.Context())
	stays := testutil.Value(s.Journal(t.Context(), r.ID))(t)
	left := testutil.Value(s.Journal(gone, r.ID))(t)
	release := testutil.Value(s.Lock(t.Context(), r.ID))(t)
	leave()
	testutil.OK(t, left.Append([]byte("a reply that comes late")))
	answers, lessons := s.VerifiedAnswers("x"), s.Lessons("x")
	lock := testutil.Value(db.Begin())(t)
	defer lock.Rollback()
	testutil.Value(lock.Exec("LOCK TABLE texttosql_answers, texttosql_lessons, texttosql_journal, texttosql_leases"))(t)
	const short, long = 50 * time.Millisecond, time.Minute
	for _, tt := range []struct {
		name        string
		inAll, gone time.Duration
		call        func() error
		want        string
	}{
		{"reading answers", short, long, func() error { _, err := answers.Read(0); return err }, "did not answer"},
		{"adding an answer", short, long, func() error { return answers.Append([]byte("x\n")) }, "did not answer"},
		{"reading lessons", short, long, func() error { _, _, err := lessons.Read(""); return err }, "did not answer"},
		{"changing lessons", short, long, func() error { return lessons.Change(nil) }, "did not answer"},
		{"a journal", short, long, func() error { return stays.Append([]byte("x")) }, "did not answer"},
		{"reading a journal", short, long, func() error { _, err := stays.Read(); return err }, "did not answer"},
		{"a journal whose caller has gone", long, short, func() error { return left.Append([]byte("x")) }, "canceled"},
		{"reading it", long, short, func() error { _, err := left.Read(); return err }, "canceled"},
		{"a lease, which runs out by itself", long, long, func() error { release(); return errors.New("") }, ""},
	} {
		pgstore.BePatient(tt.inAll, tt.gone)
		start := time.Now()
		err := tt.call()
		if took := time.Since(start); took > 5*time.Second || err == nil || !strings.Contains(err.Error(), tt.want) ||
			errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v after %v", tt.name, err, took)
		}
	}
	hurried, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	if _, err := s.Lock(hurried, r.ID); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a deadline of the caller: %v", err)
	}
}

// Lessons of several processes: none is lost, and one that was changed in the database is an error.
func TestLessons(t *testing.T) {
	dsn, db := newDSN(t)
	const learners, each = 4, 10
	errs := make(chan error)
	for n := range learners {
		go func() {
			l, err := memory.LessonsOn(open(t, dsn, pgstore.Config{}).Lessons("shop"))
			for i := 0; i < each && err == nil; i++ {
				_, err = l.Learn(finished(fmt.Sprintf("%d-%d", n, i)))
			}
			errs <- err
		}()
	}
	for range learners {
		testutil.OK(t, <-errs)
	}
	s := open(t, dsn, pgstore.Config{})
	l := testutil.Value(memory.LessonsOn(s.Lessons("shop")))(t)
	list, err := l.All()
	if err != nil || len(list) != 1 || len(list[0].Sessions) != learners*each {
		t.Fatalf("%+v %v", list, err)
	}
	if other, err := memory.LessonsOn(s.Lessons("other")); err != nil {
		t.Error(err)
	} else if _, err := other.Learn(memory.Episode{Session: "nothing to learn"}); err != nil {
		t.Error(err)
	} else if list, err := other.All(); err != nil || len(list) > 0 {
		t.Errorf("the lessons of another name: %v %v", list, err)
	}
	run(t, db, "UPDATE texttosql_lessons SET version = version + 1, lessons = overlay(lessons PLACING 'X'::bytea "+
		"FROM 40) WHERE name = 'shop'")
	_, learned := l.Learn(finished("x"))
	_, read := l.All()
	for call, err := range map[string]error{"Learn": learned, "All": read} {
		if bad := (*fileerr.Memory)(nil); !errors.As(err, &bad) || !strings.Contains(bad.File, `"shop"`) {
			t.Errorf("%s of a broken text: %v", call, err)
		}
	}
}

// finished is a question that taught how a table is called.
func finished(id string) memory.Episode {
	live := tables("PROD_Customers")
	return memory.Episode{
		Session: id, Question: "How many customers are there?", Live: live, Declared: tables("Customers"), Completed: true,
		Attempts: []struct{ SQL, Missing string }{{SQL: "SELECT count(*) FROM Customers", Missing: "Customers"}},
		SQL:      "SELECT count(*) FROM PROD_Customers", Tables: names(live), At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	}
}
