package sqltext_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

var repeatedKeys = map[string][]string{"customers": {"id"}, "orders": {"id"}, "lines": {"order_id", "n"},
	"passports": {"customer_id"}}

var repeatedColumns = map[string]string{"customers": "id name", "orders": "id customer_id total",
	"lines": "order_id n price", "passports": "customer_id",
	"notes": "order_id text"}

func repeatedIn(sql string) string {
	var found []string
	for _, r := range sqltext.SQLite().Parse(sql).Repeated(
		func(t sqlshape.TableRef) [][]string {
			if key := repeatedKeys[t.Name]; key != nil {
				return [][]string{key}
			}
			return nil
		},
		func(t sqlshape.TableRef, column string) bool {
			return slices.Contains(strings.Fields(repeatedColumns[t.Name]), column)
		},
	) {
		found = append(found, r.Table.Name+" by "+r.By.Name)
	}
	return strings.Join(found, ", ")
}

func TestRepeated(t *testing.T) {
	for _, test := range []struct{ why, sql, want string }{
		{"lines repeat their order", "SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id",
			"orders by lines"},
		{"in WHERE", "SELECT SUM(total) FROM orders, lines WHERE order_id = orders.id", "orders by lines"},
		{"one of two sums", "SELECT SUM(price), SUM(total) / 2 FROM orders JOIN lines ON order_id = id", "orders by lines"},
		{"the finest table", "SELECT c.name, SUM(l.price) FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"JOIN lines l ON l.order_id = o.id GROUP BY 1", ""},
		{"columns of both, the finest is not repeated",
			"SELECT SUM(l.price * o.total) FROM orders o JOIN lines l ON l.order_id = o.id", ""},
		{"one line is chosen", "SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id AND l.n = 1", ""},
		{"one to one", "SELECT SUM(c.id) FROM customers c JOIN passports p ON p.customer_id = c.id", ""},
		{"a way through two keys", "SELECT SUM(o.total) FROM orders o JOIN customers c ON c.id = o.customer_id " +
			"JOIN passports p ON p.customer_id = c.id", ""},
		{"two branches", "SELECT SUM(l.price) FROM customers c JOIN orders o ON o.customer_id = c.id JOIN lines l " +
			"ON l.order_id = o.id " +
			"JOIN orders x ON x.customer_id = c.id", "lines by orders"},
		{"USING", "SELECT SUM(c.id) FROM passports JOIN orders USING (customer_id) JOIN customers c " +
			"ON c.id = passports.customer_id", "customers by orders"},
		{"EXISTS", "SELECT SUM(total) FROM orders WHERE EXISTS (SELECT 1 FROM lines WHERE order_id = orders.id)", ""},
		{"IN", "SELECT SUM(total) FROM orders WHERE id IN (SELECT order_id FROM lines)", ""},
		{"counted before", "SELECT SUM(o.total) FROM orders o JOIN (SELECT order_id FROM lines GROUP BY order_id) l " +
			"ON l.order_id = o.id", ""},
		{"cases are counted", "SELECT SUM(CASE WHEN o.total > 1 THEN 1 ELSE 0 END) FROM orders o JOIN lines l " +
			"ON l.order_id = o.id", ""},
		{"cases of values", "SELECT SUM(CASE WHEN l.n > 1 THEN o.total ELSE 0 END) FROM orders o JOIN lines l " +
			"ON l.order_id = o.id", ""},
		{"DISTINCT, MAX, AVG, COUNT", "SELECT SUM(DISTINCT o.total), MAX(o.total), AVG(o.total), COUNT(o.total) " +
			"FROM orders o JOIN lines l ON l.order_id = o.id", ""},
		{"a table whose key nobody knows", "SELECT SUM(o.total) FROM orders o JOIN notes n ON n.order_id = o.id", ""},
		{"behind a WITH list", "WITH x AS (SELECT 1) SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id",
			"orders by lines"},
		{"in a WITH list", "WITH x AS (SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id) SELECT * FROM x",
			""},
		{"one table", "SELECT SUM(total) FROM orders", ""},
		{"an unknown column", "SELECT SUM(tax) FROM orders JOIN lines ON order_id = id", ""},
		{"no query", "SUM(", ""},
	} {
		if got := repeatedIn(test.sql); got != test.want {
			t.Errorf("%s: %q; want %q", test.why, got, test.want)
		}
	}
}

func ExampleStatement_Repeated() {
	fmt.Println(repeatedIn("SELECT SUM(o.total) FROM orders o JOIN lines l ON l.order_id = o.id"))
	// Output: orders by lines
}

func FuzzRepeated(f *testing.F) {
	f.Add("SELECT SUM(o.total), SUM( FROM orders o JOIN lines l ON l.order_id = o.id AND o.id = (SELECT 1)")
	f.Fuzz(func(_ *testing.T, sql string) { repeatedIn(sql) })
}
