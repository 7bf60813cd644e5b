package mysql_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dialecttest"
	"github.com/texttosql/texttosql/internal/testutil"
)

const textScript = `SET sql_mode = '';
CREATE TABLE e(ti TINYINT, si SMALLINT, mi MEDIUMINT, i INT, bi BIGINT, ub BIGINT UNSIGNED, bo BOOLEAN, y YEAR, d1 DECIMAL(10,2), d2 DECIMAL(12,2),
	d3 DECIMAL(65,30), d4 DECIMAL(5,0), f FLOAT, d DOUBLE, ch CHAR(5), vc VARCHAR(20), tx TEXT, lt LONGTEXT, en ENUM('a','ü'), st SET('r','w'), js JSON,
	ip INET6, uu UUID, da DATE, dz DATE, dm DATE, dy DATE, dt DATETIME, gap DATETIME, d6 DATETIME(6),
	dn DATETIME(3), ts TIMESTAMP, t3 TIMESTAMP(3), tm TIME, t6 TIME(6));
INSERT INTO e VALUES (-128, -1, 8388607, 2147483647, -9223372036854775808, 18446744073709551615, TRUE, 2024, 1.10, 100, 1.5, 7, 1.5, 0.1, 'ab', 'x ', 'a
b', 'ü€😀', 'ü', 'r,w',
	'{"b": 9007199254740993,  "a": 1.10}', '::1', '123e4567-e89b-12d3-a456-426655440000', '2024-02-29', '0000-00-00', '2024-02-00', '2024-00-10',
	'2024-02-29 13:14:15', '2024-03-10 02:30:00', '2024-02-29 13:14:15.120000', '2024-05-00 10:00:00.5',
	'2024-01-01 02:00:00', '2024-01-01 02:00:00.25', '-838:59:59', '00:00:01.5')`

// texts are columns and expressions of the types of "Data Types" of MariaDB's documentation.
var texts = []string{
	"(SELECT ti FROM e)", "(SELECT si FROM e)", "(SELECT mi FROM e)", "(SELECT i FROM e)",
	"(SELECT bi FROM e)", "(SELECT ub FROM e)", "(SELECT bo FROM e)", "(SELECT y FROM e)",
	"(SELECT d1 FROM e)", "(SELECT d2 FROM e)", "(SELECT d3 FROM e)", "(SELECT d4 FROM e)",
	"(SELECT f FROM e)", "(SELECT d FROM e)", "(SELECT ch FROM e)", "(SELECT vc FROM e)",
	"(SELECT tx FROM e)", "(SELECT lt FROM e)", "(SELECT en FROM e)", "(SELECT st FROM e)",
	"(SELECT js FROM e)", "(SELECT ip FROM e)", "(SELECT uu FROM e)", "(SELECT da FROM e)",
	"(SELECT dz FROM e)", "(SELECT dm FROM e)", "(SELECT dy FROM e)", "(SELECT dt FROM e)",
	"(SELECT gap FROM e)", "(SELECT d6 FROM e)", "(SELECT dn FROM e)", "(SELECT ts FROM e)",
	"(SELECT t3 FROM e)", "(SELECT tm FROM e)", "(SELECT t6 FROM e)", "STR_TO_DATE('2024-02','%Y-%m')",
	"STR_TO_DATE('2024-03-10 02:30','%Y-%m-%d %H:%i')",
	"CAST('2024-03-10 02:30:00' AS DATETIME)", "DATE_ADD('2018-11-04', INTERVAL 10 MINUTE)",
	"LAST_DAY('2024-02-01')", "DATE('2024-03-31')", "TIMESTAMP('2024-03-31', '02:30:00')",
	"MAKETIME(838,59,59)", "SEC_TO_TIME(1.5)", "TIMEDIFF('10:00:00', '11:30:00')", "1",
	"-1", "1.50", "1e0", "0.1e0", "TRUE", "NULL", "'x'", "''", "'2024-01-01'", "SUM(1.10)",
	"AVG(2)", "SUM(3)", "7 / 2", "7 DIV 2", "7 MOD 2", "9223372036854775807 + 0",
	"CAST(18446744073709551615 AS UNSIGNED)", "CAST(1.1 AS DECIMAL(10,3))", "ROUND(2.50, 1)",
	"CONCAT('a', 1)", "HEX(255)", "x'6162'", "UUID() = ''", "JSON_OBJECT('a', 1.10)",
	"GROUP_CONCAT(1.10)", "COALESCE(NULL, 1.10)", "IF(1, 1.10, 2)", "CAST('a' AS BINARY)",
	"CAST('123E4567-e89b-12d3-a456-426655440000' AS UUID)", "CAST('0::1' AS INET6)", "CONVERT('1.2.3.4', INET4)",
}

// TestTexts: each value reads as the server writes it, with parseTime in zones with and without summer time too.
func TestTexts(t *testing.T) {
	_, dsn := open(t, textScript, "")
	for _, options := range []string{"", "parseTime=true", "parseTime=true&loc=America%2FNew_York",
		"parseTime=true&loc=Europe%2FBerlin&time_zone=%27-05%3A00%27&interpolateParams=true"} {
		pool := testutil.Value(sql.Open("mysql", dsn+options))(t)
		db := testutil.Value(exec.New(pool, mysql.Dialect{}, exec.Config{}))(t)
		dialecttest.SameTexts(t, db, func(e string) string { return "CAST(" + e + " AS CHAR)" }, texts)
		pool.Close()
	}
}

// TestKinds: the page about engines shows the values as a result has them.
func TestKinds(t *testing.T) {
	_, dsn := open(t, "CREATE TABLE t(a INT)", "")
	pool := testutil.Value(sql.Open("mysql", dsn))(t)
	defer pool.Close()
	dialecttest.Kinds(t, testutil.Value(exec.New(pool, mysql.Dialect{}, exec.Config{}))(t), "../../docs/lab/engines.md",
		"MariaDB")
}

// TestAsWritten: rows keep their order, number and names where the statement has another one around it.
func TestAsWritten(t *testing.T) {
	_, dsn := open(t, "SET sql_mode = ''; CREATE TABLE o(id INT, d DATE, b BIT(1)); "+
		"INSERT INTO o VALUES (1, '2024-02-00', b'1'), (2, '2024-03-31', b'0'), (3, '2023-00-00', NULL)", "")
	pool := testutil.Value(sql.Open("mysql", dsn+"parseTime=true&loc=Europe%2FBerlin"))(t)
	defer pool.Close()
	db := testutil.Value(exec.New(pool, mysql.Dialect{}, exec.Config{}))(t)
	for _, test := range []struct{ sql, want string }{
		{"SELECT id, d AS a, d AS a FROM o ORDER BY d DESC",
			"[id a a] [[2 2024-03-31 2024-03-31] [1 2024-02-00 2024-02-00] [3 2023-00-00 2023-00-00]]"},
		{"SELECT d FROM o ORDER BY id LIMIT 2 -- end", "[d] [[2024-02-00] [2024-03-31]]"},
		{"SELECT d FROM o ORDER BY id DESC LIMIT 1, 1", "[d] [[2024-03-31]]"},
		{"WITH w AS (SELECT * FROM o LIMIT 9) SELECT d, b FROM w ORDER BY id DESC",
			"[d b] [[2023-00-00 <nil>] [2024-03-31 0] [2024-02-00 1]]"},
		{"SELECT d FROM o UNION SELECT DATE '2020-01-01' ORDER BY 1",
			"[d] [[2020-01-01] [2023-00-00] [2024-02-00] [2024-03-31]]"},
		{"(SELECT d FROM o ORDER BY id LIMIT 1) UNION ALL (SELECT d FROM o ORDER BY id DESC LIMIT 1)",
			"[d] [[2024-02-00] [2023-00-00]]"},
		{"SELECT MAX(b) AS `a``b`, MIN(d) FROM o", "[a`b MIN(d)] [[1 2023-00-00]]"},
		{"SELECT d FROM o WHERE id > 9", "[d] []"},
	} {
		table := testutil.Value(db.Query(t.Context(), test.sql))(t, test.sql)
		if got := fmt.Sprint(table.Columns, " ", table.Rows); got != test.want {
			t.Errorf("%s: %s, want %s", test.sql, got, test.want)
		}
	}
	cut := testutil.Value(db.QueryWithin(t.Context(), "SELECT d FROM o ORDER BY id", exec.Bounds{Rows: 2}))(t)
	if got := fmt.Sprint(cut.Rows, cut.Truncated); got != "[[2024-02-00] [2024-03-31]] true" {
		t.Errorf("cut: %s", got)
	}
}
