package guard

import (
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Family is a family of types. Values of one family are compared with each other and with constants, and no comparison
// fails on a value.
type Family uint8

// The families. A column of NoFamily may fail when it is read, as one that is computed then, or when it is compared.
const (
	NoFamily  Family = iota
	AnyFamily        // of an engine in which every two values can be compared
	NumberFamily
	FloatFamily
	TextFamily
	TimeFamily
	BoolFamily
	OtherFamily // compared with texts alone, which the engine reads before it looks at a row
)

// longestPattern bounds a LIKE pattern, in bytes: SQLite takes no longer one under the guard.
const longestPattern = 100

// CannotFail reports whether no part of a statement can fail on a value of a row, but for the list of results of its
// outermost SELECT, which an engine evaluates on the rows that are left. Such a statement needs no fence: that it is
// answered does not tell whether an index led the engine to a hidden row.
//
// What is on the list: columns of a [Family], constants, parameters; comparisons within one family, AND, OR,
// NOT, IS NULL, IS TRUE, BETWEEN, IN of constants, LIKE with a short constant pattern without a backslash; EXISTS, IN,
// derived tables, common table expressions and views of such queries; joins ON such conditions or USING such columns;
// GROUP BY and ORDER BY of columns; count, min and max of a column; LIMIT of the whole, whose list has these alone then, as
// its plan decides how much of it is computed. Everything else may fail, also
// what this reader does not know: the next function of an engine costs time then, and tells nothing.
//
// names is what the parser of the engine found in s; nil where no name but that of a column is read as one. list says which
// functions may stand in the outermost list of results; nil: all.
func (c *Catalog) CannotFail(s *sqltext.Statement, names *Names, list func(function string) bool) bool {
	r := failReader{catalog: c, list: list, families: map[string]Family{}, views: map[*Relation]bool{}}
	return (names == nil || !names.rows()) && r.statement(s) && r.holds()
}

// rows reports whether a name may stand for the row of a source, or call a function with it, as PostgreSQL has it: the name of
// the source, or one behind it, that is no column of each source of that name.
func (n *Names) rows() bool {
	return n.Call != nil && slices.ContainsFunc(n.Refs, func(ref Ref) bool {
		if ref.Star || len(ref.Path) == 0 {
			return false
		}
		column := ref.Path[len(ref.Path)-1]
		source := column
		if len(ref.Path) > 1 {
			source = ref.Path[len(ref.Path)-2]
		}
		return (len(ref.Path) == 1 || n.Call(column)) && slices.ContainsFunc(n.Sources, func(s Source) bool {
			return schema.EqualFold(s.Alias, source) && (s.Relation == nil || s.Renamed || !s.Relation.Has(column))
		})
	})
}

// failReader reads statements by a small grammar, and notes which values are compared. A method that meets something else
// returns false.
type failReader struct {
	catalog *Catalog
	list    func(string) bool
	text    Text
	i       int // the token that is read next

	families map[string]Family // of columns, by name as anyCase has it, in all of the statement
	commons  []string          // names of common table expressions, folded
	views    map[*Relation]bool
	pairs    [][2]operand
	any      bool // the engine compares every two values
	having   bool // aggregates may stand here, and queries may not
}

// operand is one side of a comparison.
type operand struct {
	column   string // folded; "" for a constant
	family   Family // of a constant whose type is written
	constant sqltext.Kind
	null     bool // NULL, or a parameter: it is compared with anything
	logical  bool // it is a condition
}

// rule reads the rules about a table, which run on hidden rows too.
func (r *failReader) rule(t *Relation) bool {
	return !slices.ContainsFunc(t.rules, func(rule *Rule) bool {
		var text strings.Builder
		for _, p := range rule.pieces {
			if p.param != "" {
				p.text = "NULL" // which is compared with anything, as the parameter is
			}
			text.WriteString(p.text + p.column)
		}
		return !r.within(text.String(), r.condition)
	})
}

// within reads another text with one of r's methods.
func (r *failReader) within(text string, read func() bool) bool {
	around, at, commons := r.text, r.i, r.commons
	defer func() { r.text, r.i, r.commons = around, at, commons }()
	r.text, r.i, r.commons = NewText(r.catalog.Text.Parse(text)), 0, nil
	return read() && (r.i == r.text.Len() || r.take(";") && r.i == r.text.Len())
}

// holds reports whether all pairs of operands are of one family, now that all columns are known.
func (r *failReader) holds() bool {
	return !slices.ContainsFunc(r.pairs, func(pair [2]operand) bool { return !r.comparable(pair[0], pair[1]) })
}

func (r *failReader) comparable(a, b operand) bool {
	fa, fb := r.family(a), r.family(b)
	switch {
	case a.logical || b.logical || a.column != "" && fa == NoFamily || b.column != "" && fb == NoFamily:
		return false
	case r.any || a.null || b.null || fa == fb:
		return true // two constants without a type, too: the engine compares them before it reads a row
	case fa == NoFamily:
		return a.fits(fb)
	case fb == NoFamily:
		return b.fits(fa)
	}
	return false
}

// fits reports whether a constant without a type is compared as what a family is.
func (o operand) fits(family Family) bool {
	switch o.constant {
	case sqltext.Number:
		return family == NumberFamily || family == FloatFamily
	case sqltext.String:
		return family != NumberFamily && family != FloatFamily && family != BoolFamily
	}
	return family == BoolFamily // TRUE or FALSE
}

func (r *failReader) family(o operand) Family {
	if o.column != "" {
		return r.families[anyCase(o.column)]
	}
	return o.family
}

// name notes what a name stands for. One that stands for two families stands for none.
func (r *failReader) name(folded string, family Family) {
	r.any = r.any || family == AnyFamily
	if r.any && family != NoFamily {
		family = AnyFamily
	}
	folded = anyCase(folded)
	if was, known := r.families[folded]; known && was != family {
		family = NoFamily
	}
	r.families[folded] = family
}

// anyCase folds all letters of a name, as MariaDB does where it compares names: what two names are told apart by here is more
// than their case on every engine.
func anyCase(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
