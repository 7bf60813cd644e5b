package maker_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
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
	out, err := maker.Strategy{Samples: 3}.Generate(context.Background(), strategytest.ExampleEnv(model),
		strategy.Task{Question: "What is the total of all orders from the USA?"})
	fmt.Println(out.SQL, err)
	report, err := strategy.ReadReport[maker.Report](out.Report)
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
