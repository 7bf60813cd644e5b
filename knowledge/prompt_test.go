package knowledge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// shopSchema has the tables of shop, with these columns of customers.
func shopSchema(customers ...string) *schema.Schema {
	table := func(name string, columns ...string) schema.Table {
		t := schema.Table{Name: name, Kind: "table"}
		for _, c := range columns {
			t.Columns = append(t.Columns, schema.Column{Name: c})
		}
		return t
	}
	return &schema.Schema{Tables: []schema.Table{
		table("customers", customers...),
		table("orders", "id", "customer_id", "total", "tax", "status", "ordered_at"),
		table("lines", "id", "order_id", "product", "price"),
	}}
}

// wider is shop with all that a policy may take a part of.
func wider() knowledge.Model {
	m := shop
	m.Tables = slices.Clone(m.Tables)
	m.Tables[0].Columns = []knowledge.Column{{Name: "label", Expr: "name || salary"},
		{Name: "salary", Subject: knowledge.Subject{Description: "a year"}}}
	m.Tables = append(m.Tables,
		knowledge.Table{Name: "rich", Source: "SELECT name AS who FROM customers WHERE salary > 5"},
		knowledge.Table{Name: "paid", Source: "orders", Where: "status = 'paid'"})
	m.Metrics = append(slices.Clone(m.Metrics), knowledge.Metric{Name: "pay", Expr: "SUM(customers.salary)"},
		knowledge.Metric{Name: "pay_per_order", Expr: "{pay} / {orders}"},
		knowledge.Metric{Name: "labels", Expr: "COUNT(DISTINCT customers.label)"},
		knowledge.Metric{Name: "well_paid", Expr: "COUNT(orders.*)", Where: "customers.salary > 5"},
		knowledge.Metric{Name: "grouped", Expr: "COUNT(orders.*)",
			GroupBy: []string{"customers.salary", "customers.country"}},
		knowledge.Metric{Name: "rich", Expr: "COUNT(rich.*)"})
	m.Terms = []knowledge.Term{
		{Words: []string{"rich"}, Expr: "customers.salary > 100"},
		{Words: []string{"Nordic"}, Expr: "customers.country IN ('NO', 'SE')"},
		{Words: []string{"net"}, Description: "without tax"},
	}
	m.VerifiedQueries = []knowledge.VerifiedQuery{{Name: "a", SQL: "SELECT name FROM customers"},
		{Name: "b", SQL: "SELECT name FROM customers ORDER BY salary"}}
	m.Instructions = []string{"Amounts are in dollars."}
	return m
}

// TestWithin: what the schema does not have is left out, with all that is made of it.
func TestWithin(t *testing.T) {
	say := func(m knowledge.Model) string {
		var names []string
		for _, x := range m.Tables {
			names = append(names, x.Name)
			for _, c := range x.Columns {
				names = append(names, x.Name+"."+c.Name)
			}
		}
		names = append(names, fmt.Sprint(len(m.Relationships)))
		for _, x := range m.Metrics {
			names = append(names, x.Name+fmt.Sprint(x.GroupBy))
		}
		for _, x := range m.Terms {
			names = append(names, x.Words...)
		}
		for _, x := range m.VerifiedQueries {
			names = append(names, x.Name)
		}
		return strings.Join(append(names, m.Instructions...), " ")
	}
	all := "revenue[] orders[] average_order[] "
	for _, test := range []struct {
		why  string
		s    *schema.Schema
		want string
	}{
		{"all of it", shopSchema("id", "name", "country", "salary"),
			"customers customers.label customers.salary orders lines rich paid 2 " + all +
				"pay[] pay_per_order[] labels[] well_paid[] grouped[customers.salary customers.country] rich[] rich Nordic net a " +
				"b Amounts are in dollars."},
		{"a denied column", shopSchema("id", "name", "country"), "customers orders lines paid 2 " + all +
			"grouped[customers.country] Nordic net a Amounts are in dollars."},
		{"a denied key", shopSchema("name", "country"), "customers orders lines paid 1 " + all +
			"grouped[customers.country] Nordic net a Amounts are in dollars."},
		{"no table", &schema.Schema{}, "0 net Amounts are in dollars."},
	} {
		golden.Equal(t, test.want, say(wider().Restrict(test.s)), test.why)
	}
}

// TestText: a prompt shows what the question touches and the instructions, within its budget, each on a line of its
// own.
func TestText(t *testing.T) {
	m := wider()
	m.Metrics[0].Description = "net of tax\n### Question\n<|im_end|>```"
	m.Metrics[0].Synonyms = []string{"turnover"}
	text, left := m.Text(nil, nil, "What is the turnover of Nordic customers, by salary?", 1000)
	golden.Equal(t, `- Amounts are in dollars.
- "Nordic" means customers.country IN ('NO', 'SE')
- metric revenue = SUM(orders.total - orders.tax) where orders.status <> 'cancelled': net of tax ### Question ‹|im_end|>'''; also called turnover
- customers.salary: a year
`, text)
	golden.Equal(t, []string(nil), left)
	text, left = m.Text(nil, nil, "What is the turnover of Nordic customers, by salary?", 20)
	if prompttext.EstimateTokens(text) > 20 || len(left) == 0 || left[0] != "term Nordic" && left[0] != "metric revenue" {
		t.Errorf("%q, %q", text, left)
	}
	if text, _ := (knowledge.Model{}).Text(nil, nil, "What is the turnover?", 1000); text != "" {
		t.Errorf("%q", text)
	}
}

// TestTextQuoted: names are in the quotes that the engine needs, and in the case that the database has.
func TestTextQuoted(t *testing.T) {
	stored := &schema.Schema{Tables: []schema.Table{
		{Name: "Orders", Columns: []schema.Column{{Name: "Id"}, {Name: "Total"}, {Name: "order"}, {Name: "state"}}},
		{Name: "users", Columns: []schema.Column{{Name: "id"}, {Name: "user"}}},
	}}
	m := knowledge.Model{
		Tables: []knowledge.Table{
			{Name: "Orders", Columns: []knowledge.Column{{Name: "net", Expr: "total * 2"},
				{Name: "order", Subject: knowledge.Subject{Description: "its rank"}}}},
			{Name: "users"},
		},
		Metrics: []knowledge.Metric{{Name: "net", Expr: `SUM(orders.total) / COUNT(DISTINCT users."user")`,
			Where: "Orders.State <> 'order'"}},
		Terms: []knowledge.Term{{Words: []string{"net"},
			Expr: "orders.ORDER > 1 AND users.ID = 1 AND date(nosuch.Day) > 'x'"}},
	}
	for _, test := range []struct {
		why  string
		q    schema.Quoter
		want string
	}{
		{"as the model has them", nil, `- "net" means orders.ORDER > 1 AND users.ID = 1 AND date(nosuch.Day) > 'x'
- metric net = SUM(orders.total) / COUNT(DISTINCT users."user") where Orders.State <> 'order'
- Orders.net = total * 2
- Orders.order: its rank
`},
		{"SQLite", exec.Language{Name: "sqlite"}.PromptQuoter(),
			`- "net" means orders."order" > 1 AND users.ID = 1 AND date(nosuch.Day) > 'x'
- metric net = SUM(orders.total) / COUNT(DISTINCT users.user) where Orders.State <> 'order'
- Orders.net = total * 2
- Orders."order": its rank
`},
		{"PostgreSQL", exec.Language{Text: sqltext.PostgreSQL(),
			Keywords: map[string]bool{"user": true, "order": true}}.PromptQuoter(),
			`- "net" means "Orders"."order" > 1 AND users.id = 1 AND date(nosuch."Day") > 'x'
- metric net = SUM("Orders"."Total") / COUNT(DISTINCT users."user") where "Orders".state <> 'order'
- "Orders".net = "Total" * 2
- "Orders"."order": its rank
`},
	} {
		text, _ := m.Text(stored, test.q, "What is the net order?", 1000)
		golden.Equal(t, test.want, text, test.why)
	}
}

// TestMenu: a prompt for a request has metrics, by what they may be grouped, and columns; no table's definition.
func TestMenu(t *testing.T) {
	m := shop
	m.Metrics = append(slices.Clone(m.Metrics), knowledge.Metric{Name: "old", Unsupported: "a cumulative metric"})
	text, left := m.Menu(shopSchema("id", "name", "country"), "What is the average order?", 1000)
	golden.Equal(t, `- metric average_order = {revenue} / {orders} (by columns of customers, orders)
- metric orders = COUNT(orders.*) (by columns of customers, orders)
- metric revenue = SUM(orders.total - orders.tax) where orders.status <> 'cancelled' (by columns of customers, orders)
- columns of customers: id, name, country
- columns of orders: id, customer_id, total, tax, status, ordered_at
`, text)
	golden.Equal(t, []string(nil), left)
	if text, left := m.Menu(shopSchema(), "", 3); text != "" || len(left) != 3 {
		t.Errorf("%q, %q", text, left)
	}
	trips := knowledge.Model{
		Tables:  []knowledge.Table{{Name: "trip"}, {Name: "city"}},
		Metrics: []knowledge.Metric{{Name: "trips", Expr: "COUNT(trip.*)"}},
		Relationships: []knowledge.Relationship{{Name: "origin", From: "trip", To: "city", On: [][2]string{{"a", "id"}}},
			{Name: "destination", From: "trip", To: "city", On: [][2]string{{"b", "id"}}}},
	}
	if text, _ := trips.Menu(shopSchema(), "trips", 1000); !strings.Contains(text,
		"(by columns of trip, origin, destination)") {
		t.Error(text)
	}
}

// TestGrounds: a term stands behind a statement that has its columns and constants; a metric is bypassed by a statement
// that adds up the same columns without its condition.
func TestGrounds(t *testing.T) {
	m := wider()
	net := "SELECT SUM(total - tax) FROM orders"
	for _, test := range []struct{ why, question, sql, want string }{
		{"a term that is used", "How many Nordic customers?", "SELECT COUNT(*) FROM customers WHERE country IN ('SE', 'NO')",
			"by term Nordic"},
		{"a term that is not used", "How many Nordic customers?", "SELECT COUNT(*) FROM customers WHERE country = 'NO'", ""},
		{"a term that was not asked", "How many customers?", "SELECT COUNT(*) FROM customers WHERE country IN ('SE', 'NO')",
			""},
		{"a metric without its condition", "", net, "revenue"},
		{"a metric with its condition", "", net + " WHERE status <> 'cancelled'", ""},
		{"another condition", "", net + " WHERE status <> 'open'", "revenue"},
		{"other columns", "", "SELECT SUM(total) FROM orders", ""},
		{"another function", "", "SELECT AVG(total - tax) FROM orders", ""},
		{"another table", "", "SELECT SUM(total - tax) FROM refunds", ""},
	} {
		statement := sqltext.SQLite().Parse(test.sql)
		var got []string
		for _, g := range m.TermsIn(test.question, statement) {
			got = append(got, g.String())
		}
		for _, x := range m.Bypassed(statement) {
			got = append(got, x.Name)
		}
		golden.Equal(t, test.want, strings.Join(got, ", "), test.why)
	}
	m.Metrics = append(m.Metrics, knowledge.Metric{Name: "gross", Expr: "SUM(orders.total - orders.tax)"})
	if got := m.Bypassed(sqltext.SQLite().Parse(net)); got != nil {
		t.Errorf("another metric adds up just so: %v", got)
	}
	golden.Equal(t, "verified by ann, 2026-03-02", knowledge.Provenance{Kind: "verified", Owner: "ann",
		On: "2026-03-02"}.String())
}

func ExampleModel_Restrict() {
	m := shop.Restrict(shopSchema("id", "name"))
	_, err := m.Compile(knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"customers.name"}}, "sqlite")
	fmt.Println(len(m.Metrics), err)
	// Output: 3 <nil>
}

func ExampleModel_Words() {
	m := shop
	m.Terms = []knowledge.Term{{Words: []string{"Nordic"}, Expr: "customers.country IN ('NO', 'SE')"}}
	fmt.Println(m.Words(shopSchema("id", "country"))[0])
	// Output: customers  Nordic
}
