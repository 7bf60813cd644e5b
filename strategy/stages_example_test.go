package strategy_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// A strategy that counts its votes itself, without a Pipeline, asks the user so.
func ExampleEnv_AskUser() {
	env := exampleEnv(nil)
	env.AskBelow = 0.6
	examiner := strategy.NewChecker(context.Background(), env, exampleTask, nil, nil)
	defer examiner.Close()
	out := &strategy.Outcome{}
	for i, sql := range []string{"SELECT name FROM customers", "SELECT count(*) FROM customers"} {
		c, _ := examiner.ExamineSQL(context.Background(), i, "", sql)
		out.Candidates = append(out.Candidates, c)
	}
	out.Ballot, _ = vote.Majority{}.Count(out.Candidates)
	if q := (*session.QuestionError)(nil); errors.As(env.AskUser(context.Background(), exampleTask, out), &q) {
		for _, o := range q.Options {
			fmt.Println(o.ID, o.Label)
		}
	}
	// Output:
	// r1 1 of 2 samples; rows: 3; columns: name
	// r2 1 of 2 samples; rows: 1; columns: count(*)
}

// One greedy sample, then varied ones, until an answer is two votes ahead; a single
// vote is no answer.
func ExampleSampler() {
	sampler := strategy.Sampler{Samples: 6, Temperature: 0.8, FirstGreedy: true, Stop: vote.AheadBy(2), MinVotes: 2}
	usa := "SELECT name FROM customers WHERE country = 'USA'"
	for _, replies := range [][]string{
		{usa, "SELECT c.name FROM customers c WHERE c.country = 'USA'", "SELECT name FROM customers"},
		{usa, "I do not know.", "SELECT name FROM client", "?", "no", "none"},
	} {
		out, err := strategy.Pipeline{Sampler: sampler}.Generate(context.Background(), exampleEnv(exampleModel(replies...)),
			exampleTask)
		fmt.Println(len(out.Candidates), "samples,", out.Ballot.Voted, "votes, too few:", errors.Is(err, strategy.ErrQuorum))
	}
	env := exampleEnv(nil)
	fmt.Println(*sampler.Request(env, 0, nil).Temperature, *sampler.Request(env, 1, nil).Temperature)
	// Output:
	// 2 samples, 2 votes, too few: false
	// 6 samples, 1 votes, too few: true
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
			fmt.Println(c.Sample, c.Rejected)
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

// The first line of an engine's message is shown to a model. Its quoted parts are masked where no stored value may
// reach one.
func ExampleEnv_ErrorLine() {
	const message = "near 'Ann': syntax error\nLINE 1: SELECT 'Ann"
	env := exampleEnv(nil)
	fmt.Println(env.ErrorLine(message))

	env.WithoutValues = true
	fmt.Println(env.ErrorLine(message))
	// Output:
	// near 'Ann': syntax error
	// near …: syntax error
}
