package maker_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/vote"
)

// Tables, conditions and the statement are settled by a vote each.
func ExampleStrategy() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "maker.scope", Replies: llmtest.Texts(
			"Tables: customers, orders\nJoins: orders.customer_id = customers.id",
			"Tables: customers",
			"Tables: orders, customers",
		)},
		{Purpose: "maker.filter", Replies: llmtest.Texts(
			"customers.country = 'USA'",
			"country = 'USA'",
		)},
		{Purpose: "maker.projection", Replies: llmtest.Texts(
			"SELECT total FROM orders",
			"SELECT sum(o.total) FROM orders o JOIN customers c ON o.customer_id = c.id WHERE c.country = 'USA'",
			"SELECT sum(total) FROM customers JOIN orders ON customers.id = customer_id WHERE country = 'USA'",
		)},
	}}
	out, err := maker.Strategy{Samples: 3}.Generate(context.Background(), exampleEnv(model),
		strategy.Task{Question: "What is the total of all orders from the USA?"})
	fmt.Println(out.SQL, err)
	report, err := maker.ReadReport(out.Report)
	if err != nil {
		fmt.Println(err)
	}
	for _, p := range report.Phases {
		fmt.Printf("%s: %s (%.2f of %d samples, %s)\n", p.Phase, p.Winner, p.Share, p.Samples, p.Stop)
	}
	// Output:
	// SELECT sum(total) FROM customers JOIN orders ON customers.id = customer_id WHERE country = 'USA' <nil>
	// scope: customers, orders on customers.id = orders.customer_id (0.67 of 3 samples, all sampled)
	// filter: customers.country = 'USA' (1.00 of 2 samples, decided)
	// projection: SELECT sum(total) FROM customers JOIN orders ON customers.id = customer_id WHERE country = 'USA' (0.67 of 3 samples, all sampled)
}

// Replies that name the same conditions are one vote, whatever they look like. A
// column outside of the agreed tables is a red flag.
func ExampleReadFilter() {
	env := exampleEnv(nil)
	scope := maker.NewScope([]schema.TableName{{Name: "customers"}}, nil)
	for _, reply := range []string{
		"WHERE country = 'USA' AND id > 1",
		"```sql\n1 < customers.id AND customers.country = 'USA';\n```",
		"No filters needed",
		"orders.total > 15",
	} {
		filter, _, err := maker.ReadFilter(env.Schema, env.DB.Dialect(), scope, reply)
		var flag *maker.FlagError
		if errors.As(err, &flag) {
			fmt.Println("discarded:", flag.Reason, "-", flag.Detail)
			continue
		}
		fmt.Println(filter)
	}
	// Output:
	// customers.country = 'USA' AND customers.id > 1
	// customers.country = 'USA' AND customers.id > 1
	// no filter
	// discarded: outside-scope - orders.total is not in the agreed tables
}

// The foreign keys of the schema join what a reply left open.
func ExampleScope_Complete() {
	env := exampleEnv(nil)
	scope := maker.NewScope([]schema.TableName{{Name: "orders"}, {Name: "customers"}}, nil)
	_, joined := scope.From(env.DB.Dialect())
	fmt.Println(scope, joined)
	fmt.Println(scope.Complete(env.Schema).From(env.DB.Dialect()))
	// Output:
	// customers, orders false
	// FROM customers JOIN orders ON orders.customer_id = customers.id true
}

// Which tables a statement reads is the engine's word. What it finds is no
// rejection; here the vote makes it one.
func ExampleScope_Check() {
	env := exampleEnv(exampleModel(
		"SELECT name FROM customers JOIN orders ON customer_id = customers.id WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country = 'USA'",
	))
	scope := maker.NewScope([]schema.TableName{{Name: "customers"}}, nil)
	within := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 2, Temperature: 0.7},
		Checks:  append(env.Checks(), scope),
		Voter: vote.Majority{Key: func(c vote.Candidate) (string, bool) {
			for _, f := range c.Findings {
				if f.Rule == "outside-scope" {
					return "", false
				}
			}
			return vote.ByResult(c)
		}},
	}
	out, err := within.Generate(context.Background(), env, exampleTask)
	fmt.Println(out.SQL, err)
	fmt.Println(out.Candidates[0].Findings[0].Detail)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
	// reads orders, which is not among the agreed tables
}
