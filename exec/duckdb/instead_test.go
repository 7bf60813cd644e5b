package duckdb_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestInstead: an error names what to write, and that runs.
func TestInstead(t *testing.T) {
	file := makeFile(t, "CREATE TABLE t(a INT, d DATE, version VARCHAR); INSERT INTO t VALUES (1, '2024-02-03', 'v')")
	db := onPool(t, openPath(t, file, duckdb.Options{}), exec.Config{})
	dialecttest.Instead(t, db, [][2]string{
		{"SELECT version()", "the server's version is not told to statements"},
		{"SELECT * FROM sqlite_master", "those of the schema"},
		{"SELECT * FROM information_schema.tables", "those of the schema"},
		{"SELECT * FROM duckdb_tables()", "those of the schema"},
		{"SHOW TABLES", "those of the schema"},
		{"SELECT current_setting('threads')", "not told"},
		{"SELECT DATE_FORMAT(d, '%Y') FROM t", "strftime"},
		{"SELECT ISNULL(a) FROM t", "coalesce"},
		{"SELECT * FROM read_csv('x.csv')", "reads no files"},
		{"SELECT nextval('s')", "sequences"},
		{"SELECT repeat(' ', a) FROM t", "least(n, 10000)"}, {"SELECT repeat(' ', greatest(a, 10)) FROM t",
			"least(n, 10000)"},
		{"SELECT repeat(' ', least(a, 10001)) FROM t", "least(n, 10000)"}, {"SELECT repeat('x', least(version, 10)) FROM t",
			"Cannot combine"},
		{"SELECT rand()", "random()"},
	},
		"SELECT current_database(), current_schema(), strftime(d, '%Y-%m'), d + INTERVAL 1 DAY, date_diff('day', d, d), "+
			"epoch(d::TIMESTAMP), last_day(d) FROM t",
		"SELECT strptime('2024-01-02', '%Y-%m-%d')::DATE, regexp_matches('a', 'a'), instr('ab', 'b'), split_part('a,b', "+
			"',', 1), list_sum([1, 2])",
		"SELECT version, repeat(' ', least(a, 10)), lpad(version, least(a, 100), ' ') FROM t",
	)
}
