package strategy_test

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// crossChecked halves the confidence of an answer that only one model gives. It embeds vote.Majority with its method
// State, so its votes may end early.
type crossChecked struct{ vote.Majority }

func (v crossChecked) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	b, err := v.Majority.Count(candidates)
	if err != nil {
		return b, err
	}
	models := map[string]bool{}
	for _, i := range b.Clusters[0].Members {
		models[candidates[i].Model] = true
	}
	if len(models) < 2 {
		b.Confidence /= 2
	}
	return b, nil
}

func ExampleVoter() {
	const usa, all = "SELECT name FROM customers WHERE country = 'USA'", "SELECT name FROM customers"
	for _, second := range []llm.Model{ // models take turns: this one has samples 1 and 3
		exampleModel("", usa, "", usa),
		exampleModel("", all, "", "SELECT country FROM customers"),
	} {
		env := exampleEnv(llm.Named("one",
			exampleModel(usa, "", usa, "", "SELECT c.name FROM customers c WHERE c.country = 'USA'")))
		env.Models = append(env.Models, llm.Named("two", second))
		out, err := strategy.Pipeline{
			Sampler: strategy.Sampler{Samples: 5, Temperature: 0.7, Stop: vote.Decided},
			Voter:   crossChecked{},
		}.Generate(context.Background(), env, exampleTask)
		fmt.Printf("%d of %d, %d samples saved, confidence %.2f, %v\n", len(out.Ballot.Clusters[0].Members),
			out.Ballot.Sampled, out.Saved, out.Confidence, err)
	}
	// Output:
	// 3 of 3, 2 samples saved, confidence 1.00, <nil>
	// 3 of 5, 0 samples saved, confidence 0.30, <nil>
}
