package sqlite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
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
	var balanced func(depth int, of string) string
	balanced = func(depth int, of string) string {
		if depth == 0 {
			return of
		}
		half := balanced(depth-1, of)
		return "(" + half + "+" + half + ")"
	}
	tests := []struct{ name, sql, why string }{
		{"terms of a sum", "SELECT 1" + strings.Repeat(" + length("+long+")", 150),
			"constant calls are computed once and keep a register each"},
		{"columns", "SELECT " + listed(490, "length(printf('%%.*c', 990000-%d, 'x'))"), "480 MB without the scaled limit"},
		{"long columns", "SELECT " + listed(490, "printf('%%.*c', 990000-%d, 'x')"),
			"a row is held by SQLite and copied by the driver"},
		{"one value many times", "SELECT x" + strings.Repeat(", x", 490) + " FROM (SELECT " + long + " AS x)",
			"the driver copies each"},
		{"concatenations", "SELECT " + listed(490, "x || '%d'") + " FROM (SELECT " + long + " AS x)",
			"no function is called"},
		{"aggregates", "SELECT " + listed(490, "max(x || '%d')") + " FROM (SELECT " + long + " AS x)", "an accumulator each"},
		{
			"arguments of json_array", "SELECT length(json_array(x" + strings.Repeat(", x", 98) + ")) FROM (SELECT " + long +
				" AS x)",
			"a JSON builder does not look at the limit on length while it builds",
		},
		{"arguments of concat", "SELECT length(concat(x" + strings.Repeat(", x", 98) + ")) FROM (SELECT " + long + " AS x)",
			"concat allocates before it looks"},
		{"too many arguments", "SELECT length(concat(x" + strings.Repeat(", x", 900) + ")) FROM (SELECT " + long + " AS x)",
			"over SQLITE_LIMIT_FUNCTION_ARG"},
		{
			"indented JSON",
			"SELECT length(json_pretty(" + strings.Repeat("json_array(", 90) + "json_array(" + listed(99, "%d") + ")" +
				strings.Repeat(")", 90) + ", " + long + "))",
			"json_pretty indents as deep as the text nests",
		},
		{"long IN list", "SELECT 1 WHERE random() IN (" + listed(3000, "printf('%%.*c', 990000-%d, 'x')") + ")",
			"an index in a temporary file"},
		{"a balanced sum", "SELECT " + balanced(11, "length(printf('%.*c', 990000, 'x'))"),
			"2,048 constant calls keep a register each, in an expression 11 deep"},
		{"branches", "SELECT CASE random()" + strings.Repeat(" WHEN 1 THEN "+long, 2000) + " END",
			"each is a constant of its own"},
		{
			"columns of a subquery",
			"SELECT count(*) FROM (SELECT " + listed(490, "x AS a%d") + " FROM (SELECT " + long + " AS x) LIMIT 1) WHERE " +
				strings.ReplaceAll(listed(190, "a%d <> ''"),
					",", " AND"),
			"the result has one column, the subquery 490",
		},
		{"compound", "SELECT length(x) FROM (" + strings.Repeat("SELECT "+long+" AS x UNION ALL ", 49) + "SELECT 1)",
			"a register each, or one for all"},
		{
			"sorted long rows",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 40) SELECT length(x) " +
				"FROM (SELECT printf('%.*c', 990000-i, 'x') AS x FROM n ORDER BY x)",
			"the sorter spills to a file, which it maps",
		},
		{
			"distinct long values",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) SELECT count(DISTINCT printf('%.*c', " +
				"990000-i, 'x')) FROM n",
			"an index in a temporary file",
		},
		{
			"groups",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) SELECT i, max(printf('%.*c', 990000-i, " +
				"'x')) FROM n GROUP BY i % 300",
			"groups are sorted, not hashed",
		},
		{
			"window frames",
			"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n LIMIT 1000) " +
				"SELECT length(group_concat(printf('%.*c', 9900, 'x')) OVER (ORDER BY i)) FROM n",
			"a partition in a temporary table",
		},
		{"escapes", "SELECT json_quote(json_quote(json_quote(printf('%.*c', 990000, '\"'))))", "escaping doubles"},
		{
			"nested replace", "SELECT length(json_array(" + listed(60, "replace(x, 'x', 'y%d')") +
				")) FROM (SELECT printf('%%.*c', 400000, 'x') AS x)",
			"every argument is long",
		},
		{
			"recursive rows", "WITH RECURSIVE n(i, x) AS (SELECT 1, " + long +
				" UNION ALL SELECT i+1, substr(x, 2) FROM n) SELECT i FROM n",
			"one row in the queue at a time",
		},
		{
			"recursive fan-out",
			"WITH RECURSIVE n(x) AS (SELECT " + long + " UNION ALL SELECT substr(x, d) FROM n, (SELECT 2 AS d UNION ALL " +
				"SELECT 3)) SELECT length(x) FROM n",
			"the queue grows",
		},
	}
	e := engine()
	for _, test := range tests {
		e.Payloads = append(e.Payloads, exectest.Payload{Name: test.name, SQL: test.sql, Why: test.why, Expect: "survive"})
	}
	e.CheckPayloads(t)
}

// TestLoad: what would take SQLite minutes and gigabytes is refused before SQLite sees it, and what sorts, or calls a
// function that is slow on long values, gets shorter ones. The error says so.
func TestLoad(t *testing.T) {
	pool, _ := open(t, fixture+`
		CREATE VIEW twice AS SELECT x.a+x.a+y.a AS a FROM t x JOIN t y ON x.a = y.a;
		CREATE VIEW four AS SELECT a+a AS a FROM twice;
		CREATE VIEW cut AS SELECT replace(b, b, b) AS b FROM t;
		CREATE VIEW itself AS SELECT * FROM itself;`)
	before := settingsOf(t, pool)
	db := newDB(t, pool, exec.Config{})
	nested := func(n int, form, query string) string {
		for range n {
			query = fmt.Sprintf(form, query)
		}
		return query
	}
	value := func(n int) string { return fmt.Sprintf("printf('%%.*c', %d, 'x')", n) }
	joined := func(n int, of string) string { return "SELECT 1 FROM " + of + strings.Repeat(", "+of, n-1) }
	const fine = ""
	for _, test := range []struct{ why, sql, want string }{
		{"subqueries", nested(12, "SELECT a+a AS a FROM (%s)", "SELECT a FROM t"), "would add 32651 tokens; at most 10000"},
		{"few of them", nested(8, "SELECT a+a AS a FROM (%s)", "SELECT a FROM t"), fine},
		{"views", nested(9, "SELECT a+a AS a FROM (%s)", "SELECT a FROM four"), "tokens; at most 10088"},
		{"a view that names itself", "SELECT * FROM itself", "circularly defined"},
		{"stores", "SELECT 1 FROM t WHERE " + strings.Repeat("a IN (SELECT a FROM t) OR ", 49) + "a = 1",
			"49 subqueries, views, joins and DISTINCTs"},
		{"views that join", joined(40, "twice"), "59 subqueries"},
		{"tables", joined(40, "t") + " WHERE 1 = 0", fine},
		{"a long value", "SELECT length(" + value(900_000) + ")", fine},
		{"sorted", "SELECT length(" + value(200_000) + ") FROM t ORDER BY a", "100000 bytes, as it sorts or groups"},
		{"grouped", "SELECT max(" + value(200_000) + ") FROM t GROUP BY a", "100000 bytes, as it sorts or groups"},
		{"a window", "SELECT sum(1) OVER (PARTITION BY a), length(" + value(200_000) + ") FROM t",
			"100000 bytes, as it sorts or groups"},
		{"a union", "SELECT a FROM t UNION SELECT length(" + value(200_000) + ")", "50000 bytes, as it sorts or groups"},
		{"a sorted value of 99 kB", "SELECT length(" + value(99_000) + ") FROM t ORDER BY a", fine},
		{"trim", "SELECT trim(" + value(9_000) + ", b) FROM t", "3333 bytes, as it calls trim"},
		{"trim in quotes", "SELECT \"trim\"(" + value(9_000) + ", b||'') FROM t", "3333 bytes, as it calls trim"},
		{"trim of blanks", "SELECT length(trim(" + value(9_000) + ")) FROM t", fine},
		{"trim of a literal", "SELECT length(trim(" + value(9_000) + ", 'ab')) FROM t", fine},
		{"replace", "SELECT replace(" + value(90_000) + ", b, 'x') FROM t", "50000 bytes, as it calls trim, replace"},
		{"replace of a literal", "SELECT length(replace(" + value(90_000) + ", 'a', b)) FROM t", fine},
		{"of a long literal", "SELECT instr(" + value(90_000) + ", '" + strings.Repeat("a", 200) + "') FROM t",
			"50000 bytes, as it calls trim, replace"},
		{"in a view", "SELECT b, length(" + value(90_000) + ") FROM cut", "50000 bytes, as it calls trim, replace"},
		{"json_patch", "SELECT json_patch(" + value(9_000) + ", b) FROM t", "3333 bytes, as it calls trim"},
		{"names of columns", "SELECT x.*" + strings.Repeat(", x.*", 60) + " FROM (SELECT '" + strings.Repeat("n", 90_000) +
			"' FROM t) x", "tokens; at most 10000"},
	} {
		for name, err := range map[string]error{
			"query":   second(db.Query(t.Context(), test.sql)),
			"analyze": second(db.Analyze(t.Context(), test.sql)),
			"explain": second(db.Explain(t.Context(), test.sql)),
		} {
			var limit *exec.LimitError
			if runs := strings.Contains(test.want, "bytes"); name != "query" && runs {
				continue
			} else if runs && !errors.As(err, &limit) {
				t.Errorf("%s: %v is no limit", test.why, err)
			}
			if (err == nil) != (test.want == fine) || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("%s, %s: %v, want %q", test.why, name, err, test.want)
			}
		}
	}
	for range 3 {
		if got := settingsOf(t, pool); got != before {
			t.Errorf("settings of a connection: %+v, before %+v", got, before)
		}
	}
}

func second[T any](_ T, err error) error { return err }
