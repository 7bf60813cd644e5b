package planvote_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
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
	out, err := planvote.Plain{Samples: 4}.Generate(context.Background(), env,
		strategy.Task{Question: "Who is customer 1?"})
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
		{Purpose: "generate", Replies: llmtest.Texts(
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
	out, err := planvote.Feedback{Samples: 3, CorrectionSamples: 2}.Generate(context.Background(), exampleEnv(model),
		exampleTask)
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
