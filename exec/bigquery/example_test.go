package bigquery_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"cloud.google.com/go/bigquery"

	"github.com/texttosql/texttosql/exec"
	bq "github.com/texttosql/texttosql/exec/bigquery"
)

// exampleClient is a client of a project with a dataset "suite_data", as a program makes it by
// bigquery.NewClient(ctx, "my-project").
func exampleClient() (*bigquery.Client, func()) {
	t := &exampleT{TB: &testing.B{}}
	f := hostileFake(t)
	return f.client(), t.end
}

// exampleT is what the fake needs of a test.
type exampleT struct {
	testing.TB
	ends []func()
}

func (t *exampleT) Helper()                   {}
func (t *exampleT) Cleanup(f func())          { t.ends = append(t.ends, f) }
func (t *exampleT) Fatal(v ...any)            { panic(fmt.Sprint(v...)) }
func (t *exampleT) Error(v ...any)            { panic(fmt.Sprint(v...)) }
func (t *exampleT) Errorf(f string, v ...any) { panic(fmt.Sprintf(f, v...)) }
func (t *exampleT) TempDir() string {
	dir, err := os.MkdirTemp("", "bigquery")
	if err != nil {
		panic(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (t *exampleT) end() {
	for i := len(t.ends) - 1; i >= 0; i-- {
		t.ends[i]()
	}
}

// A statement runs as a job with a cap on its bytes. What may not be read, or would cost too much, comes to no job.
func ExampleOpen() {
	ctx := context.Background()
	client, end := exampleClient() // bigquery.NewClient(ctx, "my-project")
	defer end()
	pool := bq.Open(client, bq.Config{Dataset: "suite_data", MaxBytesBilled: 100 << 20})
	defer pool.Close()
	db, err := exec.New(pool, bq.Dialect{}, exec.Config{Policy: exec.Policy{DenyColumns: []string{"users.password"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := db.Query(ctx, "SELECT count(*) AS n FROM users WHERE address.city = 'Rome'")
	fmt.Println(table.Rows, err)
	_, err = db.Query(ctx, "SELECT password FROM users")
	fmt.Println(err)
	_, err = db.Query(ctx, "SELECT * FROM EXTERNAL_QUERY('us.mysql', 'SELECT 1')")
	fmt.Println(err)
	// Output:
	// [[1]] <nil>
	// exec: refused (column): password: no such column, or you may not read it
	// exec: refused (function): the table function EXTERNAL_QUERY is not allowed
}

// The plan of a statement is what its dry run says: the bytes that it would read, for nothing.
func ExampleDialect() {
	ctx := context.Background()
	client, end := exampleClient()
	defer end()
	pool := bq.Open(client, bq.Config{Dataset: "suite_data"})
	defer pool.Close()
	db, err := exec.New(pool, bq.Dialect{}, exec.Config{Limits: exec.Limits{EngineCost: 1 << 30}}) // bytes
	if err != nil {
		fmt.Println(err)
		return
	}
	plan, err := db.Explain(ctx, "SELECT a FROM t")
	fmt.Println(plan.EngineCost, plan.Rows[0].Detail, err)
	// Output:
	// 1000 1000 bytes are read (precise) <nil>
}
