// Maker answers one question step by step: first the tables, then the conditions, then the statement. A vote settles each
// step, and the program prints the votes.
//
//	go run ./examples/maker                                  # a listed question, scripted replies
//	go run ./examples/maker -model openai:gpt-4o-mini "Which three products sold the most pieces?"
//	go run ./examples/maker -model ollama:qwen2.5-coder -db shop.sqlite -k 3 "How many orders are open?"
//
// The method is maker.Strategy. Nothing published shows that it answers better than a vote over whole statements, but it
// shows how an answer came about.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("maker", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: maker [flags] [question]\n\nAnswers a question in three steps, each settled by a vote.\n\n")
		flags.PrintDefaults()
	}
	spec := cli.ModelFlag(flags)
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	evidence := flags.String("evidence", "", "knowledge that belongs to the question")
	samples := flags.Int("n", 12, "samples a step, at most")
	k := flags.Int("k", 0, "stop a step also when its leader is `k` votes ahead; 0: when it is decided")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	listed := shop.Listed()[:1] // the question whose phases are scripted
	scripted := cli.Scripted{Questions: listed.Questions(), Models: []llm.Model{listed.Model()}, File: "internal/shop/replies.json", Model: providers.Model}
	models, questions, err := scripted.Choose(stdout, getenv, *path, question, *spec)
	if err != nil {
		return err
	}
	question = questions[0]
	db, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()

	if *k < 0 {
		return fmt.Errorf("-k is %d; want 0 or more", *k)
	}
	steps := maker.Strategy{}
	if *k > 0 {
		steps.Stop = vote.AheadBy(*k)
	}
	engine, err := texttosql.New(db, models[0],
		texttosql.WithStrategy(steps),
		texttosql.WithSamples(*samples),
		texttosql.WithProgress(func(p texttosql.Progress) {
			if p.Kind == trace.Ended {
				settled(stdout, p.Step, p.Span)
			}
		}))
	if err != nil {
		return err
	}
	cli.Say(stdout, "\n── %s\n", question)
	r, err := engine.Ask(ctx, question, texttosql.WithEvidence(*evidence))
	if err != nil {
		return cli.Brief(err)
	}
	cli.Say(stdout, "\n%s\n\n", r.SQL)
	if err := r.Rows.WriteTable(stdout); err != nil {
		return err
	}
	cli.Say(stdout, "\nconfidence %.2f: %s\n%d calls, %d samples saved\n", r.Confidence, r.Ballot.Explain(), r.Usage.Calls, r.Saved)
	for _, n := range r.Notes {
		cli.Say(stdout, "  %s\n", n)
	}
	for _, warning := range r.Warnings {
		cli.Say(stdout, "  warning: %s\n", warning.Message)
	}
	return nil
}

// settled prints the votes of a step that ended.
func settled(w io.Writer, step string, span *trace.Span) {
	switch step {
	case "scope", "filter", "projection":
	case "fallback":
		why, _ := span.Attr("why")
		cli.Say(w, "\nthe steps led nowhere (%v): answered by a vote over whole statements\n", why)
		return
	default:
		return
	}
	attr := func(key string) any {
		v, _ := span.Attr(key)
		return v
	}
	cli.Say(w, "\n%s: %v samples, %v without a vote, %v\n", step, attr("samples"), attr("flagged"), attr("stop"))
	for _, e := range span.Events() {
		if e.Name != "cluster" {
			continue
		}
		votes, answer := any(nil), any(nil)
		for _, a := range e.Attrs {
			switch a.Key {
			case "votes":
				votes = a.Value
			case "answer":
				answer = a.Value
			}
		}
		cli.Say(w, "  %2v × %v\n", votes, answer)
	}
	if winner, ok := span.Attr("winner"); ok {
		cli.Say(w, "  agreed: %v\n", winner)
	}
	if why, ok := span.Attr("fallback"); ok {
		cli.Say(w, "  led nowhere: %v\n", why)
	}
}
