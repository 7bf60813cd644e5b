package exec

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
	"github.com/texttosql/texttosql/vote"
)

// ReadOnly accepts a statement that only reads, compiles, and reads nothing that the policy denies. It fills in the
// analysis and reports a statement that reads no table. If a statement compiles only after names of the schema are
// quoted, ReadOnly replaces it with the quoted statement.
type ReadOnly struct{}

// Check implements [Check].
func (ReadOnly) Check(ctx context.Context, s *Runner, c *Checked) error {
	a, err := s.Analyze(ctx, c.SQL)
	if err != nil {
		if a, err = s.analyzeQuoted(ctx, c, err); err != nil {
			return err
		}
	}
	c.Analysis = &a
	if err := s.findBareFunctions(ctx, c); err != nil {
		return err
	}
	if s.held != nil {
		s.held.pass(c.Statement)
	}
	if len(a.Tables) == 0 {
		c.Findings = append(c.Findings, vote.Finding{Rule: checks.NoTable, Detail: "the statement reads no table"})
	}
	return nil
}

// ExplainCheck fills in the engine's plan.
type ExplainCheck struct{}

// Check implements [Check].
func (ExplainCheck) Check(ctx context.Context, s *Runner, c *Checked) error {
	p, err := s.Explain(ctx, c.SQL)
	if err != nil {
		return err
	}
	c.Plan = &p
	return nil
}

// RunCheck runs the statement and fills in its rows. It does nothing on a DB without execution.
type RunCheck struct {
	Bounds Bounds // zero fields have the values of Limits.Candidate
}

// Check implements [Check].
func (e RunCheck) Check(ctx context.Context, s *Runner, c *Checked) error {
	if s.db.lookOnly {
		return nil
	}
	b, err := s.db.bounds(e.Bounds.or(s.db.limits.Candidate))
	if err != nil {
		return err
	}
	t, err := s.query(ctx, c.SQL, b)
	if err != nil {
		return err
	}
	c.Table = t
	return nil
}

// findEmpty finds results that seldom answer a question: no rows, and nothing but NULL. For these, and for a count of
// nothing, it looks up whether the columns of the statement hold the texts that they are compared with, which takes a
// second at most.
func findEmpty(ctx context.Context, s *Runner, c *Checked) error {
	switch {
	case c.Table.Empty():
		c.Findings = append(c.Findings, vote.Finding{Rule: checks.Empty, Detail: "the statement has no rows"})
	case c.Table.AllNull():
		c.Findings = append(c.Findings, vote.Finding{Rule: checks.AllNull, Detail: "every value of the result is NULL"})
	case !c.Table.Zero():
		return nil
	}
	at, err := absent(ctx, s, c)
	if at.Column != "" {
		detail := at.Table + "." + at.Column + " holds none of the texts it is compared with"
		c.Findings = append(c.Findings, vote.Finding{Rule: checks.Absent, Detail: detail + s.meant(ctx, at)})
	}
	return err
}

// unknownNames finds names in double quotes that match no column, so the engine reads them as strings. SQLite accepts
// SELECT "nmae" FROM t without an error. A name that is compared, or used with LIKE, IN or BETWEEN, is not reported,
// because the author meant a string, unless the other side is a constant too. Engines that reject unknown names need no
// such check. MySQL reads every text in double quotes as a string: there the check reports a text that is the name of a
// column.
//
// The engine decides: each name is compiled once in quotes that can only mark a name.
type unknownNames struct{ reject bool }

// Strict returns a check that rejects the statement with an *InvalidError and "schema" instead of adding a finding.
// Strategies that have no rows to compare use it; see [PlanChecks].
func (unknownNames) Strict() Check { return unknownNames{reject: true} }

// Check implements [Check].
func (u unknownNames) Check(ctx context.Context, s *Runner, c *Checked) error {
	if !s.db.language.Backticks || !strings.Contains(c.SQL, `"`) {
		return nil
	}
	statement, text := c.Statement, s.db.language.Text
	always := text.DoubleQuotedStrings
	if always { // read as names what is never one
		text.DoubleQuotedStrings = false
		statement = text.Parse(c.SQL)
	}
	comparisons := statement.Comparisons()
	suspects := suspectNames(statement.Columns(), comparisons)
	if len(suspects) == 0 {
		return nil
	}
	names, err := onStatement(ctx, s, c.SQL, s.db.limits.Candidate.Timeout,
		func(ctx context.Context, h *held, a *Statement) ([]sqlshape.ColumnRef, error) {
			return h.misread(ctx, a, suspects, always)
		})
	if err != nil || len(names) == 0 {
		return err
	}
	constant := comparedWithConstants(comparisons, names)
	for _, name := range names {
		if name.Operand && !constant[name.Pos] {
			continue
		}
		detail := fmt.Sprintf("no column is named %q here, so the engine takes it for a string", name.Column)
		unknown := InvalidError{Fault: "schema", Message: "no such column: " + name.Column, Name: name.Column}
		if always {
			detail = fmt.Sprintf("%q in double quotes is a string here, and not the column %s", name.Column,
				s.db.language.Quote(name.Column))
			unknown = InvalidError{Fault: "schema", Message: detail}
		}
		if u.reject {
			return &unknown
		}
		c.Findings = append(c.Findings, vote.Finding{Rule: checks.String, Detail: detail})
	}
	return nil
}

// Limits of the search for misread names: the names that are compiled one by one (fewer where each needs a message to a
// server) and the bytes that are compiled for them. SQLite compiles a list of 4,500 such names (27 KB) in 60 ms.
const (
	maxMisread      = 64
	maxMisreadSent  = 16
	maxMisreadBytes = 256 << 10
)

// misread returns the names that the engine reads as strings. If every text in double quotes is a string, it returns
// the names that match a column; otherwise it returns the names that match none. Each is compiled in backticks.
func (h *held) misread(ctx context.Context, a *Statement, names []sqlshape.ColumnRef,
	always bool) (misread []sqlshape.ColumnRef, err error) {
	most := min(len(names), maxMisread, max(1, maxMisreadBytes/len(a.SQL())))
	if always {
		most = min(most, maxMisreadSent)
	}
	names = names[:most]
	columns := func(names ...sqlshape.ColumnRef) (bool, error) { // whether all of them are columns
		statement, err := a.Dialect().Check(inBackticks(a.Statement, names))
		if err != nil {
			return false, nil
		}
		err = h.judge(ctx, &Statement{Statement: statement, Catalog: a.Catalog})
		switch {
		case errors.As(err, new(*InvalidError)), always && errors.As(err, new(*RefusedError)):
			return false, nil
		}
		return err == nil, err
	}
	if !always { // mostly no name is misread, and one compilation shows it
		if all, err := columns(names...); err != nil || all {
			return nil, err
		}
	}
	for _, name := range names {
		is, err := columns(name)
		if err != nil {
			return nil, err
		}
		if is == always {
			misread = append(misread, name)
		}
	}
	return misread, nil
}

// inBackticks writes names, which are in text order, in backticks.
func inBackticks(s *sqltext.Statement, names []sqlshape.ColumnRef) string {
	var b strings.Builder
	sql, done := s.SQL(), 0
	for t := range s.Tokens() {
		if len(names) == 0 {
			break
		}
		if t.Pos != names[0].Pos {
			continue
		}
		b.WriteString(sql[done:t.Pos] + "`" + strings.ReplaceAll(names[0].Column, "`", "``") + "`")
		done, names = t.Pos+len(t.Text), names[1:]
	}
	return b.String() + sql[done:]
}

// suspectNames returns the names in double quotes that are compared with nothing, and those on both sides of a
// comparison. A list of such names that is compared with a column holds strings.
func suspectNames(columns []sqlshape.ColumnRef, comparisons []sqlshape.Comparison) []sqlshape.ColumnRef {
	quoted := func(c sqlshape.ColumnRef) bool { return c.Quote == '"' && c.Qualifier == "" }
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
	var names []sqlshape.ColumnRef
	for _, c := range columns {
		if quoted(c) && (!c.Operand || matters[c.Pos]) {
			names = append(names, c)
		}
	}
	return names
}

// comparedWithConstants returns the positions of names whose other side in a comparison is constant: literals, or names
// that are strings themselves.
func comparedWithConstants(comparisons []sqlshape.Comparison, names []sqlshape.ColumnRef) map[int]bool {
	isString := map[int]bool{}
	for _, name := range names {
		isString[name.Pos] = true
	}
	constant := map[int]bool{}
	for _, c := range comparisons {
		all := len(c.Literals) > 0
		for _, l := range c.Literals {
			all = all && (l.Kind != sqlshape.QuotedName || isString[l.Pos])
		}
		constant[c.Pos] = all
	}
	return constant
}

// absentTimeout bounds all look-ups of one statement.
const absentTimeout = time.Second

// absent returns the first comparison with texts that the column does not contain. It returns a zero one if there is no
// such comparison, or if the search takes too long. Comparisons of one column belong together: x = 'a' OR x = 'b' needs
// one of the two.
func absent(ctx context.Context, s *Runner, c *Checked) (first checks.TextLiteral, err error) {
	known, err := s.Schema(ctx)
	if err != nil {
		return first, err
	}
	asking, cancel := context.WithTimeout(ctx, absentTimeout)
	defer cancel()
	var compared []checks.TextLiteral // the first of each column
	holds := map[checks.TextLiteral]bool{}
	for _, l := range checks.TextLiterals(known, c.Statement) {
		at := checks.TextLiteral{Schema: l.Schema, Table: l.Table, Column: l.Column}
		if _, seen := holds[at]; !seen {
			compared = append(compared, l)
		}
		if holds[at] {
			continue
		}
		stored, err := s.Probe(asking, l.Schema, l.Table, l.Column, l.Value)
		switch {
		case ctx.Err() != nil:
			return first, ctx.Err()
		case asking.Err() != nil:
			return first, nil
		}
		holds[at] = stored || err != nil // a failed query does not cause a doubt
	}
	for _, l := range compared {
		if !holds[checks.TextLiteral{Schema: l.Schema, Table: l.Table, Column: l.Column}] {
			return l, nil
		}
	}
	return first, nil
}

// meant returns a stored text that is close to one that a column does not contain; "": no stored text is close.
func (s *Runner) meant(ctx context.Context, l checks.TextLiteral) string {
	h, err := s.present(ctx)
	if err != nil {
		return ""
	}
	known, err := s.db.schemaOf(ctx, h.at, h.catalog)
	if err != nil {
		return ""
	}
	near := h.at.Words(known).Near(schema.TableName{Schema: l.Schema, Name: l.Table}, l.Column, l.Value)
	if len(near) == 0 {
		return ""
	}
	return ". Did you mean " + strings.Join(near, " or ") + "?"
}
