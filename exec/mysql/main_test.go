package mysql_test

import (
	"database/sql"
	"fmt"
	"os"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/servers"
)

var server = servers.Lazy{Start: servers.MariaDB}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// open returns a pool on a new database that script filled, as root. parameters are those of the DSN: "parseTime=true".
func open(t testing.TB, script, parameters string) (pool *sql.DB, dsn string) {
	t.Helper()
	s := server.Get(t)
	databases++
	name := fmt.Sprintf("d%d", databases)
	root, err := sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?multiStatements=true", s.Port))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.Exec("CREATE DATABASE " + name + " CHARACTER SET utf8mb4; USE " + name + "; " + script); err != nil {
		t.Fatal(err)
	}
	dsn = fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s?%s", s.Port, name, parameters)
	if pool, err = sql.Open("mysql", dsn); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool, dsn
}

var databases int

// held puts the guard on a connection of pool, until the end of the test.
func held(t testing.TB, pool *sql.DB) exec.Conn {
	t.Helper()
	open, err := mysql.Dialect{}.Guard(exec.GuardConfig{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := open(t.Context(), one(t, pool), 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close(false) })
	return o.Conn
}

func TestOpen(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INTEGER); INSERT INTO t VALUES (7)", "multiStatements=true")
	var a int
	if err := pool.QueryRow("SELECT a FROM t").Scan(&a); err != nil || a != 7 {
		t.Errorf("%d, %v", a, err)
	}
}
