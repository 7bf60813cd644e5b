package postgres_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
)

// fixture is what the tests of connections read.
const fixture = `CREATE TABLE t(a INTEGER, b TEXT); INSERT INTO t SELECT i, 'b' || i FROM generate_series(1, 100) i; ANALYZE t;
CREATE TABLE big(v TEXT); INSERT INTO big SELECT repeat('x', 500000) FROM generate_series(1, 40);
CREATE TABLE secured(a INTEGER, who TEXT); INSERT INTO secured VALUES (1, 'ann'), (2, 'bob')`

const forever = "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b"

// ways are the ways to talk to the server: all modes of pgx, and behind a library that wraps it.
var ways = []string{"cache_statement", "cache_describe", "describe_exec", "exec", "simple_protocol", "wrapped"}

// openWay returns a pool of one connection on the database of dsn.
func openWay(t testing.TB, way, dsn string) *sql.DB {
	t.Helper()
	var pool *sql.DB
	var err error
	switch way {
	case "wrapped":
		pool = sql.OpenDB(wrapped{dsn})
	default:
		pool, err = sql.Open("pgx", dsn+"&default_query_exec_mode="+way)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	pool.SetMaxOpenConns(1)
	return pool
}

// wrapped hides all of pgx but what database/sql needs.
type wrapped struct{ dsn string }

type wrappedConn struct{ driver.Conn }

func (s wrapped) Connect(ctx context.Context) (driver.Conn, error) {
	c, err := stdlib.GetDefaultDriver().Open(s.dsn)
	return wrappedConn{c}, err
}

// unwrap is the Config.Unwrap of all ways.
func unwrap(dc any) any {
	if c, ok := dc.(wrappedConn); ok {
		return c.Conn
	}
	return dc
}

func (s wrapped) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// stateText lists what a connection keeps. What the reading itself needs is left out.
const stateText = `SELECT concat_ws(E'\n', pg_backend_pid(), session_user, current_user, current_schemas(true)::text, pg_my_temp_schema(),
(SELECT string_agg(name || '=' || setting || source, ' ' ORDER BY name) FROM pg_settings),
(SELECT string_agg(name || statement, ' ' ORDER BY name) FROM pg_prepared_statements WHERE statement NOT LIKE '%pg_prepared_statements%'),
(SELECT string_agg(name, ' ' ORDER BY name) FROM pg_cursors WHERE statement NOT LIKE '%pg_prepared_statements%'),
(SELECT string_agg(objid || mode, ' ' ORDER BY objid) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()),
(SELECT string_agg(c, ' ') FROM pg_listening_channels() c),
(SELECT string_agg(mode, ' ') FROM pg_locks WHERE locktype = 'transactionid' AND pid = pg_backend_pid()))`

func keptBy(t testing.TB, pool *sql.DB) (state string) {
	t.Helper()
	testutil.OK(t, pool.QueryRow(stateText).Scan(&state))
	return state
}

// TestState: a connection is afterwards as it was, whatever a statement came to; where it cannot be, it is another one.
func TestState(t *testing.T) {
	root, dsn := open(t, fixture)
	for _, way := range ways {
		t.Run(way, func(t *testing.T) {
			pool := openWay(t, way, dsn)
			for _, text := range []string{
				"SET work_mem = '5MB'", "SET search_path = public, pg_catalog", "SET statement_timeout = '7min'",
				"SET DateStyle = 'SQL, DMY'",
				"PREPARE mine AS SELECT 1", "SELECT pg_advisory_lock(77)", "LISTEN news", "CREATE TEMP TABLE mine(a INT)",
				"DECLARE mine CURSOR WITH HOLD FOR SELECT 1",
			} {
				testutil.Value(pool.Exec(text))(t)
			}
			db := newDB(t, pool, exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Rows: 10, Bytes: 4 << 20}}})
			before := keptBy(t, pool)
			ask := func(sql string, b exec.Bounds) func(context.Context) error {
				return func(ctx context.Context) error { _, err := db.QueryWithin(ctx, sql, b); return err }
			}
			for _, tt := range []struct {
				why  string
				run  func(context.Context) error
				want error // a type of error; nil: none
			}{
				{"an answer", ask("SELECT a, b FROM t", exec.Bounds{}), nil},
				{"an answer again, with other columns", ask("SELECT b, a, a FROM t", exec.Bounds{}), nil},
				{"more rows than asked for", ask("SELECT a FROM t", exec.Bounds{Rows: 3}), nil},
				{"refused by the text check", ask("DELETE FROM t", exec.Bounds{}), new(exec.RefusedError)},
				{"refused by the tree", ask("SELECT pg_sleep(1)", exec.Bounds{}), new(exec.RefusedError)},
				{"a function without brackets", ask("SELECT (42::bigint).pg_advisory_lock", exec.Bounds{}), new(exec.RefusedError)},
				{"refused by what is locked", ask("SELECT rolname FROM pg_roles", exec.Bounds{}), new(exec.RefusedError)},
				{"no such column", ask("SELECT nosuch FROM t", exec.Bounds{}), new(exec.InvalidError)},
				{"fails at once", ask("SELECT 1 / (a - a) FROM t", exec.Bounds{}), new(exec.InvalidError)},
				{"fails on the way", ask("SELECT 1 / (a - 50) FROM t", exec.Bounds{}), new(exec.InvalidError)},
				{"its plan", func(ctx context.Context) error { _, err := db.Analyze(ctx, "SELECT a FROM t"); return err }, nil},
				{"a look-up", func(ctx context.Context) error {
					found, err := db.Probe(ctx, "", "t", "b", "b7")
					if err == nil && !found {
						err = errors.New("not found")
					}
					return err
				}, nil},
				{"the schema", func(ctx context.Context) error { _, err := db.Schema(ctx); return err }, nil},
				{"a session", func(ctx context.Context) error {
					s, err := db.Runner(exec.Bounds{})
					if err != nil {
						return err
					}
					for _, text := range []string{"SELECT a FROM t", "SELECT 1 / (a - 50) FROM t", "SELECT b FROM t",
						"SELECT pg_sleep(1)", "SELECT count(*) FROM t"} {
						got, err := s.Query(ctx, text)
						if err == nil && len(got.Rows) == 0 {
							t.Error("no rows")
						}
					}
					return s.Close()
				}, nil},
			} {
				err := tt.run(t.Context())
				switch tt.want.(type) {
				case nil:
					if err != nil {
						t.Errorf("%s: %v", tt.why, err)
					}
				case *exec.RefusedError:
					if !errors.As(err, new(*exec.RefusedError)) {
						t.Errorf("%s: %v", tt.why, err)
					}
				case *exec.InvalidError:
					if !errors.As(err, new(*exec.InvalidError)) {
						t.Errorf("%s: %v", tt.why, err)
					}
				}
				if diff := cmp.Diff(strings.Split(before, " "), strings.Split(keptBy(t, pool), " ")); diff != "" {
					t.Fatalf("%s: %s", tt.why, diff)
				}
			}
			for _, tt := range []struct {
				why     string
				dropped bool
				run     func() error
			}{
				{"out of time on the server", false, func() error {
					return ask(forever, exec.Bounds{Timeout: 1500 * time.Millisecond})(t.Context())
				}},
				{"cancelled", true, func() error {
					ctx, cancel := context.WithCancel(t.Context())
					go func() { waitFor(t, root, "count(*)"); cancel() }()
					return ask(forever, exec.Bounds{Timeout: time.Minute})(ctx)
				}},
				{"cut", true, func() error {
					go func() {
						pid := waitFor(t, root, "count(*)")
						if _, err := root.Exec("SELECT pg_terminate_backend($1)", pid); err != nil {
							t.Error(err)
						}
					}()
					return ask(forever, exec.Bounds{Timeout: time.Minute})(t.Context())
				}},
			} {
				testutil.Value(pool.Exec("SELECT pg_advisory_lock(77)"))(t)
				if err := tt.run(); err == nil {
					t.Errorf("%s: no error", tt.why)
				}
				if got := keptBy(t, pool); strings.Contains(got, "ExclusiveLock") == tt.dropped ||
					!strings.Contains(got, " transaction_read_only=off") {
					t.Errorf("%s: the connection dropped: %v, %s", tt.why, !tt.dropped, got)
				}
				if got, err := db.Query(t.Context(), "SELECT count(*) FROM t"); err != nil || got.Rows[0][0] != int64(100) {
					t.Errorf("%s: afterwards: %v, %v", tt.why, got, err)
				}
				waitUntil(t, tt.why+": the server goes on", func() bool {
					var left int
					err := root.QueryRow(`SELECT count(*) FROM pg_stat_activity
						WHERE query LIKE '%texttosql_c%' AND state <> 'idle' AND datname = current_database() AND pid <> pg_backend_pid()`).Scan(&left)
					return err == nil && left == 0
				})
			}
		})
	}
}

// waitFor waits until a statement with words runs on another connection, and returns its process.
func waitFor(t testing.TB, root *sql.DB, words string) (pid int) {
	waitUntil(t, "the statement does not run", func() bool {
		return root.QueryRow(
			`SELECT pid FROM pg_stat_activity WHERE state = 'active' AND (query LIKE 'FETCH%' OR query LIKE '%' || $1 || '%')
			AND datname = current_database() AND pid <> pg_backend_pid()`, words).Scan(&pid) == nil
	})
	return pid
}

func waitUntil(t testing.TB, what string, done func() bool) {
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Error(what)
			return
		}
	}
}

// TestIdleSession: while the owner of a session thinks, the server holds nothing for him.
func TestIdleSession(t *testing.T) {
	const way = "exec"
	root, dsn := open(t, fixture)
	db := newDB(t, openWay(t, way, dsn), exec.Config{})
	s := testutil.Value(db.Runner(exec.Bounds{}))(t)
	if _, err := s.Query(t.Context(), "SELECT a FROM t"); err != nil { // its transaction ends with it
		t.Fatal(err)
	}
	for _, use := range []func() error{
		func() error { _, err := s.Query(t.Context(), "SELECT a FROM t"); return err },
		func() error { _, err := s.Analyze(t.Context(), "SELECT a FROM t"); return err },
		func() error { _, err := s.Probe(t.Context(), "", "t", "a", int64(7)); return err },
	} {
		testutil.OK(t, use())
		var locks, snapshots int
		err := root.QueryRow(`SELECT (SELECT count(*) FROM pg_locks l WHERE locktype <> 'virtualxid' AND l.pid = a.pid),
			(a.backend_xmin IS NOT NULL)::int FROM pg_stat_activity a
			WHERE state LIKE 'idle in transaction%' AND datname = current_database()`).Scan(&locks, &snapshots)
		if err != nil || locks+snapshots != 0 {
			t.Errorf("%s: %d locks, %d snapshots, %v", way, locks, snapshots, err)
		}
	}
	if _, err := root.Exec("ALTER TABLE t ADD COLUMN c INTEGER"); err != nil {
		t.Error(err)
	}
	if got, err := s.Query(t.Context(), "SELECT c FROM t LIMIT 1"); err != nil || got.Rows[0][0] != nil {
		t.Errorf("%s: a new column: %v, %v", way, got, err)
	}
	if _, err := root.Exec("DROP TABLE t"); err != nil {
		t.Error(err)
	}
	if _, err := s.Query(t.Context(), "SELECT a FROM t"); !errors.As(err, new(*exec.InvalidError)) {
		t.Errorf("%s: a table dropped between plan and run: %v", way, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestUnguarded: a connection that cannot be guarded is refused and stays as it is.
func TestUnguarded(t *testing.T) {
	_, dsn := open(t, fixture)
	for _, way := range ways {
		for set, want := range map[string]string{
			"SET standard_conforming_strings = off": "standard_conforming_strings is off",
			"SET client_encoding = 'LATIN1'":        "client_encoding is LATIN1",
			"BEGIN":                                 "left a transaction open",
			"BEGIN; SELECT 1 / 0":                   "",
		} {
			pool := openWay(t, way, dsn)
			db := newDB(t, pool, exec.Config{})
			before := keptBy(t, pool)
			conn := testutil.Value(pool.Conn(t.Context()))(t)
			for _, text := range strings.Split(set, "; ") {
				_, _ = conn.ExecContext(t.Context(), text)
			}
			conn.Close()
			_, err := db.Query(t.Context(), "SELECT a FROM t")
			if dropped := strings.HasPrefix(set, "BEGIN") && way != "wrapped"; dropped { // by pgx itself
				if err != nil || keptBy(t, pool) == before {
					t.Errorf("%s, %s: %v", way, set, err)
				}
				continue
			}
			if !errors.As(err, new(*exec.UnguardedError)) && want != "" || !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s, %s: %v", way, set, err)
			}
			if err == nil {
				t.Errorf("%s, %s: answered", way, set)
			}
			if set == "BEGIN" { // the caller's transaction is still there
				if _, err := pool.Exec("CREATE TABLE kept(a INT)"); err != nil {
					t.Errorf("%s: %v", way, err)
				}
				if _, err := pool.Exec("ROLLBACK"); err != nil {
					t.Error(err)
				}
				var there bool
				if err := pool.QueryRow("SELECT to_regclass('kept') IS NOT NULL").Scan(&there); err != nil || there {
					t.Errorf("%s: the caller's transaction had ended: %v", way, err)
				}
			}
		}
	}
}

// TestServer: a server that is down, goes down in the middle, comes again, wants a password, only reads.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a server of its own")
	}
	s := (&servers.Lazy{Start: servers.Postgres}).Get(t)
	t.Cleanup(func() { s.Close() })
	dsn := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	root := testutil.Value(sql.Open("pgx", dsn))(t)
	defer root.Close()
	testutil.Value(root.Exec("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7); CREATE ROLE keyed LOGIN PASSWORD " +
		"'right'"))(t)
	do := func(f func() error) {
		t.Helper()
		testutil.OK(t, f())
	}
	restart := func() { t.Helper(); do(s.Halt); do(s.Resume) }
	hba, err := os.ReadFile(s.Dir + "/data/pg_hba.conf")
	if err == nil {
		err = os.WriteFile(s.Dir+"/data/pg_hba.conf", append([]byte("host all keyed 127.0.0.1/32 scram-sha-256\n"), hba...),
			0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	outside := func(what string, err error) {
		t.Helper()
		if err == nil || exec.IsRejection(err) || errors.As(err, new(*exec.UnguardedError)) {
			t.Errorf("%s: %v", what, err)
		}
	}
	const way = "cache_statement"
	do(s.Halt)
	db := newDB(t, openWay(t, way, dsn), exec.Config{})
	outside(way+": down at New", db.Ready(t.Context()))
	do(s.Resume)
	ask := func(what string, query func() (rows int, err error)) {
		t.Helper()
		if rows, err := query(); err != nil || rows != 1 {
			t.Errorf("%s, %s: %d rows, %v", way, what, rows, err)
		}
	}
	runner := testutil.Value(db.Runner(exec.Bounds{}))(t)
	inSession := func() (int, error) {
		got, err := runner.Query(t.Context(), "SELECT a FROM t")
		if err != nil {
			return 0, err
		}
		return len(got.Rows), nil
	}
	ask("up", inSession)
	do(s.Kill)
	_, err = inSession()
	outside(way+": down in the middle", err)
	do(s.Resume)
	ask("up again", inSession)
	restart()
	if _, err := inSession(); err != nil { // the first one finds the connection dead
		outside(way+": restarted", err)
	}
	ask("restarted", inSession)
	if err := runner.Close(); err != nil {
		t.Error(err)
	}
	wrong := fmt.Sprintf("postgres://keyed:wrong@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	outside(way+": a wrong password", newDB(t, openWay(t, way, wrong), exec.Config{}).Ready(t.Context()))
	testutil.Value(root.Exec("ALTER SYSTEM SET default_transaction_read_only = on"))(t)
	restart()
	readsOnly(t, "default_transaction_read_only", dsn)
}

// TestStandby: a server that copies another one, and what comes to it from there.
func TestStandby(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs two servers of its own")
	}
	s := (&servers.Lazy{Start: servers.Postgres}).Get(t)
	t.Cleanup(func() { s.Close() })
	dsn := func(s *servers.Server) string {
		return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	}
	primary := testutil.Value(sql.Open("pgx", dsn(s)))(t)
	defer primary.Close()
	testutil.Value(primary.Exec("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7)"))(t)
	copied := (&servers.Lazy{Start: s.Standby}).Get(t)
	t.Cleanup(func() { copied.Close() })
	standby := testutil.Value(sql.Open("pgx", dsn(copied)))(t)
	defer standby.Close()
	var follows bool
	if err := standby.QueryRow("SELECT pg_is_in_recovery()").Scan(&follows); err != nil || !follows {
		t.Fatalf("in recovery %v, %v", follows, err)
	}
	waitUntil(t, "the standby does not have the table", func() bool {
		return standby.QueryRow("SELECT a FROM t").Scan(new(int)) == nil
	})
	readsOnly(t, "a standby", dsn(copied))
	db := newDB(t, openWay(t, "cache_statement", dsn(copied)), exec.Config{})
	if _, err := db.Query(t.Context(), "SELECT b FROM t"); !errors.As(err, new(*exec.InvalidError)) {
		t.Errorf("a column that is not there: %v", err)
	}
	testutil.Value(primary.Exec("ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 8; INSERT INTO t VALUES (9, 9)"))(t)
	waitUntil(t, "the standby does not get what the primary has", func() bool {
		got, err := db.Query(t.Context(), "SELECT b FROM t")
		return err == nil && len(got.Rows) == 2
	})
}

// readsOnly asks a server with the table t, one row, that takes no writes.
func readsOnly(t *testing.T, what, dsn string) {
	const way = "cache_statement"
	db := newDB(t, openWay(t, way, dsn), exec.Config{})
	if got, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil || len(got.Rows) != 1 {
		t.Errorf("%s, %s: %v, %v", way, what, got, err)
	}
	if schema, err := db.Schema(t.Context()); err != nil || len(schema.Tables) != 1 {
		t.Errorf("%s, %s: %v, %v", way, what, schema, err)
	}
	if _, err := db.Query(t.Context(), "SELECT pg_sleep(1)"); !errors.As(err, new(*exec.RefusedError)) {
		t.Errorf("%s, %s: %v", way, what, err)
	}
}
