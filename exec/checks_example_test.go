package exec_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
)

// The first check that any text should pass: one statement, reading, compiled,
// within the policy. It runs nothing.
func ExampleReadOnly() {
	pool, db := openShop()
	defer pool.Close()
	for _, text := range []string{
		" SELECT name FROM customers; -- all of them",
		"SELECT 1; SELECT 2",
		"UPDATE customers SET name = ''",
		"SELECT nmae FROM customers",
	} {
		c, err := db.Examine(context.Background(), text, exec.ReadOnly{})
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Printf("%q reads %v\n", c.SQL, c.Analysis.Tables)
	}
	// Output:
	// "SELECT name FROM customers" reads [{main customers [name]}]
	// exec: refused (several-statements): the text goes on behind its first statement
	// exec: refused (not-read-only): the statement starts with UPDATE
	// exec: invalid statement (schema): no such column: nmae
}

// As a finding a misspelt name costs a doubt; with Reject it fails the statement,
// for which a model can be asked to repair it.
func ExampleUnknownNames() {
	pool, db := openShop()
	defer pool.Close()
	const text = `SELECT "nmae" FROM customers`
	for _, names := range []exec.UnknownNames{{}, {Reject: true}} {
		c, err := db.Examine(context.Background(), text, names)
		fmt.Println(c.Findings, err)
	}
	// Output:
	// [{name-as-string no column is named "nmae" here, so the engine takes it for a string}] <nil>
	// [] exec: invalid statement (schema): no such column: nmae
}

// Rows by hand: within bounds of one's own, and with a word on what is odd.
func ExampleExecute() {
	pool, db := openShop()
	defer pool.Close()
	few := []exec.Check{exec.ReadOnly{}, exec.Execute{Bounds: exec.Bounds{Rows: 2}}, exec.EmptyResult{}}
	for _, text := range []string{
		"SELECT name FROM customers",
		"SELECT name FROM customers WHERE country = 'usa'",
		"SELECT total FROM orders WHERE id = 3",
	} {
		c, err := db.Examine(context.Background(), text, few...)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Table.Rows, "more:", c.Table.Truncated, c.Findings)
	}
	// Output:
	// [[Ann] [Bo]] more: true []
	// [] more: false [{empty the statement has no rows} {value-absent customers.country holds none of the texts it is compared with}]
	// [[<nil>]] more: false [{all-null every value of the result is NULL}]
}

// What may not run can still be compared: by its plan.
func ExamplePlanChecks() {
	pool, db := openShop()
	defer pool.Close()
	for _, text := range []string{"SELECT name FROM customers WHERE id = 1", "SELECT name FROM customers WHERE name = 'Ann'"} {
		c, err := db.Examine(context.Background(), text, exec.PlanChecks()...)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(c.Plan.Signature(), c.Plan.Cost(), c.Table)
	}
	// Output:
	// search:customers:pk 0 <nil>
	// scan:customers:full 100 <nil>
}

// Checks of one's own go behind those that are there.
func ExampleDefaultChecks() {
	pool, db := openShop()
	defer pool.Close()
	oneColumn := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
		if c.Table == nil { // where nothing may be executed
			return nil
		}
		if n := len(c.Table.Columns); n != 1 {
			return &exec.RefusedError{Reason: "one-column", Detail: fmt.Sprintf("it has %d columns", n)}
		}
		return nil
	})
	_, err := db.Examine(context.Background(), "SELECT id, name FROM customers", append(exec.DefaultChecks(), oneColumn)...)
	fmt.Println(err, exec.IsRejection(err))
	// Output: exec: refused (one-column): it has 2 columns true
}

// A statement that is too wide leaves no result, and the error says which limit
// it met; too many rows are cut instead.
func ExampleLimitError() {
	pool, db := openShop()
	defer pool.Close()
	narrow := exec.Bounds{Columns: 2, Rows: 1}
	for _, text := range []string{"SELECT * FROM customers", "SELECT id, name FROM customers"} {
		table, err := db.QueryWithin(context.Background(), text, narrow)
		var limit *exec.LimitError
		if errors.As(err, &limit) {
			fmt.Println("over the limit on", limit.Limit, "of", limit.Max)
			continue
		}
		fmt.Println(table.Rows, "cut:", table.Truncated, err)
	}
	// Output:
	// over the limit on columns of 2
	// [[1 Ann]] cut: true <nil>
}

// The rule says why a statement was refused, Writes that it was no accident of
// spelling.
func ExampleRefusedError() {
	pool, db := openShop()
	defer pool.Close()
	for _, text := range []string{
		"DELETE FROM customers",
		"SELECT name FROM sqlite_master",
		"PRAGMA table_info(customers)",
	} {
		_, err := db.Query(context.Background(), text)
		var refused *exec.RefusedError
		if errors.As(err, &refused) {
			fmt.Println(refused.Reason, "writes:", refused.Writes, "-", refused.Detail)
		}
	}
	// Output:
	// not-read-only writes: true - the statement starts with DELETE
	// table writes: false - sqlite_master is no table of the schema
	// not-read-only writes: true - the statement starts with PRAGMA
}

// The fault decides whether asking a model again makes sense.
func ExampleInvalidError() {
	pool, db := openShop()
	defer pool.Close()
	for _, text := range []string{
		"SELECT name FORM customers",
		"SELECT c.nmae FROM customers c",
		"SELECT name FROM customers WHERE count(*) > 1",
		"SELECT json('{')",
	} {
		_, err := db.Query(context.Background(), text)
		var invalid *exec.InvalidError
		if errors.As(err, &invalid) {
			fmt.Printf("%s: %s %q\n", invalid.Fault, invalid.Message, invalid.Name)
		}
	}
	// Output:
	// syntax: near "customers": syntax error ""
	// schema: no such column: c.nmae "c.nmae"
	// compile: misuse of aggregate function count() ""
	// run: malformed JSON ""
}
