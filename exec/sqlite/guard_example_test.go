package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"log"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

func Example() {
	pool, err := sql.Open("sqlite3", ":memory:") // "file:shop.db?mode=ro"; github.com/mattn/go-sqlite3
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(db.Ready(context.Background()))
	// Output: <nil>
}

// tracedConn is what a library makes of a connection to trace it.
type tracedConn struct{ driver.Conn }

// A library that wraps the driver hides its hooks. Unwrap finds them again.
func ExampleDialect_unwrap() {
	_ = exec.Config{
		Unwrap: func(conn any) any {
			if traced, ok := conn.(*tracedConn); ok {
				return traced.Conn
			}
			return conn
		},
	}
}

// otherConn is a connection of a driver that has the hooks under other names.
type otherConn struct{}

func (otherConn) SetAuthorizer(func(action int, a, b, database string) int) {}
func (otherConn) Limit(id, value int) int                                   { return value }

// adapter gives them the names of sqlite.Hooks.
type adapter struct{ otherConn }

func (a adapter) RegisterAuthorizer(callback func(op int, arg1, arg2, database string) int) {
	a.SetAuthorizer(callback)
}
func (a adapter) SetLimit(id, value int) int { return a.Limit(id, value) }

// Another driver than go-sqlite3 is adapted in a few lines.
func ExampleHooks() {
	_ = sqlite.Dialect{
		Hooks: func(conn any) sqlite.Hooks {
			if c, ok := conn.(otherConn); ok {
				return adapter{c}
			}
			return nil
		},
	}
}

// An Authorizer of the application stays in force, during and after.
func ExampleDialect_authorizer() {
	pool := openExample()
	defer pool.Close()
	const read = 20 // SQLITE_READ
	own := func(op int, table, column, _ string) int {
		if op == read && column == "salary" {
			return 1
		}
		return 0
	}
	db, err := exec.New(pool, sqlite.Dialect{Authorizer: own}, exec.Config{})
	if err != nil {
		log.Fatal(err)
	}
	_, err = db.Query(context.Background(), "SELECT salary FROM staff")
	fmt.Println(err)
	// Output: exec: refused (guard): the application's own authorizer does not allow it
}

// openExample makes a database in memory.
func openExample() *sql.DB {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		log.Fatal(err)
	}
	pool.SetMaxOpenConns(1)
	if _, err := pool.Exec("CREATE TABLE staff(name TEXT, salary INTEGER)"); err != nil {
		log.Fatal(err)
	}
	return pool
}

// What is read of a schema: tables and columns, keys.
func ExampleDialect() {
	pool, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1) // a database in memory belongs to its connection
	_, err = pool.Exec(`CREATE TABLE orders (
		id INTEGER PRIMARY KEY,
		total INTEGER NOT NULL DEFAULT 0,
		first INTEGER REFERENCES orders
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
		fmt.Println(t.Name)
		for _, c := range t.Columns {
			fmt.Println(" ", c.Name, c.Type)
		}
		for _, key := range t.ForeignKeys {
			fmt.Printf("  %v -> %s%v\n", key.Columns, key.RefTable, key.RefColumns)
		}
	}
	// Output:
	// orders
	//   id INTEGER
	//   total INTEGER
	//   first INTEGER
	//   [first] -> orders[id]
}
