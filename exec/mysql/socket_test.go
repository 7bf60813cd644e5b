package mysql_test

import (
	"database/sql"
	"errors"
	"fmt"
	"os/user"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/trace"
)

// TestSocket: a user whom the server knows by the socket that he comes through has all rights, and the guard holds.
func TestSocket(t *testing.T) {
	_, dsn := open(t, people, "")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	_, database, _ := strings.Cut(dsn, "/")
	root, err := sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", server.Get(t).Port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	if me.Username == "root" { // the tests come as root by TCP, so this one is another root
		t.Cleanup(func() { exec1(t, root, "ALTER USER root@localhost IDENTIFIED BY ''") })
		exec1(t, root, "ALTER USER root@localhost IDENTIFIED VIA unix_socket")
	} else {
		exec1(t, root, "CREATE USER '"+me.Username+"'@localhost IDENTIFIED VIA unix_socket")
		exec1(t, root, "GRANT ALL ON *.* TO '"+me.Username+"'@localhost WITH GRANT OPTION")
	}
	pool, err := sql.Open("mysql", fmt.Sprintf("%s@unix(%s/s.sock)/%s", me.Username, server.Get(t).Dir, database))
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	var plugin string
	if err := pool.QueryRow("SELECT plugin FROM mysql.user WHERE CONCAT(user, '@', host) = CURRENT_USER()").Scan(&plugin); err != nil || plugin != "unix_socket" {
		t.Fatalf("the server knows the user by %q, %v", plugin, err)
	}
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"users.password"}})
	span := trace.New("question")
	if s, err := db.Schema(trace.Into(t.Context(), span)); err != nil || len(s.Tables) == 0 {
		t.Error(s, err)
	}
	if got := fmt.Sprint(span.Warnings()); !strings.Contains(got, "privileged-user") {
		t.Error(got)
	}
	if got, err := db.Query(t.Context(), "SELECT name FROM users"); err != nil || len(got.Rows) == 0 {
		t.Error(got, err)
	}
	for _, text := range []string{
		"SELECT LOAD_FILE('/etc/passwd')", "SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT GET_LOCK('x', 0)", "SELECT password FROM users",
		"SELECT user FROM mysql.user", "SELECT SLEEP(1)",
	} {
		if _, err := db.Query(t.Context(), text); !errors.As(err, new(*exec.RefusedError)) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLockedTables: where a caller gave back a connection with tables locked, statements read these tables and fail at
// others, and the locks stay.
func TestLockedTables(t *testing.T) {
	pool, dsn := open(t, "CREATE TABLE t(a INT); INSERT INTO t VALUES (7); CREATE TABLE u(b INT); INSERT INTO u VALUES (8)", "")
	other, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	pool.SetMaxOpenConns(1)
	db, err := exec.New(pool, mysql.Dialect{}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	exec1(t, pool, "LOCK TABLES t WRITE")
	for range 2 {
		if got, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil || len(got.Rows) != 1 {
			t.Error(got, err)
		}
		if got, err := db.Query(t.Context(), "SELECT b FROM u"); err == nil {
			t.Error(got.Rows, "are read of a table that is not locked")
		}
	}
	if _, err := other.Exec("SET STATEMENT lock_wait_timeout = 1 FOR SELECT a FROM t"); err == nil {
		t.Error("the lock is gone")
	}
	exec1(t, pool, "UNLOCK TABLES")
	if got, err := db.Query(t.Context(), "SELECT b FROM u"); err != nil || len(got.Rows) != 1 {
		t.Error(got, err)
	}
}
