package knowledge_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/knowledge"
)

var shop = knowledge.Model{
	Tables: []knowledge.Table{
		{Name: "customers", Keys: [][]string{{"id"}}},
		{Name: "orders", Keys: [][]string{{"id"}}, Time: "ordered_at"},
		{Name: "lines"},
	},
	Relationships: []knowledge.Relationship{
		{From: "orders", To: "customers", On: [][2]string{{"customer_id", "id"}}},
		{From: "lines", To: "orders", On: [][2]string{{"order_id", "id"}}},
	},
	Metrics: []knowledge.Metric{
		{Name: "revenue", Expr: "SUM(orders.total - orders.tax)", Where: "orders.status <> 'cancelled'"},
		{Name: "orders", Expr: "COUNT(orders.*)"},
		{Name: "average_order", Expr: "{revenue} / {orders}"},
	},
}

func ExampleModel_Compile() {
	sql, err := shop.Compile(knowledge.Request{
		Metrics: []string{"revenue"}, GroupBy: []string{"customers.country"}, Where: []string{"lines.product = 'tea'"},
	}, "postgres")
	fmt.Println(strings.NewReplacer(" FROM \"orders\"", "\nFROM \"orders\"", " WHERE (EX", "\nWHERE (EX", " WHERE EX",
		"\nWHERE EX", " GROUP", "\nGROUP", " LEFT", "\nLEFT").Replace(sql), err)
	// Output:
	// SELECT t1."country" AS "customers_country", SUM(CASE WHEN (t0."status" <> 'cancelled') THEN t0."total" - t0."tax" END) AS "revenue"
	// FROM "orders" AS t0
	// LEFT JOIN "customers" AS t1 ON t0."customer_id" = t1."id"
	// WHERE EXISTS (SELECT 1 FROM "lines" AS t2 WHERE t2."order_id" = t0."id" AND (t2."product" = 'tea'))
	// GROUP BY t1."country" <nil>
}

func ExampleRequestError() {
	_, err := shop.Compile(knowledge.Request{Metrics: []string{"revenue"}, GroupBy: []string{"lines.product"}}, "sqlite")
	var why *knowledge.RequestError
	fmt.Println(errors.As(err, &why), why.Reason, why.Name)
	fmt.Println(err)
	// Output:
	// true fan-out lines
	// knowledge: fan-out: metric revenue: lines would repeat the rows that it adds up: leave it out
}

func ExampleRead() {
	m, err := knowledge.Read(strings.NewReader(`{"metrics": [{"name": "orders", "expr": "COUNT(orders.*)"}]}`))
	fmt.Println(m.Metrics[0].Expr, err)
	_, err = knowledge.Read(strings.NewReader(`{"metric": []}`))
	fmt.Println(err)
	// Output:
	// COUNT(orders.*) <nil>
	// knowledge: line 1: json: unknown field "metric"
}

func ExampleModel_Statement() {
	v := knowledge.VerifiedQuery{
		Question: "What did Ann Lee order?", SQL: "SELECT id FROM orders WHERE customer = :who",
		Params: []knowledge.Param{{Name: "who", Column: "orders.customer", Default: "Ann Lee"}},
	}
	sql, err := shop.Statement(v, map[string]string{"who": "Pat O'Hara"}, "sqlite")
	fmt.Println(sql, err)
	// Output: SELECT id FROM orders WHERE customer = 'Pat O''Hara' <nil>
}

func ExampleModel_Without() {
	sound := shop.Without([]knowledge.Fault{{Kind: "key", Name: "customers", Columns: []string{"id"}, Rows: 4,
		Distinct: 2}})
	fmt.Println(len(shop.Relationships), len(sound.Relationships))
	// Output: 2 1
}

func ExampleModel_Settled() {
	m := shop
	m.Metrics = append(m.Metrics, knowledge.Metric{Name: "visits", Expr: "COUNT(visits.*)"})
	fmt.Println(m.Settled().Metrics[3].Unsupported)
	// Output: the model has no table or relationship visits
}

func ExampleQualified() {
	fmt.Println(knowledge.Qualified("orders", "SUM(total - COALESCE(tax, 0)) / COUNT(*)"))
	fmt.Println((knowledge.Column{Expr: "CASE WHEN status = 'paid' THEN total END"}).Reads())
	fmt.Println(knowledge.Table{Name: "order lines"}.ColumnName("price"))
	// Output:
	// SUM(orders.total - COALESCE(orders.tax, 0)) / COUNT(orders.*) <nil>
	// [status total]
	// "order lines".price
}

func ExampleRename() {
	fmt.Println(knowledge.Rename("gross - tax", func(_, name string) string { return "{" + name + "}" }))
	// Output: {gross} - {tax} <nil>
}
