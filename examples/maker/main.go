// Maker answers one question step by step: first the tables, then the conditions,
// then the statement, each settled by a vote, and prints the votes as they
// settle.
//
//	go run ./examples/maker                                  # a listed question, scripted replies
//	go run ./examples/maker -model openai:gpt-4o-mini "Which three products sold the most pieces?"
//	go run ./examples/maker -model ollama:qwen2.5-coder -db shop.sqlite -k 3 "How many orders are open?"
//
// The method is strategy.MAKER. Nothing published shows that it answers better
// than a vote over whole statements; it shows how an answer came about.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/cli"
	"github.com/texttosql/texttosql/examples/internal/shop"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
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
	samples := flags.Int("n", 12, "draws a step, at most")
	k := flags.Int("k", 0, "stop a step also when its leader is `k` votes ahead; 0: when it is decided")
	speculate := flags.Bool("speculate", false, "start a step before the one before has its last votes")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	model := shop.ScriptedPhases()
	switch {
	case *spec != "":
		if model, err = cli.Model(*spec, getenv); err != nil {
			return err
		}
	case *path != "" || question != "" && question != shop.PhasedQuestion:
		return cli.ErrNoModel
	default:
		cli.SayScripted(stdout, "examples/internal/shop/phases.json")
	}
	if question == "" {
		question = shop.PhasedQuestion
	}
	db, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()

	engine, err := texttosql.New(db, model,
		texttosql.WithStrategy(strategy.MAKER{K: *k, Speculate: *speculate}),
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
	cli.Say(stdout, "\nconfidence %.2f: %s\n%d calls, %d draws saved\n", r.Confidence, r.Ballot.Explain(), r.Usage.Calls, r.Saved)
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
	cli.Say(w, "\n%s: %v draws, %v without a vote, %v\n", step, attr("draws"), attr("flagged"), attr("stop"))
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
