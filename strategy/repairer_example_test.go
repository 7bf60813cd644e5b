package strategy_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// renamed is a repairer that asks no model: it knows the names of an old schema.
type renamed map[string]string

func (r renamed) Repair(_ context.Context, _ *strategy.Env, in strategy.RepairInput) (llm.Response, error) {
	sql := in.SQL
	for old, name := range r {
		sql = strings.ReplaceAll(sql, old, name)
	}
	return llm.Response{Text: sql, StopReason: llm.StopEnd}, nil
}

func ExampleRepairer() {
	env := exampleEnv(exampleModel("SELECT name FROM clients WHERE country = 'USA'", "SELECT name FROM customers"))
	out, err := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 2, Temperature: 0.7},
		Refine:  &strategy.Refine{Decisive: true, Repairer: renamed{"clients": "customers"}},
	}.Generate(context.Background(), env, exampleTask)
	fmt.Println(out.SQL, err)
	fmt.Println(out.Candidates[0].Findings)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
	// [{repaired exec: invalid statement (schema): no such table: clients 0 false}]
}
