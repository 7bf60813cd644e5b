package duckdb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// A DuckDB file, for reading only, as the guard wants it.
func ExampleOpen() {
	folder, err := os.MkdirTemp("", "example-")
	must(err)
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "shop.duckdb")
	owner, err := sql.Open("duckdb", file)
	must(err)
	_, err = owner.Exec("CREATE TABLE orders AS SELECT 1 AS id, 9.50 AS total UNION ALL SELECT 2, 20.25")
	must(errors.Join(err, owner.Close()))

	pool, err := duckdb.Open(file, duckdb.Options{MemoryBytes: 256 << 20})
	must(err)
	defer pool.Close()
	db, err := exec.New(pool, duckdb.Dialect{}, exec.Config{})
	must(err)
	ctx := context.Background()
	table, err := db.Query(ctx, "FROM orders SELECT sum(total) AS total")
	must(err)
	fmt.Println(table.Columns, table.Rows)
	_, err = db.Query(ctx, "SELECT * FROM read_text('/etc/passwd')")
	fmt.Println(err)
	_, err = db.Query(ctx, "DROP TABLE orders")
	fmt.Println(err)
	// Output:
	// [total] [[29.75]]
	// exec: refused (function): the table function read_text is not on the list: a statement reads no files: the files that may be read are tables of the schema
	// exec: refused (not-read-only): the statement starts with DROP
}

// A folder of files, each of which is a table.
func ExampleOpenFolder() {
	folder, err := os.MkdirTemp("", "example-")
	must(err)
	defer os.RemoveAll(folder)
	must(os.WriteFile(filepath.Join(folder, "people.csv"), []byte("id,name\n1,Ada\n2,Bo\n"), 0o600))
	must(os.WriteFile(filepath.Join(folder, "visits.jsonl"), []byte(`{"person": 1, "days": 3}`+"\n"), 0o600))

	ctx := context.Background()
	pool, err := duckdb.OpenFolder(ctx, folder, duckdb.Options{})
	must(err)
	defer pool.Close()
	db, err := exec.New(pool, duckdb.Dialect{}, exec.Config{})
	must(err)
	table, err := db.Query(ctx, "SELECT name, days FROM people JOIN visits ON person = id")
	must(err)
	fmt.Println(table.Rows)
	// Output: [[Ada 3]]
}

// A handle that the guard cannot make safe is refused, with what to do.
func ExampleDialect() {
	pool, err := sql.Open("duckdb", "")
	must(err)
	defer pool.Close()
	db, err := exec.New(pool, duckdb.Dialect{}, exec.Config{})
	must(err)
	err = db.Ready(context.Background())
	fmt.Println(errors.As(err, new(*exec.UnguardedError)))
	// Output: true
}

// A column that nobody may read.
func ExampleDialect_Guard() {
	folder, err := os.MkdirTemp("", "example-")
	must(err)
	defer os.RemoveAll(folder)
	must(os.WriteFile(filepath.Join(folder, "people.csv"), []byte("id,name,salary\n1,Ada,100\n"), 0o600))
	ctx := context.Background()
	pool, err := duckdb.OpenFolder(ctx, folder, duckdb.Options{})
	must(err)
	defer pool.Close()
	db, err := exec.New(pool, duckdb.Dialect{}, exec.Config{Policy: exec.Policy{DenyColumns: []string{"people.salary"}}})
	must(err)
	for _, text := range []string{"SELECT * EXCLUDE (salary) FROM people", "SELECT COLUMNS('s.*') FROM people",
		"SELECT people FROM people"} {
		table, err := db.Query(ctx, text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(table.Columns)
	}
	// Output:
	// [id name]
	// exec: refused (column): * would read columns of people that may not be read: name the columns that you need
	// exec: refused (column): people would read columns of people that may not be read: name the columns that you need
}
