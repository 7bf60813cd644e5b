package duckdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// TestAnalyst: what people write on DuckDB, and no other engine reads, is read where it only reads.
func TestAnalyst(t *testing.T) {
	const script = `CREATE TABLE t(x INT, g VARCHAR); INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b');
CREATE TABLE u(x INT, "at" TIMESTAMP, price INT); INSERT INTO u VALUES (1, '2024-01-01 10:00', 5), (1, '2024-01-02 10:00', 7);
CREATE VIEW v AS SELECT x AS y FROM t;
CREATE TABLE users(id INT, name VARCHAR, salary INT); INSERT INTO users VALUES (1, 'ann', 7), (2, 'bob', 8)`
	db := newDB(t, script, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.salary"}}})
	for _, tc := range []struct{ why, sql, want string }{
		{"FROM first", "FROM t", "[[1 a] [2 a] [3 b]]"},
		{"FROM first, then SELECT", "FROM t SELECT g, sum(x) AS s GROUP BY ALL ORDER BY ALL", "[[a 3] [b 3]]"},
		{"FROM first with a LIMIT", "FROM t ORDER BY x DESC LIMIT 1", "[[3 b]]"},
		{"EXCLUDE", "SELECT * EXCLUDE (g) FROM t LIMIT 1", "[[1]]"},
		{"EXCLUDE of a table", "SELECT t.* EXCLUDE (g) FROM t LIMIT 1", "[[1]]"},
		{"EXCLUDE without brackets", "SELECT * EXCLUDE g FROM t LIMIT 1", "[[1]]"},
		{"EXCLUDE of what is denied", "SELECT * EXCLUDE (salary) FROM users LIMIT 1", "[[1 ann]]"},
		{"REPLACE", "SELECT * REPLACE (x * 10 AS x) FROM t LIMIT 1", "[[10 a]]"},
		{"REPLACE does not leave a denied column out", "SELECT * REPLACE (0 AS salary) FROM users", "may not be read"},
		{"RENAME", "SELECT * RENAME (x AS z) FROM t LIMIT 1", "[[1 a]]"},
		{"columns by a pattern", "SELECT COLUMNS('x|g') FROM t LIMIT 1", "[[1 a]]"},
		{"columns by a lambda", "SELECT COLUMNS(c -> c LIKE 'x%') FROM t LIMIT 1", "[[1]]"},
		{"columns but some", "SELECT max(COLUMNS(* EXCLUDE (g))) FROM t", "[[3]]"},
		{"columns as arguments", "SELECT greatest(*COLUMNS('x|y')) FROM t JOIN v ON x = y LIMIT 1", "[[1]]"},
		{"columns by LIKE", "SELECT * LIKE 'x%' FROM t LIMIT 1", "[[1]]"},
		{"columns by a pattern, one of them denied", "SELECT COLUMNS('id|sal.*') FROM users", "may not be read"},
		{"QUALIFY", "SELECT x FROM t QUALIFY row_number() OVER (PARTITION BY g ORDER BY x DESC) = 1 ORDER BY x", "[[2] [3]]"},
		{"ASOF JOIN", "SELECT price FROM (SELECT 1 AS x, TIMESTAMP '2024-01-01 12:00' AS \"at\") q ASOF JOIN u " +
			"ON q.x = u.x AND q.\"at\" >= u.\"at\"", "[[5]]"},
		{"ASOF JOIN with USING", "SELECT price FROM (SELECT 1 AS x, TIMESTAMP '2024-01-03' AS \"at\") q ASOF LEFT " +
			"JOIN u USING (x, \"at\")", "[[7]]"},
		{"POSITIONAL JOIN", "SELECT t.x, price FROM t POSITIONAL JOIN u LIMIT 1", "[[1 5]]"},
		{"SEMI and ANTI JOIN", "SELECT x FROM t ANTI JOIN u USING (x) ORDER BY x", "[[2] [3]]"},
		{"LATERAL", "SELECT i, j FROM range(2) r(i), LATERAL (SELECT i * 2) l(j)", "[[0 0] [1 2]]"},
		{"a list comprehension", "SELECT [a * 2 FOR a IN [1, 2, 3] IF a > 1]", "[[[4,6]]]"},
		{"an arrow lambda", "SELECT list_transform([1, 2], a -> a + 1)", "[[[2,3]]]"},
		{"a lambda by its word", "SELECT list_filter([1, 2], lambda a: a > 1)", "[[[2]]]"},
		{"VALUES", "VALUES (1, 'a'), (2, 'b')", "[[1 a] [2 b]]"},
		{"VALUES in a FROM", "FROM (VALUES (1), (2)) q(n) SELECT sum(n)", "[[3]]"},
		{"TABLE", "TABLE t", "[[1 a] [2 a] [3 b]]"},
		{"an alias in front", "SELECT n: x + 1 FROM t LIMIT 1", "[[2]]"},
		{"GROUP BY ALL", "SELECT g, count(*) FROM t GROUP BY ALL ORDER BY ALL", "[[a 2] [b 1]]"},
		{"CUBE", "SELECT count(*) FROM (SELECT g FROM t GROUP BY CUBE (g))", "[[3]]"},
		{"FILTER without WHERE", "SELECT count(*) FILTER (x > 1) FROM t", "[[2]]"},
		{"an aggregate of several values", "SELECT max(x, 2), arg_max(g, x, 2) FROM t", "[[[3,2] [\"b\",\"a\"]]]"},
		{"structs and maps", "SELECT {'a': 1}.a, MAP {'k': 2}['k'], struct_pack(a := 3).a", "[[1 2 3]]"},
		{"a struct opened", "SELECT unnest({'a': 1, 'b': 2})", "[[1 2]]"},
		{"slices, underscores and dots", "SELECT 'abc'[1:2], 1_000, g.upper() FROM t LIMIT 1", "[[ab 1000 A]]"},
		{"a function that only computes", "SELECT nfc_normalize(g) FROM t LIMIT 1", "[[a]]"},
		{"SUMMARIZE behind its columns", "FROM (SUMMARIZE t) SELECT column_name", "[[x] [g]]"},
		{"DESCRIBE of FROM", "DESCRIBE FROM t SELECT x", "[[x INTEGER YES NULL NULL NULL]]"},
		{"a list behind IN", "SELECT x FROM t WHERE g IN ['b']", "[[3]]"},
		{"a percentage", "SELECT count(*) FROM (FROM t LIMIT 100%)", "[[3]]"},
		{"a materialized WITH", "WITH c AS MATERIALIZED (FROM t) FROM c LIMIT 1", "[[1 a]]"},
		{"PIVOT behind a table", "FROM t PIVOT (count(*) FOR g IN ('a', 'b')) ORDER BY x LIMIT 1", "[[1 1 0]]"},
		{"PIVOT without values", "PIVOT t ON g USING count(*)", "name them, as in PIVOT t ON x IN"},
		{"UNPIVOT", "UNPIVOT u ON x, price INTO NAME n VALUE v LIMIT 2", "x 1"},
		{"DESCRIBE a table", "DESCRIBE t", "[[x INTEGER YES NULL NULL NULL] [g VARCHAR YES NULL NULL NULL]]"},
		{"DESCRIBE a view", "describe v", "[[y INTEGER YES NULL NULL NULL]]"},
		{"DESCRIBE a query", "DESCRIBE SELECT x + 1.5 AS z FROM t", "[[z DECIMAL(12,1) YES NULL NULL NULL]]"},
		{"DESCRIBE in a FROM", "SELECT column_name FROM (DESCRIBE t)", "[[x] [g]]"},
		{"SUMMARIZE a table", "SUMMARIZE t", "[[x INTEGER 1 3 3 2.0 1.0 1 2 3 3 0.00] [g VARCHAR a b 2 NULL NULL NULL NULL " +
			"NULL 3 0.00]]"},
		{"SUMMARIZE a query", "SUMMARIZE SELECT x FROM t WHERE x > 1;", "[[x INTEGER 2 3 2 2.5"},
		{"SUMMARIZE in a FROM", "SELECT column_name, max FROM (SUMMARIZE t) WHERE avg IS NOT NULL", "[[x 3]]"},
		{"SUMMARIZE with a comment behind it", "SUMMARIZE t -- all of it", "[[x INTEGER"},
		{"SUMMARIZE with a denied column", "SUMMARIZE users", "may not be read"},
		{"SUMMARIZE of the others", "SUMMARIZE SELECT id, name FROM users", "[[id INTEGER 1 2 2"},
		{"SUMMARIZE of the others, by EXCLUDE", "SUMMARIZE SELECT * EXCLUDE (salary) FROM users", "[[id INTEGER 1 2 2"},
		{"DESCRIBE with a denied column", "DESCRIBE users", "may not be read"},
		{"DESCRIBE of a denied column", "DESCRIBE SELECT salary FROM users",
			"salary: no such column, or you may not read it"},
		{"DESCRIBE of a file", "DESCRIBE 'a.csv'", "does not exist"},
		{"DESCRIBE of a function that reads a file", "DESCRIBE SELECT * FROM read_csv('a.csv')", "not on the list"},
		{"SUMMARIZE of a table of the engine", "SUMMARIZE FROM duckdb_settings()", "duckdb_settings is not on the list"},
		{"SUMMARIZE of what writes", "SUMMARIZE INSERT INTO t VALUES (1, 'x') RETURNING x", "syntax"},
		{"SHOW of a table", "SHOW t", "starts with SHOW"},
		{"SHOW in a FROM", "FROM (SHOW ALL TABLES)", "not among what a statement may be made of"},
		{"two statements", "DESCRIBE t; DROP TABLE t", "one statement only"},
	} {
		table, err := db.Query(t.Context(), tc.sql)
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.ReplaceAll(fmt.Sprint(table.Rows), "<nil>", "NULL")
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: %s gave %s, want %s", tc.why, tc.sql, got, tc.want)
		}
	}
}
