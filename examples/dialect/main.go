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

func main() {
	folder, err := os.MkdirTemp("", "dialect")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	pool, err := sql.Open("sqlite", filepath.Join(folder, "shop.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer pool.Close()
	_, err = pool.Exec(`CREATE TABLE customer(id INTEGER PRIMARY KEY, name TEXT, password TEXT, since DATE);
		INSERT INTO customer VALUES (1, 'Ada', 's3cret', '2019-05-01'), (2, 'Bob', 'hunter2', '2021-11-30')`)
	if err != nil {
		log.Fatal(err)
	}
	db, err := exec.New(pool, Dialect{}, exec.Config{Policy: exec.Policy{DenyColumns: []string{"customer.password"}}})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{
		"SELECT name, since FROM customer ORDER BY since DESC", "SELECT surname FROM customer", "SELECT * FROM customer",
		"SELECT load_extension('x.so')", "DELETE FROM customer",
	} {
		fmt.Println(text)
		if table, err := db.Query(context.Background(), text); err != nil {
			fmt.Println("\t", err)
		} else {
			fmt.Println("\t", table.Rows)
		}
	}
}
