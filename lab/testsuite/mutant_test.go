package testsuite

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/schema"
)

// twoTables: every order has a customer, not every customer an order.
var twoTables = &schema.Schema{Tables: []schema.Table{
	{
		Name: "customers", PrimaryKey: []string{"id"},
		Columns: []schema.Column{{Name: "id", NotNull: true}, {Name: "name", NotNull: true}, {Name: "phone"}},
	},
	{
		Name: "orders", PrimaryKey: []string{"id"},
		Columns:     []schema.Column{{Name: "id", NotNull: true}, {Name: "customer", NotNull: true}, {Name: "total"}, {Name: "day"}},
		ForeignKeys: []schema.ForeignKey{{Columns: []string{"customer"}, RefTable: "customers", RefColumns: []string{"id"}}},
	},
}}

func TestMutants(t *testing.T) {
	for _, test := range []struct {
		why, gold string
		want      []string
	}{
		{"nothing to get wrong", "SELECT name FROM customers", nil},
		{"no SQL at all", "what is this ((", nil},
		{"empty", "", nil},
		{
			"a border and its number",
			"SELECT id FROM orders WHERE total > 10",
			[]string{
				"SELECT id FROM orders WHERE total >= 10", "SELECT id FROM orders", "SELECT id FROM orders WHERE total > 9",
				"SELECT id FROM orders WHERE total > 11",
			},
		},
		{
			"one conjunct at a time, BETWEEN has an AND of its own",
			"SELECT id FROM orders WHERE total BETWEEN 1 AND 5 AND day = 'x'",
			[]string{
				"SELECT id FROM orders WHERE day = 'x'", "SELECT id FROM orders WHERE total BETWEEN 1 AND 5",
				"SELECT id FROM orders WHERE total BETWEEN 0 AND 5 AND day = 'x'", "SELECT id FROM orders WHERE total BETWEEN 2 AND 5 AND day = 'x'",
				"SELECT id FROM orders WHERE total BETWEEN 1 AND 4 AND day = 'x'", "SELECT id FROM orders WHERE total BETWEEN 1 AND 6 AND day = 'x'",
			},
		},
		{"the parts of an OR are no conjuncts", "SELECT id FROM orders WHERE day = 'x' OR day = 'y'", nil},
		{"a date moves by a day", "SELECT id FROM orders WHERE day IN ('2020-02-29')", []string{
			"SELECT id FROM orders", "SELECT id FROM orders WHERE day IN ('2020-02-28')", "SELECT id FROM orders WHERE day IN ('2020-03-01')",
		}},
		{"DISTINCT and MIN", "SELECT DISTINCT MIN(total) FROM orders", []string{"SELECT MIN(total) FROM orders", "SELECT DISTINCT MAX(total) FROM orders"}},
		{"COUNT(*) for a column that may be NULL", "SELECT COUNT(*) FROM customers AS c", []string{`SELECT COUNT("c"."phone") FROM customers AS c`}},
		{"COUNT of a column that may be NULL", "SELECT COUNT(phone) FROM customers", []string{"SELECT COUNT(*) FROM customers"}},
		{"COUNT of a column that may not", "SELECT COUNT(name) FROM customers", nil},
		{"a LEFT JOIN makes NULLs", "SELECT c.id, COUNT(o.id) FROM customers c LEFT JOIN orders o ON o.customer = c.id GROUP BY c.id", []string{
			"SELECT c.id, COUNT(o.id) FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id",
		}},
		{"a join that may find nothing", "SELECT c.id FROM customers c JOIN orders o ON o.customer = c.id", []string{
			"SELECT c.id FROM customers c LEFT JOIN orders o ON o.customer = c.id",
		}},
		{"WHERE mostly drops what a LEFT JOIN adds", "SELECT c.id FROM customers c JOIN orders o ON o.customer = c.id WHERE o.day = 'x'", []string{
			"SELECT c.id FROM customers c JOIN orders o ON o.customer = c.id",
		}},
		{"LIMIT", "SELECT id FROM orders ORDER BY day LIMIT 1", []string{"SELECT id FROM orders ORDER BY day LIMIT 0", "SELECT id FROM orders ORDER BY day LIMIT 2"}},
		{"at any depth", "SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE total < 5 ) AND phone = 'x'", []string{
			"SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE total <= 5 ) AND phone = 'x'",
			"SELECT name FROM customers WHERE phone = 'x'",
			"SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE total < 5 )",
			"SELECT name FROM customers WHERE id IN (SELECT customer FROM orders) AND phone = 'x'",
			"SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE total < 4 ) AND phone = 'x'",
			"SELECT name FROM customers WHERE id IN (SELECT customer FROM orders WHERE total < 6 ) AND phone = 'x'",
		}},
		{"operators in text and comments are none", "SELECT '>' FROM customers -- WHERE 1 > 2", nil},
		{"a number with a point", "SELECT id FROM orders HAVING total = 1.50", []string{
			"SELECT id FROM orders", "SELECT id FROM orders HAVING total = 0.50", "SELECT id FROM orders HAVING total = 2.50",
		}},
	} {
		t.Run(test.why, func(t *testing.T) {
			var got []string
			for _, m := range mutants(twoTables, Gold{SQL: test.gold}) {
				got = append(got, m.SQL)
				if m.Edit == "" {
					t.Errorf("no edit for %s", m.SQL)
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Without a schema anything may be NULL, and no join is known to find its row.
func TestMutantsWithoutSchema(t *testing.T) {
	var edits []string
	for _, m := range mutants(nil, Gold{SQL: "SELECT COUNT(c.name) FROM orders o JOIN customers c ON o.customer = c.id"}) {
		edits = append(edits, m.Edit)
	}
	if want := []string{"count(column) to count(*)", "inner to left"}; !slices.Equal(edits, want) {
		t.Errorf("got %v, want %v", edits, want)
	}
}

func FuzzMutants(f *testing.F) {
	f.Add("SELECT COUNT(*) FROM customers c LEFT OUTER JOIN orders o USING (id) WHERE a > (SELECT 1 AND 2) HAVING MAX(x) <= -3 LIMIT 5")
	f.Add("WHERE AND HAVING ON AND ( OR ) BETWEEN 1 AND COUNT( MIN( JOIN LEFT JOIN DISTINCT ''")
	f.Fuzz(func(t *testing.T, gold string) {
		for _, s := range []*schema.Schema{nil, twoTables} {
			found := mutants(s, Gold{SQL: gold})
			for i, m := range found {
				if m.SQL == gold {
					t.Errorf("a mutant is its gold: %q", gold)
				}
				if slices.ContainsFunc(found[:i], func(o Mutant) bool { return o.SQL == m.SQL }) {
					t.Errorf("a mutant comes twice: %q", m.SQL)
				}
			}
		}
	})
}
