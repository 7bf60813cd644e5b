package sqlite_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec/exectest"
)

// TestMemory holds statements to 64 MiB that make many long values out of a short
// text. None of them is in the payloads.
func TestMemory(t *testing.T) {
	long := "printf('%.*c', 990000, 'x')"
	listed := func(n int, format string) string {
		terms := make([]string, n)
		for i := range terms {
			terms[i] = fmt.Sprintf(format, i)
		}
		return strings.Join(terms, ", ")
	}
	tests := []struct{ name, sql, why string }{
		{"terms of a sum", "SELECT 1" + strings.Repeat(" + length("+long+")", 150), "constant calls are computed once and keep a register each"},
		{"columns", "SELECT " + listed(490, "length(printf('%%.*c', 990000-%d, 'x'))"), "480 MB without the scaled limit"},
		{"long columns", "SELECT " + listed(490, "printf('%%.*c', 990000-%d, 'x')"), "a row is held by SQLite and copied by the driver"},
		{"one value many times", "SELECT x" + strings.Repeat(", x", 490) + " FROM (SELECT " + long + " AS x)", "the driver copies each"},
		{"concatenations", "SELECT " + listed(490, "x || '%d'") + " FROM (SELECT " + long + " AS x)", "no function is called"},
		{"aggregates", "SELECT " + listed(490, "max(x || '%d')") + " FROM (SELECT " + long + " AS x)", "an accumulator each"},
		{
			"arguments of json_array", "SELECT length(json_array(x" + strings.Repeat(", x", 98) + ")) FROM (SELECT " + long + " AS x)",
			"a JSON builder does not look at the limit on length while it builds",
		},
		{"arguments of concat", "SELECT length(concat(x" + strings.Repeat(", x", 98) + ")) FROM (SELECT " + long + " AS x)", "concat allocates before it looks"},
		{"too many arguments", "SELECT length(concat(x" + strings.Repeat(", x", 900) + ")) FROM (SELECT " + long + " AS x)", "over SQLITE_LIMIT_FUNCTION_ARG"},
		{
			"indented JSON",
			"SELECT length(json_pretty(" + strings.Repeat("json_array(", 90) + "json_array(" + listed(99, "%d") + ")" + strings.Repeat(")", 90) + ", " + long + "))",
			"json_pretty indents as deep as the text nests",
		},
		{"long IN list", "SELECT 1 WHERE random() IN (" + listed(3000, "printf('%%.*c', 990000-%d, 'x')") + ")", "a program too long"},
		{
			"columns of a subquery",
			"SELECT count(*) FROM (SELECT " + listed(490, "x AS a%d") + " FROM (SELECT " + long + " AS x) LIMIT 1) WHERE " + strings.ReplaceAll(listed(190, "a%d <> ''"),
				",", " AND"),
			"the result has one column, the subquery 490",
		},
		{"compound", "SELECT length(x) FROM (" + strings.Repeat("SELECT "+long+" AS x UNION ALL ", 49) + "SELECT 1)", "a register each, or one for all"},
		{
			"sorted long rows",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 40) SELECT length(x) FROM (SELECT printf('%.*c', 990000-i, 'x') AS x FROM n ORDER BY x)",
			"the sorter spills to a file, which it maps",
		},
		{
			"distinct long values",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) SELECT count(DISTINCT printf('%.*c', 990000-i, 'x')) FROM n",
			"an index in a temporary file",
		},
		{
			"groups",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) SELECT i, max(printf('%.*c', 990000-i, 'x')) FROM n GROUP BY i % 300",
			"groups are sorted, not hashed",
		},
		{
			"window frames",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) SELECT length(group_concat(printf('%.*c', 9900, 'x')) OVER (ORDER BY i)) FROM n",
			"a partition in a temporary table",
		},
		{"escapes", "SELECT json_quote(json_quote(json_quote(printf('%.*c', 990000, '\"'))))", "escaping doubles"},
		{
			"nested replace", "SELECT length(json_array(" + listed(60, "replace(x, 'x', 'y%d')") + ")) FROM (SELECT printf('%%.*c', 400000, 'x') AS x)",
			"every argument is long",
		},
		{
			"recursive rows", "WITH RECURSIVE n(i, x) AS (SELECT 1, " + long + " UNION ALL SELECT i+1, substr(x, 2) FROM n) SELECT i FROM n",
			"one row in the queue at a time",
		},
		{
			"recursive fan-out",
			"WITH RECURSIVE n(x) AS (SELECT " + long + " UNION ALL SELECT substr(x, d) FROM n, (SELECT 2 AS d UNION ALL SELECT 3)) SELECT length(x) FROM n",
			"the queue grows",
		},
	}
	e := engine()
	for _, test := range tests {
		e.Payloads = append(e.Payloads, exectest.Payload{Name: test.name, SQL: test.sql, Why: test.why, Expect: exectest.Survive})
	}
	exectest.Payloads(t, e)
}
