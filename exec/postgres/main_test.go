package postgres_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	"github.com/texttosql/texttosql/internal/servers"
)

var server = servers.Lazy{Start: servers.Postgres}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// open returns a pool of a driver ("pgx" or "postgres") on a new database that script filled, as the superuser.
func open(t testing.TB, driver, script string) (pool *sql.DB, dsn string) {
	t.Helper()
	s := server.Get(t)
	root, err := sql.Open(driver, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	databases++
	name := fmt.Sprintf("d%d", databases)
	if _, err := root.Exec("CREATE DATABASE " + name); err != nil {
		t.Fatal(err)
	}
	dsn = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s?sslmode=disable", s.Port, name)
	pool, err = sql.Open(driver, dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	if script != "" {
		if _, err := pool.Exec(script); err != nil {
			t.Fatal(err)
		}
	}
	return pool, dsn
}

var databases int

func TestOpen(t *testing.T) {
	for _, driver := range []string{"pgx", "postgres"} {
		pool, _ := open(t, driver, "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7)")
		var a int
		if err := pool.QueryRow("SELECT a FROM t").Scan(&a); err != nil || a != 7 {
			t.Errorf("%s: %d, %v", driver, a, err)
		}
	}
}
