package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

var exampleTask = strategy.Task{Question: "Which customers live in the USA?"}

func ExampleDirect() {
	env := exampleEnv(exampleModel("```sql\nSELECT name FROM customers WHERE country = 'USA';\n```"))
	out, err := strategy.Direct{}.Generate(context.Background(), env, exampleTask)
	fmt.Println(out.SQL, err)
	// Output: SELECT name FROM customers WHERE country = 'USA' <nil>
}

// Statements that are spelled differently and have equal results are votes for
// the same answer.
func ExampleSelfConsistency() {
	env := exampleEnv(exampleModel(
		"SELECT name FROM customers",
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT c.name FROM customers AS c WHERE c.country IN ('USA')",
	))
	out, err := strategy.SelfConsistency{Samples: 3}.Generate(context.Background(), env, exampleTask)
	fmt.Println(out.SQL, err)
	fmt.Println(len(out.Ballot.Clusters[0].Members), "of", out.Ballot.Sampled)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
	// 2 of 3
}

// The default strategy stops as soon as the leader cannot be overtaken.
func ExampleConsensus() {
	model := exampleModel(
		"SELECT name FROM customers WHERE country = 'USA'", "SELECT c.name FROM customers c WHERE c.country = 'USA'",
		"SELECT name FROM customers",
		"SELECT name FROM customers WHERE country IN ('USA')",
		"SELECT nme FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers WHERE 'USA' = country",
		"SELECT name FROM customers WHERE country LIKE 'USA'",
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT customers.name FROM customers WHERE customers.country = 'USA'",
		"SELECT name FROM (SELECT * FROM customers WHERE country = 'USA')",
	)
	out, err := strategy.Consensus{}.Generate(context.Background(), exampleEnv(model), exampleTask)
	fmt.Println(out.SQL, err)
	fmt.Println(len(out.Ballot.Clusters[0].Members), "of", out.Ballot.Sampled)
	fmt.Printf("%d samples made, %d saved\n", len(out.Candidates), out.Saved)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
	// 7 of 9
	// 9 samples made, 3 saved
}

// With MinConfidence a weak answer is none, and the ranking comes with the error.
func ExampleConsensus_minConfidence() {
	env := exampleEnv(exampleModel("SELECT name FROM customers WHERE country = 'USA'", "SELECT name FROM customers",
		"SELECT country FROM customers"))
	out, err := strategy.Consensus{Samples: 3, MinConfidence: 0.9}.Generate(context.Background(), env, exampleTask)
	fmt.Println(errors.As(err, new(*strategy.AbstainedError)), len(out.Ballot.Clusters), "answers")
	// Output: true 3 answers
}

// A strategy of your own is a Pipeline with the stages you choose. This one
// links the schema by words, and repairs what the engine rejects.
func ExamplePipeline() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: llmtest.Texts("SELECT name FROM customer",
			"SELECT name FROM customers WHERE country = 'USA'", "SELECT name FROM customer")},
		{Purpose: "repair", Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true},
	}}
	careful := strategy.Pipeline{
		Linker:   linker.Lexical{},
		Prompter: strategy.Prompt{Form: schema.MSchema},
		Sampler:  strategy.Sampler{Samples: 3, Temperature: 0.8, Stop: vote.Decided},
		Refine:   &strategy.Refine{Decisive: true},
	}
	out, err := careful.Generate(context.Background(), exampleEnv(model), exampleTask)
	fmt.Println(out.SQL, err)
	fmt.Println(len(out.Ballot.Clusters[0].Members), "of", out.Ballot.Sampled)
	fmt.Println(out.Candidates[0].Findings[len(out.Candidates[0].Findings)-1].Detail)
	// Output:
	// SELECT name FROM customers <nil>
	// 2 of 3
	// exec: invalid statement (schema): no such table: customer
}

// A Func is a Strategy too: here one that asks a cheap strategy first and a
// better one only when the first is not sure.
func ExampleFunc() {
	cascade := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		out, err := strategy.SelfConsistency{Samples: 2}.Generate(ctx, env, t)
		if err == nil && out.Confidence == 1 {
			return out, nil
		}
		return strategy.Consensus{Samples: 5}.Generate(ctx, env, t)
	})
	env := exampleEnv(exampleModel("SELECT name FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country IN ('USA')"))
	out, err := cascade.Generate(context.Background(), env, exampleTask)
	fmt.Println(len(out.Candidates), "samples", err)
	// Output: 2 samples <nil>
}

func ExamplePrompt() {
	env := exampleEnv(nil)
	messages, err := strategy.Prompt{Form: schema.Code}.Prompt(context.Background(), env, strategy.PromptInput{
		Task:   strategy.Task{Question: "Which customers\nlive in the USA?", Evidence: "live means country"},
		Schema: env.Schema,
	})
	fmt.Println(messages[0].Role, err)
	fmt.Print(messages[1].Text)
	// Output:
	// system <nil>
	// ### Schema
	// customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT)
	// orders(id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), total REAL)
	//
	// ### Notes
	// live means country
	//
	// ### Question
	// Which customers live in the USA?
}

// Every other sample is asked of another model, in a colder form.
func ExampleVariant() {
	cold := 0.2
	forms := strategy.RotatePrompts{
		strategy.Prompt{Form: schema.MSchema},
		strategy.Variant{Prompter: strategy.Prompt{Reasoning: true}, Model: "large", Temperature: &cold},
	}
	for sample := range 2 {
		model, temperature := forms.Asks(sample)
		fmt.Printf("%q %t\n", model, temperature == &cold)
	}
	// Output:
	// "" false
	// "large" true
}

// Samples go round the prompters, so that a vote is not one over twelve copies of
// the same misunderstanding.
func ExampleRotatePrompts() {
	env := exampleEnv(nil)
	forms := strategy.RotatePrompts{strategy.Prompt{Form: schema.MSchema}, strategy.Prompt{},
		strategy.Prompt{Form: schema.Code}}
	for sample := range 4 {
		messages, err := forms.Prompt(context.Background(), env, strategy.PromptInput{Task: exampleTask, Schema: env.Schema,
			Sample: sample})
		if err != nil {
			panic(err)
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(messages[1].Text, "### Schema\n"), "\n")
		fmt.Println(sample, first)
	}
	// Output:
	// 0 【Schema】
	// 1 CREATE TABLE customers (
	// 2 customers(id INTEGER PRIMARY KEY, name TEXT, country TEXT)
	// 3 【Schema】
}

// A Checker is what turns replies into candidates that may vote.
func ExampleChecker() {
	ctx, env := context.Background(), exampleEnv(nil)
	examiner := strategy.NewChecker(ctx, env, exampleTask, nil, nil)
	defer examiner.Close()
	for sample, reply := range []string{
		"```sql\nSELECT name FROM customers WHERE country = 'USA'\n```",
		"SELECT nme FROM customers",
		"DROP TABLE customers",
	} {
		c, err := examiner.Examine(ctx, sample, "", llm.Response{Text: reply})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d rows, rejected: %q\n", c.Rows, c.Rejected)
	}
	// Output:
	// 2 rows, rejected: ""
	// 0 rows, rejected: "exec: invalid statement (schema): no such column: nme"
	// 0 rows, rejected: "not-read-only: the statement is no query"
}

// A repair shows the model what the engine said, and which names are close.
func ExampleTypedRepair() {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "repair",
		Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true}}}
	ctx, env := context.Background(), exampleEnv(model)
	const sql = "SELECT customer_name FROM customers"
	_, rejected := env.DB.Query(ctx, sql)
	reply, err := strategy.TypedRepair{}.Repair(ctx, env, strategy.RepairInput{Task: exampleTask, Schema: env.Schema,
		SQL: sql, Err: rejected})
	fmt.Println(reply.Text, err)

	messages := model.Requests()[0].Messages
	fmt.Print(messages[len(messages)-1].Text)
	// Output:
	// SELECT name FROM customers <nil>
	// ### Error
	// The database rejected this statement (schema): no such column: customer_name
	// Existing names that are close: customers.name, customers.id, orders.customer_id, customers, customers.country
	// Write the statement again so that it answers the question and runs. Give it in one ```sql block.
}

// Three options in two calls: the second one shows them in another rotation, so the same option has another letter
// there.
func ExampleRubric() {
	options := []strategy.JudgeOption{
		{Candidate: vote.Candidate{SQL: "SELECT name FROM customers"}, Votes: 3},
		{Candidate: vote.Candidate{SQL: "SELECT name FROM customers WHERE country = 'USA'"}, Votes: 2},
		{Candidate: vote.Candidate{SQL: "SELECT count(*) FROM customers"}, Votes: 1},
	}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Purpose: "judge", Replies: llmtest.Texts(
		`{"selected_option": "B", "confidence": 0.9, "reasoning": "It keeps to the USA."}`,
		`{"selected_option": "Option A"}`)}}}
	env := exampleEnv(model)
	in := strategy.JudgeInput{Task: exampleTask, Schema: env.Schema, Options: options, Samples: 6}
	verdict, err := strategy.Rubric{}.Choose(context.Background(), env, in)
	fmt.Println(verdict.Choice, verdict.Votes, verdict.Calls[0].Reason, err)
	// Output: 1 [0 2 0] It keeps to the USA. <nil>
}

// The first statement names a column that is not there. The model is told so and writes another one.
func ExampleRefine() {
	ctx := context.Background()
	env := exampleEnv(
		&llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT name FROM customers WHERE country = 'USA'")}}})
	examiner := strategy.NewChecker(ctx, env, exampleTask, nil, nil)
	defer examiner.Close()
	candidate, err := examiner.ExamineSQL(ctx, 0, "", "SELECT nme FROM customers WHERE country = 'USA'")
	if err != nil {
		panic(err)
	}
	refined, err := strategy.Refine{}.Run(ctx, env, strategy.RefineInput{
		Task: exampleTask, Schema: env.Schema, Examiner: examiner, Candidate: candidate,
	})
	for _, s := range refined.Steps {
		fmt.Printf("%s %q\n", s.Status, s.Problem)
	}
	fmt.Println(refined.Candidate.Rows, "rows", err)
	// Output:
	// rejected "exec: invalid statement (schema): no such column: nme"
	// ok ""
	// 2 rows <nil>
}
