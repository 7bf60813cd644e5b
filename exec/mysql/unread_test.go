package mysql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// TestUnreadGrammar: what the parser does not take and MariaDB does is told as the parser's lack, so that nothing
// repairs it; what neither takes is a fault of the statement, in the server's words.
func TestUnreadGrammar(t *testing.T) {
	pool, _ := open(t, `CREATE TABLE t(a INT, b TEXT, d DATE, v INT) WITH SYSTEM VERSIONING; CREATE TABLE u(a INT);
CREATE FUNCTION spy() RETURNS INT DETERMINISTIC RETURN 1`, "multiStatements=true")
	free, strict := guarded(t, pool, exec.Policy{}), guarded(t, pool, exec.Policy{DenyColumns: []string{"t.b"}})
	for _, tc := range []struct{ why, sql string }{
		{"an aggregate over a window", "SELECT MEDIAN(a) OVER () FROM t"},
		{"a percentile", "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a) OVER () FROM t"},
		{"a list with a limit", "SELECT GROUP_CONCAT(b ORDER BY a LIMIT 2) FROM t"},
		{"rows of another time", "SELECT a FROM t FOR SYSTEM_TIME ALL"},
		{"an array in an order", "SELECT JSON_ARRAYAGG(b ORDER BY a) FROM t"},
		{"another count", "SELECT COUNT(ALL a) FROM t"},
		{"a tie", "SELECT a FROM t ORDER BY a FETCH FIRST 2 ROWS WITH TIES"},
		{"a recursion that ends", "WITH RECURSIVE c AS (SELECT 1 AS n UNION SELECT n + 1 FROM c " +
			"WHERE n < 3) CYCLE n RESTRICT SELECT n FROM c"},
	} {
		for _, db := range []*exec.DB{free, strict} {
			_, err := db.Query(t.Context(), tc.sql)
			var refused *exec.RefusedError
			told := errors.As(err, &refused) && strings.Contains(refused.Detail, "guard's parser")
			if err != nil && !told && (db == free || !errors.As(err, new(*exec.InvalidError))) {
				t.Errorf("%s: %s: %v", tc.why, tc.sql, err)
			}
		}
	}
	for _, tc := range []struct{ why, sql string }{
		{"a bracket is open", "SELECT (a FROM t"}, {"a word too many", "SELECT a FROM t WHERE WHERE a"},
		{"no list", "SELECT FROM t"},
		{"a function of the database, behind what the parser lacks", "SELECT spy() FROM t LIMIT ROWS EXAMINED 10"},
		{"a lock, behind what the parser lacks", "SELECT GET_LOCK('x', 0) FROM t LIMIT ROWS EXAMINED 10"},
	} {
		if _, err := free.Query(t.Context(), tc.sql); !errors.As(err, new(*exec.InvalidError)) {
			t.Errorf("%s: %s: %v", tc.why, tc.sql, err)
		}
	}
}
