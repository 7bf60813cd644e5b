package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// A preset, and a method of one's own. texttosql.WithStrategy gives either to an
// engine, which then does what Generate does here.
func Example() {
	preset := strategy.SelfConsistency{Samples: 8}
	careful := strategy.Pipeline{
		Linker:   linker.Lexical{},
		Prompter: strategy.Prompt{Form: schema.MSchema, Shots: 3},
		Sampler:  strategy.Sampler{Samples: 9, Temperature: 0.8, Until: vote.AheadBy(3)},
		Voter:    vote.Majority{Penalty: 1},
		Repairer: strategy.TypedRepair{},
	}
	reply := "SELECT name FROM customers WHERE country = 'USA'"
	for _, s := range []strategy.Strategy{preset, careful} {
		env := exampleEnv(exampleModel(reply, reply, reply, reply, reply))
		out, err := s.Generate(context.Background(), env, exampleTask)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(out.SQL, out.Ballot.Explain())
	}
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' 5 of 5 draws, no doubt
	// SELECT name FROM customers WHERE country = 'USA' 3 of 3 draws, no doubt
}
