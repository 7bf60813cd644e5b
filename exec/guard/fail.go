package guard

import (
	"slices"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// The families of types: see [Relation.Compares].
const (
	noFamily     = ""
	anyFamily    = "any"
	numberFamily = "number"
	floatFamily  = "float"
	textFamily   = "text"
	timeFamily   = "time"
	boolFamily   = "bool"
	otherFamily  = "other"
)

// longestPattern bounds a LIKE pattern, in bytes: SQLite takes no longer one under the guard.
const longestPattern = 100

// CannotFail reports whether no part of a statement can fail on a value of a row. The results of the outermost SELECT
// are excluded: an engine evaluates them on the remaining rows. Such a statement needs no fence, because its success
// does not reveal whether an index led the engine to a hidden row.
//
// The parts in this list cannot fail. Everything else may fail, including syntax that the reader does not know. A
// function that is new in an engine therefore costs time, but reveals nothing.
//
//   - columns of a family of types, constants, parameters
//   - comparisons within one family, AND, OR, NOT, IS NULL, IS TRUE, BETWEEN, IN of constants
//   - LIKE with a short constant pattern without a backslash
//   - EXISTS, IN, derived tables, common table expressions and views of such queries
//   - joins ON such conditions or USING such columns
//   - GROUP BY and ORDER BY of columns; count, min and max of a column
//   - LIMIT of the whole statement, if its results have only such parts, because the plan decides how many are computed
//
// names holds the names that the engine's parser found in s; nil if every name is read as a column. list reports which
// functions may be in the outermost list of results; nil: all.
func (c *Catalog) CannotFail(s *sqltext.Statement, names *Names, list func(function string) bool) bool {
	r := newFailReader(c, list)
	return (names == nil || !names.rows()) && r.statement(s) && !r.fails && r.holds()
}

// rows reports whether a name may stand for the row of a source, or call a function with it, as in PostgreSQL. It is
// the name of the source, or a name after it that is missing as a column in some source of that name.
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

// failReader reads statements by a small grammar, and notes which values are compared. A method that meets something
// else returns false.
type failReader struct {
	catalog *Catalog
	list    func(string) bool
	text    Text
	i       int // the token that is read next

	families map[string]string // of columns, by name as anyCase has it, in all of the statement
	commons  []common
	views    map[*Relation]bool
	pairs    [][2]operand
	any      bool // the engine compares every two values
	having   bool // aggregates may stand here, and queries may not
	// a condition was skipped, or a rule may fail: only where rows come from and how they are sorted is known
	fails bool

	at            *level            // that is read
	traits        map[string]traits // as families; a name of two columns has the traits of both
	exact, sorted []string          // columns that need a trait, folded
	series        []series          // of the outermost list
	loose         bool              // a value depends on the order of rows
}

func newFailReader(c *Catalog, list func(string) bool) *failReader {
	return &failReader{catalog: c, list: list, families: map[string]string{}, views: map[*Relation]bool{}, at: &level{},
		traits: map[string]traits{}}
}

// common is a common table expression.
type common struct {
	name    string   // folded
	columns []string // as they are written; nil: they are not known
}

// operand is one side of a comparison.
type operand struct {
	column   string // folded; "" for a constant
	family   string // of a constant whose type is written
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
	case a.logical || b.logical || a.column != "" && fa == noFamily || b.column != "" && fb == noFamily:
		return false
	case r.any || a.null || b.null || fa == fb:
		return true // two constants without a type, too: the engine compares them before it reads a row
	case fa == noFamily:
		return a.fits(fb)
	case fb == noFamily:
		return b.fits(fa)
	}
	return false
}

// fits reports whether a constant without a type is compared as what a family is.
func (o operand) fits(family string) bool {
	switch o.constant {
	case sqltext.Number:
		return family == numberFamily || family == floatFamily
	case sqltext.String:
		return family != numberFamily && family != floatFamily && family != boolFamily
	}
	return family == boolFamily // TRUE or FALSE
}

func (r *failReader) family(o operand) string {
	if o.column != "" {
		return r.families[anyCase(o.column)]
	}
	return o.family
}

// name records the family of a name. A name with two families has no family.
func (r *failReader) name(folded, family string, trait traits) {
	r.any = r.any || family == anyFamily
	if r.any && family != noFamily {
		family = anyFamily
	}
	folded = anyCase(folded)
	if was, known := r.families[folded]; known && was != family {
		family = noFamily
	}
	if was, known := r.traits[folded]; known {
		trait &= was
	}
	r.families[folded], r.traits[folded] = family, trait
}

// trait returns the traits of an operand.
func (r *failReader) trait(o operand) traits {
	if o.column != "" {
		return r.traits[anyCase(o.column)]
	}
	return everyTrait
}

// anyCase folds all letters of a name, as MariaDB does when it compares names. Two names that differ here differ in
// more than case on every engine.
func anyCase(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, name)
}
