package mysql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	driverpkg "github.com/go-sql-driver/mysql"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
)

// invalidAs reports whether err is an InvalidError with the fault and name of want.
func invalidAs(err error, want *exec.InvalidError) bool {
	var got *exec.InvalidError
	return errors.As(err, &got) && got.Fault == want.Fault && got.Name == want.Name
}

// kind writes what a typed error says in one line.
func kind(err error) string {
	var (
		invalid *exec.InvalidError
		refused *exec.RefusedError
		limit   *exec.LimitError
	)
	switch {
	case err == nil:
		return "none"
	case errors.As(err, &invalid):
		return strings.TrimSpace("invalid " + string(invalid.Fault) + " " + invalid.Name)
	case errors.As(err, &refused):
		return fmt.Sprintf("refused %s writes=%t", refused.Reason, refused.Writes)
	case errors.As(err, &limit):
		return "limit " + limit.Limit
	case errors.Is(err, exec.ErrBusy):
		return "busy"
	}
	return "other"
}

// TestServerErrors: what statements of a server fail with.
func TestServerErrors(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE t(id INT PRIMARY KEY, name VARCHAR(9), doc TEXT, d DATE); INSERT INTO t VALUES (1, 's3cret', 's3cret [', '2024-01-01');
		CREATE TABLE u(id INT); CREATE VIEW broken AS SELECT id FROM u; DROP TABLE u`, "")
	c := one(t, pool)
	for _, q := range []string{"SET max_statement_time = 0.05", "SET lock_wait_timeout = 1", "SET sql_mode = ''"} {
		if _, err := c.ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	for _, s := range []struct{ sql, want string }{
		{"SELECT nmae FROM t", "invalid schema nmae"},
		{"SELECT x.nmae FROM t AS x", "invalid schema x.nmae"},
		{"SELECT id FROM t ORDER BY `it``s`", "invalid schema it`s"},
		{"SELECT 1 FROM tt", "invalid schema tt"},
		{"SELECT nothing(1)", "invalid schema nothing"},
		{"SELECT 1 FROM nothing.t", "invalid schema t"},
		{"SELECT id FROM t AS a JOIN t AS b ON a.id = b.id", "invalid schema id"},
		{"SELECT 1 FROM t JOIN t ON 1", "invalid schema t"},
		{"SELECT x.id FROM t", "invalid schema x.id"},
		{"SELECT x.* FROM t", "invalid schema x"},
		{"SELECT 1 FROM broken", "invalid schema broken"},
		{"SELEC 1", "invalid syntax"},
		{"SELECT 1 FROM t WHERE", "invalid syntax"},
		{"SELECT id FROM t WHERE COUNT(*) > 1", "invalid compile"},
		{"SELECT 1 UNION SELECT 1, 2", "invalid compile"},
		{"SELECT (SELECT 1, 2)", "invalid compile"},
		{"SELECT 1 > (SELECT 1, 2)", "invalid compile"},
		{"SELECT ABS(1, 2)", "invalid compile"},
		{"SELECT id, ROW_NUMBER() OVER () AS n FROM t WHERE ROW_NUMBER() OVER () > 1", "invalid compile"},
		{"SELECT (SELECT 1 UNION SELECT 2)", "invalid run"},
		{"SELECT 9223372036854775807 + 1 FROM t", "invalid run"},
		{"SELECT name REGEXP '[' FROM t", "invalid run"},
		{"SELECT COUNT(*) FROM t a, seq_1_to_100000 b, seq_1_to_100000 c", "limit time"},
		{"SELECT 1 FROM t WHERE SLEEP(3)", "limit time"},
	} {
		rows, err := c.QueryContext(t.Context(), s.sql)
		if err == nil {
			for rows.Next() {
			}
			err = rows.Err()
			rows.Close()
		}
		typed := mysql.ClassifyError(err)
		if got := kind(typed); got != s.want {
			t.Errorf("%s: %s (%v), want %s", s.sql, got, err, s.want)
		}
		if typed != nil && strings.Contains(typed.Error(), "s3cret") {
			t.Errorf("%s: a stored value is in %v", s.sql, typed)
		}
		if typed != nil && mysql.ClassifyError(typed) != typed {
			t.Errorf("%s: classified twice", s.sql)
		}
	}
	if _, err := c.ExecContext(t.Context(), "SET SESSION tx_read_only = 1, max_statement_time = 0"); err != nil {
		t.Fatal(err)
	}
	_, err := c.ExecContext(t.Context(), "DELETE FROM t")
	if got := kind(mysql.ClassifyError(err)); got != "refused not-read-only writes=true" {
		t.Errorf("a write: %s (%v)", got, err)
	}
}

// TestOtherErrors: numbers that are hard to provoke, and what is about the connection.
func TestOtherErrors(t *testing.T) {
	server := func(number uint16, state, message string) error {
		e := &driverpkg.MySQLError{Number: number, Message: message}
		copy(e.SQLState[:], state)
		return fmt.Errorf("wrapped: %w", e)
	}
	for _, c := range []struct {
		err       error
		want, why string
	}{
		{server(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"), "limit time", "MySQL's own time"},
		{server(1317, "70100", "Query execution was interrupted"), "limit time", "KILL QUERY"},
		{server(1114, "HY000", "The table '(temporary)' is full"), "limit memory", "tmp_disk_table_size"},
		{server(1290, "HY000", "The MariaDB server is running with the --max-session-mem-used=1 option so it cannot execute this statement"), "limit memory", ""},
		{server(1290, "HY000", "The MariaDB server is running with the --read-only option"), "refused not-read-only writes=true", ""},
		{server(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction"), "busy", ""},
		{server(1213, "40001", "Deadlock found"), "busy", ""},
		{server(1142, "42000", "SELECT command denied to user 'r'@'%' for table `d`.`t`"), "refused table writes=false", "the server's own word"},
		{server(1143, "42000", "SELECT command denied to user 'r'@'%' for column 'a' in table 't'"), "refused column writes=false", ""},
		{server(1436, "HY000", "Thread stack overrun"), "refused too-complex writes=false", ""},
		{server(4038, "HY000", "Syntax error in JSON text in argument 1 to function 'json_extract' at position 1"), "invalid run", ""},
		{server(1045, "28000", "Access denied for user"), "other", "not the statement's fault"},
		{server(1053, "08S01", "Server shutdown in progress"), "other", ""},
		{server(1030, "HY000", "Got error 28 from storage engine"), "other", ""},
		{server(1932, "42S02", "Table 'd.t' doesn't exist in engine"), "other", ""},
		{driverpkg.ErrInvalidConn, "other", ""},
		{driver.ErrBadConn, "other", ""},
		{context.DeadlineExceeded, "other", ""},
		{errors.New("plain"), "other", ""},
		{nil, "none", ""},
	} {
		got := mysql.ClassifyError(c.err)
		if kind(got) != c.want {
			t.Errorf("%v: %s, want %s (%s)", c.err, kind(got), c.want, c.why)
		}
		if c.want == "other" && !errors.Is(got, c.err) {
			t.Errorf("%v became %v", c.err, got)
		}
	}
}

// TestStatementWarnings: what the server computed with although it is none, in its own words; notes are left out.
func TestStatementWarnings(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a TEXT); INSERT INTO t SELECT CONCAT('x', seq) FROM seq_1_to_9", "")
	c := one(t, pool)
	for _, s := range []struct {
		sql  string
		want int
		text string
	}{
		{"SELECT a + 1 FROM t", 5, "Truncated incorrect DOUBLE value: 'x1'"},
		{"SELECT a FROM t", 0, ""},
		{"EXPLAIN EXTENDED SELECT a FROM t", 0, ""},
		{"SELECT 1/0", 1, "Division by 0"},
	} {
		rows, err := c.QueryContext(t.Context(), s.sql)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
		got, err := mysql.StatementWarnings(t.Context(), c)
		if err != nil || len(got) != s.want || s.want > 0 && got[0] != s.text {
			t.Errorf("%s: %q, %v", s.sql, got, err)
		}
	}
}

// TestServerGone: down when asked first, wrong password, gone in the middle, back again. None is a statement's fault.
func TestServerGone(t *testing.T) {
	s := server.Get(t)
	for _, c := range []struct{ dsn, why string }{
		{"root@tcp(127.0.0.1:1)/d", "nobody listens"},
		{fmt.Sprintf("root:wrong@tcp(127.0.0.1:%d)/mysql", s.Port), "a wrong password"},
		{fmt.Sprintf("root@tcp(127.0.0.1:%d)/no_such_database", s.Port), "no such database"},
	} {
		pool, err := sql.Open("mysql", c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := guarded(t, pool, exec.Policy{}).Ready(ctx); err == nil || exec.IsRejection(err) {
			t.Errorf("%s: %v", c.why, err)
		}
		cancel()
		pool.Close()
	}
	pool, _ := open(t, "CREATE TABLE t(a INT)", "")
	db := guarded(t, pool, exec.Policy{})
	session, err := db.Runner(exec.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := session.Query(t.Context(), "SELECT a FROM t"); err != nil {
		t.Fatal(err)
	}
	if err := s.Kill(); err != nil {
		t.Log("the server ended:", err)
	}
	for _, why := range []string{"in the middle", "on a new connection"} {
		if _, err := session.Query(t.Context(), "SELECT a FROM t"); err == nil || exec.IsRejection(err) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if err := s.Resume(); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Query(t.Context(), "SELECT a FROM t"); err != nil {
		t.Errorf("restarted: %v", err)
	}
	if got, err := db.Schema(t.Context()); err != nil || len(got.Tables) != 1 {
		t.Errorf("restarted: %+v, %v", got, err)
	}
}
