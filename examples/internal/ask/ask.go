// Package ask is what the programs share that ask questions about a database and print the answers.
package ask

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/cli"
)

// Flags are those of every program of this kind.
type Flags struct {
	model, page *string
	rows        *bool
	policy      *exec.Policy
}

// Define defines -model, -policy, -trace and -trace-rows.
func Define(flags *flag.FlagSet) Flags {
	return Flags{
		model: cli.ModelFlag(flags), policy: cli.PolicyFlag(flags),
		page: flags.String("trace", "", "write a page about the last answer to this HTML `file`"),
		rows: flags.Bool("trace-rows", false, "let the page show rows of the result"),
	}
}

// Program is what a program asks about.
type Program struct {
	Scripted cli.Scripted // what is asked where the user names no database and no model
	Own      string       // the user's own database; "": none is named
	Question string       // "": all scripted ones
	// Open opens the database and tells the options of its engine.
	Open func(context.Context) (db *sql.DB, options []texttosql.Option, closeDB func(), err error)
}

// Run asks, and prints each answer. Its error joins those of the questions.
func (f Flags) Run(ctx context.Context, p Program, stdout io.Writer, getenv func(string) string) error {
	models, questions, err := p.Scripted.Choose(stdout, getenv, p.Own, p.Question, *f.model)
	if err != nil {
		return err
	}
	db, options, closeDB, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer closeDB()
	engine, err := texttosql.New(db, models[0], append(options, texttosql.WithPolicy(*f.policy), cli.Progress(os.Stderr))...)
	if err != nil {
		return err
	}
	var file *os.File
	if *f.page != "" { // a file that cannot be written ends the program before any call costs money
		if file, err = create(*f.page, p.Own); err != nil {
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
		if err := last.WritePage(file, lastErr, *f.rows); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\nWrote %s\n", *f.page)
	}
	return errors.Join(failed...)
}

// create creates the page's file, unless that is the database file db.
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
