package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// What is read of a schema: tables and columns with their comments, keys.
func ExampleDialect() {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // a database in memory belongs to its connection
	_, err = pool.Exec(`CREATE TABLE orders ( -- what customers bought
		id INTEGER PRIMARY KEY, -- order number
		/* in cents */
		total INTEGER NOT NULL DEFAULT 0,
		first INTEGER REFERENCES orders -- the order that this one changes
	)`)
	if err != nil {
		fmt.Println(err)
		return
	}
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
	for _, t := range s.Tables {
		fmt.Printf("%s: %s\n", t.Name, t.Description)
		for _, c := range t.Columns {
			fmt.Printf("  %s %s: %s\n", c.Name, c.Type, c.Description)
		}
		for _, key := range t.ForeignKeys {
			fmt.Printf("  %v -> %s%v\n", key.Columns, key.RefTable, key.RefColumns)
		}
	}
	// Output:
	// orders: what customers bought
	//   id INTEGER: order number
	//   total INTEGER: in cents
	//   first INTEGER: the order that this one changes
	//   [first] -> orders[id]
}
