package vote

import (
	"math/rand/v2"
	"testing"

	"github.com/texttosql/texttosql/sqltext"
)

func TestSortsRows(t *testing.T) {
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
		if got := sortsRows(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.sql, got, tt.want)
		}
	}
}

// TestSortsRowsAgreesWithOutline puts statements together of parts that are hard
// to read: names and texts that say ORDER BY, comments, subqueries, windows.
func TestSortsRowsAgreesWithOutline(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	pick := func(parts ...string) string { return parts[r.IntN(len(parts))] }
	var query func(depth int) string
	query = func(depth int) string {
		column := func() string {
			if depth > 0 && r.IntN(4) == 0 {
				return "(" + query(depth-1) + ")"
			}
			return pick("a", "\"order by\"", "`order`", "border", "count(*)", "'it''s'", "'order by 1'", "\"a\"\"b\"", "by", "a - -b", "a/b", "'('",
				"rank() OVER (ORDER BY a)", "E'x\\'order by'", "$1", "x'00'", "[order by]", "-- order by\n a", "/* order by ( */ a", "# order by\n a")
		}
		s := pick("SELECT ", "select\t", "SELECT DISTINCT ") + column() + pick("", ", "+column()) + " FROM " + pick("t", "orders", "\"t(\"")
		if depth > 0 && r.IntN(3) == 0 {
			s += " JOIN (" + query(depth-1) + ") AS u"
		}
		s += pick("", " WHERE a = "+column(), " GROUP BY "+column())
		if r.IntN(3) == 0 {
			s += pick(" ", "\n", "\t") + pick("ORDER BY ", "order  by ", "Order\nBy ", "ORDER BY(a), ", "ORDER/**/BY ") + column() + pick("", " DESC")
		}
		return s + pick("", " LIMIT 1")
	}
	sorted := 0
	for range 4_000 {
		sql := query(2)
		for _, d := range []sqltext.Dialect{sqltext.SQLite(), sqltext.MySQL(), sqltext.PostgreSQL(), sqltext.BigQuery()} {
			checked, err := d.Check(sql)
			if err != nil {
				continue // a part that this dialect reads otherwise
			}
			got, want := sortsRows(d, checked), len(d.Outline(checked).OrderBy) > 0
			if got != want {
				t.Fatalf("%s\n%v, the outline says %v", checked, got, want)
			}
			if want {
				sorted++
			}
		}
	}
	if sorted < 800 {
		t.Errorf("only %d statements sort: the test says little", sorted)
	}
}
