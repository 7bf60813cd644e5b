package egtts_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Strings are looked up where they are compared; a number or a pattern is not.
func ExampleProbing() {
	env := strategytest.ExampleEnv(nil)
	var probing egtts.Probing // one for each question: it remembers what it looked up
	for _, sql := range []string{
		"SELECT name FROM customers WHERE country = 'usa'",
		"SELECT total FROM orders JOIN customers c ON c.id = customer_id WHERE c.country IN ('USA', 'Peru')",
		"SELECT name FROM customers WHERE name LIKE 'A%' AND id > 1",
	} {
		c, err := env.DB.Examine(context.Background(), sql, &probing)
		fmt.Println(c.Findings, err)
	}
	// Output:
	// [{literal-missing customers.country 0 false}] <nil>
	// [{literal-stored customers.country 0 false} {literal-missing customers.country 0 false}] <nil>
	// [] <nil>
}

// A vote by result in which stored literals break ties.
func ExampleMoreStored() {
	env := strategytest.ExampleEnv(strategytest.ExampleModel(
		"SELECT name FROM customers WHERE country <> 'U.S.'",
		"SELECT name FROM customers WHERE country <> 'USA'",
	))
	probing := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 2, Temperature: 0.7},
		Checks:  append(env.Checks(), &egtts.Probing{}),
		Voter:   vote.Majority{Tie: vote.Ties(vote.PreferRows, egtts.MoreStored)},
	}
	out, err := probing.Generate(context.Background(), env,
		strategy.Task{Question: "Which customers do not live in the USA?"})
	fmt.Println(out.SQL, err)
	for _, c := range out.Candidates {
		fmt.Println(c.Sample, c.Findings[0].Rule)
	}
	// Output:
	// SELECT name FROM customers WHERE country <> 'USA' <nil>
	// 0 literal-missing
	// 1 literal-stored
}

// What a model sees of two tables, sample rows and all.
func ExampleAugmentedPrompt() {
	env := strategytest.ExampleEnv(nil)
	task := strategy.Task{Question: "Which customers live in the USA?"}
	messages, err := egtts.AugmentedPrompt{Rows: 2}.Prompt(context.Background(), env,
		strategy.PromptInput{Task: task, Schema: env.Schema})
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
