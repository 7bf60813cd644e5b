package exec

import (
	"context"
	"fmt"
	"strings"

	"github.com/texttosql/texttosql/sqltext"
)

// SingleRead accepts a text that is exactly one statement, reads only, compiles,
// and reads nothing that the policy denies. It trims the text and fills in the
// analysis.
type SingleRead struct{}

// Check implements [Check].
func (SingleRead) Check(ctx context.Context, db *DB, c *Checked) error {
	sql, err := db.check(c.SQL)
	if err != nil {
		return err
	}
	c.SQL = sql
	a, err := db.Analyze(ctx, sql)
	if err != nil {
		return err
	}
	c.Analysis = &a
	return nil
}

// Planned asks the engine for its plan and fills it in.
type Planned struct{}

// Check implements [Check].
func (Planned) Check(ctx context.Context, db *DB, c *Checked) error {
	p, err := db.Explain(ctx, c.SQL)
	if err != nil {
		return err
	}
	c.Plan = &p
	return nil
}

// Execute runs the statement and fills in its rows. On a DB without execution there
// are none, and that is no error.
type Execute struct {
	Bounds Bounds // zero fields: those of Limits.Candidate
}

// Check implements [Check].
func (e Execute) Check(ctx context.Context, db *DB, c *Checked) error {
	if db.lookOnly {
		return nil
	}
	t, err := db.QueryWithin(ctx, c.SQL, e.Bounds.or(db.limits.Candidate))
	if err != nil {
		return err
	}
	c.Table = t
	return nil
}

// Rules of the findings of [Suspect] and [UnknownNames].
const (
	FindingEmpty   = "empty"          // no rows
	FindingAllNull = "all-null"       // rows, and every value in them is NULL
	FindingString  = "name-as-string" // a name that the engine takes for a string
)

// Suspect finds results that seldom answer a question: no rows, and nothing but
// NULL. It looks at the rows that [Execute] left, and finds nothing without them.
type Suspect struct{}

// Check implements [Check].
func (Suspect) Check(_ context.Context, _ *DB, c *Checked) error {
	switch {
	case c.Table == nil:
	case c.Table.Empty():
		c.Findings = append(c.Findings, Finding{Rule: FindingEmpty, Detail: "the statement has no rows"})
	case c.Table.AllNull():
		c.Findings = append(c.Findings, Finding{Rule: FindingAllNull, Detail: "every value of the result is NULL"})
	}
	return nil
}

// UnknownNames finds names in double quotes that no column has and that the
// engine therefore takes for strings, as SQLite does: SELECT "nmae" FROM t is no
// error to it. As an operand of a comparison, LIKE, IN or BETWEEN such a name is
// what its author meant for a string, and fine, unless the other side is a
// constant too: then it was to be the column. Engines that refuse unknown names
// have nothing to find.
//
// The engine decides: each name is compiled once in quotes that can only be those
// of a name.
type UnknownNames struct {
	// Reject makes it an *InvalidError with FaultSchema instead of a finding.
	Reject bool
}

// Misreader is a [Dialect] whose engine takes some unknown names for strings.
type Misreader interface {
	// Misread returns those of names that h takes for strings in sql, which
	// compiles. names are unqualified, in double quotes and in text order. It may
	// leave out the later ones of many.
	Misread(ctx context.Context, h Held, sql string, names []sqltext.ColumnRef) ([]sqltext.ColumnRef, error)
}

// Check implements [Check].
func (u UnknownNames) Check(ctx context.Context, db *DB, c *Checked) error {
	m, ok := db.dialect.(Misreader)
	if !ok || !strings.Contains(c.SQL, `"`) {
		return nil
	}
	var names []sqltext.ColumnRef
	comparisons := db.dialect.Text().Comparisons(c.SQL)
	suspects := suspectNames(db.dialect.Text().Columns(c.SQL), comparisons)
	if len(suspects) == 0 {
		return nil
	}
	err := db.generated(ctx, c.SQL, db.limits.Candidate.Timeout, func(ctx context.Context, h Held, sql string) (err error) {
		names, err = m.Misread(ctx, h, sql, suspects)
		return err
	})
	if err != nil || len(names) == 0 {
		return err
	}
	constant := comparedWithConstants(comparisons, names)
	for _, name := range names {
		if name.Operand && !constant[name.Pos] {
			continue
		}
		if u.Reject {
			return &InvalidError{Fault: FaultSchema, Message: "no such column: " + name.Column, Name: name.Column}
		}
		c.Findings = append(c.Findings, Finding{
			Rule:   FindingString,
			Detail: fmt.Sprintf("no column is named %q here, so the engine takes it for a string", name.Column),
		})
	}
	return nil
}

// suspectNames returns the names in double quotes that matter: those that are
// compared with nothing, and those on both sides of a comparison. A list of strings
// in such quotes, to be compared with a column, is none.
func suspectNames(columns []sqltext.ColumnRef, comparisons []sqltext.Comparison) []sqltext.ColumnRef {
	quoted := func(c sqltext.ColumnRef) bool { return c.Quote == '"' && c.Qualifier == "" }
	matters := map[int]bool{}
	for _, c := range comparisons {
		if !quoted(c.ColumnRef) {
			continue
		}
		matters[c.Pos] = true
		for _, l := range c.Literals {
			matters[l.Pos] = true
		}
	}
	var names []sqltext.ColumnRef
	for _, c := range columns {
		if quoted(c) && (!c.Operand || matters[c.Pos]) {
			names = append(names, c)
		}
	}
	return names
}

// comparedWithConstants returns the positions of names whose other side in a
// comparison is constant: literals, or names that are strings themselves.
func comparedWithConstants(comparisons []sqltext.Comparison, names []sqltext.ColumnRef) map[int]bool {
	isString := map[int]bool{}
	for _, name := range names {
		isString[name.Pos] = true
	}
	constant := map[int]bool{}
	for _, c := range comparisons {
		all := len(c.Literals) > 0
		for _, l := range c.Literals {
			all = all && (l.Kind != sqltext.QuotedName || isString[l.Pos])
		}
		constant[c.Pos] = all
	}
	return constant
}
