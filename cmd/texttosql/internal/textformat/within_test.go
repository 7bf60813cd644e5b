package textformat

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// wide is a table of n columns, numbers and texts by turns.
func wide(n, rows int) *result.Table {
	t := &result.Table{}
	for i := range n {
		t.Columns = append(t.Columns, fmt.Sprintf("column_%d", i+1))
	}
	for r := range rows {
		row := make([]any, n)
		for i := range row {
			if row[i] = int64(1000*r + i); i%2 == 1 {
				row[i] = strings.Repeat("text ", 5) + "end"
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// TestWithin: a table that is too wide leaves columns out in the middle and says so; no line is wider than the
// terminal.
func TestWithin(t *testing.T) {
	var b strings.Builder
	testutil.OK(t, Within(&b, wide(8, 2), 50, "--vertical or --csv has all", false))
	golden.Equal(t, `column_1 | column_2   | … | column_7 | column_8
---------+------------+---+----------+------------
       0 | text text… | … |        6 | text text …
   1,000 | text text… | … |    1,006 | text text …
(2 rows; 4 of 8 columns: --vertical or --csv has
all)
`, b.String())

	huge := &result.Table{Columns: []string{"n", "m"}, Rows: [][]any{{result.Decimal(strings.Repeat("7", 58)), int64(1)}},
		Truncated: true}
	for _, tt := range []struct {
		why   string
		table *result.Table
	}{
		{"eighty columns", wide(80, 300)}, {"two", wide(2, 1)}, {"one", wide(1, 1)}, {"no rows", wide(80, 0)},
		{"no columns", &result.Table{}},
		{"a number that is wider than the terminal", huge},
	} {
		for _, width := range []int{20, 40, 80, 81, 200, 1000} {
			var b strings.Builder
			testutil.OK(t, Within(&b, tt.table, width, "--vertical or --csv has all", false))
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s in %d columns: a line has %d\n%s", tt.why, width, n, line)
				}
			}
		}
	}
	b.Reset()
	testutil.OK(t, Within(&b, wide(80, 300), 80, "--csv has all", false))
	if !strings.HasSuffix(b.String(), "\n(300 rows; 7 of 80 columns: --csv has all)\n") {
		t.Error(b.String()[b.Len()-80:])
	}
	var all, free strings.Builder
	testutil.OK(t, wide(80, 3).WriteTable(&all))
	testutil.OK(t, Within(&free, wide(80, 3), 0, "", false))
	golden.Equal(t, all.String(), free.String())
}

// TestTypes: types stand under the names, as wide as there is room, also beside columns that are left out.
func TestTypes(t *testing.T) {
	table := &result.Table{Columns: []string{"id", "paid", "m", "count(*)"},
		Types: []result.Type{{Name: "INTEGER", Kind: result.KindInt},
			{Name: "numeric(10,2)", Kind: result.KindDecimal, Scale: 2}, {Grain: "month"}, {}},
		Rows: [][]any{{int64(1), result.Decimal("7.50"), "2024-01", int64(3)}}}
	for _, tt := range []struct {
		why   string
		width int
		want  string
	}{
		{"no terminal", 0, `id      | paid          | m            | count(*)
integer | numeric(10,2) | month        | int
--------+---------------+--------------+---------
      1 |          7.50 | January 2024 |        3
(1 row)
`},
		{"no room for the types", 36, `id | paid | m            | count(*)
i… | num… | month        | int
---+------+--------------+---------
 1 | 7.50 | January 2024 |        3
(1 row)
`},
		{"no room for all columns", 20, `id | … | count(*)
i… | … | int
---+---+---------
 1 | … |        3
(1 row; 2 of 4
columns: --csv has
all)
`},
	} {
		var b strings.Builder
		testutil.OK(t, Within(&b, table, tt.width, "--csv has all", true))
		golden.Equal(t, tt.want, b.String(), tt.why)
	}
	var b strings.Builder
	testutil.OK(t, Within(&b, &result.Table{}, 80, "", true))
	golden.Equal(t, "(no rows)\n", b.String(), "no columns")
}

// TestKindOf: a column without a type has the kind of its values, whatever their order, or none.
func TestKindOf(t *testing.T) {
	for _, tt := range []struct {
		why    string
		values []any
		want   result.Kind
	}{
		{"no rows", nil, ""},
		{"only NULL", []any{nil, nil}, ""},
		{"whole numbers beside NULL", []any{nil, int64(1), nil}, result.KindInt},
		{"numbers", []any{1.5, 2.5}, result.KindFloat},
		{"texts", []any{"a"}, result.KindText},
		{"two kinds", []any{int64(1), "a"}, ""},
		{"a blob after a whole number", []any{int64(1), []byte("x")}, ""},
		{"a blob before a whole number", []any{[]byte("x"), int64(1)}, ""},
		{"a blob before NULL and a text", []any{[]byte("x"), nil, "a"}, ""},
		{"blobs", []any{[]byte("x"), []byte("y")}, ""},
	} {
		var rows [][]any
		for _, v := range tt.values {
			rows = append(rows, []any{v})
		}
		golden.Equal(t, string(tt.want), string(KindOf(rows, 0)), tt.why)
	}
}

// TestWrap: lines end at blanks; what is between quotes, and a comment, stays whole.
func TestWrap(t *testing.T) {
	for _, tt := range []struct {
		why, text string
		width     int
		want      string
	}{
		{"no limit", "a b", 0, "a b"},
		{"words", "one two three", 8, "one two\nthree"},
		{"a long word", "a bbbbbbbbbbbb c", 5, "a\nbbbbbbbbbbbb\nc"},
		{"an indent", "  one two three", 9, "  one two\n  three"},
		{"lines", "one two\nthree four five\n", 10, "one two\nthree four\nfive\n"},
		{"nothing", "", 5, ""},
	} {
		golden.Equal(t, tt.want, Wrap(tt.text, tt.width), tt.why)
	}
	for _, tt := range []struct{ why, sql, want string }{
		{"words", "SELECT name FROM customers WHERE id = 1", "SELECT name FROM\n  customers WHERE id\n  = 1"},
		{"a text with blanks", "SELECT 'a long text with blanks' AS x", "SELECT\n  'a long text with blanks'\n  AS x"},
		{"a name with blanks", `SELECT "a name that has blanks" FROM t`, "SELECT\n  \"a name that has blanks\"\n  FROM t"},
		{"a comment", "SELECT 1 -- and a long comment\nFROM t", "SELECT 1\n  -- and a long comment\nFROM t"},
		{"a call", "SELECT count(*), max(x) FROM t", "SELECT count(*),\n  max(x) FROM t"},
	} {
		golden.Equal(t, tt.want, WrapSQL(sqltext.SQLite(), tt.sql, 20), tt.why)
	}
}

// TestLayoutSQL: each clause of the outer statement has a line, where the statement is not short.
func TestLayoutSQL(t *testing.T) {
	for _, tt := range []struct{ why, sql, want string }{
		{"short", "SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers WHERE id = 1"},
		{"clauses", "SELECT country, COUNT(*) FROM customers WHERE id > 1 GROUP BY country ORDER BY 2 DESC LIMIT 3",
			"SELECT country, COUNT(*)\nFROM customers\nWHERE id > 1\nGROUP BY country\nORDER BY 2 DESC\nLIMIT 3"},
		{"joins", "SELECT c.name FROM customers AS c LEFT OUTER JOIN orders o ON o.c = c.id JOIN lines USING (id)",
			"SELECT c.name\nFROM customers AS c\nLEFT OUTER JOIN orders o ON o.c = c.id\nJOIN lines USING (id)"},
		{"unions", "SELECT name FROM customers UNION ALL SELECT name FROM employees",
			"SELECT name\nFROM customers\nUNION ALL\nSELECT name\nFROM employees"},
		{"a subquery", "SELECT name FROM customers WHERE id IN (SELECT c FROM orders WHERE total > 5)",
			"SELECT name\nFROM customers\nWHERE id IN (SELECT c FROM orders WHERE total > 5)"},
		{"words that begin no clause", "SELECT LEFT(name, 2), a IS DISTINCT FROM b, EXTRACT(YEAR FROM d) AS x FROM t",
			"SELECT LEFT(name, 2), a IS DISTINCT FROM b, EXTRACT(YEAR FROM d) AS x\nFROM t"},
		{"a text", "SELECT ' from where ', \"from\" FROM customers WHERE name = 'order by'",
			"SELECT ' from where ', \"from\"\nFROM customers\nWHERE name = 'order by'"},
		{"lines", "SELECT name,\n  id FROM customers WHERE id = 1 AND name = 'x'",
			"SELECT name,\n  id FROM customers WHERE id = 1 AND name = 'x'"},
	} {
		golden.Equal(t, tt.want, LayoutSQL(sqltext.SQLite(), tt.sql, 100), tt.why)
		golden.Equal(t, tt.sql, LayoutSQL(sqltext.SQLite(), tt.sql, 0), tt.why)
	}
}

// FuzzWrapSQL: a wrapped statement is the same statement but for blanks between its tokens.
func FuzzWrapSQL(f *testing.F) {
	f.Add("SELECT 'a  b' || \"c d\" -- e f\n FROM t", 10)
	f.Add("SELECT /* a b */ 1", 3)
	d := sqltext.SQLite()
	tokens := func(sql string) (all []string) {
		for t := range d.Tokens(sql) {
			if t.Kind != sqltext.Space {
				all = append(all, t.Text)
			}
		}
		return all
	}
	f.Fuzz(func(t *testing.T, sql string, width int) {
		golden.Equal(t, tokens(sql), tokens(WrapSQL(d, sql, width)))
		golden.Equal(t, tokens(sql), tokens(LayoutSQL(d, sql, width)))
	})
}
