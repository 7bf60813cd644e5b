package agent_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/vote"
)

// A model looks a value up, writes a statement that fails, and another one that runs.
func ExampleReAct() {
	model := scripted([]string{
		"Thought: How is the country written?\nAction: find[USA]",
		"Thought: In customers.\nAction: query[SELECT nme FROM customers WHERE country = 'USA']",
		"Thought: The column is called name.\nAction: query[SELECT name FROM customers WHERE country = 'USA']",
	})
	loop := agent.ReAct{Tools: agent.Tools()}
	out, err := loop.Generate(context.Background(), strategytest.ExampleEnv(model),
		strategy.Task{Question: strategytest.USATask.Question})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range out.Steps {
		fmt.Println(s.Action, "→", s.Observation)
	}
	report, _ := strategy.ReadReport[agent.ReActReport](out.Report)
	fmt.Println(out.SQL, report.Walks[0].Stop)
	// Output:
	// find → it is stored in customers.country
	// query → Error: no such column: nme
	// query → Success: rows=2; columns=1; truncated=false; names=["name"]; preview=["Ada"], ["Cyd"]
	// SELECT name FROM customers WHERE country = 'USA' answer
}

// glossary is a tool of one's own.
type glossary map[string]string

func (glossary) Spec() (name, argument, help string) {
	return "define", "word", "explains a word of this company"
}

func (g glossary) Call(_ context.Context, _ *strategy.Env, in agent.Input) (agent.Observation, error) {
	text, ok := g[strings.ToLower(in.Argument)]
	return agent.Observation{Text: text, OK: ok}, nil
}

func ExampleTool() {
	model := scripted([]string{
		"Thought: What is a yank?\nAction: define[Yank]",
		"Thought: So the country counts.\nAction: query[SELECT name FROM customers WHERE country = 'USA']",
	})
	loop := agent.ReAct{Tools: append(agent.Tools("query"), glossary{"yank": "a customer in the USA"})}
	out, err := loop.Generate(context.Background(), strategytest.ExampleEnv(model),
		strategy.Task{Question: strategytest.USATask.Question})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.Steps[0].Observation)
	fmt.Println(out.SQL)
	// Output:
	// a customer in the USA
	// SELECT name FROM customers WHERE country = 'USA'
}

// One of four statements cuts its rows off and another one fails. The clamp takes the limit away, and the vote is
// clear.
func ExampleStaged() {
	model := strategytest.ExampleModel(
		"SELECT name FROM customers WHERE country = 'USA' LIMIT 1",
		"SELECT nme FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers WHERE country = 'USA'",
		"SELECT name FROM customers",
	)
	out, err := agent.Staged{Stage: 2}.Generate(context.Background(), strategytest.ExampleEnv(model),
		strategy.Task{Question: strategytest.USATask.Question})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, _ := strategy.ReadReport[agent.StagedReport](out.Report)
	for _, f := range report.Forms {
		fmt.Printf("%d %-13s penalty %v, votes %d\n", f.Sample, f.Variant, f.Penalty, f.Votes)
	}
	fmt.Println(out.SQL)
	// Output:
	// 0               penalty 2, votes 0
	// 0 without_limit penalty 0, votes 2
	// 2               penalty 0, votes 2
	// 3               penalty 2, votes 1
	// SELECT name FROM customers WHERE country = 'USA'
}

func ExampleStaged_Rules() {
	rules := agent.Staged{}.Rules()
	for _, f := range rules.Find("How many customers live in the USA?", "",
		vote.Candidate{SQL: "SELECT name FROM customers"}, nil) {
		fmt.Println(f.Rule, f.Doubt)
	}
	// Output: no_aggregate 3
}
