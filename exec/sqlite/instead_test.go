package sqlite_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestInstead: an error names what to write, and that runs.
func TestInstead(t *testing.T) {
	pool, _ := open(t, "CREATE TABLE t(a INTEGER, d TEXT, version TEXT); INSERT INTO t VALUES (1, '2024-02-03', 'v'), "+
		"(2, '2024-03-04', 'w')")
	db := newDB(t, pool, exec.Config{})
	dialecttest.Instead(t, db, [][2]string{
		{"SELECT sqlite_version()", "the server's version is not told to statements"},
		{"SELECT * FROM sqlite_master", "those of the schema"},
		{"SELECT * FROM pragma_table_info('t')", "those of the schema"},
		{"SELECT * FROM information_schema.tables", "those of the schema"},
		{"SHOW TABLES", "those of the schema"},
		{"SELECT a REGEXP '1' FROM t", "GLOB"},
		{"SELECT * FROM generate_series(1, 3)", "WITH RECURSIVE"},
		{"SELECT * FROM seq_1_to_3", "WITH RECURSIVE"},
		{"SELECT DATE_TRUNC('month', d) FROM t", "strftime"},
		{"SELECT DATEDIFF(d, d) FROM t", "julianday"},
		{"SELECT NOW()", "datetime('now')"},
		{"SELECT ISNULL(a, 0) FROM t", "ifnull"},
		{"SELECT MEDIAN(a) FROM t", "ROW_NUMBER"},
		{"SELECT factorial(3)", "WITH RECURSIVE"},
		{"SELECT current_database()", "main"},
		{"SELECT pg_typeof(a) FROM t", "typeof(x)"},
		{"SELECT @@version", "not told"},
	},
		"SELECT strftime('%Y-%m-01', d), julianday(d) - julianday(d), datetime('now'), ifnull(a, 0), typeof(a), "+
			"printf('%.5c', 'x') FROM t",
		"SELECT substr(d, -2), printf('%05d', a), substr('00000' || a, -5), printf('%-5s', a), max(a, 2), "+
			"count(*) FILTER (WHERE a > 1) FROM t",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10) SELECT sum(i) FROM n",
		"WITH RECURSIVE f(n, v) AS (SELECT 1, 1 UNION ALL SELECT n + 1, v * (n + 1) FROM f WHERE n < 10) SELECT v FROM f",
		"SELECT date('now', 'start of month', '+1 month', '-1 day'), unixepoch('now'), a FROM t WHERE d LIKE '%02%' "+
			"AND d GLOB '*[0-9]*'",
		"SELECT avg(a * a) - avg(a) * avg(a), json_group_array(a), json_group_object(d, a) FROM t",
		"SELECT version FROM t",
	)
}
