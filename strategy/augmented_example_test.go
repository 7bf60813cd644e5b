package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/strategy"
)

// What a model sees of two tables, sample rows and all.
func ExampleAugmented() {
	env := exampleEnv(nil)
	messages, err := strategy.Augmented{Rows: 2}.Prompt(context.Background(), env, strategy.PromptInput{Task: exampleTask, Schema: env.Schema})
	fmt.Println(messages[1].Text, err)
	// Output:
	// ### Schema
	// CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT NOT NULL)
	// -- Sample data from customers:
	// -- Columns: id, name, country
	// -- Example: (1, "Ada", "USA")
	// -- Example: (2, "Bo", "Norway")
	//
	// CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers(id), total REAL)
	// -- Sample data from orders:
	// -- Columns: id, customer_id, total
	// -- Example: (1, 1, 10.5)
	// -- Example: (2, 2, 20.0)
	//
	// ### Question
	// Which customers live in the USA?
	//  <nil>
}

// The rows of prompts are read once for all questions. What changes in a table
// does not show, so that the same question has the same prompt; without a snapshot it
// does.
func ExampleEnv_Samples() {
	ctx := context.Background()
	pool, env := exampleShop(nil)
	defer pool.Close()
	for _, env.Snapshot = range []*snapshot.Snapshot{env.Snapshot, env.Snapshot, nil} {
		samples, err := env.Samples(ctx, env.Schema, exec.SampleOptions{Rows: 1})
		fmt.Println(samples[0].Table, samples[0].Rows, err)
		if _, err := pool.Exec("UPDATE customers SET name = 'Zoe' WHERE id = 1"); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// customers [[1 Ada USA]] <nil>
	// customers [[1 Ada USA]] <nil>
	// customers [[1 Zoe USA]] <nil>
}
