package main

import (
	"io"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	tables "github.com/texttosql/texttosql/schema"
)

// schema is the verb that shows the schema.
type schema struct {
	setup.Database `embed:""`
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
	text, err := tables.Renderer{Names: tables.QuoterFunc(e.Dialect.Quote)}.Render(p.ctx, known)
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.out, text.Text)
	return err
}
