package exec_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
)

func ExampleDB_Profile() {
	pool, db := openShop()
	defer pool.Close()
	ctx := context.Background()
	s, err := db.Schema(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err = db.Profile(ctx, s, exec.ProfileOptions{Tables: []string{"customers"}})
	if err != nil {
		fmt.Println(err)
		return
	}
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
	pool, db := openShop()
	defer pool.Close()
	ctx := context.Background()
	s, err := db.Schema(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	orders, _ := s.Lookup("", "orders")
	sample, err := db.Sample(ctx, *orders, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
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
