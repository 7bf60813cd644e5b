package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// ReadOnly accepts a statement that only reads, compiles, and reads nothing that the policy denies. It fills in the
// analysis, and finds that no table is read.
type ReadOnly struct{}

// Check implements [Check].
func (ReadOnly) Check(ctx context.Context, s *Runner, c *Checked) error {
	a, err := s.Analyze(ctx, c.SQL)
	if err != nil {
		return err
	}
	c.Analysis = &a
	if s.held != nil {
		s.held.pass(c.Statement)
	}
	if len(a.Tables) == 0 {
		c.Findings = append(c.Findings, Finding{Rule: FindingNoTable, Detail: "the statement reads no table"})
	}
	return nil
}

// Planned asks the engine for its plan and fills it in.
type Planned struct{}

// Check implements [Check].
func (Planned) Check(ctx context.Context, s *Runner, c *Checked) error {
	p, err := s.Explain(ctx, c.SQL)
	if err != nil {
		return err
	}
	c.Plan = &p
	return nil
}

// Execute runs the statement and fills in its rows. On a DB without execution there are none, and that is no error.
type Execute struct {
	Bounds Bounds // zero fields: those of Limits.Candidate
}

// Check implements [Check].
func (e Execute) Check(ctx context.Context, s *Runner, c *Checked) error {
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

// Rules of the findings of the checks of this package.
const (
	FindingNoTable = "no-table"       // no table is read
	findingEmpty   = "empty"          // no rows
	findingAllNull = "all-null"       // rows, and every value in them is NULL
	FindingAbsent  = "value-absent"   // the result has no value, and a column holds none of the texts it is compared with
	FindingString  = "name-as-string" // a name that the engine takes for a string
)

// EmptyResult finds results that seldom answer a question: no rows, and nothing but NULL. For these, and for a count of
// nothing, it looks up whether the columns of the statement hold the texts that they are compared with, which takes a
// second at most. It looks at the rows that [Execute] left, and finds nothing without them.
type EmptyResult struct{}

// Check implements [Check].
func (EmptyResult) Check(ctx context.Context, s *Runner, c *Checked) error {
	switch {
	case c.Table == nil:
		return nil
	case c.Table.Empty():
		c.Findings = append(c.Findings, Finding{Rule: findingEmpty, Detail: "the statement has no rows"})
	case c.Table.AllNull():
		c.Findings = append(c.Findings, Finding{Rule: findingAllNull, Detail: "every value of the result is NULL"})
	case !c.Table.Zero():
		return nil
	}
	column, err := absent(ctx, s, c)
	if column != "" {
		c.Findings = append(c.Findings, Finding{Rule: FindingAbsent, Detail: column + " holds none of the texts it is compared with"})
	}
	return err
}

// UnknownNames finds names in double quotes that no column has and that the engine therefore takes for strings. SELECT
// "nmae" FROM t is no error to SQLite. Such a name is no finding beside a comparison, LIKE, IN or BETWEEN, where its
// author meant a string, unless the other side is a constant too. Engines that refuse unknown names have nothing to
// find. To MySQL every text in double quotes is a string: there the finding is about one that a column is named after.
//
// The engine decides: each name is compiled once in quotes that can only be those of a name.
type UnknownNames struct {
	// Reject makes it an *InvalidError with FaultSchema instead of a finding.
	Reject bool
}

// Check implements [Check].
func (u UnknownNames) Check(ctx context.Context, s *Runner, c *Checked) error {
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
	names, err := onStatement(ctx, s, c.SQL, s.db.limits.Candidate.Timeout, func(ctx context.Context, h *held, a *Statement) ([]sqltext.ColumnRef, error) {
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
		unknown := InvalidError{Fault: FaultSchema, Message: "no such column: " + name.Column, Name: name.Column}
		if always {
			detail = fmt.Sprintf("%q in double quotes is a string here, and not the column %s", name.Column, s.db.language.Quote(name.Column))
			unknown = InvalidError{Fault: FaultSchema, Message: detail}
		}
		if u.Reject {
			return &unknown
		}
		c.Findings = append(c.Findings, Finding{Rule: FindingString, Detail: detail})
	}
	return nil
}

// What looking for misread names may cost: names that are tried one by one, fewer where each is a message to a server,
// and bytes that are compiled for them. SQLite compiles a list of 4,500 such names (27 KB) in 60 ms.
const (
	maxMisread      = 64
	maxMisreadSent  = 16
	maxMisreadBytes = 256 << 10
)

// misread returns those of names that the engine takes for strings: where every text in double quotes is one, those that
// a column is called like, else those that no column is. Each is compiled in backticks.
func (h *held) misread(ctx context.Context, a *Statement, names []sqltext.ColumnRef, always bool) (misread []sqltext.ColumnRef, err error) {
	most := min(len(names), maxMisread, max(1, maxMisreadBytes/len(a.SQL())))
	if always {
		most = min(most, maxMisreadSent)
	}
	names = names[:most]
	columns := func(names ...sqltext.ColumnRef) (bool, error) { // whether all of them are columns
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
func inBackticks(s *sqltext.Statement, names []sqltext.ColumnRef) string {
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

// comparedWithConstants returns the positions of names whose other side in a comparison is constant: literals, or names
// that are strings themselves.
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

// TextLiteral is a text that a statement compares with a column.
type TextLiteral struct {
	Schema, Table, Column string // the names as the schema spells them
	Value                 string
}

// TextLiterals returns the texts that a statement compares with columns, each once and in text order: those behind =,
// <>, IN, NOT IN, IS and a LIKE without wildcards, in either order of the operands, where text and schema tell one
// column. Left out are numbers, dates and patterns.
func TextLiterals(s *schema.Schema, statement *sqltext.Statement) []TextLiteral {
	var literals []TextLiteral
	for _, c := range statement.Comparisons() {
		switch c.Op {
		case "=", "<>", "IN", "NOT IN", "IS", "IS NOT", "LIKE", "NOT LIKE":
		default:
			continue
		}
		t, column := ColumnOf(s, c.ColumnRef)
		if t == nil {
			continue
		}
		for _, lit := range c.Literals {
			if lit.Kind == sqltext.QuotedName && hasColumn(s, c.Scope, lit.Value) {
				continue // a column, not a string
			}
			if lit.Kind != sqltext.String && lit.Kind != sqltext.QuotedName || !isWord(lit.Value, strings.HasSuffix(c.Op, "LIKE")) {
				continue
			}
			if l := (TextLiteral{t.Schema, t.Name, column, lit.Value}); !slices.Contains(literals, l) {
				literals = append(literals, l)
			}
		}
	}
	return literals
}

// isWord reports whether a string is no number, no date and no pattern.
func isWord(value string, like bool) bool {
	if like && strings.ContainsAny(value, "%_") {
		return false
	}
	return strings.ContainsFunc(value, func(r rune) bool { return !strings.ContainsRune("0123456789-/:. TZ+", r) })
}

// absentTimeout bounds all look-ups of one statement.
const absentTimeout = time.Second

// absent returns the first column, as "table.column", that c compares with texts of which it holds none; "" when there
// is none, or when it cannot be told in time. Comparisons of one column stand together: x = 'a' OR x = 'b' needs one of
// the two.
func absent(ctx context.Context, s *Runner, c *Checked) (string, error) {
	known, err := s.Schema(ctx)
	if err != nil {
		return "", err
	}
	asking, cancel := context.WithTimeout(ctx, absentTimeout)
	defer cancel()
	var columns []TextLiteral // without values
	holds := map[TextLiteral]bool{}
	for _, l := range TextLiterals(known, c.Statement) {
		at := TextLiteral{Schema: l.Schema, Table: l.Table, Column: l.Column}
		if _, seen := holds[at]; !seen {
			columns = append(columns, at)
		}
		if holds[at] {
			continue
		}
		stored, err := s.Probe(asking, l.Schema, l.Table, l.Column, l.Value)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case asking.Err() != nil:
			return "", nil
		}
		holds[at] = stored || err != nil // what cannot be asked is no reason to doubt
	}
	for _, at := range columns {
		if !holds[at] {
			return at.Table + "." + at.Column, nil
		}
	}
	return "", nil
}
