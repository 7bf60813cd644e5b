package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/strategy"
)

// narrower is a judge that asks nobody: it prefers the result with fewer columns.
type narrower struct{}

func (narrower) Choose(_ context.Context, _ *strategy.Env, in strategy.JudgeInput) (v strategy.Verdict, err error) {
	switch first, second := in.Options[0].Columns, in.Options[1].Columns; {
	case first < second:
		v.Choice = 0
	case first > second:
		v.Choice = 1
	default:
		v.Choice = -1 // it cannot tell: the vote stands
	}
	return v, nil
}

func ExampleJudge() {
	env := exampleEnv(exampleModel(
		"SELECT * FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT id, name, country FROM customers WHERE country = 'USA'",
		"SELECT c.name FROM customers c WHERE c.country = 'USA'",
	))
	out, err := strategy.Pipeline{
		Sampler: strategy.Sampler{Samples: 4, Temperature: 0.7},
		Judge:   narrower{}, JudgeBelow: 0.6,
	}.Generate(context.Background(), env, exampleTask)
	fmt.Println(out.SQL, err)
	fmt.Println(out.Ballot.Overruled, out.Notes)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
	// true [the judge preferred the runner-up]
}
