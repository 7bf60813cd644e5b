package sqltext

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// Tables returns the relations in the FROM clauses, at any depth, in text order of their names (a derived table by
// its opening bracket).
//
// It reads only the text: it knows aliases, qualifiers, CTEs, derived tables, bracketed joins and table functions,
// but not the tables of the database. With a database, exec.DB.Analyze is more reliable.
func (s *Statement) Tables() []sqlshape.TableRef {
	return byPos(s.tree().tables, func(r sqlshape.TableRef) int { return r.Pos })
}

// byPos returns list in the order of pos. It may be list itself.
func byPos[T any](list []T, pos func(T) int) []T {
	compare := func(a, b T) int { return pos(a) - pos(b) }
	if slices.IsSortedFunc(list, compare) {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, compare)
	return list
}

// Columns returns the mentions of columns in text order, including USING. It leaves out definitions of aliases, and
// names of functions, types, windows and tables. It includes uses of a column's alias, because the text does not show
// whether they are columns.
func (s *Statement) Columns() []sqlshape.ColumnRef {
	return byPos(s.resolved().refs, func(r sqlshape.ColumnRef) int { return r.Pos })
}

// Literals returns the string, number and blob constants in text order. A minus before a number belongs to the number
// if it cannot be a subtraction.
func (s *Statement) Literals() []sqlshape.Literal {
	p := s.tree()
	var found []sqlshape.Literal
	for i := range p.items {
		switch p.items[i].Kind {
		case String, Number, Blob:
			found = append(found, p.literal(i))
		}
	}
	return found
}

var literalKinds = map[Kind]sqlshape.LiteralKind{
	String: sqlshape.String, Number: sqlshape.Number, Blob: sqlshape.Blob, QuotedName: sqlshape.QuotedName,
}

// literal returns item i as a literal, with the sign before it.
func (p *parsed) literal(i int) sqlshape.Literal {
	t := p.items[i].Token
	lit := sqlshape.Literal{Kind: literalKinds[t.Kind], Text: t.Text, Value: t.Text, Pos: t.Pos}
	switch {
	case t.Kind == String || t.Kind == QuotedName:
		lit.Value = p.d.Value(t)
	case t.Kind == Number && p.op(i-1, "-") && !p.endsOperand(i-2):
		lit.Text = "-" + t.Text
		lit.Value, lit.Pos = lit.Text, p.items[i-1].Pos
	}
	return lit
}

// resolveColumn resolves a mention as far as the text goes. Statement.resolved keeps the results.
func (p *parsed) resolveColumn(c column) sqlshape.ColumnRef {
	last := &p.items[c.end-1]
	r := sqlshape.ColumnRef{Column: p.nameOf(c.end - 1), Pos: p.items[c.start].Pos, Operand: p.isOperand(c)}
	if last.Kind == QuotedName {
		r.Quote = last.Text[0]
	}
	parts := p.qualifier(c)
	r.Qualifier = strings.Join(parts, ".")
	if c.query >= 0 {
		r.Scope = p.scope(c.query).base
	}
	if t := p.resolve(parts, c.query); t >= 0 && p.tables[t].Base() {
		r.Schema, r.Table = p.tables[t].Schema, p.tables[t].Name
	}
	return r
}

// qualifier returns the names before the dots of a mention.
func (p *parsed) qualifier(c column) (parts []string) {
	for i := c.start; i < c.end-1; i += 2 {
		parts = append(parts, p.nameOf(i))
	}
	return parts
}

// scope is what a query has in FROM.
type scope struct {
	base  []sqlshape.TableRef
	names map[string]int // alias, name, or schema.name in lower case, to the table
}

// scope returns that of query q. Both of its parts would cost the number of
// columns times the number of tables if every column looked for its own.
func (p *parsed) scope(q int) *scope {
	if p.scopes == nil {
		p.scopes = make([]scope, len(p.queries))
	}
	s := &p.scopes[q]
	if s.names != nil {
		return s
	}
	s.names = make(map[string]int)
	add := func(name string, t int) {
		if _, ok := s.names[name]; !ok {
			s.names[name] = t
		}
	}
	for _, t := range p.queries[q].tables {
		ref := p.tables[t]
		if ref.Base() {
			s.base = append(s.base, ref)
		}
		switch {
		case ref.Alias != "":
			add(asciiLower(ref.Alias), t)
		case ref.Name != "":
			add(asciiLower(ref.Name), t)
			if ref.Schema != "" {
				add(asciiLower(ref.Schema+"."+ref.Name), t)
			}
		}
	}
	return s
}

// resolve returns the table of the qualifier, or of no qualifier, as seen from a query, or -1.
func (p *parsed) resolve(qualifier []string, q int) int {
	if len(qualifier) == 0 {
		if q < 0 || len(p.queries[q].tables) != 1 {
			return -1
		}
		// In a nested query the column may be one of the query around it, but
		// the nearest table is what a reader would take.
		return p.queries[q].tables[0]
	}
	name := asciiLower(strings.Join(qualifier, "."))
	for depth := 0; q >= 0 && depth < maxDepth; depth++ {
		if t, ok := p.scope(q).names[name]; ok {
			return t
		}
		q = p.queries[q].parent
	}
	return -1
}
