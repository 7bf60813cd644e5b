package sqltext_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

func TestComparisons(t *testing.T) {
	tests := []struct {
		name, why, where string // behind SELECT 1 FROM t AS x WHERE
		want             []string
	}{
		{"equal", "the plain case", "a = 'v'", []string{"t.a = v"}},
		{"operators", "both spellings", "a == 1 AND b != 2 AND c <> 3 AND d >= 4 AND e < 5",
			[]string{"t.a = 1", "t.b <> 2", "t.c <> 3", "t.d >= 4", "t.e < 5"}},
		{"flipped", "the column comes first", "'v' = a AND 1 < b AND 2 >= c AND -3 <> d",
			[]string{"t.a = v", "t.b > 1", "t.c <= 2", "t.d <> -3"}},
		{"qualified", "the alias resolved", "x.a = 'v' AND 'w' = x.b", []string{"t.a = v", "t.b = w"}},
		{"unknown qualifier", "no table", "y.a = 'v'", []string{".a = v"}},
		{"in", "every member", "a IN ('v', 'it''s', -3)", []string{"t.a IN v it's -3"}},
		{"not in", "constants alone", "a NOT IN ('v', b, 'w' || 'x', lower('y'), 'z')", []string{"t.a NOT IN v z"}},
		{"in query", "no constants", "a IN (SELECT b FROM u WHERE c = 'v')", []string{"u.c = v"}},
		{"between", "both ends", "a BETWEEN 1 AND -2 AND b NOT BETWEEN 'v' AND 'w' AND c BETWEEN d AND 5",
			[]string{"t.a BETWEEN 1 -2", "t.b NOT BETWEEN v w"}},
		{
			"like", "patterns", "a LIKE '%v%' AND b NOT LIKE 'w' ESCAPE '!' AND c GLOB '*' AND d REGEXP 'x'",
			[]string{"t.a LIKE %v%", "t.b NOT LIKE w", "t.c GLOB *", "t.d REGEXP x"},
		},
		{"is", "with a constant", "a IS 'v' AND b IS NOT 1 AND c IS NULL AND d IS NOT NULL",
			[]string{"t.a IS v", "t.b IS NOT 1"}},
		{"collate", "stands between", "a COLLATE NOCASE = 'v'", []string{"t.a = v"}},
		{
			"expressions", "say nothing of what is stored",
			"lower(a) = 'v' AND b * 2 > 10 AND c = 'v' || 'w' AND 2 + d = 3 AND e = f AND 1 + 2 = g AND h || 'x' = 'y'", nil,
		},
		{"typed", "a word before the string", "a = DATE '2020-01-01' AND b > TIMESTAMP '2020-01-01'",
			[]string{"t.a = 2020-01-01", "t.b > 2020-01-01"}},
		{"double-quoted", "may be a string in SQLite", `a = "v" AND b IN ("w", 'z') AND c LIKE "q%"`,
			[]string{`t.a = v"`, `t.b IN w" z`, `t.c LIKE q%"`}},
		{"double-quoted column", "a qualifier makes it one", `a = x."b" AND "c" = 'v'`, []string{`t.c = v`}},
		{"case", "the constants of WHEN", "CASE a WHEN 'v' THEN 1 WHEN 'w' THEN CASE b WHEN 'x' THEN 2 END ELSE 'z' END = 1",
			[]string{"t.a = v w", "t.b = x"}},
		{"case condition", "its own comparisons", "CASE WHEN a = 'v' THEN 'w' ELSE 'z' END = 1", []string{"t.a = v"}},
		{"row values", "not read", "(a, b) = ('v', 'w')", nil},
		{"negation", "NOT before it changes nothing", "NOT a = 'v'", []string{"t.a = v"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, c := range sqltext.SQLite().Parse("SELECT 1 FROM t AS x WHERE " + tt.where).Comparisons() {
				s := c.Table + "." + c.Column + " " + c.Op
				for _, l := range c.Literals {
					s += " " + l.Value
					if l.Kind == sqlshape.QuotedName {
						s += `"`
					}
				}
				got = append(got, s)
			}
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}

// In other dialects "x" is what its engine takes it for.
func TestComparisonsDialects(t *testing.T) {
	sql := `SELECT 1 FROM t WHERE a = "v"`
	if got := sqltext.PostgreSQL().Parse(sql).Comparisons(); got != nil {
		t.Errorf("PostgreSQL: %+v, want none: it is a column", got)
	}
	got := sqltext.MySQL().Parse(sql).Comparisons()
	if len(got) != 1 || got[0].Literals[0].Kind != sqlshape.String || got[0].Literals[0].Value != "v" {
		t.Errorf("MySQL: %+v, want the string v", got)
	}
	similar := sqltext.PostgreSQL().Parse(
		`SELECT 1 FROM t WHERE a ILIKE 'v' AND b SIMILAR TO 'w' AND c NOT SIMILAR TO 'x'`)
	if got := similar.Comparisons(); len(got) != 3 || !strings.HasPrefix(got[2].Op, "NOT SIMILAR") {
		t.Errorf("PostgreSQL: %+v", got)
	}
}
