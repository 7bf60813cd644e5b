package postgres_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/servers"
)

// TestServer: a server that is down, goes down in the middle, comes again, wants a password, only reads.
func TestServer(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs a server of its own")
	}
	s := (&servers.Lazy{Start: servers.Postgres}).Get(t)
	t.Cleanup(func() { s.Close() })
	dsn := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
	root, err := sql.Open("pgx", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.Exec("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7); CREATE ROLE keyed LOGIN PASSWORD 'right'"); err != nil {
		t.Fatal(err)
	}
	do := func(f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatal(err)
		}
	}
	restart := func() { t.Helper(); do(s.Halt); do(s.Resume) }
	hba, err := os.ReadFile(s.Dir + "/data/pg_hba.conf")
	if err == nil {
		err = os.WriteFile(s.Dir+"/data/pg_hba.conf", append([]byte("host all keyed 127.0.0.1/32 scram-sha-256\n"), hba...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	outside := func(what string, err error) {
		t.Helper()
		if err == nil || exec.IsRejection(err) || errors.Is(err, exec.ErrUnguarded) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for _, way := range []string{"cache_statement"} {
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
		session, err := db.Runner(exec.Bounds{})
		if err != nil {
			t.Fatal(err)
		}
		inSession := func() (int, error) {
			got, err := session.Query(t.Context(), "SELECT a FROM t")
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
		if err := session.Close(); err != nil {
			t.Error(err)
		}
		wrong := fmt.Sprintf("postgres://keyed:wrong@127.0.0.1:%d/postgres?sslmode=disable", s.Port)
		outside(way+": a wrong password", newDB(t, openWay(t, way, wrong), exec.Config{}).Ready(t.Context()))
	}
	if _, err := root.Exec("ALTER SYSTEM SET default_transaction_read_only = on"); err != nil {
		t.Fatal(err)
	}
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
	primary, err := sql.Open("pgx", dsn(s))
	if err != nil {
		t.Fatal(err)
	}
	defer primary.Close()
	if _, err := primary.Exec("CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7)"); err != nil {
		t.Fatal(err)
	}
	copied := (&servers.Lazy{Start: s.Standby}).Get(t)
	t.Cleanup(func() { copied.Close() })
	standby, err := sql.Open("pgx", dsn(copied))
	if err != nil {
		t.Fatal(err)
	}
	defer standby.Close()
	var follows bool
	if err := standby.QueryRow("SELECT pg_is_in_recovery()").Scan(&follows); err != nil || !follows {
		t.Fatalf("in recovery %v, %v", follows, err)
	}
	waitUntil(t, "the standby does not have the table", func() bool { return standby.QueryRow("SELECT a FROM t").Scan(new(int)) == nil })
	readsOnly(t, "a standby", dsn(copied))
	db := newDB(t, openWay(t, "cache_statement", dsn(copied)), exec.Config{})
	if _, err := db.Query(t.Context(), "SELECT b FROM t"); !errors.As(err, new(*exec.InvalidError)) {
		t.Errorf("a column that is not there: %v", err)
	}
	if _, err := primary.Exec("ALTER TABLE t ADD COLUMN b INTEGER DEFAULT 8; INSERT INTO t VALUES (9, 9)"); err != nil {
		t.Fatal(err)
	}
	waitUntil(t, "the standby does not get what the primary has", func() bool {
		got, err := db.Query(t.Context(), "SELECT b FROM t")
		return err == nil && len(got.Rows) == 2
	})
}

// readsOnly asks a server with the table t, one row, that takes no writes.
func readsOnly(t *testing.T, what, dsn string) {
	for _, way := range []string{"cache_statement"} {
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
}
