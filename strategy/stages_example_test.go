package strategy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// One greedy draw, then varied ones, until an answer is two votes ahead; a single
// vote is no answer.
func ExampleSampler() {
	sampler := strategy.Sampler{Samples: 6, Temperature: 0.8, FirstGreedy: true, Until: vote.AheadBy(2), MinVotes: 2}
	usa := "SELECT name FROM customers WHERE country = 'USA'"
	for _, replies := range [][]string{
		{usa, "SELECT c.name FROM customers c WHERE c.country = 'USA'", "SELECT name FROM customers"},
		{usa, "I do not know.", "SELECT name FROM client", "?", "no", "none"},
	} {
		out, err := strategy.Pipeline{Sampler: sampler}.Generate(context.Background(), exampleEnv(exampleModel(replies...)), exampleTask)
		fmt.Println(len(out.Candidates), "draws,", out.Ballot.Voted, "votes, too few:", errors.Is(err, strategy.ErrQuorum))
	}
	env := exampleEnv(nil)
	fmt.Println(*sampler.Request(env, 0, nil).Temperature, *sampler.Request(env, 1, nil).Temperature)
	// Output:
	// 2 draws, 2 votes, too few: false
	// 6 draws, 1 votes, too few: true
	// 0 0.8
}

// The error of a question without an answer holds every reason, and the failures
// of the calls.
func ExampleNoCandidateError() {
	overloaded := &llm.Error{Class: llm.ClassOverloaded, Message: "try later"}
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{
		{Text: "DELETE FROM customers"}, {Text: "SELECT nme FROM customers"}, {Err: overloaded},
	}}}}
	_, err := strategy.SelfConsistency{Samples: 3}.Generate(context.Background(), exampleEnv(model), exampleTask)
	var none *strategy.NoCandidateError
	if errors.As(err, &none) {
		for _, c := range none.Rejected {
			fmt.Println(c.Draw, c.Rejected)
		}
		fmt.Println(len(none.Failed), "failed")
	}
	fmt.Println(errors.Is(err, overloaded))
	// Output:
	// 0 not-read-only: the statement is no query
	// 1 exec: invalid statement (schema): no such column: nme
	// 1 failed
	// true
}

// A file of solved questions is checked when it is read, and the error names the
// line.
func ExampleReadPairs() {
	dir, err := os.MkdirTemp("", "pairs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "solved.jsonl")
	text := `{"question": "How many customers are there?", "sql": "SELECT count(*) FROM customers"}` + "\n"
	for _, more := range []string{"", `{"question": "How many orders are there?"}`} {
		if err := os.WriteFile(path, []byte(text+more), 0o600); err != nil {
			fmt.Println(err)
			return
		}
		pairs, err := strategy.ReadPairs(path) // for Env.Exemplars, texttosql.WithExemplars
		var wrong *strategy.PairError
		if errors.As(err, &wrong) {
			fmt.Println("line", wrong.Line, wrong.Err)
			continue
		}
		fmt.Println(len(pairs), err)
	}
	// Output:
	// 1 <nil>
	// line 2 a solved question needs a question and its SQL
}

// What a person confirms is an exemplar for the next question, in this process
// and in the next.
func ExampleOpenConfirmed() {
	dir, err := os.MkdirTemp("", "confirmed")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "confirmed.jsonl")
	for _, sql := range []string{"SELECT count(*) FROM customers", "SELECT count(id) FROM customers"} {
		kept, err := strategy.OpenConfirmed(path)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = kept.Add(strategy.Pair{Question: "How many customers are there?", SQL: sql})
		pairs, _ := kept.Pairs()
		fmt.Println(len(pairs), pairs[0].SQL, err, kept.Close())
	}
	// Output:
	// 1 SELECT count(*) FROM customers <nil> <nil>
	// 1 SELECT count(id) FROM customers <nil> <nil>
}

// What an engine says is cut to a line, and what it quotes is masked where no
// stored value may reach a model.
func ExampleErrorLine() {
	message := "near 'Ann': syntax error\nLINE 1: SELECT 'Ann"
	fmt.Println(strategy.ErrorLine(message, false))
	fmt.Println(strategy.ErrorLine(message, true))
	// Output:
	// near 'Ann': syntax error
	// near …: syntax error
}

// Votes of models go by name, so two of one name are found before the first call.
func ExampleModelError() {
	env := exampleEnv(llm.Named("small", exampleModel("SELECT 1")))
	env.Models = append(env.Models, llm.Named("small", exampleModel("", "SELECT 2")))
	_, err := strategy.PETSQL{}.Generate(context.Background(), env, exampleTask)
	var models *strategy.ModelError
	if errors.As(err, &models) {
		fmt.Printf("%d models are called %q\n", models.Count, models.Name)
	}
	// Output: 2 models are called "small"
}
