package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/exec"
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
	Findings []exec.Finding `json:"findings,omitempty"`
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
			v.Reason = string(refused.Reason)
		}
		if err != nil {
			v.Error = p.line(err)
		}
		return errors.Join(p.json(v), err)
	}
	if err == nil {
		cli.Say(p.out, "accepted: %s\n", found.SQL)
	}
	if a := found.Analysis; a != nil {
		for _, t := range a.Tables {
			cli.Say(p.out, "reads %s.%s: %s\n", t.Schema, t.Table, orNone(t.Columns, "its rows only"))
		}
		cli.Say(p.out, "calls %s\n", orNone(a.Functions, "no function"))
	}
	for _, f := range found.Findings {
		cli.Say(p.out, "%s: %s\n", f.Rule, f.Detail)
	}
	if found.Plan != nil {
		for _, row := range found.Plan.Rows {
			cli.Say(p.out, "plan: %s\n", row.Detail)
		}
		if found.Plan.EngineCost > 0 {
			fmt.Fprintf(p.out, "plan: cost %g, %g rows, as the engine estimates\n", found.Plan.EngineCost, found.Plan.EngineRows)
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
