package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/internal/words"
	facts "github.com/texttosql/texttosql/knowledge"
)

// knowledge is the verb about what people know of a database.
type knowledge struct {
	Import importing `cmd:"" help:"Write a file of dbt, Ossie, Snowflake or WrenAI as the JSON of texttosql."`
	Check  claims    `cmd:"" help:"Try what a file says against a database, and tell what does not hold."`
}

// format is what a file may be written in.
type format struct {
	Format string `enum:",dbt,ossie,snowflake,wren" default:"" placeholder:"NAME" help:"dbt, ossie, snowflake or wren; default: told by the keys of the file."`
	File   string `arg:"" placeholder:"FILE" help:"YAML or JSON; of dbt target/semantic_manifest.json."`
}

// importing is the verb that writes a file in another form.
type importing struct {
	format `embed:""`
}

// Run imports: the model on standard output, what was lost on standard error.
func (i *importing) Run(p *program) error {
	m, err := setup.ReadKnowledge(i.File, i.Format)
	if err != nil {
		return err
	}
	for _, line := range m.Lost {
		cli.Say(p.err, "lost: %s\n", line)
	}
	for _, x := range m.Metrics {
		if x.Unsupported != "" {
			cli.Say(p.err, "not compiled: metric %s: %s\n", x.Name, x.Unsupported)
		}
	}
	var line, text bytes.Buffer
	if err := writeJSON(&line, m); err != nil {
		return err
	}
	if err := json.Indent(&text, line.Bytes(), "", "  "); err != nil {
		return err
	}
	_, err = text.WriteTo(p.out)
	return err
}

// claims is the verb that holds a file against a database.
type claims struct {
	setup.Database `embed:""`
	format         `embed:""`
	JSON           bool `name:"json" help:"Write one JSON object a fault."`
}

// Help is the part of --help below the flags.
func (claims) Help() string {
	return `Each table, column, key, relationship, metric, term and verified query is tried, under the guard.
Exit codes: 0 all of it holds, 1 something does not, 2 a mistake in the command line or in the file.`
}

// Run checks.
func (c *claims) Run(p *program) error {
	m, err := setup.ReadKnowledge(c.File, c.Format)
	if err != nil {
		return err
	}
	opened, _, err := c.Database.Open(p.ctx, p.getenv)
	if err != nil {
		return err
	}
	defer opened.Close()
	db, err := opened.Guarded()
	if err != nil {
		return err
	}
	faults, err := m.Check(p.ctx, db, db.Language().Name)
	for _, f := range faults {
		if err := c.write(p, f); err != nil {
			return err
		}
	}
	switch n := len(faults); {
	case err != nil:
		return err
	case n > 0:
		return fmt.Errorf("%d %s of the file failed", n, words.Plural("check", n))
	}
	cli.Say(p.err, "all that the file says holds in the database\n")
	return nil
}

func (c *claims) write(p *program, f facts.Fault) error {
	if c.JSON {
		return p.json(f)
	}
	f.Detail = strings.TrimPrefix(f.Detail, "exec: ")
	cli.Say(p.out, "%s\n", textformat.Hanging(f.String(), p.width(), 2))
	return nil
}
