package meaning

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/sqltext"
)

// TestSentence: known shapes have a sentence that says all that the statement does; others have none.
func TestSentence(t *testing.T) {
	for _, tt := range []struct{ sql, want, why string }{
		{"SELECT count(*) FROM sales", "Number of sales.", "one table is counted by its name"},
		{"SELECT count(*) AS n FROM customer WHERE country = 'DE'", "Number of customers, where country is “DE”.", "a condition"},
		{"SELECT region, sum(amount) AS amount FROM sales GROUP BY region ORDER BY 2 DESC",
			"Total amount of sales by region; highest first.", "a group, by its place"},
		{"SELECT region, sum(amount) AS total FROM sales GROUP BY 1 ORDER BY total DESC LIMIT 5;",
			"Total amount of sales by region; highest first; 5 at most.", "by its alias"},
		{"SELECT day, amount FROM sales ORDER BY day", "Day and amount of sales; earliest day first.", "a list in order"},
		{"SELECT day FROM sales ORDER BY amount DESC LIMIT 1", "Day of sales; only the first: highest amount.", "one row"},
		{"SELECT * FROM order_items", "All columns of order items.", "a star"},
		{"SELECT DISTINCT region FROM sales", "Each different region of sales.", "different values"},
		{"SELECT c.name, SUM(o.total) FROM orders o JOIN customers AS c ON c.id = o.customer_id " +
			"WHERE o.status IN ('paid', 'shipped') GROUP BY c.name",
			"Sum of order total by customer name, where order status is “paid” or “shipped”.", "a join"},
		{"SELECT c.name, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
			"Number of orders by customer name, also where there are no orders.", "a left join keeps all"},
		{"SELECT strftime('%Y-%m', day) AS month, round(avg(amount), 2) FROM sales " +
			"WHERE day >= '2024-01-01' AND day < '2025-01-01' GROUP BY month HAVING count(*) > 3",
			"Average amount of sales by month of day, where day is in 2024, only where the number of sales is above 3.", "a whole year"},
		{"SELECT name FROM clerks WHERE town IS NOT NULL AND name LIKE '%x%' AND NOT a = 1", "", "a negation before its value"},
		{"SELECT name FROM clerks WHERE town IS NOT NULL AND name NOT LIKE '%x%'",
			"Name of clerks, where town has a value and name has no “x” in it.", "a pattern"},
		{"SELECT name FROM clerks WHERE (town = 'A' OR town IS NULL)", "", "brackets"},
		{"SELECT sum(price * quantity) FROM items", "Total price × quantity of items.", "arithmetic"},

		{"SELECT strftime('%Y-%m', o.ordered_at), sum(i.qty * i.unit_price) AS revenue FROM orders o JOIN items i ON i.order_id = o.id GROUP BY 1",
			"Revenue (item quantity × item unit price) by month of order ordered at.", "a sum that has a name"},
		{"SELECT c.name FROM customers c LEFT JOIN payments p ON p.customer_id = c.id WHERE p.id IS NULL", "Name of customers without payments.", "an anti-join"},
		{"SELECT count(*) FROM customers c LEFT JOIN payments p ON p.customer_id = c.id WHERE p.id IS NULL AND c.country = 'DE'",
			"Number of customers without payments, where country is “DE”.", "an anti-join that counts"},
		{"SELECT count(*) FROM SuperHero", "Number of super heroes.", "names are split at case"},
		{"SELECT count(*) FROM staff", "Number of rows of staff.", "a plural that is not sure"},
		{"SELECT a, b, c, d, e, f, g, h, i, j, k, l, m, n FROM t WHERE a = 1 AND b = 2 AND c = 3", "", "more than 25 words"},

		{"SELECT name FROM a UNION SELECT name FROM b", "", "two queries"},
		{"SELECT a FROM t WHERE b = (SELECT max(b) FROM t)", "", "a query inside"},
		{"WITH x AS (SELECT 1) SELECT * FROM x", "", "a CTE"},
		{"SELECT count(*) OVER () FROM t", "", "a window"},
		{"SELECT count(*) FILTER (WHERE a > 1) FROM t", "", "a filter would be left out"},
		{"SELECT a FROM t, u", "", "a product"},
		{"SELECT a FROM t WHERE a = 1 AND b = 2 OR c = 3", "", "AND beside OR without brackets"},
		{"SELECT a FROM t WHERE a = 1 OR b = 2 AND c = 3", "", "and in the other order"},
		{"SELECT a FROM t WHERE a = b", "", "two columns"},
		{"SELECT a FROM t WHERE a = 1 + 2", "", "arithmetic beside a constant"},
		{"SELECT a FROM t LIMIT 5 OFFSET 5", "", "rows are left out"},
		{"SELECT name, max(age) FROM t", "", "a column beside a measure without a group"},
		{"SELECT e.name FROM staff e JOIN staff b ON e.boss = b.id", "", "two roles of one table"},
		{"SELECT a FROM t WHERE name LIKE 'a_b%'", "", "a pattern with a hole"},
		{"SELECT a FROM t WHERE name LIKE 'x%'", "", "a pattern of a beginning"},
		{"SELECT date(day) AS day, count(*) FROM sales GROUP BY day", "", "an alias that hides a column"},
		{"SELECT coalesce(a, 0) FROM t", "", "a value in place of none"},
		{"SELECT a, b FROM t GROUP BY a", "", "some b"},
		{"SELECT CASE WHEN a THEN 1 END FROM t", "", "a case"},
		{"SELECT a FROM t WHERE NOT a = 1", "", "a negation before its value"},
		{"SELECT c.name FROM t JOIN c ON c.id > t.id", "", "a join over an inequality"},
		{"", "", "nothing"},
	} {
		if got := Sentence(sqltext.SQLite(), tt.sql); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// TestDifferences: what all do is left out.
func TestDifferences(t *testing.T) {
	for _, tt := range []struct {
		all, want []string
		why       string
	}{
		{[]string{"SELECT count(*) FROM orders WHERE status = 'shipped'", "SELECT count(*) FROM orders"},
			[]string{"Only where status is “shipped”", "Without a condition"}, "a condition"},
		{[]string{"SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
			"SELECT c.name, sum(p.amount) FROM customers c JOIN payments p ON p.customer_id = c.id GROUP BY c.name"},
			[]string{"Counts rows of customers with orders", "Sums payment amount; reads payments"}, "payments, not orders"},
		{[]string{"SELECT max(amount) FROM sales", "SELECT day FROM sales ORDER BY amount DESC LIMIT 1", "SELECT 1 + 1"},
			[]string{"Takes the highest amount", "Shows day; highest amount first; 1 at most", ""}, "silence about one"},
		{[]string{"SELECT max(amount) FROM sales", "SELECT 1 + 1"}, []string{"Highest amount of sales", ""}, "nothing to compare with"},
		{[]string{"SELECT a FROM t", "SELECT a FROM t"}, []string{"A of t", "A of t"}, "no difference in words"},
	} {
		if diff := cmp.Diff(tt.want, Differences(sqltext.SQLite(), tt.all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// FuzzSentence: no text breaks the reader.
func FuzzSentence(f *testing.F) {
	f.Add("SELECT a FROM t WHERE a IN (1, 'x') GROUP BY 1 ORDER BY b DESC LIMIT 3")
	f.Fuzz(func(t *testing.T, sql string) {
		Differences(sqltext.PostgreSQL(), []string{sql, "SELECT a FROM t"})
		Sentence(sqltext.MySQL(), sql)
	})
}
