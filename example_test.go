package texttosql_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/enginetest"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// inMemory opens a small shop in memory. A program opens its own database.
func inMemory() *sql.DB {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	db.SetMaxOpenConns(1) // each connection to :memory: is a database of its own
	if _, err := db.Exec(enginetest.Shop); err != nil {
		panic(err)
	}
	return db
}

// says is a model that always says the same. A program has one of langchaingo's
// (package llm/langchain), or one of its own: llm.Model has one method.
func says(reply string) llm.Model {
	return &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(reply), Repeat: true}}}
}

func Example() {
	db := inMemory()
	model := says("```sql\nSELECT name FROM customers WHERE country = 'USA';\n```")

	engine, err := texttosql.New(db, model)
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "Which customers live in the USA?")
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s (confidence %.1f)\n", answer.SQL, answer.Confidence)
	answer.Rows.WriteTable(os.Stdout)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' (confidence 0.9)
	// name
	// ----
	// Ada
	// Cyd
	// (2 rows)
}

// A statement that an agent or a person wrote runs under the same guard as those of a model, and needs none.
func ExampleEngine_Query() {
	engine, err := texttosql.New(inMemory(), texttosql.NoModel)
	if err != nil {
		panic(err)
	}
	rows, err := engine.Query(context.Background(), "SELECT name FROM customers WHERE country = 'USA'")
	if err != nil {
		panic(err)
	}
	rows.WriteTable(os.Stdout)
	_, err = engine.Query(context.Background(), "DROP TABLE customers")
	failed := failure.Of(err)
	fmt.Println(failed.Class, "-", failed.Message, failed.Advice)
	// Output:
	// name
	// ----
	// Ada
	// Cyd
	// (2 rows)
	// refused - This only reads. Write one SELECT; change what is stored elsewhere.
}

// New reports every bad option at once.
func ExampleNew() {
	_, err := texttosql.New(inMemory(), says("SELECT 1"),
		texttosql.WithSamples(-1),
		texttosql.WithStrategy(strategy.Consensus{MinConfidence: 2}),
	)
	fmt.Println(err)
	// Output:
	// texttosql: WithSamples: -1 is not in 0..10000
	// strategy: MinConfidence is 2; want 0 to 1
}

// An answer that is not good enough is an error with everything there is to show.
func ExampleEngine_Ask() {
	engine, err := texttosql.New(inMemory(), says("DROP TABLE customers"), texttosql.WithStrategy(strategy.Direct{}))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "Which customers live in the USA?")
	fmt.Println(errors.Is(err, strategy.ErrNoCandidate))
	for _, c := range answer.Candidates {
		fmt.Println(c.Rejected)
	}
	// Output:
	// true
	// not-read-only: the statement is no query
}

// Where the answers disagree, the user chooses.
func ExampleWithClarifyBelow() {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT count(*) FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country = 'USA' AND id IN (SELECT customer_id FROM orders)",
	)}}}
	engine, err := texttosql.New(inMemory(), model, texttosql.WithClarifyBelow(0.6), texttosql.WithSamples(3))
	if err != nil {
		panic(err)
	}
	_, err = engine.Ask(context.Background(), "Which customers are there in the USA?")
	if q := (*session.QuestionError)(nil); errors.As(err, &q) {
		fmt.Println(q.Message)
		for _, o := range q.Options {
			fmt.Println(o.ID, o.Label, o.Rows.Rows)
		}
	}
	// Output:
	// the answers disagree; which one is meant?
	// r1 1 of 3 samples; rows: 2; columns: name [[Ada] [Cyd]]
	// r2 1 of 3 samples; rows: 1; columns: name [[Ada]]
	// r3 1 of 3 samples; rows: 1; columns: count(*) [[2]]
}

// Generate gives checked SQL and no rows, for a program that runs it itself.
func ExampleEngine_Generate() {
	engine, err := texttosql.New(inMemory(), says("SELECT count(*) FROM orders"))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Generate(context.Background(), "How many orders are there?")
	fmt.Println(answer.SQL, answer.Rows == nil, err)
	// Output: SELECT count(*) FROM orders true <nil>
}

// A batch whose replies are recorded can be stopped and run again: it pays for no reply twice.
func ExampleEngine_AskAll() {
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	path, calls := filepath.Join(folder, "replies.jsonl"), 0
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		calls++
		return llm.Response{Text: "SELECT count(*) FROM orders"}, nil
	})
	questions := []texttosql.Question{{ID: "1", Text: "How many orders are there?"}, {ID: "2", Text: "Count the orders."}}
	for n := 1; n <= 2; n++ { // the first run is stopped after one question
		recorder, err := replay.Append(path)
		if err != nil {
			panic(err)
		}
		player, err := replay.Open(path)
		if err != nil {
			panic(err)
		}
		engine, err := texttosql.New(inMemory(), llm.Chain(model, player.Or, recorder.Record),
			texttosql.WithStrategy(strategy.Direct{}))
		if err != nil {
			panic(err)
		}
		for answer, err := range engine.AskAll(context.Background(), slices.Values(questions[:n]), 1) {
			fmt.Println(answer.Question.ID, answer.Result.SQL, err, "calls:", calls)
		}
		recorder.Close()
	}
	// Output:
	// 1 SELECT count(*) FROM orders <nil> calls: 1
	// 1 SELECT count(*) FROM orders <nil> calls: 1
	// 2 SELECT count(*) FROM orders <nil> calls: 2
}

// Check puts a statement of the program's own through the guard.
func ExampleEngine_Check() {
	engine, err := texttosql.New(inMemory(), says("SELECT 1"))
	if err != nil {
		panic(err)
	}
	for _, statement := range []string{
		"SELECT name FROM customers; -- done",
		"DELETE FROM orders",
		"SELECT weight FROM orders",
	} {
		verdict, err := engine.Check(context.Background(), statement)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(verdict.SQL, "reads", verdict.Analysis.Tables[0].Table)
	}
	// Output:
	// SELECT name FROM customers reads customers
	// exec: refused (not-read-only): the statement starts with DELETE
	// exec: invalid statement (schema): no such column: weight
}

// What the policy denies is neither shown to a model nor readable.
func ExampleWithPolicy() {
	engine, err := texttosql.New(inMemory(), says("SELECT password FROM customers"),
		texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithPolicy(exec.Policy{DenyColumns: []string{"customers.password"}}),
	)
	if err != nil {
		panic(err)
	}
	known, err := engine.Schema(context.Background())
	if err != nil {
		panic(err)
	}
	for _, c := range known.Tables[0].Columns {
		fmt.Print(c.Name, " ")
	}
	answer, err := engine.Ask(context.Background(), "What is Ada's password?")
	fmt.Println(errors.Is(err, strategy.ErrNoCandidate))
	fmt.Println(answer.Candidates[0].Rejected)
	// Output:
	// id name country true
	// exec: refused (column): password: no such column, or you may not read it
}

// Two tenants ask the same of one database; each is answered from its own rows, and nobody without a scope.
func ExampleWithScope() {
	engine, err := texttosql.New(inMemory(), says("SELECT name FROM customers"),
		texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"customers": "country = :country"}, Reveal: []string{"*"}}))
	if err != nil {
		panic(err)
	}
	for _, country := range []string{"USA", "Norway"} {
		tenant := exec.Scope{Key: "tenant of " + country, Params: map[string]any{"country": country}}
		answer, err := engine.Ask(context.Background(), "Who are my customers?", texttosql.WithScope(tenant))
		if err != nil {
			panic(err)
		}
		fmt.Println(country, answer.Rows.Rows)
	}
	_, err = engine.Ask(context.Background(), "Who are my customers?")
	fmt.Println(errors.Is(err, exec.ErrNoScope))
	// Output:
	// USA [[Ada] [Cyd]]
	// Norway [[Bo]]
	// true
}

// What the program knows about its data, and what belongs to one question, go
// into the prompts in different ways.
func ExampleWithDescriptions() {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT count(*) FROM orders WHERE total > 15"),
		Repeat: true}}}
	engine, err := texttosql.New(inMemory(), model,
		texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithInstructions("Amounts are in crowns."),
		texttosql.WithDescriptions(schema.Descriptions{"orders.total": {Text: "what the customer paid"}}),
	)
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "How many big orders are there?",
		texttosql.WithEvidence("big means over 15 crowns"))
	fmt.Println(answer.SQL, err)
	// Output: SELECT count(*) FROM orders WHERE total > 15 <nil>
}

// A log of statements that people ran says what they mean by churn: the names of the schema do not.
func ExampleWithMemory_history() {
	past := []memory.Exemplar{ // of a file (memory.ReadExemplars), or of a table of the database's log
		{Question: "churn by quarter", SQL: "SELECT count(*) FROM customers WHERE id NOT IN (SELECT customer FROM orders)",
			Past: true},
		{SQL: "SELECT sum(total) FROM orders", Past: true},
	}
	engine, err := texttosql.New(inMemory(), says("```sql\nSELECT count(*) FROM customers\n```"),
		texttosql.WithMemory(memory.Options{Exemplars: past}),
		texttosql.WithStrategy(strategy.Pipeline{Linker: linker.Lexical{}}))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "How much churn is there?")
	if err != nil {
		panic(err)
	}
	for _, link := range answer.Links.Tables {
		fmt.Println(link.Table)
	}
	// Output:
	// orders
	// customers
}

// A budget that ends the samples early leaves the best answer there is.
func ExampleWithBudget() {
	engine, err := texttosql.New(inMemory(), says("SELECT count(*) FROM orders"),
		texttosql.WithBudget(llm.Budget{Calls: 3}))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "How many orders are there?")
	fmt.Println(answer.SQL, answer.Usage.Calls, err)
	fmt.Println(answer.Warnings[0].Message)
	// Output:
	// SELECT count(*) FROM orders 3 <nil>
	// the budget allowed 3 of 12 samples
}

// Progress tells every step of a question as it happens.
func ExampleWithProgress() {
	engine, err := texttosql.New(inMemory(), says("SELECT count(*) FROM orders"),
		texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.Kind == "ended" && (p.Step == "model call" || p.Step == "vote" || p.Step == "rows") {
				fmt.Println(p.Step)
			}
		}))
	if err != nil {
		panic(err)
	}
	if _, err := engine.Ask(context.Background(), "How many orders are there?"); err != nil {
		panic(err)
	}
	// Output:
	// model call
	// vote
	// rows
}

// A result as JSON holds no rows unless they are asked for.
func ExampleResult_MarshalWithRows() {
	engine, err := texttosql.New(inMemory(), says("SELECT name FROM customers WHERE id = 1"),
		texttosql.WithStrategy(strategy.Direct{}))
	if err != nil {
		panic(err)
	}
	answer, err := engine.Ask(context.Background(), "Who is the first customer?")
	if err != nil {
		panic(err)
	}
	plain, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	full, err := answer.MarshalWithRows()
	if err != nil {
		panic(err)
	}
	fmt.Println(bytes.Contains(plain, []byte("Ada")), bytes.Contains(full, []byte(`"rows":[["Ada"]]`)))
	// Output: false true
}

// A conversation goes on in another process, with nothing but the store and the id.
func ExampleEngine_NewConversation() {
	ctx := context.Background()
	engine, err := texttosql.New(inMemory(), says("SELECT name FROM customers WHERE country = 'USA'"))
	if err != nil {
		panic(err)
	}
	var store session.MemoryStore // or session.OpenFiles("sessions")
	talk := engine.NewConversation(&store)
	answer, err := talk.Ask(ctx, "Which customers live in the USA?")
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.SQL, len(answer.Rows.Rows))

	again, err := engine.OpenConversation(ctx, &store, talk.Record().ID)
	if err != nil {
		panic(err)
	}
	_, err = again.Correct(ctx, "do not use table customers")
	fmt.Println(err)
	fmt.Println(again.Record().State)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' 2
	// strategy: no candidate passed the checks: 12 × exec: invalid statement (constraint): do not read customers; the statement reads customers
	// failed
}

func ExampleEngine_Estimate() {
	engine, err := texttosql.New(inMemory(), says("never asked"))
	if err != nil {
		panic(err)
	}
	cost, err := engine.Estimate(context.Background(), "Which customers live in the USA?")
	fmt.Println(cost.Least.Calls, "to", cost.Most.Calls, "calls", err)
	// Output: 7 to 14 calls <nil>
}
