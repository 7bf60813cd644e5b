package qasql_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
)

// Five views of the schema gave three statements, one of which failed and was refined. The judge is of one mind with
// the vote.
func ExampleStrategy() {
	replies := []string{ // of the contexts
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT nme FROM customers WHERE country = 'USA'",
		"SELECT c.name FROM customers c WHERE c.country = 'USA'",
		"SELECT id FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country = 'USA'",
	}
	judge := []string{`{"selected_option": "B", "reasoning": "names are asked for"}`, `{"selected_option": "A"}`}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text := ""
		switch req.Purpose {
		case "decompose":
			text = `{"entity": "customers", "filter": "live in the USA"}`
		case "score":
			text = `{"score": 0.9, "relevant_columns": ["name", "country"]}`
		case "generate":
			text = replies[req.Sample]
		case "repair":
			text = replies[0]
		case "judge":
			text = judge[req.Sample]
		}
		return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
	})
	env := strategytest.ExampleEnv(model)
	env.Schema, _ = env.Schema.Describe(schema.Descriptions{
		"customers.country": {Text: "country in which the customer lives", Described: "The home country of a customer."},
	})
	out, err := qasql.Strategy{}.Generate(context.Background(), env,
		strategy.Task{Question: "Which customers live in the USA?"})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, _ := strategy.ReadReport[qasql.Report](out.Report)
	for _, c := range report.Contexts {
		fmt.Println(c.ID, c.Name+c.Skipped)
	}
	for _, s := range out.Steps {
		if s.Sample == 1 {
			fmt.Println(s.Name, s.Try, s.Status)
		}
	}
	fmt.Printf("%s\nconfidence %.2f, judge: %d of %d calls\n", out.SQL, out.Confidence, report.Verdict.Votes[0],
		report.JudgeCalls)
	// Output:
	// Q1 full_schema
	// Q2 sme_metadata
	// Q3 minimal_profile
	// Q4 focused_schema
	// Q5 full_profile
	// Q2 sme_metadata 0 rejected
	// Q2 sme_metadata 1 ok
	// SELECT name FROM customers WHERE country = 'USA'
	// confidence 0.86, judge: 2 of 2 calls
}

// A context is a Prompt like any other: a pipeline of one's own takes turns with some of them.
func ExampleStrategy_DefaultContexts() {
	var prompts strategy.RotatePrompts
	for _, c := range (qasql.Strategy{}).DefaultContexts()[:2] {
		prompts = append(prompts, c.Prompt)
	}
	env := strategytest.ExampleEnv(strategytest.ExampleModel(strategytest.USA, strategytest.USAJoin, strategytest.Broken))
	pipeline := strategy.Pipeline{Linker: linker.Lexical{}, Prompter: prompts, Sampler: strategy.Sampler{Samples: 3}}
	out, err := pipeline.Generate(context.Background(), env, strategytest.USATask)
	fmt.Println(out.SQL, out.Ballot.Voted, err)
	// Output: SELECT name FROM customers WHERE country = 'USA' 2 <nil>
}
