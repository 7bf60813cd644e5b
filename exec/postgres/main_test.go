package postgres_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/texttosql/texttosql/internal/servers"
)

var server = servers.Lazy{Start: servers.Postgres}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// open returns a pool on a new database that script filled, as the superuser.
func open(t testing.TB, script string) (pool *sql.DB, dsn string) {
	t.Helper()
	s := server.Get(t)
	root, err := sql.Open("pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", s.Port))
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
	pool, err = sql.Open("pgx", dsn)
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
