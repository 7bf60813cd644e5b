package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

func ExampleStatement_Conditions() {
	sql := `SELECT T1.name FROM customers AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id
	        WHERE 'USA' = T1.country AND (T2.status != 'open' OR T2.total IS NULL)`
	for _, c := range sqltext.SQLite().Parse(sql).Conditions(nil) {
		fmt.Println(c.Key)
	}
	// Output:
	// t1.id = t2.customer_id
	// t1.country = 'USA'
	// (t2.status <> 'open' OR t2.total IS NULL)
}

func TestConditions(t *testing.T) {
	type want struct {
		keys      []string
		equal     int // conditions that make two columns equal
		aggregate int
		nested    int
	}
	tests := []struct {
		name, where string
		want        want
		why         string
	}{
		{"order of sides", "a=1 AND 2 < b", want{keys: []string{"a = 1", "b > 2"}}, "the column stands on the left"},
		{"between", "a BETWEEN 1 AND 2 AND b = 3", want{keys: []string{"a BETWEEN 1 AND 2", "b = 3"}},
			"its AND joins nothing"},
		{"not between", "NOT a BETWEEN 1 AND 2", want{keys: []string{"NOT a BETWEEN 1 AND 2"}}, "NOT stays in front"},
		{"in list", "a IN ('y', 'x', 'x')", want{keys: []string{"a IN ('x', 'y')"}}, "a list is a set"},
		{"or group", "(b = 2 or a = 1) and c", want{keys: []string{"(a = 1 OR b = 2)", "c"}},
			"one condition, its members in order"},
		{"and in an or", "(b = 2 AND a = 1) OR c = 3", want{keys: []string{"((a = 1 AND b = 2) OR c = 3)"}},
			"no condition of its own"},
		{"brackets", "((a = 1)) AND ((b = 2 AND c = 3))", want{keys: []string{"a = 1", "b = 2", "c = 3"}},
			"brackets around AND mean nothing"},
		{"literal with AND", "name = 'this AND that'", want{keys: []string{"name = 'this AND that'"}},
			"a literal is no word"},
		{"case of literals", "Segment='SME'", want{keys: []string{"segment = 'SME'"}}, "names fold, literals do not"},
		{
			"case expression", "CASE WHEN a = 1 AND b = 2 THEN 1 ELSE 0 END = 1",
			want{keys: []string{"CASE WHEN a = 1 AND b = 2 THEN 1 ELSE 0 END = 1"}},
			"AND inside CASE is no cut",
		},
		{"columns equal", "b.x = a.x", want{keys: []string{"a.x = b.x"}, equal: 1}, "in order"},
		{"aggregate", "count(*) > 3", want{keys: []string{"COUNT(*) > 3"}, aggregate: 1}, "belongs into HAVING"},
		{"nested aggregate", "a > (SELECT avg(a) FROM u)", want{keys: []string{"a > (SELECT AVG(a) FROM u)"}, nested: 1},
			"the aggregate is the inner query's"},
		{
			"in query", "a IN (SELECT b FROM u WHERE c = 1)", want{keys: []string{"a IN (SELECT b FROM u WHERE c = 1)", "c = 1"},
				equal: 1, nested: 1},
			"the inner clause counts for itself",
		},
		{
			"exists", "NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)",
			want{keys: []string{"NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", "t.a = u.a"}, equal: 1, nested: 1},
			"a join inside",
		},
		{"unfinished", "a = ", want{keys: []string{"a ="}}, "any text gives something"},
		{"nothing", "", want{}, "no condition"},
		{"like", "a like 'x%' and not b", want{keys: []string{"a LIKE 'x%'", "NOT b"}}, "keywords in upper case"},
		{"is null", "a is not null", want{keys: []string{"a IS NOT NULL"}}, ""},
		{
			"functions", "strftime('%Y', d) == '2013' and lower( a )!= 'x'",
			want{keys: []string{"STRFTIME('%Y', d) = '2013'", "LOWER(a) <> 'x'"}},
			"one spelling of operators and blanks",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got want
			for _, c := range sqltext.SQLite().Parse("SELECT x FROM t WHERE " + tt.where + " GROUP BY y").Conditions(nil) {
				got.keys = append(got.keys, c.Key)
				if c.Equal != nil {
					got.equal++
				}
				if c.Aggregate {
					got.aggregate++
				}
				if c.Nested {
					got.nested++
				}
			}
			golden.Equal(t, tt.want, got, tt.why, cmp.AllowUnexported(want{}))
		})
	}
}

// TestConditionsOfClauses: conditions stand in three clauses, and joins end that of
// ON.
func TestConditionsOfClauses(t *testing.T) {
	sql := `SELECT DISTINCT a FROM t JOIN u ON t.id = u.id AND u.k = 1 LEFT JOIN v ON v.id = u.id, w
	        WHERE t.x = 2 GROUP BY a HAVING count(*) > 1 ORDER BY a LIMIT 3`
	var got []string
	for _, c := range sqltext.SQLite().Parse(sql).Conditions(nil) {
		got = append(got, c.Text)
	}
	want := []string{"t.id = u.id", "u.k = 1", "v.id = u.id", "t.x = 2", "count(*) > 1"}
	golden.Equal(t, want, got)
}

// TestConditionsNamed: the caller says what a column is called, and that a name in
// double quotes is a string.
func TestConditionsNamed(t *testing.T) {
	name := func(r sqlshape.ColumnRef) string {
		if r.Column == "EUR" {
			return ""
		}
		return r.Table + "." + r.Column
	}
	sql := `SELECT 1 FROM customers AS c, "order details" AS o WHERE "EUR" = c.Currency AND o."order id" IN ("EUR", 'a')`
	var got []string
	for _, c := range sqltext.SQLite().Parse(sql).Conditions(name) {
		got = append(got, c.Key)
	}
	want := []string{"customers.Currency = 'EUR'", "order details.order id IN ('EUR', 'a')"}
	golden.Equal(t, want, got)

	// Inside of a nested query an alias hides the table's name, so it stays.
	sql = `SELECT 1 FROM customers AS c WHERE c.id IN (SELECT O.customer FROM orders AS O WHERE O."a b" = c.x AND total > 1)`
	got = nil
	for _, c := range sqltext.SQLite().Parse(sql).Conditions(name) {
		got = append(got, c.Key)
	}
	want = []string{
		`customers.id IN (SELECT o.customer FROM orders AS o WHERE o."a b" = customers.x AND total > 1)`,
		`customers.x = orders.a b`, `orders.total > 1`,
	}
	golden.Equal(t, want, got, "nested")
}

// FuzzConditions: no text makes it fail, and every condition says where it stands.
func FuzzConditions(f *testing.F) {
	for _, s := range []string{"a = 1 AND (b OR NOT c)", "x IN (SELECT y FROM z WHERE w)", "CASE a WHEN 1 THEN (", "((((",
		"a BETWEEN b AND c AND d"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, where string) {
		sql := "SELECT 1 FROM t WHERE " + where
		for _, c := range sqltext.SQLite().Parse(sql).Conditions(nil) {
			if !strings.HasPrefix(sql[c.Pos:], c.Text) || c.Key == "" {
				t.Errorf("condition %+v is not in the text", c)
			}
		}
	})
}
