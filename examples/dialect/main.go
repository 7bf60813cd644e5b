package main

import (
	"context"
	"database/sql"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/exec"
)

const shop = `CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, password TEXT, since DATE);
	INSERT INTO customer VALUES (1, 'Ada', 's3cret', '2019-05-01'), (2, 'Bob', 'hunter2', '2021-11-30')`

func main() {
	folder, err := os.MkdirTemp("", "dialect")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := run(filepath.Join(folder, "shop.db")); err != nil {
		log.Fatal(err)
	}
}

// run makes a database and asks for good and bad statements.
func run(file string) error {
	pool, err := sql.Open("sqlite", file)
	if err != nil {
		return err
	}
	defer pool.Close()
	if _, err := pool.Exec(shop); err != nil {
		return err
	}
	db, err := exec.New(pool, Dialect{}, exec.Config{Policy: exec.Policy{DenyColumns: []string{"customer.password"}}})
	if err != nil {
		return err
	}
	for _, text := range []string{
		"SELECT name, since FROM customer ORDER BY since DESC", "SELECT surname FROM customer",
		"SELECT * FROM customer", "SELECT load_extension('x.so')", "DELETE FROM customer",
	} {
		table, err := db.Query(context.Background(), text)
		if err != nil {
			fmt.Printf("%s\n  %v\n", text, err)
			continue
		}
		fmt.Printf("%s\n  %v\n", text, table.Rows)
	}
	return nil
}
