package planvote

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// ExpectColumns is a check that rejects statements with another number of result columns than N, for callers who know
// how many their question asks for: the filter of M9.
//
// It counts the columns of the result where the statement was run, else the terms of the select list; a list with a *
// then passes.
type ExpectColumns struct {
	N int // columns; 0 or less: any number
}

// reasonColumns is the reason of the *exec.RefusedError of ExpectColumns.
const reasonColumns sqltext.Reason = "columns"

// Check implements exec.Check.
func (e ExpectColumns) Check(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
	if e.N <= 0 {
		return nil
	}
	n := 0
	if c.Table != nil {
		n = len(c.Table.Columns)
	} else if o := c.Statement.Outline(); !o.Star {
		n = len(o.Items)
	}
	if n == 0 || n == e.N {
		return nil
	}
	return &exec.RefusedError{Reason: reasonColumns, Detail: fmt.Sprintf("it has %d %s, not the %d expected", n, words.Plural("column", n), e.N)}
}
