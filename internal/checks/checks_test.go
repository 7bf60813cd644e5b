package checks_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/checks"
)

// A join that two aliases spell is the same join.
func ExampleColumnNames() {
	pool, err := sql.Open("sqlite3", "file:columns?mode=memory&cache=shared")
	if err == nil {
		_, err = pool.Exec("CREATE TABLE customers (id INTEGER PRIMARY KEY); CREATE TABLE orders (id INTEGER PRIMARY KEY, " +
			"customer INTEGER)")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := db.Schema(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	names := checks.ColumnNames(s, db.Language().PromptQuoter())
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
