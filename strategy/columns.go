package strategy

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
)

// ExpectColumns is a check that rejects statements with another number of result
// columns than N, for callers who know how many their question asks for: the
// filter of strategy M9 of galah92/egtts. 0 rejects none.
//
// It counts those of the result where the statement was run, else the terms of
// the select list; one with a * then passes.
type ExpectColumns struct {
	N int // columns; 0 or less: any number
}

// RuleColumns is the rule of what ExpectColumns refuses.
const RuleColumns exec.Rule = "columns"

// Check implements exec.Check.
func (e ExpectColumns) Check(_ context.Context, db *exec.DB, c *exec.Checked) error {
	if e.N <= 0 {
		return nil
	}
	n := 0
	if c.Table != nil {
		n = len(c.Table.Columns)
	} else if o := db.Dialect().Text().Outline(c.SQL); !o.Star {
		n = len(o.Items)
	}
	if n == 0 || n == e.N {
		return nil
	}
	return &exec.RefusedError{Rule: RuleColumns, Detail: fmt.Sprintf("it has %s, not the %d expected", plural(n, "column"), e.N)}
}
