package strategy_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Tables, conditions and the statement are settled by a vote each.
func ExampleMAKER() {
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: strategy.PurposeScope, Replies: llmtest.Texts(
			"Tables: customers, orders\nJoins: orders.customer_id = customers.id",
			"Tables: customers",
			"Tables: orders, customers",
		)},
		{Purpose: strategy.PurposeFilter, Replies: llmtest.Texts(
			"customers.country = 'USA'",
			"country = 'USA'",
		)},
		{Purpose: strategy.PurposeProjection, Replies: llmtest.Texts(
			"SELECT total FROM orders",
			"SELECT sum(o.total) FROM orders o JOIN customers c ON o.customer_id = c.id WHERE c.country = 'USA'",
			"SELECT sum(total) FROM customers JOIN orders ON customers.id = customer_id WHERE country = 'USA'",
		)},
	}}
	out, err := strategy.MAKER{Samples: 3}.Generate(context.Background(), exampleEnv(model),
		strategy.Task{Question: "What is the total of all orders from the USA?"})
	fmt.Println(out.SQL, err)
	for _, p := range out.Phases {
		fmt.Printf("%s: %s (%.2f of %d draws, %s)\n", p.Phase, p.Winner, p.Share, p.Draws, p.Stop)
	}
	// Output:
	// SELECT sum(total) FROM customers JOIN orders ON customers.id = customer_id WHERE country = 'USA' <nil>
	// scope: customers, orders on customers.id = orders.customer_id (0.67 of 3 draws, all drawn)
	// filter: customers.country = 'USA' (1.00 of 2 draws, decided)
	// projection: SELECT sum(total) FROM customers JOIN orders ON customers.id = customer_id WHERE country = 'USA' (0.67 of 3 draws, all drawn)
}

// Replies that name the same conditions are one vote, whatever they look like. A
// column outside of the agreed tables is a red flag.
func ExampleReadFilter() {
	env := exampleEnv(nil)
	scope := strategy.NewScope([]strategy.TableName{{Name: "customers"}}, nil)
	for _, reply := range []string{
		"WHERE country = 'USA' AND id > 1",
		"```sql\n1 < customers.id AND customers.country = 'USA';\n```",
		"No filters needed",
		"orders.total > 15",
	} {
		filter, _, err := strategy.ReadFilter(env.Schema, env.DB.Dialect(), scope, reply)
		var flag *strategy.FlagError
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
	scope := strategy.NewScope([]strategy.TableName{{Name: "orders"}, {Name: "customers"}}, nil)
	_, joined := scope.From(env.DB.Dialect())
	fmt.Println(scope, joined)
	fmt.Println(scope.Complete(env.Schema).From(env.DB.Dialect()))
	// Output:
	// customers, orders false
	// FROM customers JOIN orders ON orders.customer_id = customers.id true
}

// Which tables a statement reads is the engine's word. What it finds is no
// rejection; here the vote makes it one.
func ExampleWithinScope() {
	env := exampleEnv(exampleModel(
		"SELECT name FROM customers JOIN orders ON customer_id = customers.id WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country = 'USA'",
	))
	scope := strategy.NewScope([]strategy.TableName{{Name: "customers"}}, nil)
	within := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 2, Temperature: 0.7},
		Checks:  append(env.Checks(), strategy.WithinScope{Scope: scope}),
		Voter: vote.Majority{Key: func(c vote.Candidate) (string, bool) {
			for _, f := range c.Findings {
				if f.Rule == strategy.FindingOutside {
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

// The statement that carries the agreed condition wins a tie; a condition in
// other words counts as missing, which is why it is no more than a tie rule.
func ExampleCarriesFilter() {
	env := exampleEnv(exampleModel(
		"SELECT count(*) FROM customers",
		"SELECT count(*) FROM customers AS c WHERE 'USA' = c.country",
	))
	scope := strategy.NewScope([]strategy.TableName{{Name: "customers"}}, nil)
	filter, _, err := strategy.ReadFilter(env.Schema, env.DB.Dialect(), scope, "country = 'USA'")
	if err != nil {
		fmt.Println(err)
		return
	}
	filtered := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 2, Temperature: 0.7},
		Checks:  append(env.Checks(), strategy.CarriesFilter{Filter: filter}),
		Voter:   vote.Majority{Tie: vote.Ties(strategy.Filtered, vote.PreferRows)},
	}
	out, err := filtered.Generate(context.Background(), env, exampleTask)
	fmt.Println(out.SQL, err)
	c, err := env.DB.Examine(context.Background(), "SELECT 1 FROM customers WHERE country IN ('USA')", exec.SingleRead{}, strategy.CarriesFilter{Filter: filter})
	fmt.Println(c.Findings, err)
	// Output:
	// SELECT count(*) FROM customers AS c WHERE 'USA' = c.country <nil>
	// [{filter-missing 1 agreed condition not found as written}] <nil>
}
