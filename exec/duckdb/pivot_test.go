package duckdb_test

import (
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialecttest"
)

// TestPivot: a statement may start with PIVOT or UNPIVOT, which only read, and the same rules hold for what stands in
// it.
func TestPivot(t *testing.T) {
	db := newDB(t, `CREATE TABLE t(x INT, g VARCHAR); INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'a');
CREATE TABLE m(e VARCHAR, jan INT, feb INT); INSERT INTO m VALUES ('x', 1, 2);
CREATE TABLE users(id INT, name VARCHAR, salary INT); INSERT INTO users VALUES (1, 'ann', 7)`,
		exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.salary"}}})
	dialecttest.Gives(t, db, [][3]string{
		{"values by name", "PIVOT t ON x IN (1, 2) USING count(*) GROUP BY g", "[[a 1 1]]"},
		{"grouped by what is left", "PIVOT t ON x IN (1, 2) USING count(*)", "[[a 1 1]]"},
		{"over a query", "PIVOT (SELECT x, g FROM t WHERE x > 1) ON x IN (1, 2) USING count(*) GROUP BY g ORDER BY g LIMIT 1",
			"[[a 0 1]]"},
		{"the other spelling", "PIVOT_WIDER t ON x IN (1, 2) USING count(*) GROUP BY g", "[[a 1 1]]"},
		{"back to rows", "UNPIVOT m ON jan, feb INTO NAME month VALUE sales", "[[x jan 1] [x feb 2]]"},
		{"back to rows, the other spelling", "PIVOT_LONGER m ON COLUMNS(* EXCLUDE (e)) INTO NAME month VALUE sales",
			"[[x jan 1] [x feb 2]]"},
		{"behind a WITH", "WITH c AS (FROM t) PIVOT c ON x IN (1, 2) USING count(*) GROUP BY g", "[[a 1 1]]"},
		{"in brackets", "(PIVOT t ON x IN (1, 2) USING count(*) GROUP BY g)", "[[a 1 1]]"},
		{"a table alone", "TABLE m", "[[x 1 2]]"},
		{"without values it makes a type", "PIVOT t ON x USING count(*) GROUP BY g", "name them, as in PIVOT t ON x IN"},
		{"a denied column", "PIVOT users ON id IN (1) USING sum(salary) GROUP BY name",
			"salary: no such column, or you may not read it"},
		{"a denied column by GROUP BY", "PIVOT users ON id IN (1) USING count(*) GROUP BY salary", "may not read it"},
		{"a denied column by all others", "PIVOT users ON id IN (1) USING count(*)", "may not be read"},
		{"a denied column as a row", "UNPIVOT users ON id, salary INTO NAME k VALUE v", "may not be read"},
		{"a file", "PIVOT 'a.csv' ON x IN (1) USING count(*)", "does not exist"},
		{"a function that reads a file", "PIVOT read_csv('a.csv') ON x IN (1) USING count(*)", "not on the list"},
		{"a function of the list of values", "PIVOT t ON x IN (1) USING getenv('HOME') GROUP BY g", "not allowed"},
		{"two statements", "PIVOT t ON x IN (1) USING count(*); DROP TABLE t", "one statement only"},
		{"no query", "SHOW t", "starts with SHOW"},
	})
}
