package sqltext_test

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

func TestOutline(t *testing.T) {
	type outline = sqlshape.Outline
	item := func(text string) sqlshape.SelectItem { return sqlshape.SelectItem{Text: text} }
	column := func(text, name string) sqlshape.SelectItem { return sqlshape.SelectItem{Text: text, Column: name} }
	tests := []struct {
		name, why, sql string
		want           outline // without Functions
	}{
		{"columns", "plain ones and expressions", "SELECT a, t.\"b c\" AS d, a + 1 e FROM t",
			outline{Items: []sqlshape.SelectItem{
				column("a", "a"), {Text: `t."b c"`, Alias: "d", Column: "b c"}, {Text: "a + 1", Alias: "e"}}}},
		{
			"star", "with and without a table", "SELECT *, t.* FROM t",
			outline{Star: true, Items: []sqlshape.SelectItem{{Text: "*", Star: true}, {Text: "t.*", Star: true}}},
		},
		{"star inside", "of a nested query or count", "SELECT count(*) FROM (SELECT * FROM t)",
			outline{Aggregates: []string{"COUNT"},
				Items: []sqlshape.SelectItem{{Text: "count(*)", Aggregates: []string{"COUNT"}}}}},
		{"aggregates", "not in nested queries, windows, or of several values",
			"SELECT max(a) - min(b), sum(c) OVER (), max(d, e), (SELECT count(*) FROM u), avg(f) FILTER (WHERE g) OVER w, " +
				"count(DISTINCT h) FROM t",
			outline{Aggregates: []string{"MAX", "MIN", "COUNT"}, Items: []sqlshape.SelectItem{
				{Text: "max(a) - min(b)", Aggregates: []string{"MAX", "MIN"}}, item("sum(c) OVER ()"), item("max(d, e)"),
				item("(SELECT count(*) FROM u)"),
				item("avg(f) FILTER (WHERE g) OVER w"),
				{Text: "count(DISTINCT h)", Aggregates: []string{"COUNT"}}}}},
		{"clauses", "all of them", "SELECT DISTINCT a FROM t JOIN u ON 1, v WHERE b = 1 GROUP BY a, lower(b, c) HAVING 1 " +
			"ORDER BY a DESC, 2 LIMIT 3 OFFSET 4",
			outline{
				Items: []sqlshape.SelectItem{column("a", "a")}, GroupBy: []string{"a", "lower(b, c)"},
				OrderBy: []string{"a DESC", "2"},
				Having:  true, Limit: true,
			}},
		{
			"nested clauses", "belong to the nested query",
			"SELECT a FROM (SELECT a FROM t WHERE 1 GROUP BY a ORDER BY a LIMIT 1) WHERE a IN (SELECT 1)",
			outline{Items: []sqlshape.SelectItem{column("a", "a")}},
		},
		{"compound", "the order is that of the whole",
			"SELECT a FROM t WHERE 1 UNION ALL SELECT b FROM u EXCEPT SELECT c FROM v ORDER BY 1 LIMIT 2",
			outline{Items: []sqlshape.SelectItem{column("a", "a")}, OrderBy: []string{"1"}, Limit: true,
				SetOps: []string{"UNION ALL", "EXCEPT"}}},
		{
			"cte", "the main query is the outer one", "WITH x AS (SELECT max(a) AS m FROM t GROUP BY b) SELECT m FROM x",
			outline{Items: []sqlshape.SelectItem{column("m", "m")}},
		},
		{"distinct on", "PostgreSQL's list is no item", "SELECT DISTINCT ON (a, b) c FROM t",
			outline{Items: []sqlshape.SelectItem{column("c", "c")}}},
		{
			"from distinct", "FROM behind DISTINCT is no clause", "SELECT a FROM t WHERE a IS NOT DISTINCT FROM b",
			outline{Items: []sqlshape.SelectItem{column("a", "a")}},
		},
		{"is null", "anywhere", "SELECT a FROM t WHERE a IS NULL", outline{Items: []sqlshape.SelectItem{column("a", "a")},
			IsNull: true}},
		{"is not null", "is another thing", "SELECT a FROM t WHERE a IS NOT NULL",
			outline{Items: []sqlshape.SelectItem{column("a", "a")}}},
		{
			"using", "in any query, quoted or not, each once",
			`SELECT a FROM t JOIN u USING (x, "y z") WHERE b IN (SELECT c FROM v JOIN w USING(x, q))`,
			outline{Items: []sqlshape.SelectItem{column("a", "a")}, Using: []string{"x", "y z", "q"}},
		},
		{"using is a name", "in quotes, and no list without a bracket", `SELECT "using" FROM t JOIN u USING`, outline{
			Items: []sqlshape.SelectItem{column(`"using"`, "using")}}},
		{
			"natural", "in a common table expression too", "WITH x AS (SELECT b FROM t NATURAL LEFT JOIN u) SELECT b FROM x",
			outline{Items: []sqlshape.SelectItem{column("b", "b")}, Natural: true},
		},
		{"natural is a name", "in quotes or in a literal", `SELECT "natural" FROM t WHERE a = 'NATURAL JOIN'`, outline{
			Items: []sqlshape.SelectItem{column(`"natural"`, "natural")}}},
		{"values", "has no list", "VALUES (1), (2) ORDER BY 1", outline{OrderBy: []string{"1"}}},
		{"stray bracket", "a compound of nothing", ") UNION", outline{}},
		{"prose", "has no query", "Here you are", outline{}},
		{"empty", "has none either", "", outline{}},
	}
	ignore := cmpopts.IgnoreFields(outline{}, "Functions")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := sqltext.SQLite().Parse(tt.sql).Outline()
			golden.Equal(t, tt.want, got, tt.why, ignore)
		})
	}
}

func TestOutlineWhole(t *testing.T) {
	s := sqltext.SQLite().Parse("SELECT Sum(a), round(avg(b)) FROM t WHERE c != 'NOT' AND d NOT IN (SELECT sum(e) " +
		"FROM u WHERE x.except = 1)")
	golden.Equal(t, []string{"SUM", "ROUND", "AVG"}, s.Outline().Functions, "functions")
	if !s.Uses("NOT") || s.Uses("EXCEPT") || !s.Uses("<>") || s.Uses("!=") {
		t.Error("a word or an operator is not found, or found where it is none")
	}
}

func TestHardness(t *testing.T) {
	tests := []struct {
		name, why, sql string
		want           string
	}{
		{"plain", "no component", "SELECT a FROM t", "easy"},
		{"one component", "C1 = 1", "SELECT a FROM t WHERE b = 1", "easy"},
		{"between", "its AND joins no conditions", "SELECT a FROM t WHERE b BETWEEN 1 AND 2", "easy"},
		{"two items", "O = 1", "SELECT a, b FROM t", "medium"},
		{"two components", "C1 = 2", "SELECT a FROM t WHERE b = 1 ORDER BY a", "medium"},
		{"two components, two others", "C1 = 2, O = 2", "SELECT a, b FROM t WHERE c = 1 AND d = 2 ORDER BY a", "extra"},
		{"one component, two others", "C1 = 1, O = 2", "SELECT a, b FROM t WHERE c = 1 AND d = 2", "medium"},
		{"three others", "C1 = 2, O = 3", "SELECT count(a), max(b) FROM t WHERE c = 1 AND d = 2 GROUP BY e", "hard"},
		{"three components", "C1 = 3", "SELECT a FROM t WHERE b = 1 ORDER BY a LIMIT 1", "hard"},
		{"like", "a component", "SELECT a FROM t WHERE b LIKE 'x'", "medium"},
		{"nested", "C2 = 1", "SELECT a FROM t WHERE b > (SELECT avg(b) FROM t)", "hard"},
		{"compound", "C2 = 1", "SELECT a FROM t EXCEPT SELECT a FROM u", "hard"},
		{"compound in brackets", "C2 = 1", "(SELECT a FROM t) UNION (SELECT a FROM u)", "hard"},
		{"cte", "C2 = 1", "WITH x AS (SELECT 1) SELECT a FROM x", "hard"},
		{"derived table", "does not count", "SELECT a FROM (SELECT a FROM t)", "easy"},
		{"two nested", "C2 = 2", "SELECT a FROM t WHERE b > (SELECT 1) AND c IN (SELECT 2)", "extra"},
		{"not and count", "the quirk of the scorer", "SELECT count(*) FROM t WHERE a NOT IN (SELECT b FROM u)", "extra"},
		{"having", "its aggregates do not count", "SELECT a FROM t GROUP BY a HAVING count(*) > 1", "easy"},
		{"four components", "C1 = 4", "SELECT a FROM t JOIN u ON 1 WHERE b = 1 ORDER BY a LIMIT 1", "extra"},
		{"no query", "cannot be graded", "Here you are", "extra"},
		{"write", "cannot be graded", "DELETE FROM t", "extra"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := sqltext.SQLite().Parse(tt.sql).Hardness(); got != tt.want {
				t.Errorf("%s: got %s, want %s", tt.why, got, tt.want)
			}
		})
	}
}

func TestSorts(t *testing.T) {
	for _, tt := range []struct {
		sql  string
		want bool
	}{
		{"SELECT a FROM t ORDER BY a", true},
		{"select a from t order\n\tby a", true},
		{"SELECT a FROM t ORDER BY(a)", true},
		{"SELECT a FROM t", false},
		{"SELECT border by FROM t", false},
		{"SELECT a FROM \"order by\" WHERE b = 'order by'", false},
		{"SELECT a FROM t WHERE b = 'it''s' ORDER BY a", true},
		{"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1)", false},
		{"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 1) ORDER BY 1", true},
		{"SELECT rank() OVER (ORDER BY a) FROM t", false},
		{"SELECT a FROM [order by] -- order by", false},
		{"SELECT a FROM t /* ( */ ORDER BY a", true},
		{"SELECT a - b FROM t", false},
		{"SELECT a FROM t UNION SELECT b FROM u ORDER BY 1", true},
		{"SELECT a FROM orders", false},
		{"", false},
	} {
		if got := sqltext.SQLite().Parse(tt.sql).Sorts(); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.sql, got, tt.want)
		}
	}
}
