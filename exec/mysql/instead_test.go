package mysql_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/internal/dbtest"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestInstead: an error names what to write, and that runs.
func TestInstead(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INT, d DATE, b BLOB, version TEXT);"+
		"INSERT INTO t VALUES (2, '2024-02-03', COLUMN_CREATE('hue', 'red', 'n', 7), 'v')", "multiStatements=true")
	db := dbtest.ReadyDB(t, pool, mysql.Dialect{}, exec.Config{})
	dialecttest.Instead(t, db, [][2]string{
		{"SELECT VERSION()", "the server's version is not told to statements"},
		{"SELECT @@sql_mode", "variables of the server are not told"},
		{"SELECT @x", "ROW_NUMBER()"},
		{"SELECT * FROM information_schema.TABLES", "those of the schema"},
		{"SHOW TABLES", "those of the schema"},
		{"SELECT * FROM seq_1_to_3", "WITH RECURSIVE"},
		{"SELECT DATE_TRUNC('month', d) FROM t", "DATE_FORMAT"},
		{"SELECT STRING_AGG(a, ',') FROM t", "GROUP_CONCAT"},
		{"SELECT MEDIAN(a) OVER () FROM t", "ROW_NUMBER"},
		{"SELECT JSON_ARRAYAGG(a ORDER BY a) FROM t", "GROUP_CONCAT(JSON_QUOTE"},
		{"SELECT random() FROM t", "RAND()"},
		{"SELECT factorial(3)", "EXP(SUM(LN(n)))"},
		{"SELECT CURRENT_USER()", "not told"},
		{"SELECT COLUMN_GET(b, 'hue' AS BINARY(100000)) FROM t", "parser"},
	},
		"SELECT DATABASE(), SCHEMA(), COLUMN_GET(b, 'hue' AS CHAR), COLUMN_GET(b, 'n' AS INTEGER), "+
			"COLUMN_GET(b, 'hue' AS CHAR(9) CHARACTER SET utf8mb4), COLUMN_JSON(b), COLUMN_EXISTS(b, 'hue') FROM t",
		"SELECT DATE_FORMAT(d, '%Y-%m-01'), STR_TO_DATE('2024-01-02', '%Y-%m-%d'), EXTRACT(YEAR FROM d), "+
			"TIMESTAMPDIFF(YEAR, d, d), LAST_DAY(d), UNIX_TIMESTAMP(d) FROM t",
		"WITH RECURSIVE seq(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM seq WHERE n < 10) SELECT ROUND(EXP(SUM(LN(n)))) "+
			"FROM seq",
		"SELECT CONCAT('[', GROUP_CONCAT(JSON_QUOTE(version) ORDER BY version SEPARATOR ','), ']'), SUM(a > 1), "+
			"JSON_OBJECTAGG(version, a) FROM t",
		"SELECT v FROM t, JSON_TABLE('[1]', '$[*]' COLUMNS (v VARCHAR(100) PATH '$')) j",
	)
}
