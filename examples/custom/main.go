// Custom answers questions with a strategy of its own, Critique, which is written with exported parts of the SDK only:
// retrieve solved questions, draft a statement, criticise it, revise it.
//
//	go run ./examples/custom                                  # the listed questions, scripted replies
//	go run ./examples/custom -model openai:gpt-4o-mini "Which products are cheap?"
//
// It prints the draft, what the model says against it, the revised statement and its rows.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/internal/shop"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/providers"
	"github.com/texttosql/texttosql/memory"
)

//go:embed replies.json
var replies []byte

// solved are questions about the shop with their answers, to show in prompts.
var solved = []memory.Pair{
	{Question: "Which customers in France never ordered?", SQL: "SELECT name FROM customers WHERE country = 'France' AND id NOT IN (SELECT customer_id FROM orders)"},
	{Question: "How many orders are open?", SQL: "SELECT count(*) FROM orders WHERE status = 'open'"},
	{Question: "Which product has the highest price?", SQL: "SELECT name FROM products ORDER BY price DESC LIMIT 1"},
	{Question: "How many pieces of the Kite were sold?", SQL: "SELECT sum(i.quantity) FROM order_items AS i JOIN products AS p ON p.id = i.product_id WHERE p.name = 'Kite'"},
}

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("custom", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: custom [flags] [question]\n\nAnswers a question about a small shop with a strategy of its own.\n\n")
		flags.PrintDefaults()
	}
	spec := cli.ModelFlag(flags)
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	question, err := cli.Question(flags, "")
	if err != nil {
		return err
	}
	script := shop.ReadScript(replies)
	scripted := cli.Scripted{Questions: script.Questions(), Models: []llm.Model{script.Model()}, File: "examples/custom/replies.json", Model: providers.Model}
	models, questions, err := scripted.Choose(stdout, getenv, "", question, *spec)
	if err != nil {
		return err
	}
	db, closeDB, err := shop.Open("")
	if err != nil {
		return err
	}
	defer closeDB()
	engine, err := texttosql.New(db, models[0], texttosql.WithStrategy(Critique{}), texttosql.WithExemplars(solved...))
	if err != nil {
		return err
	}
	var failed []error
	for _, q := range questions {
		answer, err := engine.Ask(ctx, q)
		if err != nil {
			failed = append(failed, cli.Brief(err))
			if answer == nil || ctx.Err() != nil {
				break
			}
		}
		cli.Say(stdout, "\n── %s\n", q)
		for _, s := range answer.Steps {
			cli.Say(stdout, "%-9s %s\n", s.Action+":", s.SQL)
			if s.Problem != "" {
				cli.Say(stdout, "          %s\n", s.Problem)
			}
		}
		for _, n := range answer.Notes {
			cli.Say(stdout, "note:     %s\n", n)
		}
		if err != nil {
			continue
		}
		cli.Say(stdout, "%d calls\n\n", answer.Usage.Calls)
		if err := answer.Rows.WriteTable(stdout); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}
