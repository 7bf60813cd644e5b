package knowledge_test

import (
	"encoding/json"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
)

// TestRestrict: a part of a model stays if every stored name that it needs is allowed. The schema has no column salary
// and no table payroll.
func TestRestrict(t *testing.T) {
	type (
		model  = knowledge.Model
		table  = knowledge.Table
		column = knowledge.Column
		metric = knowledge.Metric
		query  = knowledge.VerifiedQuery
	)
	people := func(columns ...column) []table {
		return []table{{Name: "people", Source: "customers", Columns: columns}}
	}
	plain := []table{{Name: "customers"}, {Name: "orders"}}
	link := knowledge.Relationship{Name: "buyer", From: "orders", To: "customers", On: [][2]string{{"customer_id", "id"}}}
	linked := func(from, to string) []knowledge.Relationship {
		return []knowledge.Relationship{{From: "orders", To: "customers", On: [][2]string{{"customer_id", "id"}, {from, to}}}}
	}
	only := func(q query) model { return model{VerifiedQueries: []query{q}} }
	asked := func(sql string) model { return only(query{Question: "q", SQL: sql}) }
	logical := func(tables []table, sql string) model {
		return model{Tables: tables, VerifiedQueries: []query{{Question: "q", SQL: sql, Logical: true}}}
	}
	for _, test := range []struct {
		reason  string
		m, want model
	}{
		{"a composite key with one denied column would say which rows are equal",
			model{Tables: []table{{Name: "customers", Keys: [][]string{{"id"}, {"country", "salary"}}}}},
			model{Tables: []table{{Name: "customers", Keys: [][]string{{"id"}}}}}},
		{"the column with the time of a row is denied", model{Tables: []table{{Name: "customers", Time: "salary"}}},
			model{Tables: []table{{Name: "customers"}}}},
		{"the column with the time of a row is allowed", model{Tables: []table{{Name: "orders", Time: "ordered_at"}}},
			model{Tables: []table{{Name: "orders", Time: "ordered_at"}}}},
		{"the condition of a table names a denied column",
			model{Tables: []table{{Name: "rich", Source: "customers", Where: "salary > 5"}}}, model{}},
		{"a table that is not there has no relationships", model{Tables: append([]table{{Name: "payroll"}}, plain...),
			Relationships: []knowledge.Relationship{{From: "orders", To: "payroll", On: [][2]string{{"id", "id"}}}, link}},
			model{Tables: plain, Relationships: []knowledge.Relationship{link}}},
		{"a column under its table's name, in any case",
			model{Tables: people(column{Name: "a", Expr: "people.name"}, column{Name: "b", Expr: "PEOPLE.name"},
				column{Name: "c", Expr: "people.salary"})}, model{Tables: people(column{Name: "a", Expr: "people.name"},
				column{Name: "b", Expr: "PEOPLE.name"})}},
		{"a column of another table", model{Tables: people(column{Name: "a", Expr: "orders.total"})},
			model{Tables: people()}},
		{"a computed column of a computed one",
			model{Tables: people(column{Name: "a", Expr: "name"}, column{Name: "b", Expr: "a || 'x'"})},
			model{Tables: people(column{Name: "a", Expr: "name"})}},
		{"a metric in a column", model{Tables: people(column{Name: "a", Expr: "name || {pay}"})}, model{Tables: people()}},
		{"an expression that nobody can read", model{Tables: people(column{Name: "a", Expr: "upper(name"})},
			model{Tables: people()}},
		{"a query of allowed columns, ordered by its own item",
			model{Tables: []table{{Name: "q", Source: "SELECT name AS who FROM customers ORDER BY who",
				Columns: []column{{Name: "who"}}}}},
			model{Tables: []table{{Name: "q", Source: "SELECT name AS who FROM customers ORDER BY who",
				Columns: []column{{Name: "who"}}}}}},
		{"a query of a table that is not there", model{Tables: []table{{Name: "q", Source: "SELECT id FROM payroll"}}},
			model{}},
		{"a pair of a relationship names a denied column", model{Tables: plain, Relationships: linked("total", "salary")},
			model{Tables: plain}},
		{"a pair names an unknown column of the other side", model{Tables: plain, Relationships: linked("salary", "name")},
			model{Tables: plain}},
		{"all pairs are allowed", model{Tables: plain, Relationships: linked("status", "country")},
			model{Tables: plain, Relationships: linked("status", "country")}},
		{"metrics stay in their order, also one before its parts",
			model{Tables: plain, Metrics: []metric{{Name: "c", Expr: "{b} + {a}"}, {Name: "b", Expr: "{a} * 2"},
				{Name: "a", Expr: "COUNT(orders.*)"}}},
			model{Tables: plain, Metrics: []metric{{Name: "c", Expr: "{b} + {a}"}, {Name: "b", Expr: "{a} * 2"},
				{Name: "a", Expr: "COUNT(orders.*)"}}}},
		{"a denied part takes what is made of it along",
			model{Tables: plain, Metrics: []metric{{Name: "c", Expr: "{b} + 1"}, {Name: "b",
				Expr: "SUM(customers.salary)"}}},
			model{Tables: plain}},
		{"rows of a table that is not there", model{Tables: plain, Metrics: []metric{{Name: "a", Expr: "COUNT(payroll.*)"}}},
			model{Tables: plain}},
		{"a metric that is text only may say what is denied",
			model{Tables: plain, Metrics: []metric{{Name: "a", Expr: "COUNT(orders.*)", Unsupported: "x"}}},
			model{Tables: plain}},
		{"a group with a grain",
			model{Tables: plain,
				Metrics: []metric{{Name: "a", Expr: "COUNT(orders.*)", GroupBy: []string{"orders.ordered_at@month",
					"customers.salary@month"}}}},
			model{Tables: plain,
				Metrics: []metric{{Name: "a", Expr: "COUNT(orders.*)", GroupBy: []string{"orders.ordered_at@month"}}}}},
		{"no group is not every group",
			model{Tables: plain, Metrics: []metric{{Name: "a", Expr: "COUNT(orders.*)", GroupBy: []string{"customers.salary"}}}},
			model{Tables: plain, Metrics: []metric{{Name: "a", Expr: "COUNT(orders.*)", GroupBy: []string{}}}}},
		{"a term over a relationship", model{Tables: plain, Relationships: []knowledge.Relationship{link},
			Terms: []knowledge.Term{{Words: []string{"a"}, Expr: "buyer.name = 'x'"},
				{Words: []string{"b"}, Expr: "buyer.salary = 1"}, {Words: []string{"c"},
					Expr: "lent.name = 'x'"},
				{Words: []string{"d"}, Expr: "customers.name = ("}}},
			model{Tables: plain, Relationships: []knowledge.Relationship{link},
				Terms: []knowledge.Term{{Words: []string{"a"}, Expr: "buyer.name = 'x'"}}}},
		{"a verified query over a query of its own", asked("WITH c AS (SELECT name FROM customers) SELECT name FROM c"),
			asked("WITH c AS (SELECT name FROM customers) SELECT name FROM c")},
		{"a denied column inside", asked("WITH c AS (SELECT name FROM customers WHERE salary > 1) SELECT name FROM c"),
			model{}},
		{"a table that is not there, joined", asked("SELECT name FROM customers JOIN payroll USING (id)"), model{}},
		{"a denied column of a table beside one that has such a column",
			asked("SELECT c.status FROM customers c JOIN orders o ON o.customer_id = c.id"), model{}},
		{"a denied column, and one of that name in a query of its condition",
			asked("SELECT status FROM customers WHERE id IN (SELECT customer_id FROM orders)"), model{}},
		{"a column of the query around", asked("SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM orders WHERE " +
			"customer_id = customers.id AND name > 'a')"), asked("SELECT name FROM customers WHERE EXISTS (SELECT 1 FROM " +
			"orders WHERE customer_id = customers.id AND name > 'a')")},
		{"an item that is called as its denied column", asked("SELECT c.salary AS salary FROM customers c"), model{}},
		{"the same without its table", asked("SELECT salary AS salary FROM customers"), model{}},
		{"a condition on a denied column, as which an item is called",
			asked("SELECT name AS salary FROM customers WHERE salary > 9"), model{}},
		{"groups by an item",
			asked("SELECT upper(name) AS n, count(*) AS k FROM customers GROUP BY n HAVING k > 1 ORDER BY k"),
			asked("SELECT upper(name) AS n, count(*) AS k FROM customers GROUP BY n HAVING k > 1 ORDER BY k")},
		{"a table behind IN that is not there", asked("SELECT id FROM customers WHERE id IN payroll"), model{}},
		{"the source of a table with a denied column", model{Tables: []table{{Name: "q",
			Source: "SELECT c.name, c.salary AS salary FROM customers c", Columns: []column{{Name: "name"}}}}}, model{}},
		{"a logical query whose item is called as its denied column", logical(people(column{Name: "pay",
			Expr: "salary * 2"}), "SELECT p.pay AS pay FROM people p"), model{Tables: people()}},
		{"a logical query of the model's names", logical(people(column{Name: "label", Expr: "name || country"}),
			"SELECT label AS l FROM people ORDER BY l"),
			logical(people(column{Name: "label", Expr: "name || country"}), "SELECT label AS l FROM people ORDER BY l")},
		{"a logical query of a denied computed column", logical(people(column{Name: "pay", Expr: "salary * 2"}),
			"SELECT pay FROM people"), model{Tables: people()}},
		{"a logical query of a stored table", logical(people(column{Name: "label", Expr: "name"}),
			"SELECT label FROM customers"),
			model{Tables: people(column{Name: "label", Expr: "name"})}},
	} {
		say := func(m model) string { return string(testutil.Value(json.MarshalIndent(m, "", " "))(t)) }
		before := say(test.m)
		golden.Equal(t, say(test.want), say(test.m.Restrict(shopSchema("id", "name", "country"))), test.reason)
		golden.Equal(t, before, say(test.m), test.reason+": the model itself")
		for _, x := range test.m.Restrict(shopSchema("id", "name", "country")).Metrics {
			if want := test.want.Metrics[0].GroupBy != nil; (x.GroupBy != nil) != want {
				t.Errorf("%s: %s may be grouped by %#v; nil means any column", test.reason, x.Name, x.GroupBy)
			}
		}
	}
}
