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
	for _, way := range []string{"cache_statement", "pq"} {
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
		session, err := db.Session(exec.Bounds{})
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
	for _, tt := range []struct {
		what    string
		standby bool
		prepare func()
	}{
		{"default_transaction_read_only", false, func() {
			if _, err := root.Exec("ALTER SYSTEM SET default_transaction_read_only = on"); err != nil {
				t.Fatal(err)
			}
			restart()
		}},
		{"a standby", true, func() {
			do(s.Halt)
			if err := os.WriteFile(s.Dir+"/data/standby.signal", nil, 0o644); err != nil {
				t.Fatal(err)
			}
			do(s.Resume)
		}},
	} {
		tt.prepare()
		what := tt.what
		var standby bool
		if err := root.QueryRow("SELECT pg_is_in_recovery()").Scan(&standby); err != nil || standby != tt.standby {
			t.Fatalf("%s: in recovery %v, %v", what, standby, err)
		}
		for _, way := range []string{"cache_statement", "pq"} {
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
}
