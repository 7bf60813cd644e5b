// Package constraints checks that a statement follows the corrections of the user.
package constraints

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// Check is an exec.Check that holds a statement to corrections of the user, by what the engine says it reads. A
// statement is an *exec.InvalidError with "constraint" if it reads a rejected table, does not read a selected
// one, or does not read both columns of a mandatory join. Corrections of other kinds reject nothing.
//
// SQLite does not report the columns that USING and NATURAL JOIN compare. A column that USING names counts as read, and
// with a NATURAL JOIN one of the same name on both sides of the mandatory join.
// Nor does it report a view of which only the rows are counted: a table or view that the text names counts as read.
//
// Every strategy.Checker has this check for the corrections of its Task, and the engine makes it once more on the
// winner.
type Check []session.Correction

// Check implements exec.Check.
func (l Check) Check(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
	if len(l) == 0 {
		return nil
	}
	if c.Analysis == nil {
		a, err := s.Analyze(ctx, c.SQL)
		if err != nil {
			return err
		}
		c.Analysis = &a
	}
	known, err := s.Schema(ctx)
	if err != nil {
		return err
	}
	r := reads{tables: c.Analysis.Tables, standard: known.Default, outline: c.Statement.Outline()}
	for _, t := range c.Statement.Tables() { // the engine is silent about a view of which only the rows are counted
		if t.Base() {
			r.tables = append(r.tables[:len(r.tables):len(r.tables)], exec.TableRead{Schema: cmp.Or(t.Schema, r.standard),
				Table: t.Name})
		}
	}
	for i, x := range l {
		if wrong := r.against(x); wrong != "" {
			return &exec.InvalidError{Fault: "constraint", Message: prompttext.OneLine(l[i].String()) + "; the statement " +
				wrong}
		}
	}
	return nil
}

// Among puts the constraints behind the check that analyzes statements, and in front of those that plan and run them.
func (l Check) Among(checks []exec.Check) []exec.Check {
	if len(l) == 0 {
		return checks
	}
	at := slices.IndexFunc(checks, func(c exec.Check) bool { _, ok := c.(exec.ReadOnly); return ok })
	if at < 0 {
		at = len(checks) - 1 // a caller's own checks stand alone
	}
	return slices.Insert(slices.Clone(checks), at+1, exec.Check(l))
}

// reads is what a statement reads.
type reads struct {
	tables   []exec.TableRead
	standard string // the default schema
	outline  sqlshape.Outline
}

// against says what a statement does against a correction; "" for nothing.
func (r reads) against(c session.Correction) string {
	for _, t := range c.Rejected {
		if len(r.of(t)) > 0 {
			return "reads " + t.String()
		}
	}
	for _, t := range c.Tables {
		if len(r.of(t)) == 0 {
			return "does not read " + t.String()
		}
	}
	if c.Kind != dialogue.CorrectJoin || c.Join == nil {
		return ""
	}
	natural := r.outline.Natural && schema.EqualFold(c.Join.Left.Column, c.Join.Right.Column)
	var missing []string
	for _, column := range []schema.ColumnName{c.Join.Left, c.Join.Right} {
		named := func(name string) bool { return schema.EqualFold(name, column.Column) }
		tables := r.of(column.Table)
		compared := natural || slices.ContainsFunc(r.outline.Using, named)
		if !slices.ContainsFunc(tables, func(t exec.TableRead) bool {
			return compared || slices.ContainsFunc(t.Columns, named)
		}) {
			missing = append(missing, column.String())
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return "does not read " + strings.Join(missing, " and ")
}

// of are the readings of a table. Names are compared as SQL does, without case.
func (r reads) of(table schema.TableName) (found []exec.TableRead) {
	for _, t := range r.tables {
		if schema.EqualFold(t.Table, table.Name) && schema.EqualFold(t.Schema, cmp.Or(table.Schema, r.standard)) {
			found = append(found, t)
		}
	}
	return found
}
