package sqlite_test

import (
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
)

// Rows that were recorded elsewhere can be read without a database.
func ExampleReadPlan() {
	plan := sqlite.ReadPlan("SELECT * FROM customers AS T1 WHERE T1.id IN (SELECT T1.customer FROM orders AS T1)", []exec.PlanRow{
		{ID: 2, Detail: "SEARCH T1 USING INTEGER PRIMARY KEY (rowid=?)"},
		{ID: 5, Detail: "LIST SUBQUERY 1"},
		{ID: 7, Parent: 5, Detail: "SCAN T1"},
	})
	fmt.Println(plan.Signature())
	// Output:
	// search:customers:pk,list(scan:orders:full)
}
