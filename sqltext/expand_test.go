package sqltext_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

// nested puts query into form n times. form has one %s.
func nested(n int, form, query string) string {
	for range n {
		query = fmt.Sprintf(form, query)
	}
	return query
}

// chained returns a WITH of n CTEs c1 … cn. In body, $ is the CTE before.
func chained(n int, body, query string) string {
	var b strings.Builder
	b.WriteString("WITH c0(a) AS (SELECT 1)")
	for i := range n {
		fmt.Fprintf(&b, ", c%d AS (%s)", i+1, strings.ReplaceAll(body, "$", fmt.Sprintf("c%d", i)))
	}
	return b.String() + " " + strings.ReplaceAll(query, "$", fmt.Sprintf("c%d", n))
}

func TestExpand(t *testing.T) {
	const large = 100_000 // what compiling such a statement takes was measured in minutes and gigabytes
	var backwards strings.Builder
	backwards.WriteString("WITH ")
	for i := 16; i > 0; i-- {
		fmt.Fprintf(&backwards, "c%d AS (SELECT 1 FROM c%d x, c%d y), ", i, i-1, i-1)
	}
	backwards.WriteString("c0 AS (SELECT 1) SELECT * FROM c16")
	tests := []struct {
		why, sql string
		least    int // Added
		most     int
	}{
		{"a plain query", "SELECT a, b FROM t WHERE a = 1 ORDER BY 1", 0, 2},
		{"a subquery", "SELECT a FROM (SELECT a FROM t)", 0, 2},
		{"a CTE that is used once", "WITH c AS (SELECT a FROM t) SELECT a FROM c", 0, 2},
		{"a CTE that is used twice", "WITH c AS (SELECT a FROM t) SELECT x.a FROM c x JOIN c y ON x.a = y.a", 0, 10},
		{"a list of values", "SELECT 1 WHERE 1 IN (" + strings.Repeat("1,", 9000) + "1)", 0, 2},
		{"a recursive CTE", "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 9) SELECT i FROM n", 0,
			10},
		{"two CTEs that name each other", "WITH x AS (SELECT 1 FROM y), y AS (SELECT 1 FROM x) SELECT * FROM x", 0, 50},
		{"no query", "DELETE FROM t", 0, 0},
		{"CTEs that name the one before twice", chained(16, "SELECT x.a FROM $ x, $ y", "SELECT * FROM $"), large, 1 << 30},
		{"materialized", strings.ReplaceAll(chained(16, "SELECT x.a FROM $ x, $ y", "SELECT * FROM $"), "AS (",
			"AS MATERIALIZED ("), large, 1 << 30},
		{"with UNION ALL", chained(16, "SELECT a FROM $ UNION ALL SELECT a FROM $", "SELECT * FROM $"), large, 1 << 30},
		{"with TABLE", chained(16, "TABLE $ UNION ALL TABLE $", "TABLE $"), large, 1 << 30},
		{"TABLE in brackets", chained(16, "(TABLE $) UNION ALL (TABLE $)", "SELECT * FROM $"), large, 1 << 30},
		{"with EXISTS", chained(16, "SELECT 1 WHERE EXISTS (SELECT 1 FROM $) OR EXISTS (SELECT 1 FROM $)", "SELECT * FROM $"),
			large, 1 << 30},
		{"with IN and a name", chained(16, "SELECT a FROM $ WHERE a IN $", "SELECT * FROM $"), large, 1 << 30},
		{"the later one first", backwards.String(), large, 1 << 30},
		{"one inside the other", nested(16, "SELECT a FROM (WITH k AS (%s) SELECT x.a FROM k x, k y)", "SELECT a FROM t"),
			large, 1 << 30},
		{"a column that is used twice", nested(18, "SELECT a+a AS a FROM (%s)", "SELECT a FROM t"), large, 1 << 30},
		{"by its table", nested(18, "SELECT s.a+s.a AS a FROM (%s) s", "SELECT a FROM t"), large, 1 << 30},
		{"with CASE", nested(18, "SELECT CASE WHEN a THEN a END AS a FROM (%s)", "SELECT a FROM t"), large, 1 << 30},
		{"without AS", nested(18, "SELECT a||a a FROM (%s)", "SELECT a FROM t"), large, 1 << 30},
		{"with a string for an alias", nested(18, "SELECT a+a 'a' FROM (%s)", "SELECT a FROM t"), large, 1 << 30},
		{"by its text", nested(18, `SELECT "a+a"+"a+a" AS a FROM (SELECT a+a FROM (%s))`, "SELECT a FROM t"), large, 1 << 30},
		{"through *", nested(18, "SELECT a+a AS a FROM (SELECT * FROM (%s))", "SELECT a FROM t"), large, 1 << 30},
		{"in a subquery", nested(18, "SELECT (SELECT max(a, a)) AS a FROM (%s)", "SELECT a FROM t"), large, 1 << 30},
		{"in VALUES", nested(18, "SELECT column1+column1 AS a FROM (VALUES ((%s)))", "SELECT a FROM t"), large, 1 << 30},
		// SQLite copies it once a level
		{"in WHERE", nested(18, "SELECT a AS a FROM (%s) WHERE a <> a+a", "SELECT a+a AS a FROM t"), 0, 10_000},
		{"with a CTE's own name for it", chained(18, "SELECT k+k AS a FROM (WITH i(k) AS (SELECT a FROM $) SELECT k FROM i)",
			"SELECT a FROM $"), large, 1 << 30},
		{"a keyword for a name", nested(18, "SELECT offset+offset AS a FROM (SELECT a AS offset FROM (%s))",
			"SELECT a FROM t"), large, 1 << 30},
		{"a keyword for an alias of a table", nested(16, "SELECT l.a+l.a AS a FROM t qualify JOIN (%s) AS l",
			"SELECT a FROM t"), large, 1 << 30},
		{"an alias behind the list", nested(10, "SELECT (%s) AS x FROM t WHERE x = x", "SELECT a FROM t"), 10_000, 1 << 30},
		{"a place in ORDER BY", nested(18, "SELECT (%s) ORDER BY 1", "SELECT a FROM t"), large, 1 << 30},
		{"a place in GROUP BY", nested(18, "SELECT (%s) FROM t GROUP BY 1", "SELECT a FROM t"), large, 1 << 30},
		{"a window that is used twice", nested(18, "SELECT sum(1) OVER w + sum(2) OVER w FROM t WINDOW w AS (ORDER BY (%s))",
			"SELECT a FROM t"), large, 1 << 30},
		{"arms of a compound in a join", "SELECT " + strings.Repeat("x.a+", 100) + "1 FROM (" +
			strings.Repeat("SELECT a FROM t UNION ALL ", 40) + "SELECT a FROM t) x, (" +
			strings.Repeat("SELECT a FROM t UNION ALL ", 40) +
			"SELECT a FROM t) y", large, 1 << 30},
		{"arms under a group", "SELECT max(a) FROM (" + strings.Repeat("SELECT a FROM t UNION ALL ", 40) +
			"SELECT a FROM t) GROUP BY b", 0, 300},
		{
			"a long name that * repeats", `WITH c("` + strings.Repeat("n", 90_000) + `") AS (SELECT 1) SELECT ` +
				strings.Repeat("c.*,", 300) + "1 FROM c",
			large, 1 << 30,
		},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			before := cpuTime()
			x := sqltext.SQLite().Parse(tt.sql).Expand(nil)
			if x.Added < tt.least || x.Added > tt.most {
				t.Errorf("%d tokens are added, want %d to %d: %.300s", x.Added, tt.least, tt.most, tt.sql)
			}
			if took := cpuTime() - before; took > time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestExpandViews: a view counts at each place that names it, with the names of its own for its columns.
func TestExpandViews(t *testing.T) {
	views := map[string]string{
		"v0": "CREATE VIEW v0(k) AS SELECT a+a+a+a FROM t",
		"v1": "CREATE VIEW v1 AS SELECT k+k AS k FROM v0 ORDER BY 1",
		"v2": "CREATE VIEW v2 AS SELECT k+k AS k FROM v1",
	}
	var relation func(schema, name string) (sqlshape.Expansion, bool)
	relation = func(schema, name string) (sqlshape.Expansion, bool) {
		if schema != "" && schema != "main" || views[name] == "" {
			return sqlshape.Expansion{}, false
		}
		return sqltext.SQLite().Parse(views[name]).Expand(relation), true
	}
	for sql, want := range map[string][3]int{
		"SELECT k FROM v0":                                  {14, 1, 0},
		"SELECT k FROM main.v0":                             {13, 1, 0},
		"SELECT k FROM other.v0":                            {0, 0, 0},
		"SELECT k FROM v1":                                  {63, 2, 1},
		"SELECT k FROM v2":                                  {122, 3, 1},
		"SELECT k FROM v2 WHERE k IN v2":                    {245, 3, 1},
		"SELECT DISTINCT a FROM t JOIN v0 GROUP BY a":       {19, 2, 1},
		"SELECT a FROM t UNION SELECT k FROM v0 ORDER BY a": {19, 1, 3},
	} {
		x := sqltext.SQLite().Parse(sql).Expand(relation)
		if got := [3]int{x.Added, x.Stores, x.Sorts}; got != want {
			t.Errorf("%s: added, stores, sorts are %v, want %v", sql, got, want)
		}
	}
}
