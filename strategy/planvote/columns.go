package planvote

import (
	"context"
	"fmt"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/words"
)

// expectColumns is a check that rejects statements with another number of result columns than N: the filter of M9.
//
// It counts the columns of the result where the statement was run, else the terms of the select list; a list with a *
// then passes.
type expectColumns struct {
	N int
}

// reasonColumns is the reason of the *exec.RefusedError of expectColumns.
const reasonColumns = "columns"

// Check implements exec.Check.
func (e expectColumns) Check(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
	n := 0
	if c.Table != nil {
		n = len(c.Table.Columns)
	} else if o := c.Statement.Outline(); !o.Star {
		n = len(o.Items)
	}
	if n == 0 || n == e.N {
		return nil
	}
	return &exec.RefusedError{Reason: reasonColumns, Detail: fmt.Sprintf("it has %d %s, not the %d expected", n,
		words.Plural("column", n), e.N)}
}
