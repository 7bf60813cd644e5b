package form

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
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

// TestWithin: a table that is too wide leaves columns out in the middle and says so; no line is wider than the terminal.
func TestWithin(t *testing.T) {
	var b strings.Builder
	need.OK(t, Within(&b, wide(8, 2), 50, "--vertical or --csv has all"))
	golden.Equal(t, `column_1 | column_2   | … | column_7 | column_8
---------+------------+---+----------+------------
       0 | text text… | … |        6 | text text …
    1000 | text text… | … |     1006 | text text …
(2 rows; 4 of 8 columns: --vertical or --csv has
all)
`, b.String())

	huge := &result.Table{Columns: []string{"n", "m"}, Rows: [][]any{{result.Decimal(strings.Repeat("7", 58)), int64(1)}}, Truncated: true}
	for _, tt := range []struct {
		why   string
		table *result.Table
	}{
		{"eighty columns", wide(80, 300)}, {"two", wide(2, 1)}, {"one", wide(1, 1)}, {"no rows", wide(80, 0)}, {"no columns", &result.Table{}},
		{"a number that is wider than the terminal", huge},
	} {
		for _, width := range []int{20, 40, 80, 81, 200, 1000} {
			var b strings.Builder
			need.OK(t, Within(&b, tt.table, width, "--vertical or --csv has all"))
			for line := range strings.Lines(b.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%s in %d columns: a line has %d\n%s", tt.why, width, n, line)
				}
			}
		}
	}
	b.Reset()
	need.OK(t, Within(&b, wide(80, 300), 80, "--csv has all"))
	if !strings.HasSuffix(b.String(), "\n(300 rows; 7 of 80 columns: --csv has all)\n") {
		t.Error(b.String()[b.Len()-80:])
	}
	var all, free strings.Builder
	need.OK(t, wide(80, 3).WriteTable(&all))
	need.OK(t, Within(&free, wide(80, 3), 0, ""))
	golden.Equal(t, all.String(), free.String())
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
	})
}
