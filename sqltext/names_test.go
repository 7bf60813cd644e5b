package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

func tableText(r sqlshape.TableRef) string {
	s := r.Name
	if r.Schema != "" {
		s = r.Schema + "." + s
	}
	if r.Alias != "" {
		s += " as " + r.Alias
	}
	if r.CTE {
		s += " (cte)"
	}
	if r.Function {
		s += " (function)"
	}
	return s
}

func TestTables(t *testing.T) {
	tests := []struct {
		name, why, sql string
		want           []string
	}{
		{"one", "no alias", "SELECT a FROM t WHERE 1", []string{"t"}},
		{"aliases", "with AS, without, quoted", "SELECT 1 FROM t AS x, u y JOIN v \"z z\" ON 1",
			[]string{"t as x", "u as y", "v as z z"}},
		{"string alias", "SQLite allows it", "SELECT 1 FROM t AS 'x'", []string{"t as x"}},
		{"schema", "dots and quotes", "SELECT 1 FROM main.t, [a b].`c.d`", []string{"main.t", "a b.c.d"}},
		{
			"joins", "words of joins are no aliases", "SELECT 1 FROM a LEFT JOIN b ON 1 NATURAL JOIN c CROSS JOIN d INNER " +
				"JOIN e USING (x) FULL OUTER JOIN f",
			[]string{"a", "b", "c", "d", "e", "f"},
		},
		{"nested", "in every clause", "SELECT (SELECT 1 FROM a) FROM b WHERE x IN (SELECT 1 FROM c) ORDER BY (SELECT 1 " +
			"FROM d)", []string{"a", "b", "c", "d"}},
		{"derived", "a query in FROM has no name", "SELECT 1 FROM (SELECT 1 FROM a) AS x, (SELECT 2) y",
			[]string{" as x", "a", " as y"}},
		{"bracketed join", "brackets without a query", "SELECT 1 FROM ((a JOIN b ON 1) JOIN (c) ON 1)",
			[]string{"a", "b", "c"}},
		{
			"bracketed join of a query", "the inner brackets hold the query",
			"SELECT 1 FROM ((SELECT a FROM x) AS y JOIN z AS w ON 1), (((SELECT 1)) JOIN v)",
			[]string{" as y", "x", "z as w", "", "v"},
		},
		{
			"bracketed arms", "and no list of tables", "SELECT 1 FROM ((SELECT a FROM x) UNION (SELECT a FROM y) " +
				"ORDER BY 1) AS z, ((SELECT b FROM u) LIMIT 1)",
			[]string{" as z", "x", "y", "", "u"},
		},
		{"compound", "every arm", "SELECT 1 FROM a UNION SELECT 1 FROM b EXCEPT SELECT 1 FROM c", []string{"a", "b", "c"}},
		{
			"cte", "names of the list are no tables", "WITH x AS (SELECT 1 FROM a), y(n) AS (SELECT 1 FROM x) SELECT 1 " +
				"FROM y, b",
			[]string{"a", "x (cte)", "y (cte)", "b"},
		},
		{"cte scope", "the name ends with its bracket", "SELECT 1 FROM (WITH x AS (SELECT 1) SELECT 1 FROM x) JOIN x",
			[]string{"", "x (cte)", "x"}},
		{"cte schema", "a name with a schema is a table", "WITH x AS (SELECT 1) SELECT 1 FROM main.x", []string{"main.x"}},
		{"function", "and a query among its arguments", "SELECT 1 FROM t, json_each(t.j, (SELECT 1 FROM u)) AS e",
			[]string{"t", "json_each as e (function)", "u"}},
		{"alias columns", "a list behind the alias", "SELECT 1 FROM (VALUES (1)) AS x(a, b), t", []string{" as x", "t"}},
		{"lateral", "a word before the query", "SELECT 1 FROM t, LATERAL (SELECT 1 FROM u) AS x",
			[]string{"t", " as x", "u"}},
		{"no from", "FROM in other places", "SELECT EXTRACT(YEAR FROM a), trim(BOTH 'x' FROM b) WHERE a IS DISTINCT FROM b",
			nil},
		{"two statements", "both", "SELECT 1 FROM a; SELECT 1 FROM b", []string{"a", "b"}},
		{"delete", "lexed as well as it goes", "DELETE FROM a WHERE b IN (SELECT 1 FROM c)", []string{"a", "c"}},
		{"unfinished", "what is there", "SELECT a FROM t, (SELECT 1 FROM u", []string{"t", "u"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range sqltext.SQLite().Parse(tt.sql).Tables() {
				got = append(got, tableText(r))
			}
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}

func TestColumns(t *testing.T) {
	tests := []struct {
		name, why, sql string
		want           []string // qualifier.column, =table, ? for an operand, the quote
	}{
		{"qualified", "aliases resolved", "SELECT x.a, u.b, w.c FROM t AS x JOIN u", []string{"x.a=t", "u.b=u", "w.c"}},
		{"alias hides", "the name is not seen behind an alias", "SELECT t.a FROM t AS x", []string{"t.a"}},
		{"single", "the only table", "SELECT a, b FROM t", []string{"a=t", "b=t"}},
		{"several", "the text does not tell", "SELECT a FROM t, u", []string{"a"}},
		{"outer", "a column of the query around it", "SELECT 1 FROM t AS x WHERE EXISTS (SELECT 1 FROM u WHERE u.a = x.b)",
			[]string{"u.a=u?", "x.b=t?"}},
		{"derived", "comes from a query", "SELECT d.a FROM (SELECT b FROM t) AS d", []string{"d.a", "b=t"}},
		{"schema", "a qualifier of two parts", "SELECT main.t.a FROM main.t", []string{"main.t.a=main.t"}},
		{
			"no columns", "aliases, functions, types, windows, units",
			"SELECT f(a) AS b, CAST(c AS double precision) d, count(*) OVER w, EXTRACT(YEAR FROM e) " +
				"FROM t WINDOW w AS (ORDER BY g)",
			[]string{"a=t", "c=t", "e=t", "g=t"},
		},
		{"mention of an alias", "the text does not tell", "SELECT a AS b FROM t ORDER BY b COLLATE NOCASE",
			[]string{"a=t", "b=t"}},
		{"star", "names no column", "SELECT t.*, * FROM t", nil},
		{"using", "and its names", "SELECT 1 FROM t JOIN u USING (a, \"b\")", []string{"a", "b\""}},
		{"quotes", "the quote is told", "SELECT \"a\", `b`, [c] FROM t", []string{"a=t\"", "b=t`", "c=t["}},
		{
			"operands", "of comparisons",
			"SELECT a FROM t WHERE b = 1 AND 2 < c AND d IS NOT NULL AND e NOT LIKE 'x' AND f IN (g, \"h\") AND i BETWEEN j " +
				"AND k AND l + 1 > m",
			[]string{"a=t", "b=t?", "c=t?", "d=t?", "e=t?", "f=t?", "g=t?", "h=t?\"", "i=t?", "j=t?", "k=t?", "l=t", "m=t?"},
		},
		{
			"keywords as names", "where they can be none",
			"SELECT t.order, \"group\", first, last, key, rows, year FROM t ORDER BY a NULLS LAST",
			[]string{"t.order=t", "group=t\"", "first=t", "last=t", "key=t", "rows=t", "year=t", "a=t"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range sqltext.SQLite().Parse(tt.sql).Columns() {
				var b strings.Builder
				if r.Qualifier != "" {
					b.WriteString(r.Qualifier + ".")
				}
				b.WriteString(r.Column)
				if r.Table != "" {
					b.WriteString("=")
					if r.Schema != "" {
						b.WriteString(r.Schema + ".")
					}
					b.WriteString(r.Table)
				}
				if r.Operand {
					b.WriteString("?")
				}
				if r.Quote != 0 {
					b.WriteByte(r.Quote)
				}
				got = append(got, b.String())
			}
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}

func TestColumnsScope(t *testing.T) {
	refs := sqltext.SQLite().Parse("WITH c AS (SELECT 1) SELECT a FROM t, u AS x, c, (SELECT 1) AS d").Columns()
	var got []string
	for _, r := range refs[0].Scope {
		got = append(got, tableText(r))
	}
	golden.Equal(t, []string{"t", "u as x"}, got, "the base tables alone")
}

func TestLiterals(t *testing.T) {
	tests := []struct {
		name, why string
		d         sqltext.Dialect
		sql       string
		want      []string
	}{
		{"kinds", "in text order", sqltext.SQLite(), "SELECT 'it''s', 1.5, x'00', \"name\" FROM t",
			[]string{"string it's", "number 1.5", "blob x'00'"}},
		{
			"signs", "a minus that can be no subtraction", sqltext.SQLite(), "SELECT -1, a -2, (-3), 4 - 5, a IN (-6), f(x) - 7",
			[]string{"number -1", "number 2", "number -3", "number 4", "number 5", "number -6", "number 7"},
		},
		{"double quotes", "a string in MySQL", sqltext.MySQL(), `SELECT "a"`, []string{"string a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, l := range tt.d.Parse(tt.sql).Literals() {
				got = append(got, fmt.Sprintf("%v %s", l.Kind, l.Value))
				if !strings.HasPrefix(tt.sql[l.Pos:], l.Text) {
					t.Errorf("%q is not at %d", l.Text, l.Pos)
				}
			}
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}
