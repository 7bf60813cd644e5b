package planvote_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// Where nothing may run, equal plans are equal votes, however they are spelled.
func ExamplePlain() {
	env := exampleEnv(exampleModel(
		"SELECT name FROM customers WHERE id = 1",
		"SELECT c.name FROM customers c WHERE 1 = c.id",
		"SELECT name FROM customers ORDER BY id",
		"SELECT nme FROM customers",
	))
	env.WithoutExecution = true // texttosql.WithoutExecution
	out, err := planvote.Plain{Samples: 4}.Generate(context.Background(), env, strategy.Task{Question: "Who is customer 1?"})
	fmt.Println(out.SQL, err)
	for _, c := range out.Ballot.Clusters {
		fmt.Println(c.Key, c.Members)
	}
	fmt.Println(out.Ballot.Abstained)
	// Output:
	// SELECT name FROM customers WHERE id = 1 <nil>
	// search:customers:pk [0 1]
	// scan:customers:full [2]
	// [{3 exec: invalid statement (schema): no such column: nme}]
}

// Two plans have a vote each. Probe looks up whether what they compare with is
// stored, and lets that decide.
func ExampleAugmented() {
	env := exampleEnv(exampleModel(
		"SELECT name FROM customers WHERE country <> 'U.S.'",
		"SELECT name FROM customers EXCEPT SELECT name FROM customers WHERE country = 'USA'",
	))
	task := strategy.Task{Question: "Which customers do not live in the USA?"}
	for _, probe := range []bool{false, true} {
		out, err := planvote.Augmented{Samples: 2, Probe: probe}.Generate(context.Background(), env, task)
		fmt.Println(out.SQL, err)
	}
	// Output:
	// SELECT name FROM customers WHERE country <> 'U.S.' <nil>
	// SELECT name FROM customers EXCEPT SELECT name FROM customers WHERE country = 'USA' <nil>
}

// The answer of the first round is empty, so the model is shown what it said and
// what came of it.
func ExampleFeedback() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: strategy.PurposeGenerate, Replies: llmtest.Texts(
			"SELECT name FROM customers WHERE country = 'U.S.'",
			"SELECT c.name FROM customers c WHERE c.country = 'U.S.'",
			"SELECT name FROM customers WHERE country LIKE 'United%'",
		)},
		{Purpose: "correct", Contains: "it returned no rows", Replies: llmtest.Texts(
			"", "", "", // samples 0 to 2 are those of the first round
			"SELECT name FROM customers WHERE country = 'USA'",
			"SELECT nme FROM customers WHERE country = 'USA'",
		)},
	}}
	out, err := planvote.Feedback{Samples: 3, CorrectionSamples: 2}.Generate(context.Background(), exampleEnv(model), exampleTask)
	fmt.Println(out.SQL, err)
	for _, c := range out.Candidates {
		fmt.Printf("sample %d: %d rows, rejected: %q\n", c.Sample, c.Rows, c.Rejected)
	}
	fmt.Println(out.Saved, "saved")
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
	// sample 0: 0 rows, rejected: ""
	// sample 1: 0 rows, rejected: ""
	// sample 3: 2 rows, rejected: ""
	// sample 4: 0 rows, rejected: "exec: invalid statement (schema): no such column: nme"
	// 1 saved
}

// Strings are looked up where they are compared; a number or a pattern is not.
func ExampleProbing() {
	env := exampleEnv(nil)
	var probing planvote.Probing // one for each question: it remembers what it looked up
	for _, sql := range []string{
		"SELECT name FROM customers WHERE country = 'usa'",
		"SELECT total FROM orders JOIN customers c ON c.id = customer_id WHERE c.country IN ('USA', 'Peru')",
		"SELECT name FROM customers WHERE name LIKE 'A%' AND id > 1",
	} {
		c, err := env.DB.Examine(context.Background(), sql, &probing)
		fmt.Println(c.Findings, err)
	}
	// Output:
	// [{literal-missing customers.country}] <nil>
	// [{literal-stored customers.country} {literal-missing customers.country}] <nil>
	// [] <nil>
}

// A vote by result in which stored literals break ties.
func ExampleMoreStored() {
	env := exampleEnv(exampleModel(
		"SELECT name FROM customers WHERE country <> 'U.S.'",
		"SELECT name FROM customers WHERE country <> 'USA'",
	))
	probing := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 2, Temperature: 0.7},
		Checks:  append(env.Checks(), &planvote.Probing{}),
		Voter:   vote.Majority{Tie: vote.Ties(vote.PreferRows, planvote.MoreStored)},
	}
	out, err := probing.Generate(context.Background(), env, strategy.Task{Question: "Which customers do not live in the USA?"})
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
	env := exampleEnv(nil)
	messages, err := planvote.AugmentedPrompt{Rows: 2}.Prompt(context.Background(), env, strategy.PromptInput{Task: exampleTask, Schema: env.Schema})
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
