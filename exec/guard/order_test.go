package guard_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// orderCatalog is failCatalog with keys of orders and customers. Texts called name have equals, and rate is a float.
func orderCatalog(t testing.TB) *guard.Catalog {
	c := failCatalog(t, sqltext.PostgreSQL(), false)
	for _, r := range c.Relations {
		var key []string
		if r.Name == "orders" || r.Name == "customers" {
			key = []string{"id"}
		}
		r.Orders(key, func(column string) guard.Trait {
			switch column {
			case "name", "doc", "rate":
				return guard.Trait{Sorted: true}
			case "id", "total", "customer_id", "größe", "n":
				return guard.Trait{Exact: true, Whole: true, Sorted: true}
			case "code":
				return guard.Trait{Exact: true}
			}
			return guard.Trait{Exact: true, Sorted: true}
		})
	}
	return c
}

// TestOpen: a statement without a fence has one order and one value for each thing that SQL leaves open.
func TestOpen(t *testing.T) {
	const fence = "fence"
	c := orderCatalog(t)
	quote := func(name string) string { return `"` + name + `"` }
	splicing := guard.RewriteRules{Quote: quote, Exactly: func(column string) string { return column + " exactly" }}
	splicing.Ordered = func(function string) bool { return function == "string_agg" || function == "avg" }
	for _, test := range []struct{ why, sql, want string }{
		{"the key of the table", "SELECT memo FROM orders WHERE total > 5",
			`SELECT memo FROM orders WHERE total > 5 ORDER BY orders."id"`},
		{"before the LIMIT", "SELECT id FROM orders o LIMIT 5 -- five",
			`SELECT id FROM orders o ORDER BY o."id" LIMIT 5 -- five`},
		{"behind an ORDER BY", "SELECT memo FROM orders ORDER BY day LIMIT 5 OFFSET 2;",
			`SELECT memo FROM orders ORDER BY day, orders."id" LIMIT 5 OFFSET 2;`},
		{"the same way down", "SELECT memo FROM orders ORDER BY day, total DESC LIMIT 5",
			`SELECT memo FROM orders ORDER BY day, total DESC, orders."id" DESC LIMIT 5`},
		{"or up again", "SELECT memo FROM orders ORDER BY day DESC, total ASC LIMIT 5",
			`SELECT memo FROM orders ORDER BY day DESC, total ASC, orders."id" LIMIT 5`},
		{"keys of all tables",
			`SELECT "C".name FROM main.orders LEFT JOIN customers AS "C" ON "C".id = orders.customer_id LIMIT 5`,
			`SELECT "C".name FROM main.orders LEFT JOIN customers AS "C" ON "C".id = orders.customer_id ORDER BY orders."id", "C"."id" LIMIT 5`},
		{"two of one name", "SELECT 1 FROM orders JOIN orders ON orders.id = 5", fence},
		{"all columns of a table without a key", "SELECT id FROM listed LIMIT 5",
			`SELECT id FROM listed ORDER BY listed."id", listed."paid", listed."team" LIMIT 5`},
		{"of a query", "SELECT q.n FROM (SELECT id, rate, total AS n FROM orders) AS q",
			`SELECT q.n FROM (SELECT id, rate, total AS n FROM orders) AS q ORDER BY q.id, q.rate exactly, q.n`},
		{"a column without a name", "SELECT 1 FROM (SELECT count(*) FROM orders) AS q", fence},
		{"a column of two", "SELECT 1 FROM (SELECT orders.id, customers.id FROM orders CROSS JOIN customers) AS q", fence},
		{"all columns of a query", "SELECT 1 FROM (SELECT * FROM orders) AS q", fence},
		{"a column that is sorted in part", "SELECT 1 FROM (SELECT code FROM orders) AS q", fence},
		{"sorted by it", "SELECT id FROM orders ORDER BY code", fence},
		{"by another name", "SELECT code AS x FROM orders ORDER BY x", fence},
		{"of a common table expression", "WITH q(a) AS (SELECT total FROM orders) SELECT a FROM q LIMIT 5",
			"WITH q(a) AS (SELECT total FROM orders) SELECT a FROM q ORDER BY q.a LIMIT 5"},
		{"of a view", "SELECT n FROM good", `SELECT n FROM good ORDER BY good."id", good."n"`},
		{"one row", "SELECT count(*), max(total), sum(total) FROM orders",
			"SELECT count(*), max(total), sum(total) FROM orders"},
		{"groups", "SELECT o.memo AS m, count(*) AS n FROM orders o GROUP BY o.memo ORDER BY n DESC LIMIT 5",
			"SELECT o.memo AS m, count(*) AS n FROM orders o GROUP BY o.memo ORDER BY n DESC, o.memo DESC LIMIT 5"},
		{"groups by number", "SELECT memo, day, count(*) FROM orders GROUP BY 1, day",
			"SELECT memo, day, count(*) FROM orders GROUP BY 1, day ORDER BY 1, day"},
		{"an expression that is grouped", "SELECT lower(memo), count(*) FROM orders GROUP BY 1", fence},
		{"groups of texts that equal others", "SELECT name, count(*) FROM customers GROUP BY name", fence},
		{"by number", "SELECT name, count(*) FROM customers GROUP BY 1", fence},
		{"which are not shown", "SELECT count(*) FROM customers GROUP BY name",
			"SELECT count(*) FROM customers GROUP BY name ORDER BY name"},
		{"beside a key", "SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id, " +
			"c.name",
			"SELECT c.name, count(*) FROM customers c JOIN orders o ON o.customer_id = c.id GROUP BY c.id, c.name " +
				"ORDER BY c.id, c.name"},
		{"beside the key of another table", "SELECT c.name, count(*) FROM customers c JOIN orders o " +
			"ON o.customer_id = c.id GROUP BY o.id", fence},
		{"a column that is not grouped", "SELECT memo, count(*) FROM orders GROUP BY day", fence},
		{"in an expression", "SELECT day, max(total) - total FROM orders GROUP BY day", fence},
		{"in ORDER BY", "SELECT day, count(*) FROM orders GROUP BY day ORDER BY memo", fence},
		{"in HAVING", "SELECT day, count(*) FROM orders GROUP BY day HAVING total > 5", fence},
		{"beside an aggregate without groups", "SELECT memo, max(total) FROM orders", fence},
		{"of a query", "SELECT n FROM (SELECT memo, count(*) AS n FROM orders) AS q", fence},
		{"a column of the query around", "SELECT id FROM orders o WHERE id IN (SELECT c.id FROM customers c GROUP BY o.id)",
			fence},
		{"DISTINCT", "SELECT DISTINCT memo, day FROM orders LIMIT 5",
			"SELECT DISTINCT memo, day FROM orders ORDER BY 1, 2 LIMIT 5"},
		{"DISTINCT, in the order of a column that is not shown", "SELECT DISTINCT memo FROM orders ORDER BY orders.day",
			fence},
		{"of one that has no table in front", "SELECT DISTINCT memo FROM orders ORDER BY day", fence},
		{"of one that is shown", "SELECT DISTINCT memo AS m, day FROM orders ORDER BY day DESC, m",
			"SELECT DISTINCT memo AS m, day FROM orders ORDER BY day DESC, m, 1, 2"},
		{"of an aggregate", "SELECT DISTINCT memo FROM orders GROUP BY memo, day ORDER BY max(total)", fence},
		{"a sum that is called as its column", "SELECT sum(total) AS total FROM orders",
			"SELECT sum(total) AS total FROM orders"},
		{"DISTINCT texts that equal others", "SELECT DISTINCT name FROM customers", fence},
		{"DISTINCT expressions", "SELECT DISTINCT lower(memo) FROM orders", fence},
		{"all columns", "SELECT DISTINCT * FROM orders", fence},
		{"DISTINCT of a query", "SELECT name FROM (SELECT DISTINCT name FROM customers) AS q", fence},
		{"the greatest of texts that equal others", "SELECT max(name) FROM customers", fence},
		{"of a query", "SELECT id FROM orders WHERE memo IN (SELECT max(name) FROM customers)", fence},
		{"a count of them", "SELECT count(DISTINCT name) FROM customers", "SELECT count(DISTINCT name) FROM customers"},
		{"a sum of floats", "SELECT sum(rate) FROM orders", fence},
		{"an average of floats", "SELECT memo, round(avg(o.rate), 2) FROM orders o GROUP BY memo",
			`SELECT memo, round(avg(o.rate ORDER BY o."id"), 2) FROM orders o GROUP BY memo ORDER BY memo`},
		{"of different ones", "SELECT avg(DISTINCT rate) FROM orders", fence},
		{"of what has no key", "SELECT avg(rate) FROM (SELECT * FROM orders) AS q", fence},
		{"a sum of products", "SELECT sum(total * 2 + id) / count(*) FROM orders",
			"SELECT sum(total * 2 + id) / count(*) FROM orders"},
		{"of a fraction", "SELECT sum(total * 0.1) FROM orders", fence},
		{"of a quotient", "SELECT sum(total / 3) FROM orders", fence},
		{"of a function", "SELECT sum(abs(total)) FROM orders", fence},
		{"a count by CASE", "SELECT sum(CASE WHEN rate > 0.5 AND memo = 'x' THEN 1 ELSE 0 END) FROM orders",
			"SELECT sum(CASE WHEN rate > 0.5 AND memo = 'x' THEN 1 ELSE 0 END) FROM orders"},
		{"a sum by CASE", "SELECT sum(CASE WHEN paid THEN rate ELSE 0 END) FROM orders", fence},
		{"a cast", "SELECT CAST(sum(total) AS decimal(10, 2)) / 2, count(*)::double precision FROM orders",
			"SELECT CAST(sum(total) AS decimal(10, 2)) / 2, count(*)::double precision FROM orders"},
		{"functions of one row", "SELECT round(rate, 2), CASE WHEN paid THEN lower(memo) END AS x, upper(code) y FROM orders",
			`SELECT round(rate, 2), CASE WHEN paid THEN lower(memo) END AS x, upper(code) y FROM orders ORDER BY orders."id"`},
		{"a list of values", "SELECT string_agg(memo, ',') FROM orders",
			`SELECT string_agg(memo, ',' ORDER BY orders."id") FROM orders`},
		{"with an order of its own", "SELECT string_agg(memo, ',' ORDER BY day) FROM orders", fence},
		{"by an aggregate without an order", "SELECT json_agg(memo) FROM orders", fence},
		{"a function that nobody knows", "SELECT id, mystery(memo) FROM orders", fence},
		{"a window", "SELECT id, row_number() OVER (ORDER BY day) FROM orders", fence},
		{"a sum over a window", "SELECT id, sum(total) OVER (ORDER BY day) FROM orders", fence},
		{"a condition of an aggregate", "SELECT count(*) FILTER (WHERE paid) FROM orders", fence},
		{"an operator that nobody knows", "SELECT memo @@ 'x' FROM orders", fence},
	} {
		got, open := opened(c, test.sql, splicing)
		if !open {
			got = fence
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.why, diff)
		}
	}
}

// opened is a statement with its order, and whether it needs no fence.
func opened(c *guard.Catalog, text string, splicing guard.RewriteRules) (with string, open bool) {
	spots, _, open := c.Open(sqltext.PostgreSQL().Parse(text), nil, splicing)
	for _, s := range slices.Backward(spots) {
		text = text[:s.Pos] + s.Insert + text[s.End:]
	}
	return text, open
}

// TestOpenFenced: what needs a fence has one order where the sources are known.
func TestOpenFenced(t *testing.T) {
	c := orderCatalog(t)
	splicing := guard.RewriteRules{Quote: func(name string) string { return name }}
	for _, test := range []struct{ why, sql, order, rest string }{
		{"a condition that may fail", "SELECT o.memo FROM orders o WHERE 1 / o.total > 2", " ORDER BY o.id", " LIMIT 5"},
		{"with words that end no condition",
			"SELECT o.memo FROM orders o WHERE left(o.memo, 1) = right('x', 2) AND (SELECT 1 FROM customers ORDER BY 1) = 1",
			" ORDER BY o.id", ";"},
		{"of a join",
			"SELECT o.memo FROM orders o JOIN customers c ON left(c.name, 2) = o.memo LEFT JOIN customers d ON d.id % 2 = 0",
			" ORDER BY o.id, c.id, d.id", ""},
		{"of groups", "SELECT memo, count(*) FROM orders GROUP BY memo HAVING count(*) % 2 = 1", " ORDER BY memo",
			" LIMIT 1"},
		{"an expression in ORDER BY",
			"SELECT memo FROM orders ORDER BY lower(memo) COLLATE x DESC NULLS LAST, total / 2", ", orders.id", " LIMIT 1"},
		{"in GROUP BY",
			"SELECT total - - 1, count(*) FROM orders GROUP BY total - - 1, memo IN ('a', 'b')",
			" ORDER BY total - - 1, memo IN('a', 'b')", ""},
		{"a list of which a part is computed", "SELECT lower(memo) FROM orders", " ORDER BY orders.id", " LIMIT 1"},
		{"a query in the list", "SELECT (SELECT c.name FROM customers c LIMIT 1) FROM orders", " ORDER BY orders.id", ""},
		{"a set operation", "SELECT 1 UNION SELECT id FROM orders", "", ""},
		{"another one", "SELECT id FROM orders WHERE total % 2 = 0 UNION SELECT id FROM orders", "", ""},
		{"a query that is not known", "SELECT 1 FROM orders JOIN (SELECT lower(memo) AS x FROM orders) AS q ON true", "", ""},
	} {
		if got, _ := opened(c, test.sql+test.rest, splicing); got != test.sql+test.order+test.rest {
			t.Errorf("%s: %s", test.why, got)
		}
	}
}

// TestOpenSettled: what a statement may fail by leaves no order open, if it looks at one row.
func TestOpenSettled(t *testing.T) {
	c := orderCatalog(t)
	splicing := guard.RewriteRules{Quote: func(name string) string { return name }}
	for _, test := range []struct {
		why, sql string
		settled  bool
	}{
		{"a condition that may fail", "SELECT memo FROM orders WHERE 1 / total > 2 LIMIT 1", true},
		{"functions of one row", "SELECT memo FROM orders WHERE left(memo, 1) = right('x', 2) ORDER BY lower(memo), " +
			"total / 2 LIMIT 1", true},
		{"a join by one", "SELECT o.memo FROM orders o JOIN customers c ON left(c.name, 2) = o.memo LIMIT 1", true},
		{"the first row of a query in a condition", "SELECT memo FROM orders WHERE total / 2 > (SELECT id FROM orders " +
			"LIMIT 1)", false},
		{"a sum of floats in one", "SELECT memo FROM orders GROUP BY memo HAVING sum(rate) > 1", false},
		{"an order by one", "SELECT memo FROM orders GROUP BY memo ORDER BY sum(rate) LIMIT 1", false},
		{"a function that nobody knows", "SELECT memo FROM orders WHERE mystery(memo) LIMIT 1", false},
		{"a window over ties", "SELECT id, row_number() OVER (ORDER BY day) FROM orders", false},
		{"a query with a LIMIT", "SELECT max(id) FROM (SELECT id FROM orders LIMIT 3) AS q", false},
		{"a set operation", "SELECT id FROM orders UNION ALL SELECT id FROM orders", false},
	} {
		if _, settled, _ := c.Open(sqltext.PostgreSQL().Parse(test.sql), nil, splicing); settled != test.settled {
			t.Errorf("%s: %t", test.why, settled)
		}
	}
}

// TestKeyOf: a key has a value for each row.
func TestKeyOf(t *testing.T) {
	table := schema.Table{
		Columns:    []schema.Column{{Name: "a"}, {Name: "b", NotNull: true}, {Name: "c", NotNull: true}},
		PrimaryKey: []string{"a", "b"}, Unique: [][]string{{"a"}, {"b", "c"}, {"c"}},
	}
	if got := guard.KeyOf(&table, func(c *schema.Column) bool { return c.NotNull }); !cmp.Equal(got, []string{"b", "c"}) {
		t.Errorf("the key is %v", got)
	}
	if got := guard.KeyOf(&table, func(*schema.Column) bool { return false }); got != nil {
		t.Errorf("a key of nothing: %v", got)
	}
}
