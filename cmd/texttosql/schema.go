package main

import (
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	tables "github.com/texttosql/texttosql/schema"
)

// schema is the verb that shows the schema.
type schema struct {
	setup.Database `embed:""`
	Form           string   `enum:"${forms}" default:"ddl" help:"How it is written: ${forms}."`
	Values         bool     `help:"Read stored values too, and show those that a prompt would."`
	JSON           bool     `name:"json" help:"Write one JSON object with all that is known."`
	Tables         []string `arg:"" predictor:"table" optional:"" help:"Only these tables; default: all."`
}

// forms are those that need nothing but a schema and its profile.
var forms = []tables.Form{tables.DDL, tables.Code, tables.MSchema}

func formNames() string {
	var names []string
	for _, f := range forms {
		names = append(names, f.String())
	}
	return strings.Join(names, ",")
}

// Run shows it.
func (s *schema) Run(p *program) error {
	e, err := s.Engine(p.ctx, p.getenv)
	if err != nil {
		return err
	}
	defer e.Close()
	known, err := e.Schema(p.ctx)
	if err != nil {
		return err
	}
	if len(known.Tables) == 0 {
		cli.Say(p.err, "texttosql: the database has no table that may be read: is it the right file or database?\n")
	}
	all := known
	if known, err = only(all, s.Tables); err != nil {
		return err
	}
	if s.Values {
		db, err := e.Guarded()
		if err != nil {
			return err
		}
		profiled, err := db.Profile(p.ctx, known, exec.ProfileOptions{})
		if profiled == nil {
			return err
		}
		if known = profiled; err != nil {
			cli.Say(p.err, "texttosql: %s\n", p.line(err))
		}
	}
	if s.JSON {
		return p.json(known)
	}
	r := tables.Renderer{WithoutValues: !s.Values}
	for _, form := range forms {
		if form.String() == s.Form {
			r.Form = form
		}
	}
	return showTables(p, e, all, known, r)
}

// showTables writes the tables of part, with the keys to and from those of all that it leaves out.
func showTables(p *program, e *setup.Engine, all, part *tables.Schema, r tables.Renderer) error {
	r.Names = e.Dialect.Language()
	text, err := r.Render(p.ctx, part)
	if err != nil {
		return err
	}
	cli.Say(p.out, "%s\n", strings.TrimRight(text.Text, "\n"))
	if keys := cli.KeysBeyond(all, part); len(keys) > 0 {
		cli.Say(p.out, "\n-- Keys to and from tables that are not shown:\n-- %s\n", strings.Join(keys, "\n-- "))
	}
	return nil
}

// only returns the named tables of a schema, or all of them if none is named.
func only(s *tables.Schema, names []string) (*tables.Schema, error) {
	if len(names) == 0 {
		return s, nil
	}
	named := map[string]bool{}
	for _, name := range names {
		at := strings.LastIndexByte(name, '.')
		t, ok := s.Lookup(name[:max(at, 0)], name[at+1:])
		if !ok {
			var all []string
			for _, t := range s.Tables {
				all = append(all, t.Name)
			}
			return nil, &setup.UsageError{Err: fmt.Errorf("no table %q that may be read%s", name, words.Like(name[at+1:], all))}
		}
		named[s.SchemaOf(t)+"."+t.Name] = true
	}
	return s.Project(func(t *tables.Table) bool { return named[s.SchemaOf(t)+"."+t.Name] }, nil), nil
}
