package exec_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
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
	db := openShop(exec.Config{
		Policy: exec.Policy{DenyColumns: []string{"customers.name"}},
	})
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
	// exec: refused (column): name: no such column, or you may not read it
}

func ExampleDB_Analyze() {
	db := openShop(exec.Config{})
	a := must(db.Analyze(context.Background(),
		"SELECT c.name, sum(o.total) FROM customers c JOIN orders o ON o.customer = c.id GROUP BY c.id"))
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
	db := openShop(exec.Config{})
	c := must(db.Examine(context.Background(), `SELECT "nmae" FROM customers WHERE country = "Chile"`))
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
	db := openShop(exec.Config{})
	noStar := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
		if strings.Contains(c.SQL, "*") {
			c.Findings = append(c.Findings, vote.Finding{Rule: "star", Detail: "name the columns"})
		}
		return nil
	})
	c := must(db.Examine(context.Background(), "SELECT * FROM customers", exec.ReadOnly{}, noStar, exec.RunCheck{}))
	fmt.Println(len(c.Table.Rows), c.Findings)
	// Output: 3 [{star name the columns 0 false}]
}

// What became of a statement decides what to do next.
func ExampleIsRejection() {
	db := openShop(exec.Config{})
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
	// failed: true exec: refused (function): load_extension is not allowed here
	// repair: run
}

// Many statements, one after the other, on one guarded connection.
func ExampleDB_Runner() {
	db := openShop(exec.Config{})
	runner := must(db.Runner(exec.Bounds{Rows: 2}))
	defer runner.Close()
	for _, text := range []string{"VALUES (1), (2), (3)", "DROP TABLE t", "SELECT 'still at work'"} {
		table, err := runner.Query(context.Background(), text)
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

// The first check that any text should pass: one statement, reading, compiled,
// within the policy. It runs nothing.
func ExampleReadOnly() {
	db := openShop(exec.Config{})
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
	// exec: refused (several-statements): one statement only: remove what follows the first semicolon
	// exec: refused (not-read-only): the statement starts with UPDATE
	// exec: invalid statement (schema): no such column: nmae
}

// As a finding a misspelt name costs a doubt. The strict check fails the statement, and a model can be asked to repair
// it.
func ExamplePlanChecks_strict() {
	db := openShop(exec.Config{})
	strict := exec.PlanChecks()
	for i, check := range strict {
		if names, ok := check.(interface{ Strict() exec.Check }); ok {
			strict[i] = names.Strict()
		}
	}
	for _, checks := range [][]exec.Check{exec.PlanChecks(), strict} {
		c, err := db.Examine(context.Background(), `SELECT "nmae" FROM customers`, checks...)
		fmt.Println(c.Findings, err)
	}
	// Output:
	// [{name-as-string no column is named "nmae" here, so the engine takes it for a string 0 false}] <nil>
	// [] exec: invalid statement (schema): no such column: nmae
}

// Rows by hand: within bounds of one's own, and with a word on what is odd.
func ExampleRunCheck() {
	db := openShop(exec.Config{})
	few := []exec.Check{exec.ReadOnly{}, exec.RunCheck{Bounds: exec.Bounds{Rows: 2}},
		exec.SuspiciousResultCheck{EmptyOnly: true}}
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
	// [] more: false [{empty the statement has no rows 0 false} {value-absent customers.country holds none of the texts it is compared with 0 false}]
	// [[<nil>]] more: false [{all-null every value of the result is NULL 0 false}]
}

// What may not run can still be compared: by its plan.
func ExamplePlanChecks() {
	db := openShop(exec.Config{})
	for _, text := range []string{"SELECT name FROM customers WHERE id = 1",
		"SELECT name FROM customers WHERE name = 'Ann'"} {
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
	db := openShop(exec.Config{})
	oneColumn := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
		if c.Table == nil { // where nothing may be executed
			return nil
		}
		if n := len(c.Table.Columns); n != 1 {
			return &exec.RefusedError{Reason: "one-column", Detail: fmt.Sprintf("it has %d columns", n)}
		}
		return nil
	})
	_, err := db.Examine(context.Background(), "SELECT id, name FROM customers",
		append(exec.DefaultChecks(), oneColumn)...)
	fmt.Println(err, exec.IsRejection(err))
	// Output: exec: refused (one-column): it has 2 columns true
}

// A statement that is too wide leaves no result, and the error says which limit
// it met; too many rows are cut instead.
func ExampleLimitError() {
	db := openShop(exec.Config{})
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
	db := openShop(exec.Config{})
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
	// table writes: false - sqlite_master is no table of the schema: the tables and columns are those of the schema, and no statement reads the catalog
	// not-read-only writes: true - the statement starts with PRAGMA: the tables and columns are those of the schema, and no statement reads the catalog
}

// The fault decides whether asking a model again makes sense.
func ExampleInvalidError() {
	db := openShop(exec.Config{})
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

// Limits that are not set are their defaults.
func ExampleLimits() {
	db := openShop(exec.Config{
		Limits: exec.Limits{Answer: exec.Bounds{Rows: 50, Timeout: 5 * time.Second}},
	})
	fmt.Printf("%+v\n%+v\n", db.Limits().Answer, db.Limits().Candidate)

	_, err := exec.New(new(sql.DB), sqlite.Dialect{}, exec.Config{Limits: exec.Limits{Connections: -1}})
	fmt.Println(err)
	// Output:
	// {Rows:50 Bytes:4194304 CellBytes:1000000 Columns:500 Timeout:5s}
	// {Rows:10000 Bytes:4194304 CellBytes:1000000 Columns:500 Timeout:3s}
	// exec: Limits.Connections is negative
}

// Tables on no list are neither shown nor read, not even counted.
func ExamplePolicy_tables() {
	db := openShop(exec.Config{
		Policy: exec.Policy{AllowTables: []string{"orders"}, DenyColumns: []string{"total"}},
	})
	ctx := context.Background()
	s := must(db.Schema(ctx))
	for _, t := range s.Tables {
		fmt.Print(t.Name)
		for _, c := range t.Columns {
			fmt.Print(" ", c.Name)
		}
		fmt.Println()
	}
	_, err := db.Query(ctx, "SELECT count(*) FROM customers")
	fmt.Println(err)
	// Output:
	// orders id customer
	// exec: refused (table): customers: no such table, or you may not read it
}

// A slip of the pen in a policy is found before the first question.
func ExamplePolicyError() {
	db := openShop(exec.Config{
		Policy: exec.Policy{DenyTables: []string{"order"}, DenyColumns: []string{"customers.nmae", "customers.country"}},
	})
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

// A name stands without quotes where no engine needs them.
func ExampleLanguage_PromptQuoter() {
	names := sqlite.Dialect{}.Language().PromptQuoter()
	fmt.Println(schema.TableName{Schema: "archive", Name: "order items"}.Quoted(names))
	// Output: archive."order items"
}

// openShop is a DB on a small database in memory.
func openShop(c exec.Config) *exec.DB {
	pool := must(sql.Open("sqlite3", ":memory:"))
	pool.SetMaxOpenConns(1) // a database in memory belongs to its connection
	must(pool.Exec(`
		CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, country TEXT);
		CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers, total REAL);
		INSERT INTO customers VALUES (1, 'Ann', 'USA'), (2, 'Bo', 'USA'), (3, 'Cy', 'Peru');
		INSERT INTO orders VALUES (1, 1, 9.5), (2, 1, 20), (3, 3, NULL)`))
	return must(exec.New(pool, sqlite.Dialect{}, c))
}

// Two spellings of one question have one signature, so they are one vote even
// where nothing may run.
func ExamplePlan_Signature() {
	db := openShop(exec.Config{})
	for _, sql := range []string{
		"SELECT name FROM orders JOIN customers ON customers.id = customer",
		"SELECT T2.name FROM orders AS T1, customers AS T2 WHERE T1.customer = T2.id",
		"SELECT name FROM customers c LEFT JOIN orders o ON c.id = o.customer",
	} {
		plan := must(db.Explain(context.Background(), sql))
		fmt.Println(plan.Cost(), plan.Signature())
	}
	// Output:
	// 100 scan:orders:full,search:customers:pk
	// 100 scan:orders:full,search:customers:pk
	// 150 scan:customers:full,search:orders:auto:left
}

func ExampleDB_Explain() {
	db := openShop(exec.Config{})
	plan := must(db.Explain(context.Background(), "SELECT country, count(*) FROM customers GROUP BY country"))
	for _, row := range plan.Rows {
		fmt.Println(row.Detail)
	}
	_, err := db.Explain(context.Background(), "SELECT nosuch FROM customers")
	fmt.Println(err)
	// Output:
	// SCAN customers
	// USE TEMP B-TREE FOR GROUP BY
	// exec: invalid statement (schema): no such column: nosuch
}

// bare is a driver without the hooks that a guard needs, and its connections.
type bare struct{}

func (b bare) Connect(context.Context) (driver.Conn, error) { return b, nil }
func (b bare) Driver() driver.Driver                        { return b }
func (b bare) Open(string) (driver.Conn, error)             { return b, nil }
func (bare) Prepare(string) (driver.Stmt, error)            { return nil, errors.ErrUnsupported }
func (bare) Begin() (driver.Tx, error)                      { return nil, errors.ErrUnsupported }
func (bare) Close() error                                   { return nil }

// Nothing runs on a connection that cannot be guarded; the error says what to do.
func ExampleUnguardedError() {
	pool := sql.OpenDB(bare{})
	defer pool.Close()
	db := must(exec.New(pool, sqlite.Dialect{}, exec.Config{}))
	_, err := db.Query(context.Background(), "SELECT 1")
	var unguarded *exec.UnguardedError
	if errors.As(err, &unguarded) {
		fmt.Println(unguarded.Reason)
		fmt.Println(strings.ReplaceAll(unguarded.Remedy, ", or", ",\nor"))
	}
	// Output:
	// the driver connection exec_test.bare has not the methods RegisterAuthorizer and SetLimit
	// open the database with github.com/mattn/go-sqlite3,
	// or where a library wraps that driver give the way to it with texttosql.WithDialect or exec.Config.Unwrap,
	// or set the field Hooks of sqlite.Dialect to adapt another one
}

// must ends an example where there is an error.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// Two tenants of one database: each reads its own rows, and nobody reads without a scope.
func ExampleDB_For() {
	pool := must(sql.Open("sqlite3", ":memory:"))
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	must(pool.Exec("CREATE TABLE orders (tenant, total); INSERT INTO orders VALUES ('acme', 10), ('acme', 20), " +
		"('globex', 500)"))
	db := must(exec.New(pool, sqlite.Dialect{}, exec.Config{Policy: exec.Policy{
		Rows: map[string]string{"orders": "tenant = :tenant"},
	}}))
	for _, tenant := range []string{"acme", "globex"} {
		view := must(db.For(&exec.Scope{Key: tenant, Params: map[string]any{"tenant": tenant}}, nil))
		table := must(view.Query(context.Background(), "SELECT count(*), sum(total) FROM orders"))
		fmt.Println(tenant, table.Rows)
	}
	_, err := db.Query(context.Background(), "SELECT count(*) FROM orders")
	fmt.Println(errors.Is(err, exec.ErrNoScope))
	// Output:
	// acme [[2 30]]
	// globex [[1 500]]
	// true
}
