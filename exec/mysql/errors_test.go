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
	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
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
		return strings.TrimSpace("invalid " + invalid.Fault + " " + invalid.Name)
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
	pool, _ := open(t,
		`CREATE TABLE t(id INT PRIMARY KEY, name VARCHAR(9), doc TEXT, d DATE); INSERT INTO t VALUES (1, 's3cret', 's3cret [', '2024-01-01');
		CREATE TABLE u(id INT); CREATE VIEW broken AS SELECT id FROM u; DROP TABLE u`, "")
	c := one(t, pool)
	for _, q := range []string{"SET max_statement_time = 0.05", "SET lock_wait_timeout = 1", "SET sql_mode = ''"} {
		testutil.Value(c.ExecContext(t.Context(), q))(t)
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
		typed := mysql.Dialect{}.Classify(err)
		if got := kind(typed); got != s.want {
			t.Errorf("%s: %s (%v), want %s", s.sql, got, err, s.want)
		}
		if typed != nil && strings.Contains(typed.Error(), "s3cret") {
			t.Errorf("%s: a stored value is in %v", s.sql, typed)
		}
		if typed != nil && (mysql.Dialect{}).Classify(typed) != typed {
			t.Errorf("%s: classified twice", s.sql)
		}
	}
	testutil.Value(c.ExecContext(t.Context(), "SET SESSION tx_read_only = 1, max_statement_time = 0"))(t)
	_, err := c.ExecContext(t.Context(), "DELETE FROM t")
	if got := kind((mysql.Dialect{}).Classify(err)); got != "refused not-read-only writes=true" {
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
		{server(3024, "HY000", "Query execution was interrupted, maximum statement execution time exceeded"), "limit time",
			"MySQL's own time"},
		{server(1317, "70100", "Query execution was interrupted"), "limit time", "KILL QUERY"},
		{server(1114, "HY000", "The table '(temporary)' is full"), "limit memory", "tmp_disk_table_size"},
		{server(1290, "HY000", "The MariaDB server is running with the --max-session-mem-used=1 option so it cannot "+
			"execute this statement"), "limit memory", ""},
		{server(1290, "HY000", "The MariaDB server is running with the --read-only option"),
			"refused not-read-only writes=true", ""},
		{server(1205, "HY000", "Lock wait timeout exceeded; try restarting transaction"), "busy", ""},
		{server(1213, "40001", "Deadlock found"), "busy", ""},
		{server(1142, "42000", "SELECT command denied to user 'r'@'%' for table `d`.`t`"), "refused table writes=false",
			"the server's own word"},
		{server(1143, "42000", "SELECT command denied to user 'r'@'%' for column 'a' in table 't'"),
			"refused column writes=false", ""},
		{server(1436, "HY000", "Thread stack overrun"), "refused too-complex writes=false", ""},
		{server(4038, "HY000", "Syntax error in JSON text in argument 1 to function 'json_extract' at position 1"),
			"invalid run", ""},
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
		got := mysql.Dialect{}.Classify(c.err)
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
		rows := testutil.Value(c.QueryContext(t.Context(), s.sql))(t)
		for rows.Next() {
		}
		testutil.OK(t, errors.Join(rows.Err(), rows.Close()))
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
		pool := testutil.Value(sql.Open("mysql", c.dsn))(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		if err := guarded(t, pool, exec.Policy{}).Ready(ctx); err == nil || exec.IsRejection(err) {
			t.Errorf("%s: %v", c.why, err)
		}
		cancel()
		pool.Close()
	}
	pool, _ := open(t, "CREATE TABLE t(a INT)", "")
	db := guarded(t, pool, exec.Policy{})
	runner := testutil.Value(db.Runner(exec.Bounds{}))(t)
	defer runner.Close()
	testutil.Value(runner.Query(t.Context(), "SELECT a FROM t"))(t)
	if err := s.Kill(); err != nil {
		t.Log("the server ended:", err)
	}
	for _, why := range []string{"in the middle", "on a new connection"} {
		if _, err := runner.Query(t.Context(), "SELECT a FROM t"); err == nil || exec.IsRejection(err) {
			t.Errorf("%s: %v", why, err)
		}
	}
	testutil.OK(t, s.Resume())
	if _, err := runner.Query(t.Context(), "SELECT a FROM t"); err != nil {
		t.Errorf("restarted: %v", err)
	}
	if got, err := db.Schema(t.Context()); err != nil || len(got.Tables) != 1 {
		t.Errorf("restarted: %+v, %v", got, err)
	}
}

const valueScript = `SET sql_mode = 'ALLOW_INVALID_DATES';
CREATE TABLE v(ti TINYINT, si SMALLINT UNSIGNED, mi MEDIUMINT, i INT, bi BIGINT, ub BIGINT UNSIGNED, bo BOOLEAN, y YEAR, bits BIT(12),
	dc DECIMAL(40,10), d2 DECIMAL(10,2), f FLOAT, d DOUBLE, ch CHAR(5), vc VARCHAR(20), tx TEXT, lt VARCHAR(9) CHARACTER SET latin1,
	en ENUM('a','ü'), st SET('r','w'), js JSON, bn BINARY(3), vb VARBINARY(9), bl BLOB, ge GEOMETRY, ip INET6, uu UUID,
	da DATE, dt DATETIME, d6 DATETIME(6), ts TIMESTAMP(3), tm TIME, t6 TIME(6));
INSERT INTO v VALUES
	(-128, 65535, -1, 2147483647, -9223372036854775808, 18446744073709551615,
	TRUE, 2024, b'101', 123456789012345678901234567890.5, 1.50, 0.1, 0.1, 'ab', 'x ',
	'line
two', 'ñ', 'ü', 'r,w', '{"b": 1,  "a": 2}', 'a', x'00ff', 'text', POINT(1, 2), '::1', '123e4567-e89b-12d3-a456-426655440000',
	'2024-02-29', '2024-02-29 13:14:15', '2024-02-29 13:14:15.120000', '2024-02-29 13:14:15.250', '-838:59:59', '00:00:01.5'),
	(0, 0, 0, 0, 0, 9223372036854775807, FALSE, 0, b'0', 0, 12, 1e30, -0.0, '', '', '', '', 'a', '', '[]', '', '', '', NULL, NULL, NULL,
	'0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00', '1970-01-02 00:00:00', '00:00:00', '00:00:00'),
	(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
	NULL, NULL, NULL, NULL, NULL, NULL)`

// valueExpressions are what a statement may make of them.
var valueExpressions = []string{
	"1", "'x'", "NULL", "1.50", "1e0", "TRUE", "1 = 1", "SUM(i)", "AVG(i)", "AVG(d2)", "SUM(d)", "COUNT(*)", "MAX(da)",
	"MAX(ub)", "SUM(ub)", "MIN(f)",
	"MAX(bits)",
	"MAX(dc) / 3", "7 / 2", "7 DIV 2", "GROUP_CONCAT(i)", "JSON_ARRAYAGG(i)", "CONCAT('a', 1)", "MD5('a')",
	"UNHEX('00ff')", "CHAR(77)",
	"CAST('a' AS BINARY)", "CAST(1 AS UNSIGNED)", "CAST('2024-01-31' AS DATE)",
	"CAST('2024-01-31 10:00:00.5' AS DATETIME(1))",
	"DATE_ADD('2024-01-31', INTERVAL 1 DAY)",
	"TIMEDIFF('10:00:00', '11:30:00')", "YEAR('2024-01-31')", "DATEDIFF('2024-02-01', '2024-01-01')", "MAX(tm)",
	"COALESCE(NULL, 1.10)", "IF(1, 'a', 1)", "x'41'",
	"HEX(255)", "RAND(1) < 2", "STDDEV(i)", "MAX(en)", "MAX(js)", "SEC_TO_TIME(1.5)",
	"UNIX_TIMESTAMP('2024-01-01 00:00:00') > 0", "LAST_DAY('2024-02-01')",
}

// TestValues holds the cells to a golden file. They are the same with parseTime in any zone.
func TestValues(t *testing.T) {
	pool, dsn := open(t, valueScript, "")
	read := func(db *exec.DB, query string) (out []string) {
		query = "SELECT " + query + " FROM v"
		table := testutil.Value(db.Query(t.Context(), query))(t, query)
		for _, row := range table.Rows {
			out = append(out, fmt.Sprintf("%T %#v", row[0], row[0]))
		}
		return append(out, fmt.Sprint(table.Types[0].Name, " ", table.Types[0].Kind))
	}
	var columns []string
	table := inspect(t, pool).Tables[0]
	for _, c := range table.Columns {
		columns = append(columns, c.Name)
	}
	var first string
	for _, mode := range []string{"", "parseTime=true", "parseTime=true&loc=Asia%2FTokyo",
		"interpolateParams=true&multiStatements=true", "charset=utf8mb4&collation=utf8mb4_bin"} {
		pool := testutil.Value(sql.Open("mysql", dsn+mode))(t)
		db := testutil.Value(exec.New(pool, mysql.Dialect{}, exec.Config{}))(t)
		var b strings.Builder
		for _, column := range append(columns, valueExpressions...) {
			fmt.Fprintf(&b, "%-45s %s\n", column, strings.Join(read(db, column), " | "))
		}
		if first == "" {
			first = b.String()
			golden.Check(t, "values.golden", first)
		} else if diff := cmp.Diff(first, b.String()); diff != "" {
			t.Errorf("%q gives other cells:\n%s", mode, diff)
		}
		pool.Close()
	}
}

// TestMoment: what a driver with parseTime makes of a date is written as the server would.
func TestMoment(t *testing.T) {
	for _, c := range []struct {
		kind string
		in   any
		want any
		why  string
	}{
		{"DATETIME", []byte("2024-01-02 03:04:05.000000"), "2024-01-02 03:04:05", ""},
		{"DATETIME", []byte("2024-01-02 03:04:00"), "2024-01-02 03:04:00", "zeros that are no fraction"},
		{"TIME", []byte("-00:00:01.500000"), "-00:00:01.5", ""},
		{"DATE", []byte("2024-00-10"), "2024-00-10", "without parseTime as it is"},
		{"DATE", nil, nil, ""},
	} {
		if got, err := mysql.Moment(c.kind, c.in); err != nil || got != c.want {
			t.Errorf("%s %v: %v, %v, want %v (%s)", c.kind, c.in, got, err, c.want, c.why)
		}
	}
}
