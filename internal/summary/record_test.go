package summary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/sqltext"
)

// TestSentenceRecord records the sentences of statements that differ in one part: the name of a time, a comparison, the
// order, a join.
func TestSentenceRecord(t *testing.T) {
	var b strings.Builder
	say := func(sql string) { fmt.Fprintf(&b, "%s\n   %s\n", sql, Sentence(sqltext.SQLite(), sql)) }
	for _, column := range []string{"ordered_at", "order_date", "shipped_on", "ship_time", "lap_time", "date", "time",
		"day", "at", "created", "created_at",
		"paid_on", "orderDate", "valid_until",
		"due_date", "born", "year", "cancelled_date", "delivery_day"} {
		for _, condition := range []string{"= '2024-03-01'", ">= '2024-01-01' AND %[1]s < '2025-01-01'", "IS NULL",
			"> '2024-03-01'"} {
			say("SELECT count(*) FROM orders WHERE " + column + " " + strings.ReplaceAll(condition, "%[1]s", column))
		}
		say("SELECT id FROM orders ORDER BY " + column + " DESC LIMIT 1")
	}
	for _, condition := range []string{"total > 5", "total >= 5", "total < 5", "total <= 5", "total <> 5", "total = 0",
		"5 < total", "total BETWEEN 5 AND 9",
		"total NOT BETWEEN 5 AND 9", "status IN ('a', 'b')",
		"status NOT IN ('a', 'b', 'c')", "status = 'a' OR status = 'b'", "status = 'a' AND total > 5", "NOT status = 'a'",
		"name LIKE 'A%'", "name LIKE '%a'",
		"name LIKE '%a%'", "name NOT LIKE '%a%'",
		"name LIKE 'a_c'", "name = ''", "is_paid = 1", "is_paid = 0", "is_paid", "NOT is_paid", "total IS NOT NULL",
		"customer_id = 7",
		"customer_id IN (SELECT id FROM customers)", "total > (SELECT avg(total) FROM orders)",
		"EXISTS (SELECT 1 FROM lines WHERE lines.order_id = orders.id)", "lower(name) = 'a'", "total * 2 > 5", "total > tax",
		"length(name) > 3",
		"strftime('%Y', ordered_at) = '2024'", "strftime('%m', ordered_at) = '03'"} {
		say("SELECT count(*) FROM orders WHERE " + condition)
		say("SELECT customer_id, sum(total) FROM orders WHERE " + condition + " GROUP BY customer_id ORDER BY 2 DESC LIMIT 3")
	}
	for _, sql := range []string{"SELECT * FROM orders", "SELECT name FROM customers ORDER BY name",
		"SELECT DISTINCT country FROM customers",
		"SELECT name, country FROM customers LIMIT 5", "SELECT name FROM customers LIMIT 1",
		"SELECT max(total) FROM orders", "SELECT min(total), max(total) FROM orders", "SELECT avg(total) FROM orders",
		"SELECT count(DISTINCT customer_id) FROM orders", "SELECT count(total) FROM orders",
		"SELECT country, count(*) FROM customers GROUP BY country",
		"SELECT country, count(*) FROM customers GROUP BY country HAVING count(*) > 3",
		"SELECT country, count(*) FROM customers GROUP BY country ORDER BY count(*)",
		"SELECT country, city, avg(age) FROM customers GROUP BY country, city",
		"SELECT strftime('%Y-%m', ordered_at) AS m, sum(total) FROM orders GROUP BY m",
		"SELECT strftime('%Y', ordered_at) AS y, count(*) FROM orders GROUP BY y ORDER BY y",
		"SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
		"SELECT c.name, sum(o.total) AS t FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name " +
			"ORDER BY t DESC LIMIT 1",
		"SELECT c.name FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL",
		"SELECT c.name, o.id FROM customers c LEFT JOIN orders o ON o.customer_id = c.id",
		"SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
		"SELECT name FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)",
		"SELECT name FROM customers UNION SELECT name FROM suppliers", "SELECT sum(price * quantity) FROM lines",
		"SELECT sum(price * quantity) AS revenue FROM lines", "SELECT 1.0 * sum(paid) / count(*) FROM orders",
		"SELECT 100.0 * sum(CASE WHEN paid = 1 THEN 1 ELSE 0 END) / count(*) FROM orders",
		"SELECT count(*) FILTER (WHERE paid) FROM orders",
		"SELECT a.name, b.name FROM staff a JOIN staff b ON a.boss_id = b.id",
		"SELECT name, rank() OVER (ORDER BY age) FROM staff", "WITH x AS (SELECT id FROM orders) SELECT count(*) FROM x",
		"SELECT round(avg(total), 2) FROM orders", "SELECT coalesce(sum(total), 0) FROM orders", "SELECT 1",
		"DELETE FROM orders"} {
		say(sql)
	}
	golden.Check(t, "sentences.golden", b.String())
}
