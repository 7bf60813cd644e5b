package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// A preset, and a method of one's own.
func Example() {
	model := exampleModel(
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT c.name FROM customers c WHERE c.country = 'USA'",
		"SELECT name FROM customers WHERE country IN ('USA')",
		"SELECT name FROM customers",
		"SELECT name FROM customers WHERE 'USA' = country",
		"SELECT nme FROM customers WHERE country = 'USA'",
	)
	db, _ := exampleShop(model)
	defer db.Close()

	careful := strategy.Pipeline{
		Linker:   linker.Lexical{},
		Prompter: strategy.Prompt{Form: schema.MSchema, Shots: 3},
		Sampler:  strategy.Sampler{Samples: 9, Temperature: 0.8, Stop: vote.AheadBy(3)},
		Voter:    vote.Majority{Penalty: 1},
		Refine:   &strategy.Refine{Decisive: true},
	}
	for _, method := range []strategy.Strategy{strategy.SelfConsistency{Samples: 8}, careful} {
		engine, err := texttosql.New(db, model, texttosql.WithStrategy(method))
		if err != nil {
			fmt.Println(err)
			return
		}
		answer, err := engine.Ask(context.Background(), "Which customers live in the USA?")
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(answer.SQL, "-", len(answer.Ballot.Clusters[0].Members), "of", answer.Ballot.Sampled)
	}
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' - 4 of 6
	// SELECT name FROM customers WHERE country = 'USA' - 3 of 3
}
