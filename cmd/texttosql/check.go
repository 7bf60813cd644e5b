package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/vote"
)

// check is the verb that holds a statement against the guard.
type check struct {
	setup.Database `embed:""`
	JSON           bool   `name:"json" help:"Write one JSON object."`
	SQL            string `arg:"" help:"The statement; - reads standard input."`
}

// Help is the part of --help below the flags.
func (check) Help() string {
	return "The statement is compiled and planned, and never run.\n\n" + exitHelp
}

// verdict is what --json writes about a statement.
type verdict struct {
	Exit     int            `json:"exit"`
	Error    string         `json:"error,omitempty"`
	Reason   string         `json:"reason,omitempty"` // the rule that refused it
	SQL      string         `json:"sql"`
	Reads    *exec.Analysis `json:"reads,omitempty"`
	Plan     *exec.Plan     `json:"plan,omitempty"`
	Findings []vote.Finding `json:"findings,omitempty"`
}

// Run checks.
func (c *check) Run(p *program) error {
	e, err := c.Engine(p.ctx, p.getenv)
	if err != nil {
		return err
	}
	defer e.Close()
	sql, err := p.typed(c.SQL)
	if err != nil {
		return err
	}
	found, err := e.Check(p.ctx, sql)
	if c.JSON {
		v := verdict{Exit: exitCode(err), SQL: found.SQL, Reads: found.Analysis, Plan: found.Plan, Findings: found.Findings}
		var refused *exec.RefusedError
		if errors.As(err, &refused) {
			v.Reason = refused.Reason
		}
		if err != nil {
			v.Error = p.line(err)
		}
		return errors.Join(p.json(v), err)
	}
	width := p.width()
	say := func(format string, args ...any) {
		cli.Say(p.out, "%s\n", textformat.Hanging(fmt.Sprintf(format, args...), width, 2))
	}
	if err == nil {
		const accepted = "accepted: "
		cli.Say(p.out, "%s%s\n", accepted, textformat.WrapSQL(e.Dialect.Language().Text, found.SQL,
			max(0, width-len(accepted))))
	}
	if a := found.Analysis; a != nil {
		for _, t := range a.Tables {
			say("reads %s.%s: %s", t.Schema, t.Table, orNone(t.Columns, "its rows only"))
		}
		say("calls %s", orNone(a.Functions, "no function"))
	}
	for _, f := range found.Findings {
		say("%s: %s", f.Rule, f.Detail)
	}
	if found.Plan != nil {
		for _, row := range found.Plan.Rows {
			say("plan: %s", row.Detail)
		}
		if found.Plan.EngineCost > 0 {
			say("plan: cost %g, %g rows, as the engine estimates", found.Plan.EngineCost, found.Plan.EngineRows)
		}
	}
	return err
}

func orNone(list []string, none string) string {
	if len(list) == 0 {
		return none
	}
	return strings.Join(list, ", ")
}
