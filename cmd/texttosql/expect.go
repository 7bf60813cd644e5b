package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/texttosqltest"
)

// expects reports whether a file of questions is one of package texttosqltest: some line expects what is no statement.
func expects(path string) bool {
	text, _ := os.ReadFile(path) // whoever reads it tells of faults
	for line := range bytes.Lines(text) {
		var has map[string]json.RawMessage
		if json.Unmarshal(line, &has) != nil {
			continue
		}
		for _, key := range []string{"rows", "reads", "metric", "asks", "refuses", "within", "calls"} {
			if has[key] != nil {
				return true
			}
		}
	}
	return false
}

// checked is a line of --json about one question of texttosqltest.
type checked struct {
	Question string   `json:"question"`
	Drift    []string `json:"drift"` // what is not as expected
}

// check asks the questions of a file of texttosqltest, one after the other, and tells what is not as expected.
func (v *evaluate) check(p *program) error {
	list, err := texttosqltest.ReadExpectations(v.Questions)
	if err != nil {
		return &setup.UsageError{Err: err}
	}
	e, err := v.Open(p.ctx, p.getenv, nil)
	if err != nil {
		return err
	}
	defer e.Close()
	drifted := 0
	for _, x := range list {
		told := checked{x.Question, append([]string{}, x.Check(p.ctx, e.Engine)...)}
		if p.ctx.Err() != nil {
			return p.ctx.Err()
		}
		drifted += min(1, len(told.Drift))
		switch {
		case v.JSON:
			if err := p.json(told); err != nil {
				return err
			}
		case len(told.Drift) > 0:
			cli.Say(p.out, "%s\n   %s\n", words.Line(told.Question), strings.ReplaceAll(strings.Join(told.Drift, "\n"), "\n",
				"\n   "))
		}
	}
	if drifted > 0 {
		return &wordedError{fmt.Errorf("%d of %d questions are not as expected", drifted, len(list))}
	}
	cli.Say(p.err, "all %d questions are as expected\n", len(list))
	return nil
}
