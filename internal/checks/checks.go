// Package checks has what the checks of package exec share with the packages that read their findings: the names of the
// rules, and which columns a statement means.
package checks

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Rules of the findings of package exec.
const (
	NoTable = "no-table"       // no table is read
	Empty   = "empty"          // no rows
	AllNull = "all-null"       // rows, and every value in them is NULL
	Absent  = "value-absent"   // the result has no value, and a column holds none of the texts it is compared with
	String  = "name-as-string" // a name that the engine takes for a string
	Quoted  = "names-quoted"   // names that needed quotes and had none
	// Odd begins the rules of exec.SuspiciousResultCheck about mistakes that all samples of a model make in the same way.
	Odd = "odd-"
)

// ColumnOf finds the one column that a mention means: in the table that the text names, or else in the only table of
// its Scope that has the column. The name is spelled as in s. t is nil if no table or several tables have the column.
func ColumnOf(s *schema.Schema, r sqlshape.ColumnRef) (t *schema.Table, column string) {
	scope := r.Scope
	if r.Table != "" {
		scope = []sqlshape.TableRef{{Schema: r.Schema, Name: r.Table}}
	} else if r.Qualifier != "" {
		return nil, ""
	}
	for _, ref := range scope {
		found, ok := s.Lookup(ref.Schema, ref.Name)
		if !ok || found == t {
			continue
		}
		if c, ok := found.Column(r.Column); ok {
			if t != nil {
				return nil, "" // ambiguous
			}
			t, column = found, c.Name
		}
	}
	return t, column
}

// hasColumn reports whether some table of a scope has a column of that name.
func hasColumn(s *schema.Schema, scope []sqlshape.TableRef, name string) bool {
	return slices.ContainsFunc(scope, func(ref sqlshape.TableRef) bool {
		t, ok := s.Lookup(ref.Schema, ref.Name)
		if !ok {
			return false
		}
		_, ok = t.Column(name)
		return ok
	})
}

// ColumnNames returns a function that writes columns for sqltext.Statement.Conditions in one way, whatever alias a
// statement uses: behind their table, both written by names. A column of no known table is written
// alone, in lower case. "x" beside a comparison is a string if no table around it has a column x.
func ColumnNames(s *schema.Schema, names schema.Quoter) func(sqlshape.ColumnRef) string {
	return func(r sqlshape.ColumnRef) string {
		if t, column := ColumnOf(s, r); t != nil {
			return names.Quote(t.Name) + "." + names.Quote(column)
		}
		if r.Qualifier == "" && r.Quote == '"' && r.Operand && !hasColumn(s, r.Scope, r.Column) {
			return ""
		}
		return strings.ToLower(r.Column)
	}
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
			if lit.Kind == sqlshape.QuotedName && hasColumn(s, c.Scope, lit.Value) {
				continue // a column, not a string
			}
			if lit.Kind != sqlshape.String && lit.Kind != sqlshape.QuotedName ||
				!isWord(lit.Value, strings.HasSuffix(c.Op, "LIKE")) {
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
