package guard_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/sqltext"
)

// failCatalog has two tables, one of an engine of its own kinds of values, and two views.
func failCatalog(t testing.TB, d sqltext.Dialect, any bool) *guard.Catalog {
	t.Helper()
	families := map[string]string{
		"id": "number", "customer_id": "number", "total": "number", "rate": "float", "name": "text",
		"memo": "text", "team": "text", "paid": "bool", "day": "time",
		"n": "number", "code": "other", "größe": "number",
	}
	relation := func(name string, columns ...string) *guard.Relation {
		r := guard.NewRelation("main", name, columns)
		r.Compares(func(column string) string {
			if families[column] != "" && any {
				return "any"
			}
			return families[column]
		})
		return r
	}
	view := func(name, query string, columns ...string) *guard.Relation {
		r := relation(name, columns...)
		r.View, r.Definition = true, query
		return r
	}
	policy := guard.Policy{Rows: map[string]string{"orders": "team = :team", "ruled": "lower(team) = :team",
		"listed": "team IN (:a, :b) AND paid IS NOT TRUE"}}
	rules, err := policy.ReadRules(d)
	if err != nil {
		t.Fatal(err)
	}
	c := &guard.Catalog{Text: d, Rules: rules, Relations: []*guard.Relation{
		relation("orders", "id", "customer_id", "team", "total", "rate", "memo", "paid", "day", "code", "doc", "größe"),
		relation("customers", "id", "team", "name", "doc"), relation("ruled", "id", "team"),
		relation("listed", "id", "team", "paid"), relation("remote", "doc"),
		view("good", " SELECT o.id,\n o.total AS n FROM (orders o JOIN customers c ON ((c.id = o.customer_id))) "+
			"WHERE ((o.memo)::text = 'x'::text);", "id", "n"),
		view("bad", "SELECT id, 1 / total AS n FROM orders", "id", "n"), view("unknown", "", "id"),
		view("counted", "select count(0) AS `n` from `main`.`orders` where (`main`.`orders`.`total` > 5)", "n"),
	}}
	if err := c.Apply(policy); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCannotFail(t *testing.T) {
	typed, any := failCatalog(t, sqltext.PostgreSQL(), false), failCatalog(t, sqltext.SQLite(), true)
	list := func(function string) bool { return function == "sum" || function == "count" }
	for _, test := range []struct {
		why, sql   string
		typed, any bool
	}{
		{"columns alone", "SELECT * FROM orders", true, true},
		{"a query in HAVING", "SELECT team FROM orders GROUP BY team HAVING team IN (SELECT name FROM customers)", false,
			false},
		{"EXISTS in HAVING", "SELECT team FROM orders GROUP BY team HAVING EXISTS (SELECT name FROM customers)", false,
			false},
		{"a list in HAVING", "SELECT team FROM orders GROUP BY team HAVING team IN ('a', 'b')", true, true},
		{"the outermost list is not looked at", "SELECT 1 / total, sum(total) FROM orders WHERE id = 5", true, true},
		{"but for a function that makes a long value", "SELECT hex(memo) FROM orders", true, false},
		{"and the clock", "SELECT current_timestamp FROM orders", true, false},
		{"and ||", "SELECT memo || memo FROM orders", true, false},
		{"a query in it has conditions", "SELECT (SELECT max(id) FROM customers) FROM orders", false, false},
		{"what it computes is not in the list elsewhere", "SELECT 1 / total AS x FROM orders GROUP BY id HAVING x > 5",
			false, false},
		{"nor in another case", "SELECT 1 / total AS GRÖßE FROM orders GROUP BY id HAVING größe > 5", false, false},
		{"a name of letters that are not ASCII", "SELECT größe FROM orders WHERE größe > 5", true, true},
		{"but in ORDER BY", "SELECT sum(total) AS x FROM orders GROUP BY id ORDER BY x DESC, 1, orders.id", true, true},
		{"a LIMIT ends what is computed, by a plan of all rows", "SELECT id, 1 / total FROM orders ORDER BY id LIMIT 1",
			false, false},
		{"also a sum", "SELECT team, sum(total) FROM orders GROUP BY team ORDER BY team LIMIT 1", false, false},
		{"columns and counts are not affected",
			"SELECT DISTINCT o.team, count(*) AS n, count(total) m, 5 'x' FROM orders o GROUP BY team ORDER BY n DESC, 1 " +
				"LIMIT 5 OFFSET 2", true, true},
		{"nor are all columns", "SELECT o.*, * FROM orders o ORDER BY id LIMIT 5", true, true},
		{"a column may keep its name", "SELECT orders.total AS total FROM orders WHERE total > 5", true, true},
		{"comparisons", "SELECT id FROM orders WHERE id = 5 AND total >= -2.5 AND (rate < 1 OR NOT paid) AND memo <> 'x' " +
			"AND day < DATE '2024-01-01'", true, true},
		{"columns of one family", "SELECT o.id FROM orders o, customers c WHERE o.customer_id = c.id AND o.memo = c.name",
			true, true},
		{"numeric to double can fail", "SELECT id FROM orders WHERE total = rate", false, true},
		{"a text and a number", "SELECT id FROM orders WHERE memo = 5", false, true},
		{"a number and a text", "SELECT id FROM orders WHERE id = '5'", false, true},
		{"a type that can fail", "SELECT id FROM orders WHERE doc = 'x'", false, false},
		{"or is not a column of the table", "SELECT id FROM orders WHERE ctid = 'x'", false, false},
		{"uuid and the like are compared with a text", "SELECT id FROM orders WHERE code = 'x'", true, true},
		{"TRUE alone", "SELECT id FROM orders WHERE TRUE OR paid", true, true},
		{"a boolean", "SELECT id FROM orders WHERE paid AND paid = TRUE AND (id = 5) IS NOT TRUE", true, true},
		{"a number is no condition", "SELECT id FROM orders WHERE id", false, true},
		{"BETWEEN and IN", "SELECT id FROM orders WHERE id BETWEEN 1 AND 5 AND id NOT IN (1, 2, -3) AND memo IN ('a', NULL)",
			true, true},
		{"IN of a column", "SELECT id FROM orders WHERE id IN (1, total)", false, false},
		{"IN of a query", "SELECT id FROM orders WHERE id IN (SELECT customer_id FROM orders WHERE total > 5)", true, true},
		{"with a list that can fail", "SELECT id FROM orders WHERE id IN (SELECT 1 / total FROM orders)", false, false},
		{"EXISTS", "SELECT id FROM orders o WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE c.id = o.customer_id " +
			"AND c.name LIKE 'a%')", true, true},
		{"LIKE reads a constant", "SELECT id FROM orders WHERE memo NOT LIKE '%x_'", true, true},
		{"LIKE of a pattern with a backslash", `SELECT id FROM orders WHERE memo LIKE 'x\'`, false, false},
		{"LIKE of a long pattern", "SELECT id FROM orders WHERE memo LIKE '" + strings.Repeat("%a", 51) + "'", false, false},
		{"LIKE of a column", "SELECT id FROM orders WHERE memo LIKE memo", false, false},
		{"LIKE with ESCAPE", "SELECT id FROM orders WHERE memo LIKE 'x' ESCAPE 'ab'", false, false},
		{"LIKE of a number", "SELECT id FROM orders WHERE id LIKE '5'", false, true},
		{"a scalar subquery can give two rows", "SELECT id FROM orders WHERE id = (SELECT id FROM customers)", false, false},
		{"an aggregate in one too", "SELECT id FROM orders WHERE id = (SELECT max(id) FROM customers)", false, false},
		{"arithmetic", "SELECT id FROM orders WHERE id + 1 = 5", false, false},
		{"a cast", "SELECT id FROM orders WHERE CAST(memo AS integer) = 5", false, false},
		{"a cast of a column", "SELECT id FROM orders WHERE memo::integer = 5", false, false},
		{"a function", "SELECT id FROM orders WHERE lower(memo) = 'x'", false, false},
		{"a quoted one", `SELECT id FROM orders WHERE "abs"(id) = 5`, false, false},
		{"CASE", "SELECT id FROM orders WHERE CASE WHEN id = 5 THEN TRUE END", false, false},
		{"rows", "SELECT id FROM orders WHERE (id, total) = (1, 2)", false, false},
		{"COLLATE", "SELECT id FROM orders WHERE memo = 'x' COLLATE nocase", false, false},
		{"an operator of a user", "SELECT id FROM orders WHERE id === 5", false, false},
		{"joins", "SELECT o.id FROM orders o LEFT JOIN customers AS c ON c.id = o.customer_id AND o.id > 5 INNER " +
			"JOIN customers d USING (id)", true, true},
		{"USING a column that can fail", "SELECT 1 FROM orders JOIN customers USING (doc)", false, false},
		{"NATURAL compares what it finds", "SELECT 1 FROM orders NATURAL JOIN customers", false, false},
		{"a join without a condition", "SELECT 1 FROM orders JOIN customers", false, false},
		{"CROSS JOIN", "SELECT 1 FROM orders CROSS JOIN customers", true, true},
		{"brackets", "SELECT 1 FROM (orders o JOIN customers c ON ((c.id = o.customer_id)))", true, true},
		{"a derived table", "SELECT n FROM (SELECT id, total AS n FROM orders WHERE total > 5) AS q WHERE n > 6", true, true},
		{"whose list can fail", "SELECT n FROM (SELECT 1 / total AS n FROM orders) AS q", false, false},
		{"with a LIMIT", "SELECT id FROM (SELECT id FROM orders LIMIT 5) AS q", false, false},
		{"a common table expression", "WITH q(n) AS (SELECT total FROM orders), r AS MATERIALIZED (SELECT n FROM q) " +
			"SELECT n FROM r WHERE n > 5", true, true},
		{"whose list can fail", "WITH q AS (SELECT abs(total) AS n FROM orders) SELECT n FROM q", false, false},
		{"recursion", "WITH RECURSIVE q AS (SELECT 1 AS n) SELECT n FROM q", false, false},
		{"a set operation", "SELECT id FROM orders UNION SELECT id FROM customers", false, false},
		{"groups", "SELECT memo, count(*) FROM orders GROUP BY memo, 1 HAVING count(*) > 5 AND max(total) < 9 " +
			"ORDER BY count(*) DESC, min(total)", true, true},
		{"one that is written out", "WITH q AS NOT MATERIALIZED (SELECT total FROM orders) SELECT total FROM q", true, true},
		{"groups by a text", "SELECT 1 FROM orders GROUP BY 'x'", false, false},
		{"half a join", "SELECT id FROM orders INNER WHERE id = 5", false, false},
		{"a number is no condition of groups", "SELECT 1 FROM orders GROUP BY memo HAVING 5", false, false},
		{"groups by what can fail", "SELECT 1 FROM orders GROUP BY 1 / total", false, false},
		{"sum can overflow", "SELECT 1 FROM orders GROUP BY memo HAVING sum(total) > 5", false, false},
		{"a query in HAVING", "SELECT 1 FROM orders GROUP BY memo HAVING max(total) IN (SELECT id FROM customers)", false,
			false},
		{"a window", "SELECT id FROM orders WINDOW w AS (ORDER BY id)", false, false},
		{"a good view", "SELECT id FROM good WHERE n > 5", true, true},
		{"another", "SELECT n FROM counted", false, true},
		{"a view whose list can fail", "SELECT id FROM bad", false, false},
		{"a view without a text", "SELECT id FROM unknown", false, false},
		{"a table that nothing is known of", "SELECT 1 FROM remote", false, false},
		{"a function in FROM", "SELECT 1 FROM orders, generate_series(1, 5)", false, false},
		{"a name that is no table", "SELECT 1 FROM orders, elsewhere", false, false},
		{"a rule that can fail", "SELECT id FROM ruled", false, false},
		{"a rule that cannot", "SELECT id FROM listed WHERE id = 5", true, true},
		{"IS DISTINCT FROM", "SELECT total IS DISTINCT FROM id FROM orders", false, false},
		{"DISTINCT ON", "SELECT DISTINCT ON (1 / id) id FROM orders", false, false},
		{"locks and the like", "SELECT id FROM orders FETCH FIRST 5 ROWS ONLY", false, false},
		{"a sample", "SELECT id FROM orders TABLESAMPLE bernoulli (5)", false, false},
		{"a LIMIT that is computed", "SELECT id FROM orders LIMIT abs(-5)", false, false},
		{"a constant cast", "SELECT id FROM orders WHERE memo = 'x'::character varying AND day > '2024-01-01'::date", true,
			true},
		{"as PostgreSQL writes a text", "SELECT id FROM orders WHERE memo = ('x'::character varying)::text", true, true},
		{"a cast of a cast is made for each row", "SELECT id FROM orders WHERE 'x'::text::date IS NULL", false, false},
		{"also in a list", "SELECT id FROM (SELECT id, ('x'::bpchar)::date AS d FROM orders) AS q WHERE d IS NULL", false,
			false},
		{"also of what has a type", "SELECT id FROM orders WHERE DATE '2024-01-01'::text IS NULL", false, false},
		{"DISTINCT compares", "SELECT id FROM (SELECT DISTINCT id, doc FROM orders) AS q", false, false},
		{"also all columns", "SELECT id FROM (SELECT DISTINCT * FROM orders) AS q", false, false},
		{"also without a name", "SELECT id FROM (SELECT DISTINCT id, memo FROM orders) AS q", true, true},
		{"a constant cast to another type", "SELECT id FROM orders WHERE memo = 'x'::inet", false, false},
	} {
		if got := typed.CannotFail(sqltext.PostgreSQL().Parse(test.sql), nil, nil); got != test.typed {
			t.Errorf("%s: %s: %v where types are apart", test.why, test.sql, got)
		}
		if got := any.CannotFail(sqltext.SQLite().Parse(test.sql), nil, list); got != test.any {
			t.Errorf("%s: %s: %v where they are not", test.why, test.sql, got)
		}
	}
}

// TestRejectRuled: a table with a rule is refused where the rule cannot stand, and by its name.
func TestRejectRuled(t *testing.T) {
	c := failCatalog(t, sqltext.PostgreSQL(), false)
	spot := func(name string) guard.TablePosition {
		for _, r := range c.Relations {
			if r.Name == name {
				return guard.TablePosition{Relation: r}
			}
		}
		return guard.TablePosition{}
	}
	for _, test := range []struct{ why, first, second, refused string }{
		{"no rule", "customers", "good", ""}, {"a rule", "orders", "", "orders"},
		{"the second has one", "customers", "listed", "listed"}, {"no table", "", "", ""},
	} {
		err := (&guard.RowFilterRewrite{}).RejectRuled([]guard.TablePosition{spot(test.first), spot(test.second)})
		if (err != nil) != (test.refused != "") || err != nil && !strings.Contains(err.Error(), test.refused+" is named") {
			t.Errorf("%s: %v", test.why, err)
		}
	}
}

// TestCannotFailRows: a name that may stand for a row, or call a function with one, may fail as that does.
func TestCannotFailRows(t *testing.T) {
	c := failCatalog(t, sqltext.PostgreSQL(), false)
	calls := func(name string) bool { return name == "lower" }
	source := []guard.Source{{Alias: "orders", Relation: c.Relations[0]}, {Alias: "q"}}
	for i, r := range c.Relations {
		if r.Name == "orders" {
			source[0].Relation = c.Relations[i]
		}
	}
	for _, test := range []struct {
		why  string
		path []string
		star bool
		call func(string) bool
		can  bool
	}{
		{"a column", []string{"id"}, false, calls, true},
		{"a column of the table", []string{"orders", "id"}, false, calls, true},
		{"the row of the table", []string{"orders"}, false, calls, false},
		{"all of it", []string{"orders"}, true, calls, true},
		{"a function behind the table", []string{"orders", "lower"}, false, calls, false},
		{"another name behind it", []string{"orders", "none"}, false, calls, true},
		{"a function behind a subquery, whose columns nobody knows", []string{"q", "lower"}, false, calls, false},
		{"where no name stands for a row", []string{"orders"}, false, nil, true},
	} {
		names := &guard.Names{Sources: source, Call: test.call, Refs: []guard.Ref{{Path: test.path, Star: test.star}}}
		if got := c.CannotFail(sqltext.PostgreSQL().Parse("SELECT id FROM orders"), names, nil); got != test.can {
			t.Errorf("%s: it cannot fail: %v", test.why, got)
		}
	}
}

// FuzzCannotFail: no text makes the reader panic or hang, and what stands in a function is never on the list.
func FuzzCannotFail(f *testing.F) {
	for _, text := range []string{
		"SELECT a.b FROM orders a JOIN customers c USING (id) WHERE a.id IN (SELECT id FROM good) ORDER BY 1 LIMIT 5",
		"WITH q(a) AS (SELECT id FROM orders) SELECT a FROM q",
		"SELECT id FROM orders WHERE ((((id = 5))) IS TRUE", "SELECT 'a' 'b' FROM counted WHERE NOT NOT n BETWEEN 1 AND",
		"SELECT",
	} {
		f.Add(text)
	}
	c := failCatalog(f, sqltext.PostgreSQL(), false)
	f.Fuzz(func(t *testing.T, text string) {
		c.CannotFail(sqltext.PostgreSQL().Parse(text), nil, nil)
		if c.CannotFail(sqltext.PostgreSQL().Parse("SELECT 1 FROM orders WHERE chr("+text+") = 'x'"), nil, nil) &&
			!strings.Contains(text, ")") {
			t.Errorf("chr(%s) is on the list", text)
		}
	})
}
