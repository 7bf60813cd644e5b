// Package ask is what the programs share that ask questions about a database and print the answers.
package ask

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/cli"
	"github.com/texttosql/texttosql/result"
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

// Run asks, and prints each answer; while a model of the user works, it tells each step on stderr. Its error joins those of
// the questions.
func (f Flags) Run(ctx context.Context, p Program, stdout, stderr io.Writer, getenv func(string) string) error {
	models, questions, err := p.Scripted.Choose(stdout, getenv, p.Own, p.Question, *f.model)
	if err != nil {
		return err
	}
	db, options, closeDB, err := p.Open(ctx)
	if err != nil {
		return err
	}
	defer closeDB()
	options = append(options, texttosql.WithPolicy(*f.policy))
	if *f.model != "" {
		steps := cli.Steps(stderr)
		options = append(options, texttosql.WithProgress(func(p texttosql.Progress) {
			if ctx.Err() == nil { // what was interrupted is told once
				steps(p)
			}
		}))
	}
	engine, err := texttosql.New(db, models[0], options...)
	if err != nil {
		return err
	}
	if err := engine.Ready(ctx); err != nil {
		return err
	}
	var file *atomicfile.File
	if *f.page != "" {
		if file, err = cli.Page("-trace", *f.page, p.Own); err != nil {
			return err
		}
		defer file.Discard()
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
		if err := cli.WritePage(file, last, lastErr, *f.rows); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "\nWrote %s\n", *f.page)
	}
	return errors.Join(failed...)
}

// withCost adds to an error what its question took, if a model was asked.
func withCost(err error, r *texttosql.Result) error {
	if r == nil || r.Usage.Calls == 0 || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, cli.Cost(r))
}

// report prints one answer.
func report(w io.Writer, r *texttosql.Result, err error) error {
	cli.Say(w, "\n── %s\n", r.Question)
	if err != nil {
		cli.Say(w, "no answer: %v\n%s\n", err, cli.Cost(r))
		if r.SQL != "" {
			cli.Say(w, "the best so far, confidence %.2f: %s\n", r.Confidence, r.SQL)
		}
		return nil
	}
	return cli.Answer(w, r, cli.Look{}, func(t *result.Table) error { return t.WriteTable(w) })
}
