package mysql_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// moving are variables that change by themselves or count what the last statement did.
var moving = []string{"timestamp", "warning_count", "error_count", "pseudo_thread_id", "last_gtid", "gtid_binlog_pos",
	"gtid_current_pos"}

// state is what a later user of the only connection of a pool finds: all variables and what statements leave behind.
func state(t *testing.T, pool *sql.DB) map[string]string {
	t.Helper()
	conn := testutil.Value(pool.Conn(t.Context()))(t)
	defer conn.Close()
	found := map[string]string{}
	for _, query := range []string{"SHOW SESSION VARIABLES", "SHOW SESSION STATUS LIKE 'Prepared_stmt_count'",
		"SELECT 'open transaction', @@in_transaction",
		"SELECT 'a user variable', @v", "SELECT 'lock', IS_USED_LOCK('x')"} {
		rows := testutil.Value(conn.QueryContext(t.Context(), query))(t)
		for rows.Next() {
			var name, value sql.NullString
			testutil.OK(t, rows.Scan(&name, &value))
			if !slices.Contains(moving, name.String) {
				found[name.String] = value.String
			}
		}
		testutil.OK(t, rows.Close())
	}
	return found
}

// connection is the number of the only connection of a pool.
func connection(t *testing.T, pool *sql.DB) (id int) {
	t.Helper()
	testutil.OK(t, pool.QueryRow("SELECT CONNECTION_ID()").Scan(&id))
	return id
}

// odd are settings of a caller that is not like others.
const odd = "SET SESSION autocommit=0, tx_read_only=0, sql_select_limit=7, group_concat_max_len=100, " +
	"lock_wait_timeout=77, max_statement_time=88.5, " +
	"max_recursive_iterations=5, character_set_results=NULL, sql_auto_is_null=1, optimizer_trace='enabled=off', " +
	"tmp_memory_table_size=1048576, time_zone='+05:00', @v=3"

// single is a pool of one connection, whose driver panics when it prepares while *now is set.
func single(t *testing.T, script, parameters string) (pool *sql.DB, now *bool) {
	t.Helper()
	_, dsn := open(t, script, parameters)
	now = new(bool)
	faults := &exectest.Faults{Connector: exectest.ConnectorOf(t, "mysql", dsn)}
	faults.Fail(func(event string) error {
		if *now && strings.HasPrefix(event, "prepare") && !strings.Contains(event, "@@") {
			panic("the driver is broken")
		}
		return nil
	})
	pool = sql.OpenDB(faults)
	pool.SetMaxOpenConns(1)
	t.Cleanup(func() { pool.Close() })
	return pool, now
}

// TestState: after every use of a connection the next user finds it as it was, or finds another one.
func TestState(t *testing.T) {
	const kept, dropped = true, false
	for _, tt := range []struct {
		why    string
		sql    string
		odd    bool
		policy exec.Policy
		bounds exec.Bounds
		kept   bool
		cancel bool
		panics bool
	}{
		{why: "an answer", sql: "SELECT a FROM t", kept: kept},
		{why: "an answer on a connection with settings of its own", sql: "SELECT GROUP_CONCAT(b) FROM t", odd: true,
			kept: kept},
		{why: "a policy, which turns the trace on", sql: "SELECT name FROM users",
			policy: exec.Policy{DenyColumns: []string{"password"}}, odd: true, kept: kept},
		{why: "refused by the tree", sql: "SELECT GET_LOCK('x', 0)", odd: true, kept: kept},
		{why: "refused by the policy", sql: "SELECT * FROM users", policy: exec.Policy{DenyColumns: []string{"password"}},
			odd: true, kept: kept},
		{why: "rejected by the server", sql: "SELECT nothing FROM t", odd: true, kept: kept},
		{why: "it fails while it runs", sql: "SELECT (SELECT a FROM t)", odd: true, kept: kept},
		{why: "more rows than wanted", sql: "SELECT a.id FROM big a, big b", odd: true, bounds: exec.Bounds{Rows: 3},
			kept: kept},
		{why: "more rows than wanted, by a LIMIT that beats ours", sql: "SELECT a.id FROM big a, big b LIMIT 1000000000",
			bounds: exec.Bounds{Rows: 3}, kept: dropped},
		{why: "more bytes than wanted", sql: "SELECT a.v FROM big a, big b", bounds: exec.Bounds{Bytes: 1000}, kept: dropped},
		{why: "values of 8 MiB, of which it keeps the beginning", sql: "SELECT v FROM docs", kept: kept},
		{why: "values of 8 MiB that it counts", sql: "SELECT SUM(LENGTH(v)) FROM docs", kept: kept},
		{why: "a recursion without end", sql: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) " +
			"SELECT MAX(x) FROM c",
			bounds: exec.Bounds{Timeout: 2 * time.Second}, kept: kept},
		{why: "the server ends it", sql: "SELECT COUNT(*) FROM big a, big b, big c", odd: true,
			bounds: exec.Bounds{Timeout: 2 * time.Second}, kept: kept},
		{why: "the caller ends it", sql: "SELECT COUNT(*) FROM big a, big b, big c", cancel: true, kept: dropped},
		{why: "the driver panics", sql: "SELECT a FROM t", panics: true, kept: dropped},
	} {
		t.Run(tt.why, func(t *testing.T) {
			pool, now := single(t, fixture+"; CREATE TABLE docs(v LONGTEXT); INSERT INTO docs SELECT REPEAT('x', 8388608) "+
				"FROM seq_1_to_5",
				"multiStatements=true&parseTime=true")
			if tt.odd {
				testutil.Value(pool.Exec(odd))(t)
			}
			before, id := state(t, pool), connection(t, pool)
			if _, err := pool.Exec("ROLLBACK"); err != nil { // autocommit is off
				t.Fatal(err)
			}
			db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{Policy: tt.policy})
			testutil.OK(t, db.Ready(t.Context()))
			ctx, cancel := context.WithCancel(t.Context())
			if tt.cancel {
				time.AfterFunc(100*time.Millisecond, cancel)
			}
			func() {
				*now = tt.panics
				defer func() { *now = false; _ = recover() }()
				got, err := db.QueryWithin(ctx, tt.sql, tt.bounds)
				t.Logf("%.100v, %v", got, err)
			}()
			cancel()
			after := connection(t, pool)
			if (after == id) != tt.kept {
				t.Errorf("connection %d became %d", id, after)
			}
			if after == id {
				if diff := cmp.Diff(before, state(t, pool)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
}

// TestLeftOpen: a connection that its caller left in a transaction is not used, and stays as it is.
func TestLeftOpen(t *testing.T) {
	for _, begin := range []string{"START TRANSACTION", "BEGIN; SELECT 1", "START TRANSACTION READ ONLY",
		"SET autocommit=0; SELECT a FROM t; SELECT 1"} {
		pool, _ := single(t, "CREATE TABLE t(a INTEGER)", "multiStatements=true")
		testutil.Value(pool.Exec(begin))(t)
		db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{})
		_, err := db.Query(t.Context(), "SELECT 1")
		var unguarded *exec.UnguardedError
		if !errors.As(err, &unguarded) || !strings.Contains(unguarded.Reason, "transaction") {
			t.Errorf("%s: %v", begin, err)
		}
		var in int
		if err := pool.QueryRow("SELECT @@in_transaction").Scan(&in); err != nil || in != 1 {
			t.Errorf("%s: afterwards in a transaction: %d, %v", begin, in, err)
		}
	}
}

// TestUnguarded: a connection that reads text by other rules, or is in no database of its own, is refused with a
// remedy.
func TestUnguarded(t *testing.T) {
	for _, tt := range []struct {
		set     string
		dialect mysql.Dialect
		want    string // of the error; "" works
	}{
		{"sql_mode='ORACLE'", mysql.Dialect{}, "ORACLE"},
		{"sql_mode='MSSQL'", mysql.Dialect{}, "MSSQL"},
		{"sql_mode='ANSI_QUOTES'", mysql.Dialect{}, "mysql.Dialect{ANSIQuotes: true}"},
		{"sql_mode='ANSI'", mysql.Dialect{}, "mysql.Dialect{ANSIQuotes: true}"},
		{"sql_mode='ANSI'", mysql.Dialect{ANSIQuotes: true}, ""},
		{"sql_mode=''", mysql.Dialect{ANSIQuotes: true}, "leave the field out"},
		{"sql_mode='NO_BACKSLASH_ESCAPES'", mysql.Dialect{}, "mysql.Dialect{NoBackslashEscapes: true}"},
		{"sql_mode='NO_BACKSLASH_ESCAPES,ANSI_QUOTES'", mysql.Dialect{NoBackslashEscapes: true, ANSIQuotes: true}, ""},
		{"sql_mode='TRADITIONAL,PIPES_AS_CONCAT,EMPTY_STRING_IS_NULL'", mysql.Dialect{}, ""},
		{"character_set_client='latin1'", mysql.Dialect{}, "charset=utf8mb4"},
		{"character_set_client='gbk'", mysql.Dialect{}, "gbk"},
		{"character_set_client='utf8mb3'", mysql.Dialect{}, ""},
		{"@v=1; USE mysql", mysql.Dialect{}, "one of the server's own"},
		{"@v=1; USE information_schema", mysql.Dialect{}, "one of the server's own"},
	} {
		pool, _ := single(t, "", "multiStatements=true")
		testutil.Value(pool.Exec("SET " + tt.set))(t)
		before := state(t, pool)
		db := dbtest.NewDB(t, pool, tt.dialect, exec.Config{})
		_, err := db.Query(t.Context(), "SELECT 1 + 1")
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, new(*exec.UnguardedError)) ||
			!strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %+v: %v", tt.set, tt.dialect, err)
		}
		if diff := cmp.Diff(before, state(t, pool)); diff != "" {
			t.Errorf("%s: %s", tt.set, diff)
		}
	}
	s := server.Get(t)
	none := testutil.Value(sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", s.Port)))(t)
	defer none.Close()
	db := dbtest.NewDB(t, none, mysql.Dialect{}, exec.Config{})
	if err := db.Ready(t.Context()); !errors.As(err, new(*exec.UnguardedError)) ||
		!strings.Contains(err.Error(), "no database") {
		t.Error(err)
	}
}

// TestKilled: a connection that somebody ends is no error of the statement, and the session goes on with another one.
func TestKilled(t *testing.T) {
	pool, _ := single(t, fixture, "")
	root, _ := open(t, "", "")
	db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{})
	id := connection(t, pool)
	s := testutil.Value(db.Runner(exec.Bounds{}))(t)
	defer s.Close()
	testutil.Value(s.Query(t.Context(), "SELECT a FROM t"))(t)
	testutil.Value(root.Exec(fmt.Sprint("KILL CONNECTION ", id)))(t)
	if _, err := s.Query(t.Context(), "SELECT a FROM t"); err == nil || exec.IsRejection(err) {
		t.Errorf("on a dead connection: %v", err)
	}
	if got, err := s.Query(t.Context(), "SELECT a FROM t"); err != nil || len(got.Rows) != 5 {
		t.Errorf("on the next one: %v, %v", got, err)
	}
	// In the middle of a statement.
	s.Close()
	id = connection(t, pool)
	done := make(chan error)
	go func() {
		_, err := db.QueryWithin(t.Context(), "SELECT COUNT(*) FROM big a, big b, big c",
			exec.Bounds{Timeout: 20 * time.Second})
		done <- err
	}()
	for running := 0; running == 0; {
		testutil.OK(t,
			root.QueryRow("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ? AND INFO LIKE 'SELECT COUNT%'",
				id).Scan(&running))
	}
	testutil.Value(root.Exec(fmt.Sprint("KILL CONNECTION ", id)))(t)
	if err := <-done; err == nil || exec.IsRejection(err) && !errors.As(err, new(*exec.LimitError)) {
		t.Errorf("killed while it ran: %v", err)
	}
	if got, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil || len(got.Rows) != 5 {
		t.Errorf("afterwards: %v, %v", got, err)
	}
}

// TestSocket: a user whom the server knows by the socket that he comes through has all rights, and the guard holds.
func TestSocket(t *testing.T) {
	_, dsn := open(t, people, "")
	me := testutil.Value(user.Current())(t)
	_, database, _ := strings.Cut(dsn, "/")
	root := testutil.Value(sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", server.Get(t).Port)))(t)
	t.Cleanup(func() { root.Close() })
	if me.Username == "root" { // the tests come as root by TCP, so this one is another root
		t.Cleanup(func() { exec1(t, root, "ALTER USER root@localhost IDENTIFIED BY ''") })
		exec1(t, root, "ALTER USER root@localhost IDENTIFIED VIA unix_socket")
	} else {
		exec1(t, root, "CREATE USER '"+me.Username+"'@localhost IDENTIFIED VIA unix_socket")
		exec1(t, root, "GRANT ALL ON *.* TO '"+me.Username+"'@localhost WITH GRANT OPTION")
	}
	pool := testutil.Value(sql.Open("mysql", fmt.Sprintf("%s@unix(%s/s.sock)/%s", me.Username, server.Get(t).Dir,
		database)))(t)
	defer pool.Close()
	var plugin string
	if err := pool.QueryRow("SELECT plugin FROM mysql.user WHERE CONCAT(user, '@', host) = CURRENT_USER()").Scan(
		&plugin); err != nil || plugin != "unix_socket" {
		t.Fatalf("the server knows the user by %q, %v", plugin, err)
	}
	db := guarded(t, pool, exec.Policy{DenyColumns: []string{"users.password"}})
	span := trace.Tracer{}.New("question")
	if err := db.Ready(trace.NewContext(t.Context(), span)); err != nil {
		t.Error(err)
	}
	if got := fmt.Sprint(span.Warnings()); !strings.Contains(got, "privileged-user") {
		t.Error(got)
	}
	if got, err := db.Query(t.Context(), "SELECT name FROM users"); err != nil || len(got.Rows) == 0 {
		t.Error(got, err)
	}
	for _, text := range []string{
		"SELECT LOAD_FILE('/etc/passwd')", "SELECT 1 INTO OUTFILE '/tmp/x'", "SELECT GET_LOCK('x', 0)",
		"SELECT password FROM users",
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
	pool, dsn := open(t, "CREATE TABLE t(a INT); INSERT INTO t VALUES (7); CREATE TABLE u(b INT); INSERT INTO u "+
		"VALUES (8)", "")
	other := testutil.Value(sql.Open("mysql", dsn))(t)
	defer other.Close()
	pool.SetMaxOpenConns(1)
	db := dbtest.NewDB(t, pool, mysql.Dialect{}, exec.Config{})
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
