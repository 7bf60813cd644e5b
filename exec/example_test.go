package exec_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

func Example() {
	pool, err := sql.Open("sqlite3", ":memory:") // "file:shop.db?mode=ro"
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // a database in memory belongs to its connection
	_, err = pool.Exec(`
		CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		INSERT INTO customers VALUES (1, 'Ann', 'USA'), (2, 'Bo', 'Peru'), (3, 'Cy', 'USA')`)
	if err != nil {
		log.Fatal(err)
	}

	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	table, err := db.Query(ctx, "SELECT name FROM customers WHERE country = 'USA'")
	if err != nil {
		log.Fatal(err)
	}
	table.WriteTable(os.Stdout)

	_, err = db.Query(ctx, "SELECT 1; DROP TABLE customers")
	fmt.Println(errors.Is(err, exec.ErrNotReadOnly))
	// Output:
	// name
	// ----
	// Ann
	// Cy
	// (2 rows)
	// true
}

// A policy keeps a column out of every statement, whichever way it is read.
func ExamplePolicy() {
	pool, _ := openShop()
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{
		Policy: exec.Policy{DenyColumns: []string{"customers.name"}},
	})
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	for _, text := range []string{
		"SELECT country FROM customers",
		"SELECT * FROM customers",
		"SELECT count(*) FROM customers JOIN (SELECT 'Ann' AS name) USING (name)",
	} {
		_, err := db.Query(ctx, text)
		fmt.Println(err)
	}
	// Output:
	// <nil>
	// exec: refused (column): * would read columns of customers that may not be read: name the columns that you need
	// exec: refused (column): customers.name may not be read
}

func ExampleDB_Analyze() {
	pool, db := openShop()
	defer pool.Close()
	a, err := db.Analyze(context.Background(),
		"SELECT c.name, sum(o.total) FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id")
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range a.Tables {
		fmt.Println(t.Table, t.Columns)
	}
	fmt.Println(a.Functions)
	// Output:
	// customers [id name]
	// orders [customer total]
	// [sum]
}

// SQLite takes a misspelt name in double quotes for a string.
func ExampleDB_Examine() {
	pool, db := openShop()
	defer pool.Close()
	c, err := db.Examine(context.Background(), `SELECT "nmae" FROM customers WHERE country = "Chile"`)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range c.Findings {
		fmt.Println(f.Rule+":", f.Detail)
	}
	// Output:
	// name-as-string: no column is named "nmae" here, so the engine takes it for a string
	// empty: the statement has no rows
	// value-absent: customers.country holds none of the texts it is compared with
}

// A check of one's own stands beside the others.
func ExampleCheckFunc() {
	pool, db := openShop()
	defer pool.Close()
	noStar := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
		if strings.Contains(c.SQL, "*") {
			c.Findings = append(c.Findings, exec.Finding{Rule: "star", Detail: "name the columns"})
		}
		return nil
	})
	c, err := db.Examine(context.Background(), "SELECT * FROM customers", exec.ReadOnly{}, noStar, exec.Execute{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(len(c.Table.Rows), c.Findings)
	// Output: 3 [{star name the columns}]
}

func ExampleDB_Probe() {
	pool, db := openShop()
	defer pool.Close()
	ctx := context.Background()
	for _, country := range []string{"USA", "usa"} {
		stored, err := db.Probe(ctx, "", "customers", "country", country)
		fmt.Println(country, stored, err)
	}
	// Output:
	// USA true <nil>
	// usa false <nil>
}

// What became of a statement decides what to do next.
func ExampleIsRejection() {
	pool, db := openShop()
	defer pool.Close()
	for _, text := range []string{
		"SELECT nmae FROM customers",
		"SELECT load_extension('x')",
		"SELECT abs(-9223372036854775808)",
	} {
		_, err := db.Query(context.Background(), text)
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) {
			fmt.Println("repair:", invalid.Fault, invalid.Name)
			continue
		}
		fmt.Println("failed:", exec.IsRejection(err), err)
	}
	// Output:
	// repair: schema nmae
	// failed: true exec: refused (function): the function load_extension is not on the list; Policy.AllowFunctions adds to it
	// repair: run
}

// Many statements, one after the other, on one guarded connection.
func ExampleDB_Runner() {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		log.Fatal(err)
	}
	session, err := db.Runner(exec.Bounds{Rows: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	for _, text := range []string{"VALUES (1), (2), (3)", "DROP TABLE t", "SELECT 'still at work'"} {
		table, err := session.Query(context.Background(), text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(table.Rows, table.Truncated)
	}
	// Output:
	// [[1] [2]] true
	// exec: refused (not-read-only): the statement starts with DROP
	// [[still at work]] false
}
