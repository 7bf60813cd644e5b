package summary

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

func rows(columns []string, rows ...[]any) *result.Table {
	return &result.Table{Columns: columns, Rows: rows}
}

// TestFound: shapes of rows that are sure have a sentence, others have none.
func TestFound(t *testing.T) {
	one, one2, two := []string{"n"}, []string{"f", "n"}, []string{"name", "total"}
	byTotal := "SELECT method, sum(amount) AS total FROM payments GROUP BY method"
	byCountry := "SELECT country, count(*) FROM customers GROUP BY country"
	top := "SELECT name, sum(amount) AS total FROM payments GROUP BY name ORDER BY total DESC LIMIT 3"
	const leftJoin = " customers c LEFT JOIN orders o ON o.customer_id = c.id"
	people := rows([]string{"first_name", "last_name", "total"}, []any{"Ann", "Abel", int64(900)},
		[]any{"Bo", "Adams", int64(12)})
	const spent = "WITH t AS (SELECT 1) SELECT name, spent FROM t"
	spenders := rows([]string{"name", "spent"}, []any{"A", int64(9)}, []any{"B", int64(2)})
	cut := rows(two, []any{"Ann", int64(3)}, []any{"Bo", int64(2)})
	cut.Truncated = true

	for _, tt := range []struct {
		why, sql string
		rows     *result.Table
		want     string
	}{
		{"a count", "SELECT count(*) FROM customers", rows(one, []any{int64(2144)}), "2,144 customers."},
		{"a count of one", "SELECT count(*) FROM order_items", rows(one, []any{int64(1)}), "1 order item."},
		{"a sum of one", "SELECT sum(CASE WHEN status = 'lost' THEN 1 ELSE 0 END) FROM orders", rows(one, []any{int64(1)}),
			"1 order where status is “lost”."},
		{"a sum of one with a flag", "SELECT sum(is_paid) FROM orders", rows(one, []any{int64(1)}), "1 order that is paid."},
		{"a sum of two", "SELECT sum(CASE WHEN status = 'lost' THEN 1 ELSE 0 END) FROM orders", rows(one, []any{int64(2)}),
			"2 orders where status is “lost”."},
		{"a count of none", "SELECT count(*) FROM customers WHERE country = 'XX'",
			rows(one, []any{int64(0)}), "No customers where country is “XX”."},
		{"an anti-join", "SELECT count(*) FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL",
			rows(one, []any{int64(3)}),
			"3 customers without orders."},
		{"a sum keeps its digits", "SELECT sum(amount) FROM payments", rows(one, []any{result.Decimal("2138816.40")}),
			"Total amount of payments: 2,138,816.40."},
		{"a float is rounded", "SELECT avg(price) FROM products WHERE kind = 'a'",
			rows(one, []any{33.333333333333336}),
			"Average price of products where kind is “a”: 33.33."},
		{"the first of an order", "SELECT day FROM sales ORDER BY amount DESC LIMIT 1",
			rows([]string{"day"}, []any{"2024-03-01"}), "1 March 2024 has the highest amount."},
		{"the figure of the order alone", "SELECT price FROM products ORDER BY price DESC LIMIT 1",
			rows([]string{"price"}, []any{int64(110)}), "Highest price: 110."},
		{"the lowest one of some", "SELECT price FROM products WHERE kind = 'a' ORDER BY price LIMIT 1",
			rows([]string{"price"}, []any{2.75}), "Lowest price of products where kind is “a”: 2.75."},
		{"the name of the order alone", "SELECT name FROM products ORDER BY name LIMIT 1",
			rows(two[:1], []any{"Abel"}), "Abel is the first by name."},
		{"a statement that is not read, by the name of its column", "SELECT (SELECT 3) AS late_orders",
			rows([]string{"late_orders"}, []any{int64(3)}),
			"Late orders: 3."},
		{"a column without a name", "SELECT 1 + 1", rows([]string{"1 + 1"}, []any{int64(2)}), ""},
		{"no value", "SELECT max(amount) FROM payments", rows(one, []any{nil}), "There is no value."},

		{"counts add up", byCountry,
			rows(two, []any{"Germany", int64(412)}, []any{"France", int64(300)}, []any{nil, int64(88)}),
			"Germany has the most: 412 of 800 (52 %), then France with 300."},
		{"the largest group has no name", byCountry, rows(two, []any{nil, int64(5)}, []any{"France", int64(3)}),
			"Those without country have the most: 5 of 8 (63 %), then France with 3."},
		{"the second group has no name", "SELECT region, sum(fee) AS fees FROM sales GROUP BY region",
			rows([]string{"region", "fees"}, []any{"East", int64(5)}, []any{nil, int64(3)}, []any{"West", int64(2)}),
			"Highest total fee: East, 5; then those without region, 3."},
		{"the only group with a figure has no name", "SELECT region, sum(fee) AS fees FROM sales WHERE paid GROUP BY region",
			rows([]string{"region", "fees"}, []any{nil, int64(3)}, []any{"East", nil}), "Those without region: 3."},
		{"the largest group has no key", "SELECT rep_id, count(*) AS n FROM sales GROUP BY rep_id",
			rows([]string{"rep_id", "n"}, []any{nil, int64(5)}, []any{int64(7), int64(3)}),
			"Those without rep have the most: 5 of 8 (63 %), then rep 7 with 3."},
		{"a flag is unknown", "SELECT paid, sum(fee) AS fees FROM sales GROUP BY paid",
			rows([]string{"paid", "fees"}, []any{true, int64(5)}, []any{nil, int64(3)}, []any{false, int64(1)}),
			"Highest total fee: paid, 5; then unknown, 3."},
		{"one of two names is missing", "SELECT plan, city, count(*) AS n FROM subs GROUP BY plan, city",
			rows([]string{"plan", "city", "n"}, []any{"Pro", nil, int64(5)}, []any{"Pro", "Rome", int64(3)}),
			"Pro / no city has the most: 5 of 8 (63 %), then Pro / Rome with 3."},
		{"gains and losses have no shares", "SELECT name, round(100.0 * sum(fee) / (SELECT sum(fee) FROM sales), 1) AS pct " +
			"FROM sales GROUP BY name",
			rows([]string{"name", "pct"}, []any{"A", 273.4}, []any{"B", 6.0}, []any{"C", -179.4}), ""},
		{"shares of a whole", "SELECT name, round(100.0 * sum(fee) / (SELECT sum(fee) FROM sales), 1) AS pct " +
			"FROM sales GROUP BY name", rows([]string{"name", "pct"}, []any{"A", 94.0}, []any{"B", 6.0}),
			"Highest share of the total fee of sales: A, 94 %; then B, 6 %."},
		{"an area", "SELECT name, area_km2 FROM countries ORDER BY area_km2 LIMIT 1",
			rows([]string{"name", "area_km2"}, []any{"Vatican City", 0.44}), "Lowest area in km²: Vatican City, 0.44."},
		{"no different thing", "SELECT count(DISTINCT customer_id) FROM orders", rows(one, []any{int64(0)}),
			"No customers with orders."},
		{"one different thing", "SELECT count(DISTINCT country) FROM customers", rows(one, []any{int64(1)}),
			"1 country."},
		{"a total is not a group", "SELECT country, count(*) FROM customers GROUP BY ROLLUP(country)",
			rows(two, []any{"Germany", int64(5)}, []any{"France", int64(3)}, []any{nil, int64(8)}), ""},
		{"a total of MySQL", "SELECT country, count(*) FROM customers GROUP BY country WITH ROLLUP",
			rows(two, []any{"Germany", int64(5)}, []any{"France", int64(3)}, []any{nil, int64(8)}), ""},
		{"totals of a cube", "SELECT country, count(*) FROM customers GROUP BY CUBE (country)",
			rows(two, []any{"Germany", int64(5)}, []any{"France", int64(3)}, []any{nil, int64(8)}), ""},
		{"totals of sets", "SELECT country, count(*) FROM customers GROUP BY GROUPING  SETS ((country), ())",
			rows(two, []any{"Germany", int64(5)}, []any{"France", int64(3)}, []any{nil, int64(8)}), ""},
		{"two first ones", byCountry,
			rows(two, []any{"Germany", int64(4)}, []any{"France", int64(4)}, []any{"Spain", int64(1)}),
			"Germany and France have the most: 4 each."},
		{"all the same", byCountry,
			rows(two, []any{"Germany", int64(4)}, []any{"France", int64(4)}), "Both have the same: 4."},
		{"joined rows are counted more than once, so there is no share",
			"SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.name",
			rows(two, []any{"Ann", int64(4)}, []any{"Bo", int64(1)}), "Ann has the most: 4, then Bo with 1."},
		{"all the same but one that is missing", "SELECT name, sum(amount) AS total FROM payments GROUP BY name",
			rows(two, []any{"A", int64(5)}, []any{"B", int64(5)}, []any{"C", nil}), ""},
		{"rows without a partner", "SELECT count(*) FROM" + leftJoin, rows(one, []any{int64(2755)}), ""},
		{"rows without a partner, by their key", "SELECT count(c.id) FROM" + leftJoin, rows(one, []any{int64(2755)}), ""},
		{"each row once", "SELECT count(DISTINCT c.id) FROM" + leftJoin, rows(one, []any{int64(240)}),
			"240 different customers."},
		{"partners", "SELECT count(o.id) FROM" + leftJoin, rows(one, []any{int64(2746)}), "2,746 orders."},
		{"partners that a condition wants", "SELECT count(*) FROM" + leftJoin + " WHERE o.status = 'paid'",
			rows(one, []any{int64(2746)}), "2,746 orders where status is “paid”."},
		{"the fewest of those that are joined", "SELECT c.name, count(*) AS orders FROM customers c JOIN orders o ON " +
			"o.customer_id = c.id GROUP BY c.id, c.name ORDER BY orders LIMIT 2",
			rows([]string{"name", "orders"}, []any{"Bo", int64(1)}, []any{"Ann", int64(3)}),
			"Of those with any, Bo has the fewest orders: 1, then Ann with 3."},
		{"the fewest of a key", "SELECT customer_id, count(*) AS n FROM orders GROUP BY customer_id ORDER BY n LIMIT 1",
			rows([]string{"customer_id", "n"}, []any{int64(7), int64(1)}), "Of those with any, customer 7 has the fewest: 1."},
		{"the fewest of what is not read", "WITH t AS (SELECT 1) SELECT c.name, count(*) AS orders FROM c " +
			"JOIN o ON o.c = c.id GROUP BY c.name ORDER BY orders LIMIT 1",
			rows([]string{"name", "orders"}, []any{"Bo", int64(1)}), "Of those with any, Bo has the fewest orders: 1."},
		{"the fewest of a left join that is not read", "WITH t AS (SELECT 1) SELECT c.name, count(o.id) AS orders FROM c " +
			"LEFT JOIN o ON o.c = c.id GROUP BY c.name ORDER BY orders LIMIT 1",
			rows([]string{"name", "orders"}, []any{"Bo", int64(0)}), "Bo has the fewest orders: 0."},
		{"the fewest by what the rows have", "SELECT city, count(*) AS n FROM orders GROUP BY city ORDER BY n LIMIT 1",
			rows([]string{"city", "n"}, []any{"Rome", int64(1)}), "Rome has the fewest: 1."},
		{"the most of those that are joined", "SELECT c.name, count(*) AS orders FROM customers c JOIN orders o ON " +
			"o.customer_id = c.id GROUP BY c.id, c.name ORDER BY orders DESC LIMIT 2",
			rows([]string{"name", "orders"}, []any{"Ann", int64(3)}, []any{"Bo", int64(1)}),
			"Ann has the most orders: 3, then Bo with 1."},
		{"sums that differ in the last bit", "SELECT name, sum(price) AS total FROM orders GROUP BY name",
			rows([]string{"name", "total"}, []any{"Ann", 0.30000000000000004}, []any{"Bo", 0.3}, []any{"Cy", 0.1}),
			"Highest total price: Ann and Bo, 0.3 each."},
		{"sums that differ", "SELECT name, sum(price) AS total FROM orders GROUP BY name",
			rows([]string{"name", "total"}, []any{"Ann", 0.31}, []any{"Bo", 0.3}, []any{"Cy", 0.1}),
			"Highest total price: Ann, 0.31; then Bo, 0.30."},
		{"one has a flag", "SELECT active, count(*) FROM machines GROUP BY active",
			rows([]string{"active", "n"}, []any{"yes", int64(1)}, []any{"no", int64(1)}, []any{nil, int64(1)}),
			"1 of 3 machines is active (33 %), 1 is not, 1 is unknown."},
		{"one is a person", "SELECT is_manager, count(*) FROM employees GROUP BY is_manager",
			rows([]string{"is_manager", "n"}, []any{true, int64(1)}, []any{false, int64(4)}),
			"1 of 5 employees is a manager (20 %), 4 are not."},
		{"one has it", "SELECT has_parking, count(*) FROM hotels GROUP BY has_parking",
			rows([]string{"has_parking", "n"}, []any{true, int64(1)}, []any{false, int64(1)}),
			"1 of 2 hotels has parking (50 %), 1 does not."},
		{"the fewest may have none", "SELECT c.name, count(*) AS orders FROM" + leftJoin +
			" GROUP BY c.id, c.name ORDER BY orders LIMIT 1", rows([]string{"name", "orders"}, []any{"Ann", int64(1)}), ""},
		{"one of all may have none", "SELECT c.name, count(*) AS orders FROM" + leftJoin + " GROUP BY c.id, c.name",
			rows([]string{"name", "orders"}, []any{"Ann", int64(3)}, []any{"Bo", int64(1)}), ""},
		{"the most", "SELECT c.name, count(*) AS orders FROM" + leftJoin +
			" GROUP BY c.id, c.name ORDER BY orders DESC LIMIT 1", rows([]string{"name", "orders"}, []any{"Ann", int64(14)}),
			"Ann has the most orders: 14."},
		{"a number of things", "SELECT c.name, count(*) AS num_orders FROM customers c JOIN orders o " +
			"ON o.customer_id = c.id GROUP BY c.id, c.name ORDER BY 2 DESC LIMIT 1",
			rows([]string{"name", "num_orders"}, []any{"Ann", int64(14)}), "Ann has the most orders: 14."},
		{"a group of several rows without a partner", "SELECT c.country, count(*) AS orders FROM" + leftJoin +
			" GROUP BY c.country", rows([]string{"country", "orders"}, []any{"DE", int64(14)}, []any{"FR", int64(4)}), ""},
		{"groups of one row or none", "SELECT c.name FROM" + leftJoin + " GROUP BY c.id, c.name HAVING count(*) < 2",
			rows(two[:1], []any{"Ann"}), ""},
		{"the order is of a column behind one that is joined", "SELECT c.first_name, c.last_name, sum(p.amount) AS total " +
			"FROM payments p JOIN customers c ON c.id = p.customer_id GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 2", people,
			"Highest total amount: Ann Abel, 900; then Bo Adams, 12."},
		{"the order is of a column that is joined", "SELECT c.first_name, c.last_name, sum(p.amount) AS total " +
			"FROM payments p JOIN customers c ON c.id = p.customer_id GROUP BY 1, 2 ORDER BY 2 LIMIT 2", people, ""},
		{"by its alias", "SELECT c.first_name, c.last_name, sum(p.amount) AS total FROM payments p JOIN customers c " +
			"ON c.id = p.customer_id GROUP BY 1, 2 ORDER BY total DESC LIMIT 2", people,
			"Highest total amount: Ann Abel, 900; then Bo Adams, 12."},
		{"the first of some", "SELECT name FROM products WHERE category_id = 3 ORDER BY unit_price DESC LIMIT 1",
			rows(two[:1], []any{"BK"}), "BK has the highest unit price of products of category 3."},
		{"the first of some rows of a join", "SELECT c.name FROM customers c JOIN orders o ON o.customer_id = c.id " +
			"WHERE o.status = 'paid' ORDER BY o.total DESC LIMIT 1", rows(two[:1], []any{"Ann"}),
			"Ann has the highest total of orders where status is “paid”."},
		{"the first of some groups", "SELECT city FROM customers WHERE country = 'DE' GROUP BY city " +
			"ORDER BY count(*) LIMIT 1", rows([]string{"city"}, []any{"Bonn"}),
			"Bonn has the lowest number of customers where country is “DE”."},
		{"the first name of some", "SELECT name FROM guests WHERE is_active = 1 ORDER BY name LIMIT 1",
			rows(two[:1], []any{"Abel"}), "Abel is the first by name of guests that are active."},
		{"the first of the groups of a size", "SELECT city FROM customers GROUP BY city HAVING count(*) > 5 " +
			"ORDER BY count(*) LIMIT 1", rows([]string{"city"}, []any{"Bonn"}), "City: Bonn."},
		{"two figures of some rows of a join", "SELECT sum(p.amount) AS total, count(*) AS payments FROM payments p " +
			"JOIN orders o ON o.id = p.order_id JOIN customers c ON c.id = o.customer_id WHERE c.country = 'Poland'",
			rows([]string{"total", "payments"}, []any{int64(62502), int64(289)}),
			"Where customer country is “Poland”: total amount 62,502, payments 289."},
		{"two figures of a join", "SELECT sum(p.amount) AS total, count(*) AS payments FROM payments p " +
			"JOIN orders o ON o.id = p.order_id",
			rows([]string{"total", "payments"}, []any{int64(62502), int64(289)}), "Total amount: 62,502; payments: 289."},
		{"a bound of what is not read", spent + " WHERE spent < 1000 ORDER BY spent DESC", spenders, ""},
		{"its lower bound", spent + " WHERE spent > 1000 ORDER BY spent DESC", spenders, "Highest spent: A, 9; then B, 2."},
		{"the bound of another column", spent + " WHERE overspent < 1000", spenders, "Highest spent: A, 9; then B, 2."},
		{"one value is left out of what is not read", spent + " WHERE t.spent != 5", spenders, ""},
		{"a name of broken UTF-8", "WITH t AS (SELECT 1) SELECT name, \"\xff\" FROM t",
			rows([]string{"name", "\xff"}, []any{"A", int64(9)}, []any{"B", int64(2)}), ""},
		{"groups of a size of what is not read", "WITH x AS (SELECT name, sum(a) AS spent FROM p GROUP BY 1 " +
			"HAVING count(*) >= 5) SELECT name, spent FROM x", spenders, "Highest spent: A, 9; then B, 2."},
		{"small groups of what is not read", "WITH x AS (SELECT name, sum(a) AS spent FROM p GROUP BY 1 " +
			"HAVING sum(a) <= 5) SELECT name, spent FROM x", spenders, ""},
		{"one value is left out", "SELECT name, spent FROM customers WHERE spent != 5", spenders,
			"2 customers where spent is not 5."},
		{"one value is left", "SELECT name, spent FROM customers WHERE spent == 5", spenders,
			"2 customers where spent is 5."},
		{"figures of a hundred", "SELECT v.name, 100.0 * sum(t.liters) / sum(t.km) AS liters_per_100km FROM trips t " +
			"JOIN vans v ON v.id = t.van_id GROUP BY v.name",
			rows([]string{"name", "liters_per_100km"}, []any{"Van 3", 12.4}, []any{"Van 1", 9.5}),
			"Highest liters per 100 km: Van 3, 12.40; then Van 1, 9.50."},
		{"figures of a hundred of what is not read", "WITH t AS (SELECT 1) SELECT name, 100.0 * l / k AS l_per_hundred " +
			"FROM t", rows([]string{"name", "l_per_hundred"}, []any{"Van 3", 12.4}, []any{"Van 1", 9.5}),
			"Highest l per hundred: Van 3, 12.40; then Van 1, 9.50."},
		{"a growth", "SELECT name, 100.0 * sum(a) / sum(b) AS growth FROM trips GROUP BY name",
			rows([]string{"name", "growth"}, []any{"A", 12.4}, []any{"B", 9.5}),
			"Highest total a in percent of total b: A, 12.40 %; then B, 9.50 %."},
		{"amounts of several currencies", "SELECT currency, sum(amount) AS total FROM payments GROUP BY currency",
			rows([]string{"currency", "total"}, []any{"JPY", int64(1204000)}, []any{"EUR", int64(9900)}), ""},
		{"amounts of names in several currencies", "SELECT name, currency, sum(amount) AS total FROM payments GROUP BY 1, 2",
			rows([]string{"name", "currency", "total"}, []any{"A", "JPY", int64(1204000)}, []any{"A", "EUR", int64(9900)}), ""},
		{"counts by currency", "SELECT currency, count(*) AS n FROM payments GROUP BY currency",
			rows([]string{"currency", "n"}, []any{"JPY", int64(3)}, []any{"EUR", int64(1)}),
			"JPY has the most: 3 of 4 (75 %), then EUR with 1."},
		{"a list of the first ones", top,
			rows(two, []any{"Ann", result.Decimal("990.50")}, []any{"Bo", int64(12)}, []any{"Cy", int64(12)}),
			"Highest total amount: Ann, 990.50."},
		{"the last ones", "SELECT name, sum(amount) AS total FROM payments GROUP BY name ORDER BY total LIMIT 2",
			rows(two, []any{"Ann", int64(1)}, []any{"Bo", int64(12)}), "Lowest total amount: Ann, 1; then Bo, 12."},
		{"a limit by another order", "SELECT name, sum(amount) AS total FROM payments GROUP BY name ORDER BY name LIMIT 2",
			rows(two, []any{"Ann", int64(1)}, []any{"Bo", int64(12)}), ""},
		{"ties up to the limit: others may have as many", top,
			rows(two, []any{"Ann", int64(1)}, []any{"Bo", int64(1)}, []any{"Cy", int64(1)}), ""},
		{"NULL stands first", top, rows(two, []any{"Ann", nil}, []any{"Bo", int64(1)}), ""},
		{"the lowest of each", "SELECT name, min(price) FROM products GROUP BY name",
			rows(two, []any{"A", int64(9)}, []any{"B", int64(2)}),
			"Lowest price: B, 2; then A, 9."},
		{"rows that a limit cut", byCountry, cut, ""},
		{"a statement that is not read", "WITH x AS (SELECT 1) SELECT name, revenue FROM x",
			rows([]string{"name", "revenue"}, []any{"A", int64(9)}, []any{"B", int64(2)}),
			"Highest revenue: A, 9; then B, 2."},
		{"one that may leave rows out", "WITH x AS (SELECT 1) SELECT name, revenue FROM x LIMIT 2",
			rows([]string{"name", "revenue"}, []any{"A", int64(9)}, []any{"B", int64(2)}), ""},
		{"a key beside the name", "SELECT id, name, total FROM customers",
			rows([]string{"id", "name", "total"}, []any{int64(1), "A", int64(9)}, []any{int64(2), "B", int64(2)}),
			"Highest total: A, 9; then B, 2."},
		{"a name that is markup", byCountry, rows(two, []any{"<b>A</b>", int64(1)}, []any{"B", int64(2)}), ""},
		{"equal names", byCountry, rows(two, []any{"A", int64(1)}, []any{"A", int64(2)}), ""},
		{"two figures", "SELECT country, count(*), sum(total) FROM customers GROUP BY country",
			rows([]string{"country", "n", "total"}, []any{"A", int64(1), int64(2)}, []any{"B", int64(2), int64(1)}),
			"B has the most: 2 of 3 (67 %), then A with 1."},
		{"the only group", byCountry, rows(two, []any{"Germany", int64(4)}), "Germany: 4."},
		{"the number of a weekday is not a figure",
			"SELECT name, CAST(strftime('%w', hired_on) AS INTEGER) AS weekday FROM nurses",
			rows([]string{"name", "weekday"}, []any{"Ann", int64(2)}, []any{"Bo", int64(7)}), "2 nurses."},
		{"a figure of a week is one", "SELECT name, sum(amount) AS weekly_total FROM payments GROUP BY name",
			rows([]string{"name", "weekly_total"}, []any{"Ann", int64(4)}, []any{"Bo", int64(5)}),
			"Highest total amount: Bo, 5; then Ann, 4."},
		{"months without a year are no names", "SELECT strftime('%m', day) AS m, count(*) FROM sales GROUP BY 1",
			rows(two, []any{"01", int64(4)}, []any{"02", int64(5)}), ""},

		{"one scale", byTotal, rows(two, []any{"card", 268064.5}, []any{"cash", 115456.0}),
			"Highest total amount: card, 268,064.50; then cash, 115,456.00."},
		{"an average without the digits of the engine", "SELECT name, avg(price) AS total FROM products GROUP BY name",
			rows(two, []any{"A", result.Decimal("301.5929592959295930")}, []any{"B", result.Decimal("300.0000000000000000")}),
			"Highest average price: A, 301.59; then B, 300.00."},
		{"a name that ends like a key", "SELECT name, sum(paid) AS paid FROM orders GROUP BY name",
			rows([]string{"name", "paid"}, []any{"A", int64(7)}, []any{"B", int64(5)}), "Highest sum of paid: A, 7; then B, 5."},
		{"percent", "SELECT name, 100.0 * sum(paid) / count(*) AS paid_pct FROM orders GROUP BY name",
			rows([]string{"name", "paid_pct"}, []any{"A", 73.9}, []any{"B", 50.0}),
			"Highest paid percentage: A, 73.90 %; then B, 50.00 %."},
		{"a share of one", "SELECT name, count(*) * 1.0 / (SELECT count(*) FROM o) AS share FROM o GROUP BY name LIMIT 9",
			rows([]string{"name", "share"}, []any{"A", 0.5}, []any{"B", 0.25}), ""},
		{"liters of a hundred kilometers", "SELECT name, 100.0 * sum(l) / sum(km) AS consumption FROM trips GROUP BY name",
			rows([]string{"name", "consumption"}, []any{"A", 10.5}, []any{"B", 7.25}),
			"Highest consumption: A, 10.50; then B, 7.25."},
		{"liters of a hundred kilometers, of one row", "SELECT plate, round(100.0 * l / km, 2) AS consumption FROM cars",
			rows([]string{"plate", "consumption"}, []any{"A", 10.5}, []any{"B", 7.25}),
			"Highest consumption: A, 10.50; then B, 7.25."},
		{"a price without its tax, rounded", "SELECT name, round(gross * 100 / 119, 2) AS net_price FROM cars",
			rows([]string{"name", "net_price"}, []any{"A", 200.5}, []any{"B", 100.25}),
			"Highest net price: A, 200.50; then B, 100.25."},
		{"a price without its tax, divided first", "SELECT name, gross / 119 * 100 AS net_price FROM cars",
			rows([]string{"name", "net_price"}, []any{"A", 200.5}, []any{"B", 100.25}),
			"Highest net price: A, 200.50; then B, 100.25."},
		{"a part of the same amounts", "SELECT name, round(sum(CASE WHEN paid THEN fee END) * 100.0 / " +
			"nullif(sum(fee), 0), 1) AS paid_part FROM o GROUP BY name",
			rows([]string{"name", "paid_part"}, []any{"A", 73.9}, []any{"B", 50.0}),
			"Highest paid part: A, 73.90 %; then B, 50.00 %."},
		{"a margin", "SELECT name, 100.0 * (sum(price) - sum(cost)) / sum(price) AS margin FROM o GROUP BY name",
			rows([]string{"name", "margin"}, []any{"A", 73.9}, []any{"B", 50.0}),
			"Highest margin: A, 73.90 %; then B, 50.00 %."},
		{"a part of all amounts", "SELECT name, cast(sum(fee) AS REAL) * 100 / (SELECT sum(fee) FROM o WHERE paid) AS x " +
			"FROM o GROUP BY name", rows([]string{"name", "xxx"}, []any{"A", 73.9}, []any{"B", 50.0}),
			"Highest total fee in percent of the total fee of entries in o that are paid: A, 73.90 %; then B, 50.00 %."},
		{"cents are no percentage", "SELECT name, sum(cents) * 100 AS price FROM o GROUP BY name",
			rows([]string{"name", "price"}, []any{"A", int64(500)}, []any{"B", int64(200)}),
			"Highest price: A, 500; then B, 200."},
		{"an offset", "SELECT name, total FROM customers ORDER BY total DESC LIMIT 2 OFFSET 2",
			rows(two, []any{"Ann", int64(3)}, []any{"Bo", int64(2)}), ""},
		{"a limit inside", "SELECT name, total FROM (SELECT name, total FROM c ORDER BY name LIMIT 2) x ORDER BY total DESC",
			rows(two, []any{"Ann", int64(3)}, []any{"Bo", int64(2)}), ""},
		{"the last ones of each", "SELECT name, total FROM (SELECT name, total, row_number() OVER (PARTITION BY k " +
			"ORDER BY total) AS r FROM c) x WHERE r < 3",
			rows(two, []any{"Ann", int64(3)}, []any{"Bo", int64(2)}), ""},
		{"HAVING leaves groups out, so there is no share", byCountry + " HAVING count(*) > 1",
			rows(two, []any{"Germany", int64(4)}, []any{"France", int64(2)}), "Germany has the most: 4, then France with 2."},
		{"a flag", "SELECT is_active, count(*) FROM customers GROUP BY is_active",
			rows(one2, []any{int64(0), int64(34)}, []any{int64(1), int64(206)}),
			"206 of 240 customers are active (86 %), 34 are not."},
		{"numbers that are no flag", "SELECT floor, count(*) FROM rooms GROUP BY floor",
			rows(one2, []any{int64(0), int64(34)}, []any{int64(1), int64(206)}), ""},
		{"one row of figures", "SELECT min(price), max(price), avg(price) FROM products",
			rows([]string{"a", "b", "c"}, []any{2.75, int64(110), 56.375}),
			"Lowest price: 2.75; highest price: 110.00; average price: 56.38."},
		{"one row of figures with a condition", "SELECT sum(amount), count(*) FROM payments WHERE method = 'card'",
			rows([]string{"a", "b"}, []any{268.5, int64(3)}),
			"Where method is “card”: total amount 268.50, number of payments 3."},
		{"two figures by a name", "SELECT method, sum(amount) AS total, count(*) AS payments FROM payments GROUP BY method " +
			"ORDER BY total DESC",
			rows([]string{"method", "total", "payments"}, []any{"card", 20.5, int64(7)}, []any{"cash", 10.0, int64(9)}),
			"Highest total amount: card, 20.50 (7 payments); then cash, 10.00."},
		{"the latest", "SELECT max(ordered_at) FROM orders", rows(one, []any{"2024-11-16 11:34:00"}),
			"Latest order: 16 November 2024, 11:34."},
		{"the latest of another event", "SELECT max(shipped_on) FROM orders", rows(one, []any{"2024-11-16"}),
			"Latest order shipped: 16 November 2024."},
		{"groups by a float", "SELECT rating, count(*) AS n FROM films GROUP BY rating",
			rows([]string{"rating", "n"}, []any{4.5, int64(3)}, []any{4.0, int64(1)}),
			"Rating 4.5 has the most: 3 of 4 (75 %), then rating 4 with 1."},
		{"figures of rows with a flag", "SELECT count(*) AS n, avg(credit_limit) AS mean FROM customers WHERE is_active",
			rows([]string{"n", "mean"}, []any{int64(206), 12.5}),
			"Customers that are active: number of customers 206, average credit limit 12.50."},
		{"the latest of a join", "SELECT max(a.ScheduledAt) FROM Appointment a JOIN Doctor d ON d.DoctorID = a.DoctorID " +
			"WHERE d.City = 'Bonn'", rows(one, []any{"2024-11-16"}),
			"Latest scheduled time where doctor city is “Bonn”: 16 November 2024."},
		{"the latest of some", "SELECT max(day) FROM sales s WHERE s.x IN (SELECT y FROM z WHERE f(y))",
			rows(one, []any{"2024-11-16"}), ""},
		{"who is first by a time", "SELECT name, hired_on FROM doctors ORDER BY hired_on LIMIT 1",
			rows([]string{"name", "hired_on"}, []any{"Rosa", "2012-11-20"}), "Earliest doctor hired: Rosa, 20 November 2012."},

		{"the figure of the first group", "SELECT count(*) AS n FROM orders GROUP BY customer_id ORDER BY n DESC LIMIT 1",
			rows(one, []any{int64(14)}), ""},
		{"two figures of the first group", "SELECT sum(amount) AS t, count(*) AS n FROM payments GROUP BY method " +
			"ORDER BY t DESC LIMIT 1", rows([]string{"t", "n"}, []any{int64(9), int64(2)}), ""},
		{"the figure of the only group that HAVING leaves",
			"SELECT sum(amount) AS t FROM payments GROUP BY method HAVING sum(amount) > 200000",
			rows([]string{"t"}, []any{int64(268064)}), "1 method where total amount is above 200,000."},
		{"the figure of the only group is that of all rows",
			"SELECT count(*) AS n FROM orders WHERE customer_id = 9 GROUP BY customer_id", rows(one, []any{int64(14)}),
			"14 orders of customer 9."},

		{"no row", "SELECT name FROM customers c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL",
			rows(one), "There are no customers without orders."},
		{"no row of what is not read", "SELECT a FROM t UNION SELECT b FROM u", rows(one), "Nothing was found."},
		{"a list", "SELECT name FROM customers WHERE country = 'DE'",
			rows(one, []any{"Ann"}, []any{"Bo"}), "2 customers where country is “DE”."},
		{"a list that may go on", "SELECT name FROM customers LIMIT 2", rows(one, []any{"Ann"}, []any{"Bo"}), ""},
		{"different values", "SELECT DISTINCT region FROM sales",
			rows(one, []any{"N"}, []any{"S"}), "2 different regions."},
		{"a missing value is no different one", "SELECT DISTINCT country FROM customers",
			rows(one, []any{"DE"}, []any{nil}, []any{"FR"}), "2 different countries."},
		{"one value and a missing one", "SELECT DISTINCT country FROM customers", rows(one, []any{"DE"}, []any{nil}), ""},
		{"a missing country is not a country", "SELECT country FROM customers GROUP BY country HAVING count(*) > 5",
			rows(one, []any{"DE"}, []any{nil}, []any{"FR"}), "2 countries where number of customers is above 5."},
		{"one country and a missing one", "SELECT country FROM customers GROUP BY country HAVING count(*) > 5",
			rows(one, []any{"DE"}, []any{nil}), "1 country where number of customers is above 5."},
		{"a missing country alone", "SELECT country FROM customers GROUP BY country HAVING count(*) > 5",
			rows(one, []any{nil}, []any{nil}), ""},
		{"no table", "SELECT 1", nil, ""},
	} {
		if got := Found(sqltext.SQLite(), tt.sql, tt.rows, time.Time{}, nil, false); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// TestFoundOfAnything: whatever parts a statement is made of, and whatever the rows are, a headline is made or not.
func TestFoundOfAnything(t *testing.T) {
	shapes := []*result.Table{
		rows([]string{"a"}, []any{"x"}), rows([]string{"a", "n"}, []any{"x", int64(1)}, []any{"y", int64(1)}),
		rows([]string{"a"}), rows(nil), rows([]string{"a", "b", "c"}, []any{nil, "2024-01-02", 1.5}),
	}
	n := 0
	for _, distinct := range []string{"", "DISTINCT "} {
		for _, items := range []string{"c.country", "c.name, count(*)", "count(*)", "count(DISTINCT c.id)", "*",
			"c.id, o.total",
			"max(o.total) AS most", "date(o.day), sum(o.total)", "CASE WHEN o.total > 1 THEN 'a' END", "1"} {
			for _, from := range []string{"customers c", "customers c JOIN orders o ON o.customer_id = c.id",
				"customers c LEFT JOIN orders o ON o.customer_id = c.id", "(SELECT * FROM orders) o, customers c",
				"(SELECT DISTINCT country FROM customers c GROUP BY country) c"} {
				for _, rest := range []string{"", " WHERE o.id IS NULL", " GROUP BY c.country", " GROUP BY 1 HAVING count(*) > 1",
					" GROUP BY c.id, c.name"} {
					for _, end := range []string{"", " ORDER BY 1", " ORDER BY o.day DESC LIMIT 1", " ORDER BY count(*) LIMIT 3"} {
						for i, table := range shapes {
							Found(sqltext.SQLite(), "SELECT "+distinct+items+" FROM "+from+rest+end, table, time.Time{}, nil, i%2 == 0)
							n++
						}
					}
				}
			}
		}
	}
	t.Logf("%d statements with rows", n)
}

// FuzzFound: no statement and no value breaks the sentence.
func FuzzFound(f *testing.F) {
	f.Add("SELECT DISTINCT c.country FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.country", "x",
		int64(1), 0.5)
	f.Add("SELECT a, count(*) FROM t GROUP BY a ORDER BY 2 DESC LIMIT 2", "2024-01", int64(3), 1.5)
	f.Fuzz(func(t *testing.T, sql, text string, n int64, x float64) {
		table := rows([]string{"a", "b"}, []any{text, n}, []any{text + "1", x}, []any{nil, result.Decimal(text)})
		Found(sqltext.SQLite(), sql, table, time.Time{}, nil, false)
		PreviewRows([]*result.Table{table, nil, rows([]string{text}, []any{n})})
		NumbersSupported(text, table)
	})
}

// TestFigures: what all readings show stands last.
func TestFigures(t *testing.T) {
	two := []string{"name", "n"}
	got := PreviewRows([]*result.Table{
		rows(two, []any{"Ann", 2138816.4}, []any{"Bo", int64(990)}),
		rows(two, []any{"Zed", int64(1)}, []any{"Bo", int64(1204)}, []any{"Ann", int64(998)}, []any{"Cy", int64(7)}),
		rows(two), nil,
	})
	if diff := cmp.Diff([]string{"Ann 2,138,816.40, Bo 990.00", "Zed 1, Bo 1,204, Ann 998, …", "no rows", ""},
		got); diff != "" {
		t.Error(diff)
	}
	got = PreviewRows([]*result.Table{
		rows([]string{"id", "name"}, []any{int64(1), "Ann"}, []any{int64(2), "Bo"}, []any{int64(3), "Cy"},
			[]any{int64(4), "Di"}),
		rows([]string{"id", "name"}, []any{int64(1), "Ann"}, []any{int64(2), "Bo"}, []any{int64(3), "Cy"}),
	})
	if diff := cmp.Diff([]string{"Ann, Bo, Di, …", "Ann, Bo, Cy"}, got); diff != "" {
		t.Error(diff)
	}
}

// TestStands: a figure that does not stand in the rows takes the sentence with it.
func TestStands(t *testing.T) {
	table := rows([]string{"month", "total"}, []any{"2024-08", result.Decimal("2138816.40")}, []any{"2024-09", int64(12)},
		[]any{"2024-10", 0.256})
	for _, tt := range []struct {
		sentence, why string
		want          bool
	}{
		{"August 2024 was highest, with 2,138,816.40.", "as it stands", true},
		{"Im August 2024 waren es 2.138.816,40.", "as Germans write it", true},
		{"August 2024 was highest, with 2.14 million.", "rounded to three digits", true},
		{"August 2024 was highest, with 2 million.", "rounded to one digit", false},
		{"August 2024 was highest, with 2,138,817.", "another figure", false},
		{"There are 3 months.", "how many rows there are", true},
		{"There are three months.", "a number in words", false},
		{"It doubled after August.", "a factor in words", false},
		{"September has 12, up 4 percent.", "a computed figure", false},
		{"August was highest.", "no figure", true},
		{"The least is 0.256.", "a small float", true},
		{"The least is 0.3.", "a small float, rounded", false},
	} {
		if got := NumbersSupported(tt.sentence, table); got != tt.want {
			t.Errorf("%s: %q: %v", tt.why, tt.sentence, got)
		}
	}
}

// TestHeadline: one call, and only a sentence that the rows carry.
func TestHeadline(t *testing.T) {
	table := rows([]string{"name", "n"}, []any{"Ann", int64(12)}, []any{"Bo", int64(3)})
	cut := *table
	cut.Truncated = true
	for _, tt := range []struct {
		why, reply, want string
		table            *result.Table
		bad              bool
		calls            int
	}{
		{"a sentence", "<think>hm</think>\n\"Ann has the most, 12.\"", "Ann has the most, 12.", table, false, 1},
		{"a figure that is not there", "Ann has 13.", "", table, true, 1},
		{"two lines", "Ann has 12.\nBo has 3.", "", table, true, 1},
		{"nothing", "", "", table, true, 1},
		{"rows that a limit cut", "Ann has 12.", "", &cut, false, 0},
		{"no rows", "Ann has 12.", "", nil, false, 0},
	} {
		calls := 0
		model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			calls++
			return llm.Response{Text: tt.reply}, nil
		})
		got, err := Headline{model}.Of(t.Context(), "Who has most?", tt.table)
		if got != tt.want || errors.Is(err, ErrUnfounded) != tt.bad || calls != tt.calls {
			t.Errorf("%s: got %q, %v after %d calls", tt.why, got, err, calls)
		}
	}
}

// TestPlural: a plural is right, or said not to be sure.
func TestPlural(t *testing.T) {
	for _, tt := range []struct {
		name, many, one string
		sure            bool
	}{
		{"publisher", "publishers", "publisher", true}, {"superhero", "superheroes", "superhero", true},
		{"tracks", "tracks", "track", true},
		{"order_items", "order items", "order item", true}, {"OrderItem", "order items", "order item", true},
		{"City", "cities", "city", true},
		{"person", "people", "person", true}, {"people", "people", "person", true},
		{"addresses", "addresses", "address", true},
		{"class", "classes", "class", true}, {"movies", "movies", "movie", true}, {"dim_store", "stores", "store", true},
		{"photo", "photos", "photo", true},
		{"box", "boxes", "box", true}, {"status", "statuses", "status", true}, {"day", "days", "day", true},
		{"booking", "bookings", "booking", true},
		{"staff", "staff", "staff", false}, {"wide2", "wide 2", "wide 2", false}, {"x", "x", "x", false},
		{"connected", "connected", "connected", false},
		{"größe", "größe", "größe", false}, {"", "", "", false},
	} {
		many, sure := Plural(tt.name)
		one, _ := Singular(tt.name)
		if many != tt.many || one != tt.one || sure != tt.sure {
			t.Errorf("%q: %q, %q, %v", tt.name, many, one, sure)
		}
	}
}
