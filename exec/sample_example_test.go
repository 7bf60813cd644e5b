package exec_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/schema"
)

func ExampleDB_Profile() {
	db := openShop(exec.Config{})
	ctx := context.Background()
	s := must(db.Schema(ctx))
	s = must(db.Profile(ctx, s, exec.ProfileOptions{Tables: []string{"customers"}}))
	customers, _ := s.Lookup("", "customers")
	country, _ := customers.Column("country")
	fmt.Println(*customers.Rows, "rows")
	fmt.Println(country.Profile.Distinct, "countries:", country.Profile.Examples)
	fmt.Println("most frequent:", country.Profile.Top[0])
	// Output:
	// 3 rows
	// 2 countries: [Peru USA]
	// most frequent: {USA 2}
}

func ExampleDB_Sample() {
	db := openShop(exec.Config{})
	ctx := context.Background()
	s := must(db.Schema(ctx))
	orders, _ := s.Lookup("", "orders")
	sample := must(db.Sample(ctx, *orders, exec.SampleOptions{Rows: 2}))
	fmt.Println(sample.Columns)
	for _, row := range sample.Rows {
		fmt.Println(row...)
	}
	fmt.Println("more rows:", sample.Truncated)
	// Output:
	// [id customer total]
	// 1 1 9.5
	// 2 1 20
	// more rows: true
}

// What a profile found goes into the text that a model reads, as examples.
func ExampleDB_Profile_prompt() {
	db := openShop(exec.Config{})
	ctx := context.Background()
	s := must(db.Schema(ctx))
	s = must(db.Profile(ctx, s, exec.ProfileOptions{Examples: 2}))
	r := must(schema.Renderer{Form: schema.MSchema}.Render(ctx, s))
	fmt.Print(r.Text)
	// Output:
	// 【Schema】
	// # Table: customers
	// [
	// (id:INTEGER, Primary Key, Examples: [1, 2]),
	// (name:TEXT, Examples: ["Ann", "Bo"]),
	// (country:TEXT, Examples: ["Peru", "USA"])
	// ]
	// # Table: orders
	// [
	// (id:INTEGER, Primary Key, Examples: [1, 2]),
	// (customer:INTEGER, Examples: [1, 3]),
	// (total:REAL, Examples: [9.5, 20.0])
	// ]
	// 【Foreign keys】
	// orders.customer=customers.id
}

func ExampleDB_Probe() {
	db := openShop(exec.Config{})
	ctx := context.Background()
	for _, country := range []string{"USA", "usa"} {
		stored, err := db.Probe(ctx, "", "customers", "country", country)
		fmt.Println(country, stored, err)
	}
	// Output:
	// USA true <nil>
	// usa false <nil>
}
