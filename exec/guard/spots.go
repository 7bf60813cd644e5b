package guard

import (
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Text is the tokens of a statement without blanks and comments, for those who look for the places of its tables. Tokens
// count from 0; beside them stand empty ones.
type Text struct {
	d      sqltext.Dialect
	tokens []sqltext.Token
}

// NewText returns the tokens of a statement.
func NewText(s *sqltext.Statement) Text { return Text{s.Dialect(), slices.Collect(s.Tokens())} }

// Len is the number of tokens.
func (t Text) Len() int { return len(t.tokens) }

// Token returns token i.
func (t Text) Token(i int) (token sqltext.Token) {
	if i >= 0 && i < len(t.tokens) {
		token = t.tokens[i]
	}
	return token
}

// Pos is where token i begins, and End where it ends, in bytes.
func (t Text) Pos(i int) int { return t.Token(i).Pos }

// End is where token i ends.
func (t Text) End(i int) int { return t.Token(i).Pos + len(t.Token(i).Text) }

// Raw is token i as it is written.
func (t Text) Raw(i int) string { return t.Token(i).Text }

// Value is the name or text that token i stands for.
func (t Text) Value(i int) string { return t.d.Value(t.Token(i)) }

// Word is token i in lower case, "" for a name in quotes and a string.
func (t Text) Word(i int) string {
	if token := t.Token(i); token.Kind != sqltext.QuotedName && token.Kind != sqltext.String {
		return schema.Fold(token.Text)
	}
	return ""
}

// IsName reports whether token i may be a name.
func (t Text) IsName(i int) bool {
	token := t.Token(i)
	return token.Text != "" && (token.Kind == sqltext.Word || token.Kind == sqltext.QuotedName)
}

// At returns the token that begins at a byte.
func (t Text) At(pos int) (i int, ok bool) {
	return slices.BinarySearchFunc(t.tokens, pos, func(t sqltext.Token, pos int) int { return t.Pos - pos })
}

// Name returns the first and the last token of the name of a table, which begins at a byte. It refuses a statement that has
// another name there.
func (t Text) Name(pos int, name string) (first, last int, err error) {
	first, ok := t.At(pos)
	for last = first; ok && t.Word(last+1) == "."; {
		last += 2
	}
	if !ok || !schema.EqualFold(t.Value(last), name) {
		return 0, 0, Refuse(ReasonRows, "it cannot be told where it names the table %s", name)
	}
	return first, last, nil
}

// Finder collects the places of a statement for [Catalog.Splice].
type Finder struct {
	Text
	spots []Spot
}

// NewFinder returns a Finder that has no place yet.
func NewFinder(s *sqltext.Statement) *Finder { return &Finder{Text: NewText(s)} }

// Table adds the place where a table of a name is named, which begins at a byte. alias is what stands behind the name as its
// alias; "": nothing. It returns the last token of the name.
func (f *Finder) Table(r *Relation, pos int, name, alias string) (last int, err error) {
	first, last, err := f.Name(pos, name)
	if err != nil {
		return 0, err
	}
	spot := Spot{Relation: r, Pos: f.Pos(first), End: f.End(last)}
	if alias == "" {
		spot.Alias = f.Raw(last)
	}
	f.spots = append(f.spots, spot)
	return last, nil
}

// Hint says that the tokens from first to last belong behind the name of the table that was added last.
func (f *Finder) Hint(first, last int) {
	table := &f.spots[len(f.spots)-1]
	table.HintPos, table.HintEnd = f.Pos(first), f.End(last)
}

// Put adds what stands in place of the text between two bytes.
func (f *Finder) Put(from, to int, what string) {
	f.spots = append(f.spots, Spot{Pos: from, End: to, Insert: what})
}

// Unqualify leaves out what stands in front of the name of a table, as main in main.t.id, which begins at a byte: a splice has
// no schema. It refuses where all that the statement calls by the name is not one table.
func (f *Finder) Unqualify(n *Names, pos int, name string, equal func(a, b string) bool) error {
	i, ok := f.At(pos)
	if !ok || f.Word(i+5) == "." || !n.same(name, equal) {
		return Refuse(ReasonRows, "%s has a schema in front: write it with an alias of the table", name)
	}
	f.Put(pos, f.Pos(i+2), "")
	return nil
}

// Spots returns what was added, in the order of the text.
func (f *Finder) Spots() []Spot {
	slices.SortStableFunc(f.spots, func(a, b Spot) int { return a.Pos - b.Pos })
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

// Bare refuses the spots of [Splice].Bare if one of them is of a table with a rule.
func Bare(spots []Spot) error {
	for _, s := range spots {
		if s.Relation != nil && s.Relation.Ruled() {
			return Refuse(ReasonRows, "%s is named where its rule cannot stand", s.Relation.Name)
		}
	}
	return nil
}
