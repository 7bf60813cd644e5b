package threephase_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing/fstest"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// Two tables stay, and the model says that nothing joins them: the user is asked. The choice comes back as a
// correction.
func ExampleStrategy() {
	env := strategytest.ExampleEnv(&scripted{
		tables: []string{"customers", "orders"}, synthesis: map[string]any{"joins_needed": false},
		sql: []string{"SELECT nme FROM customers", "SELECT name FROM customers"},
	})
	task := strategy.Task{Question: "List the names."}
	_, err := threephase.Strategy{}.Generate(context.Background(), env, task)
	var question *session.QuestionError
	if errors.As(err, &question) {
		for _, o := range question.Options {
			fmt.Println(o.ID, o.Label)
		}
		task.Corrections = append(task.Corrections, session.Correction{
			Kind: dialogue.CorrectTable, Tables: named("customers"), Rejected: named("orders"),
		})
	}
	out, err := threephase.Strategy{}.Generate(context.Background(), env, task)
	for _, s := range out.Steps {
		fmt.Println(s.Status, s.SQL)
	}
	fmt.Println(err)
	// Output:
	// t1 customers: it is about it
	// t2 orders: it is about it
	// rejected SELECT nme FROM customers
	// ok SELECT name FROM customers
	// <nil>
}

// A failure says what was tried and what the user can do.
func ExampleFailureError() {
	env := strategytest.ExampleEnv(&scripted{})
	_, err := threephase.Strategy{}.Generate(context.Background(), env, strategy.Task{Question: "How is the weather?"})
	var failure *threephase.FailureError
	if errors.As(err, &failure) {
		fmt.Println(failure.Failure.Error)
		fmt.Println(failure.Failure.Recommendations[0])
	}
	// Output:
	// linker: no table is relevant to the question; name what it is about as the tables do
	// Ask again with the names of the things that the tables are about.
}

// The data dictionary of the method: a CSV file a table, a line a column. The schema goes into texttosql.WithSchema, or
// into the Env of a strategy; columns that hold personal data show no stored value to a model.
func ExampleStrategy_dictionary() {
	files := fstest.MapFS{
		"customers.csv": {Data: []byte("name,business name,type,primary,PII\nid,,INTEGER,Y,N\nmail,e-mail " +
			"address,TEXT,N,Y\n")}}
	paths, err := fs.Glob(files, "*.csv")
	if err != nil {
		panic(err)
	}
	var declared schema.Schema
	for _, path := range paths {
		text, err := fs.ReadFile(files, path)
		if err != nil {
			panic(err)
		}
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			panic(err)
		}
		table := schema.Table{Name: strings.TrimSuffix(path, ".csv"), Kind: "table"}
		for _, line := range lines[1:] {
			table.Columns = append(table.Columns, schema.Column{Name: line[0], Title: line[1], Type: line[2],
				Sensitive: line[4] == "Y"})
			if line[3] == "Y" {
				table.PrimaryKey = append(table.PrimaryKey, line[0])
			}
		}
		declared.Tables = append(declared.Tables, table)
	}
	for _, column := range declared.Tables[0].Columns {
		fmt.Println(column.Name, column.Title, column.Sensitive)
	}
	// Output:
	// id  false
	// mail e-mail address true
}
