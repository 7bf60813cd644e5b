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
func NewText(s *sqltext.Statement) Text {
	return Text{s.Dialect(), slices.DeleteFunc(slices.Collect(s.Tokens()), func(t sqltext.Token) bool {
		return t.Kind == sqltext.Space || t.Kind == sqltext.Comment
	})}
}

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
	if !ok || !schema.EqualFold(t.d.Value(t.Token(last)), name) {
		return 0, 0, Refuse(ReasonRows, "it cannot be told where it names the table %s", name)
	}
	return first, last, nil
}

// Same reports whether all that n calls by an alias is one relation, and there is one.
func (n *Names) Same(alias string, equal func(a, b string) bool) bool {
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
