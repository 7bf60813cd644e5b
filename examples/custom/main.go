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
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/memory"
)

//go:embed replies.json
var replies []byte

// solved are questions about the shop with their answers, to show in prompts.
var solved = []memory.Exemplar{
	{Question: "Which customers in France never ordered?",
		SQL: "SELECT name FROM customers WHERE country = 'France' AND id NOT IN (SELECT customer_id FROM orders)"},
	{Question: "How many orders are open?", SQL: "SELECT count(*) FROM orders WHERE status = 'open'"},
	{Question: "Which product has the highest price?", SQL: "SELECT name FROM products ORDER BY price DESC LIMIT 1"},
	{Question: "How many pieces of the Kite were sold?",
		SQL: "SELECT sum(i.quantity) FROM order_items AS i JOIN products AS p ON p.id = i.product_id WHERE p.name = 'Kite'"},
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("custom", flag.ContinueOnError)
	spec := flags.String("model", "", "the model to ask: openai:NAME, ollama:NAME or anthropic:NAME")
	flags.SetOutput(io.Discard) // main tells the error, once
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return err
	}
	script := shop.ReadScript(replies)
	model, questions := script.Model(), script.Questions()
	if *spec != "" {
		var err error
		if model, err = shop.Model(*spec, getenv); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(stdout, "No model is configured: none is called, the replies are scripted.")
	}
	if flags.NArg() > 0 {
		question := strings.Join(flags.Args(), " ")
		if *spec == "" && !slices.Contains(questions, question) {
			return errors.New("no model is configured for this question; name one before it: -model openai:NAME \"QUESTION\"")
		}
		questions = []string{question}
	}
	db, closeDB, err := shop.Open("")
	if err != nil {
		return err
	}
	defer closeDB()
	engine, err := texttosql.New(db, model, texttosql.WithStrategy(Critique{}),
		texttosql.WithMemory(memory.Options{Exemplars: solved}))
	if err != nil {
		return err
	}
	var failed []error
	for _, q := range questions {
		answer, err := engine.Ask(ctx, q)
		if err != nil {
			failed = append(failed, err)
			if answer == nil || ctx.Err() != nil {
				break
			}
		}
		fmt.Fprintf(stdout, "\n── %q\n", q)
		for _, s := range answer.Steps {
			fmt.Fprintf(stdout, "%-9s %q\n", s.Action+":", s.SQL) // quoted: no terminal obeys a model
			if s.Problem != "" {
				fmt.Fprintf(stdout, "          %q\n", s.Problem)
			}
		}
		for _, n := range answer.Notes {
			fmt.Fprintf(stdout, "note:     %q\n", n)
		}
		if err != nil {
			continue
		}
		fmt.Fprintf(stdout, "%d calls\n\n", answer.Usage.Calls)
		if err := answer.Rows.WriteTable(stdout); err != nil {
			return err
		}
	}
	return errors.Join(failed...)
}
