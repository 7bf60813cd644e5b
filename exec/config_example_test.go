package exec_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// Limits that are not set are their defaults.
func ExampleLimits() {
	pool, _ := openShop()
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{
		Limits: exec.Limits{Answer: exec.Bounds{Rows: 50, Timeout: 5 * time.Second}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%+v\n%+v\n", db.Limits().Answer, db.Limits().Candidate)

	_, err = exec.New(pool, sqlite.Dialect{}, exec.Config{Limits: exec.Limits{Connections: -1}})
	fmt.Println(err)
	// Output:
	// {Rows:50 Bytes:4194304 CellBytes:1000000 Columns:500 Timeout:5s}
	// {Rows:10000 Bytes:4194304 CellBytes:1000000 Columns:500 Timeout:3s}
	// exec: Limits.Connections is negative
}

// Tables on no list are neither shown nor read, not even counted.
func ExamplePolicy_tables() {
	pool, _ := openShop()
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{
		Policy: exec.Policy{AllowTables: []string{"orders"}, DenyColumns: []string{"total"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	s, err := db.Schema(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, t := range s.Tables {
		fmt.Print(t.Name)
		for _, c := range t.Columns {
			fmt.Print(" ", c.Name)
		}
		fmt.Println()
	}
	_, err = db.Query(ctx, "SELECT count(*) FROM customers")
	fmt.Println(err)
	// Output:
	// orders id customer
	// exec: refused (table): customers is no table that may be read
}

// A slip of the pen in a policy is found before the first question.
func ExamplePolicyError() {
	pool, _ := openShop()
	defer pool.Close()
	db, err := exec.New(pool, sqlite.Dialect{}, exec.Config{
		Policy: exec.Policy{DenyTables: []string{"order"}, DenyColumns: []string{"customers.nmae", "customers.country"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var policy *exec.PolicyError
	if errors.As(db.Ready(context.Background()), &policy) {
		for _, entry := range policy.Unknown {
			fmt.Println(entry)
		}
	}
	// Output:
	// DenyTables: "order"
	// DenyColumns: "customers.nmae"
}
