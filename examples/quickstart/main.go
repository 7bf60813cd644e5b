// Quickstart answers questions about a database:
//
//	go run ./examples/quickstart                                  # the listed questions, scripted replies
//	go run ./examples/quickstart -model openai:gpt-4o-mini "Which customers in the USA never ordered?"
//	go run ./examples/quickstart -model ollama:qwen2.5-coder -db shop.sqlite "How many orders are open?"
//
// It prints the question, the statement, its rows, how sure they are and the cost; with -why also what the confidence
// is made of. -trace FILE.html writes a page about the last answer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/shop"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr, os.Getenv); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.SetFlags(0)
		log.Fatal("quickstart: ", err)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	spec := flags.String("model", "", "the model to ask: openai:NAME, ollama:NAME, anthropic:NAME or replay:FILE")
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	write := flags.String("write-db", "", "write the shop's database to this `file` and stop")
	why := flags.Bool("why", false, "say what each confidence is made of")
	page := flags.String("trace", "", "write a page about the last answer to this HTML `file`")
	flags.SetOutput(io.Discard) // main tells the error, once
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return err
	}
	if *write != "" {
		return shop.Write(*write)
	}
	model, questions := shop.Listed().Model(), shop.Listed().Questions()
	if *spec != "" {
		var err error
		if model, err = shop.Model(*spec, getenv); err != nil {
			return err
		}
	}
	if flags.NArg() > 0 || *path != "" {
		question := strings.Join(flags.Args(), " ")
		if *spec == "" && strings.TrimSpace(question) != "" && (*path != "" || !slices.Contains(questions, question)) {
			return errors.New("no model is configured for this question; name one before it: -model openai:NAME \"QUESTION\"")
		}
		questions = []string{question}
	}
	if *spec == "" {
		fmt.Fprint(stdout, "No model is configured: none is called, the replies are scripted.\n")
	}
	db, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()
	how := texttosql.WithClock(nil) // scripted replies are the same on every day
	if *spec != "" {
		told := &progress{w: stderr}
		defer told.end()
		how = texttosql.WithProgress(told.tell)
	}
	engine, err := texttosql.New(db, model, how)
	if err != nil {
		return err
	}
	var last *texttosql.Result
	for _, q := range questions {
		answer, err := engine.Ask(ctx, q)
		if err != nil {
			return err
		}
		if err := report(stdout, answer, *why); err != nil {
			return err
		}
		last = answer
	}
	if *page == "" {
		return nil
	}
	file, err := os.Create(*page)
	if err != nil {
		return err
	}
	return errors.Join(last.WritePage(file, nil, false), file.Close())
}

// report prints an answer, and why it is as sure as it is.
func report(w io.Writer, r *texttosql.Result, why bool) error {
	fmt.Fprintf(w, "\n── %s\n%s\n\n", printable(r.Question), printable(r.SQL))
	if err := r.Rows.WriteTable(w); err != nil {
		return err
	}
	about := ""
	if !r.Usage.Known {
		about = "about "
	}
	fmt.Fprintf(w, "\n%s\n", printable(r.Closing()))
	if why {
		fmt.Fprintln(w, printable(r.Ballot.Explain()))
	}
	fmt.Fprintf(w, "%d calls, %s%d tokens, %d samples saved\n", r.Usage.Calls, about, r.Usage.PromptTokens+
		r.Usage.CompletionTokens, r.Saved)
	for _, a := range r.Ballot.Abstained {
		fmt.Fprintf(w, "  sample %d had no vote: %s\n", r.Candidates[a.Candidate].Sample, printable(a.Why))
	}
	for _, c := range r.Candidates {
		for _, f := range c.Findings {
			if f.Rule == "repaired" {
				fmt.Fprintf(w, "  sample %d was repaired: %s\n", c.Sample, printable(f.Detail))
			}
		}
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(w, "  warning: %s\n", printable(warning.Message))
	}
	return nil
}

// printable leaves out what a terminal would obey: a model wrote the text.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
