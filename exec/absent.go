package exec

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

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
