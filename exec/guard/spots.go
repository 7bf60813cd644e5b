package guard

import (
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Text has the tokens of a statement without blanks and comments, for code that locates the tables in it. The first
// token has the index 0; an index out of range gives an empty token.
type Text struct {
	d      sqltext.Dialect
	tokens []sqltext.Token
}

// NewText returns the tokens of a statement.
func NewText(s *sqltext.Statement) Text { return Text{s.Dialect(), slices.Collect(s.Tokens())} }

// Len returns the number of tokens.
func (t Text) Len() int { return len(t.tokens) }

// Token returns token i.
func (t Text) Token(i int) (token sqltext.Token) {
	if i >= 0 && i < len(t.tokens) {
		token = t.tokens[i]
	}
	return token
}

// Pos returns the offset of the start of token i, in bytes.
func (t Text) Pos(i int) int { return t.Token(i).Pos }

// End returns the offset of the end of token i, in bytes.
func (t Text) End(i int) int { return t.Token(i).Pos + len(t.Token(i).Text) }

// Raw returns token i as it is written.
func (t Text) Raw(i int) string { return t.Token(i).Text }

// Value returns the name or text that token i means.
func (t Text) Value(i int) string { return t.d.Value(t.Token(i)) }

// Word returns token i in lower case; "" for a quoted name or a string.
func (t Text) Word(i int) string {
	if token := t.Token(i); token.Kind != sqltext.QuotedName && token.Kind != sqltext.String {
		return schema.FoldCase(token.Text)
	}
	return ""
}

// Has reports whether some token is a word.
func (t Text) Has(word string) bool {
	return slices.ContainsFunc(t.tokens, func(token sqltext.Token) bool {
		return token.Kind == sqltext.Word && schema.FoldCase(token.Text) == word
	})
}

// IsName reports whether token i may be a name.
func (t Text) IsName(i int) bool {
	token := t.Token(i)
	return token.Text != "" && (token.Kind == sqltext.Word || token.Kind == sqltext.QuotedName)
}

// At returns the token that starts at an offset.
func (t Text) At(pos int) (i int, ok bool) {
	return slices.BinarySearchFunc(t.tokens, pos, func(t sqltext.Token, pos int) int { return t.Pos - pos })
}

// Name returns the first and the last token of the table name at an offset. It refuses a statement with another name
// there.
func (t Text) Name(pos int, name string) (first, last int, err error) {
	first, ok := t.At(pos)
	for last = first; ok && t.Word(last+1) == "."; {
		last += 2
	}
	if !ok || !schema.EqualFold(t.Value(last), name) {
		return 0, 0, Refuse("rows", "it cannot be told where it names the table %s", name)
	}
	return first, last, nil
}

// Finder collects the positions in a statement for [Catalog.Splice]. Text has the tokens of the statement:
// &Finder{Text: NewText(s)}.
type Finder struct {
	Text
	spots []TablePosition
}

// Table adds the position of a table name, which starts at the offset pos. alias is the alias after the name; "": it
// has none. Table returns the last token of the name.
func (f *Finder) Table(r *Relation, pos int, name, alias string) (last int, err error) {
	first, last, err := f.Name(pos, name)
	if err != nil {
		return 0, err
	}
	spot := TablePosition{Relation: r, Pos: f.Pos(first), End: f.End(last)}
	if alias == "" {
		spot.Alias = f.Raw(last)
	}
	f.spots = append(f.spots, spot)
	return last, nil
}

// Hint adds the tokens from first to last as words that follow the table name added last.
func (f *Finder) Hint(first, last int) {
	table := &f.spots[len(f.spots)-1]
	table.HintPos, table.HintEnd = f.Pos(first), f.End(last)
}

// Put adds a replacement for the text between two offsets.
func (f *Finder) Put(from, to int, what string) {
	f.spots = append(f.spots, TablePosition{Pos: from, End: to, Insert: what})
}

// Unqualify removes the schema at an offset, such as main in main.t.id, because a splice has no schema. It refuses
// the statement unless the name means exactly one table in it.
func (f *Finder) Unqualify(n *Names, pos int, name string, equal func(a, b string) bool) error {
	i, ok := f.At(pos)
	if !ok || f.Word(i+5) == "." || !n.same(name, equal) {
		return Refuse("rows", "%s has a schema in front: write it with an alias of the table", name)
	}
	f.Put(pos, f.Pos(i+2), "")
	return nil
}

// Spots returns the added positions, in the order of the text.
func (f *Finder) Spots() []TablePosition {
	slices.SortStableFunc(f.spots, func(a, b TablePosition) int { return a.Pos - b.Pos })
	return f.spots
}

// same reports whether all that n calls by an alias is one relation, and there is one.
func (n *Names) same(alias string, equal func(a, b string) bool) bool {
	var is *Relation
	for _, o := range n.Sources {
		if !equal(o.Alias, alias) {
			continue
		}
		if o.Relation == nil || is != nil && is != o.Relation {
			return false
		}
		is = o.Relation
	}
	return is != nil
}

// RejectRuled refuses the statement if one of the spots in s.Bare names a table with a rule.
func (s *RowFilterRewrite) RejectRuled(spots []TablePosition) error {
	for _, at := range spots {
		if at.Relation != nil && at.Relation.Ruled() {
			return Refuse("rows", "%s is named where its rule cannot stand", at.Relation.Name)
		}
	}
	return nil
}
