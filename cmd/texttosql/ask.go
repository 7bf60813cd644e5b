package main

import (
	"strings"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
)

// ask is the verb of one question.
type ask struct {
	setup.Asking `embed:""`
	Evidence     string   `placeholder:"TEXT" help:"Knowledge that belongs to the question: what a word means, how a figure is computed."`
	Question     []string `arg:"" help:"The question."`
}

// Run asks.
func (a *ask) Run(p *program) error {
	e, err := a.Open(p.ctx, p.getenv, nil, setup.Progress(p.err))
	if err != nil {
		return err
	}
	defer e.Close()
	r, err := e.Ask(p.ctx, strings.Join(a.Question, " "), texttosql.WithEvidence(a.Evidence))
	if err != nil {
		return err
	}
	return r.Rows.WriteTable(p.out)
}
