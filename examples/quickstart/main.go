// Quickstart answers questions about a database:
//
//	go run ./examples/quickstart                                  # the listed questions, scripted replies
//	go run ./examples/quickstart -model openai:gpt-4o-mini "Which customers in the USA never ordered?"
//	go run ./examples/quickstart -model ollama:qwen2.5-coder -db shop.sqlite "How many orders are open?"
//
// It prints the question, the statement, its rows, the confidence, the cost and the reasons. With -trace FILE.html it writes
// a page about the last answer.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/examples/internal/cli"
	"github.com/texttosql/texttosql/examples/internal/shop"
	"github.com/texttosql/texttosql/llm"
)

func main() { cli.Exit(run(cli.Context(), os.Args[1:], os.Stdout, os.Getenv)) }

func run(ctx context.Context, args []string, stdout io.Writer, getenv func(string) string) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: quickstart [flags] [question]\n\nAnswers a question about a database, or the listed questions about a small shop.\n\n")
		flags.PrintDefaults()
	}
	spec := cli.ModelFlag(flags)
	path := flags.String("db", "", "SQLite `file` to ask about; default: a small shop")
	page := flags.String("trace", "", "write a page about the last answer to this HTML `file`")
	rows := flags.Bool("trace-rows", false, "let the page show rows of the result")
	write := flags.String("write-db", "", "write the shop's database to this `file` and stop")
	if err := cli.Parse(flags, args); err != nil {
		return err
	}
	if *write != "" {
		return shop.Write(*write)
	}
	question, err := cli.Question(flags, *path)
	if err != nil {
		return err
	}
	listed := shop.Listed()
	scripted := cli.Scripted{Questions: listed.Questions(), Models: []llm.Model{listed.Model()}, File: "examples/internal/shop/replies.json"}
	models, questions, err := scripted.Choose(stdout, getenv, *path, question, *spec)
	if err != nil {
		return err
	}
	db, closeDB, err := shop.Open(*path)
	if err != nil {
		return err
	}
	defer closeDB()

	engine, err := texttosql.New(db, models[0], cli.Progress(os.Stderr))
	if err != nil {
		return err
	}
	var file *os.File
	if *page != "" { // a file that cannot be written ends the program before any call costs money
		if file, err = create(*page, *path); err != nil {
			return err
		}
		defer file.Close()
	}
	var last *texttosql.Result
	var lastErr error
	var failed []error
	for _, q := range questions {
		if last, lastErr = engine.Ask(ctx, q); lastErr != nil {
			failed = append(failed, withCost(cli.Brief(lastErr), last))
			// If a question got no reply at all, the next one will get none either.
			if len(questions) == 1 || last == nil || len(last.Candidates) == 0 || ctx.Err() != nil {
				break
			}
		}
		if err := report(stdout, last, lastErr); err != nil {
			return err
		}
	}
	if file != nil && last != nil {
		if err := last.WritePage(file, lastErr, *rows); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\nWrote %s\n", *page)
	}
	return errors.Join(failed...)
}

// create creates the page's file, unless that is the database.
func create(page, db string) (*os.File, error) {
	if old, err := os.Stat(page); err == nil {
		if asked, err := os.Stat(db); err == nil && os.SameFile(old, asked) {
			return nil, fmt.Errorf("-trace %s is the database", page)
		}
	}
	return os.Create(page)
}

// cost is what a question took.
func cost(r *texttosql.Result) string {
	about := ""
	if !r.Usage.Known {
		about = "about "
	}
	return fmt.Sprintf("%d calls, %s%d tokens", r.Usage.Calls, about, r.Usage.PromptTokens+r.Usage.CompletionTokens)
}

// withCost adds to an error what its question took, if a model was asked.
func withCost(err error, r *texttosql.Result) error {
	if r == nil || r.Usage.Calls == 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, cost(r))
}

// report prints one answer.
func report(w io.Writer, r *texttosql.Result, err error) error {
	cli.Say(w, "\n── %s\n", r.Question)
	if err != nil {
		cli.Say(w, "no answer: %v\n%s\n", err, cost(r))
		if r.SQL != "" {
			cli.Say(w, "the best so far, confidence %.2f: %s\n", r.Confidence, r.SQL)
		}
		return nil
	}
	cli.Say(w, "%s\n\n", r.SQL)
	if err := r.Rows.WriteTable(w); err != nil {
		return err
	}
	cli.Say(w, "\nconfidence %.2f: %s\n%s, %d samples saved\n", r.Confidence, r.Ballot.Explain(), cost(r), r.Saved)
	for _, a := range r.Ballot.Abstained {
		cli.Say(w, "  sample %d had no vote: %s\n", r.Candidates[a.Candidate].Sample, a.Why)
	}
	for _, c := range r.Candidates {
		for _, f := range c.Findings {
			if f.Rule == "repaired" {
				cli.Say(w, "  sample %d was repaired: %s\n", c.Sample, f.Detail)
			}
		}
	}
	for _, n := range r.Notes {
		cli.Say(w, "  %s\n", n)
	}
	for _, warning := range r.Warnings {
		cli.Say(w, "  warning: %s\n", warning.Message)
	}
	return nil
}
