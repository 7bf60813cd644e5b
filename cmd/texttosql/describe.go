package main

import (
	"errors"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	columns "github.com/texttosql/texttosql/internal/describe"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	tables "github.com/texttosql/texttosql/schema"
)

// describe is the verb that has a model describe columns.
type describe struct {
	setup.Database `embed:""`
	setup.Models   `embed:""`
	setup.Spending `embed:""`
	WithoutValues  bool   `help:"Show the model no stored value."`
	Out            string `required:"" short:"o" placeholder:"FILE" help:"The JSON file of descriptions, for --descriptions of other commands. What it has is not asked again."`
}

// Help is the part of --help below the flags.
func (describe) Help() string {
	return `A table of n columns costs n/25 calls or some more. The file is complete at every moment: after an interrupt, or when a
budget is spent, the same command goes on. What a person changes in it stays.

` + exitHelp
}

// Run describes.
func (d *describe) Run(p *program) error {
	budget, err := d.Spending.Read()
	if err != nil {
		return err
	}
	account := budget.Start()
	models, err := d.Models.Open(p.getenv, account.Middleware(), llm.Retry{}.Middleware())
	if err != nil {
		return err
	}
	if len(models) > 1 {
		return &setup.UsageError{Err: errors.New("describe asks one model")}
	}
	opened, _, err := d.Database.Open(p.ctx, p.getenv)
	if err != nil {
		return err
	}
	defer opened.Close()
	db, err := opened.Guarded()
	if err != nil {
		return err
	}
	file, err := columns.Columns{
		Model: models[0], File: d.Out, WithoutValues: d.WithoutValues,
		Progress: func(table tables.TableName, described bool, done, of int) {
			text := "described %s (%d of %d)\n"
			if !described {
				text = "%s: no usable reply (%d of %d)\n"
			}
			cli.Say(p.err, text, table, done, of)
		},
	}.Describe(p.ctx, db, nil)
	for _, note := range file.Notes {
		cli.Say(p.err, "texttosql: %s\n", note)
	}
	have, lack := len(file.Descriptions), len(file.Failed)
	if err != nil {
		cli.Say(p.err, "%s: %d %s so far; the same command goes on\n", d.Out, have, words.Plural("description", have))
		return err
	}
	cli.Say(p.out, "%s: %d %s, %d %s without one; %s\n", d.Out, have, words.Plural("description", have), lack,
		words.Plural("column", lack), cli.Cost(account.Usage()))
	return nil
}
