package exec_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/schema"
)

// A join that two aliases spell is the same join.
func ExampleColumnNames() {
	pool, db := openShop()
	defer pool.Close()
	s, err := db.Schema(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	names := exec.ColumnNames(s, db.Dialect())
	for _, sql := range []string{
		"SELECT 1 FROM customers c JOIN orders o ON c.id = o.customer",
		"SELECT 1 FROM orders T1, customers T2 WHERE customer = T2.id",
	} {
		for _, c := range db.Language().Text.Parse(sql).Conditions(names) {
			fmt.Println(c.Key)
		}
	}
	// Output:
	// customers.id = orders.customer
	// customers.id = orders.customer
}

func ExampleNames() {
	names := exec.Names{Dialect: sqlite.Dialect{}}
	fmt.Println(schema.TableName{Schema: "archive", Name: "order items"}.Quoted(names))
	// Output: archive."order items"
}
