package exec_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// openShop makes a small database in memory.
func openShop() (*sql.DB, *exec.DB) {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	pool.SetMaxOpenConns(1) // a database in memory belongs to its connection
	_, err = pool.Exec(`
		CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, total REAL);
		INSERT INTO customers VALUES (1, 'Ann', 'USA'), (2, 'Bo', 'USA'), (3, 'Cy', 'Peru');
		INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 20), (3, 3, NULL)`)
	if err != nil {
		panic(err)
	}
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		panic(err)
	}
	return pool, db
}

// Two spellings of one question have one signature, so they are one vote even
// where nothing may run.
func ExamplePlan_Signature() {
	pool, db := openShop()
	defer pool.Close()
	for _, sql := range []string{
		"SELECT name FROM orders JOIN customers ON customers.id = customer",
		"SELECT T2.name FROM orders AS T1, customers AS T2 WHERE T1.customer = T2.id",
		"SELECT name FROM customers c LEFT JOIN orders o ON c.id = o.customer",
	} {
		plan, err := db.Explain(context.Background(), sql)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(plan.Cost(), plan.Signature())
	}
	// Output:
	// 100 scan:orders:full,search:customers:pk
	// 100 scan:orders:full,search:customers:pk
	// 150 scan:customers:full,search:orders:auto:left
}

func ExampleDB_Explain() {
	pool, db := openShop()
	defer pool.Close()
	plan, err := db.Explain(context.Background(), "SELECT country, count(*) FROM customers GROUP BY country")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, row := range plan.Rows {
		fmt.Println(row.Detail)
	}
	_, err = db.Explain(context.Background(), "SELECT nosuch FROM customers")
	fmt.Println(err)
	// Output:
	// SCAN customers
	// USE TEMP B-TREE FOR GROUP BY
	// exec: invalid statement (schema): no such column: nosuch
}
