// Package quoting puts quotes around names of a statement.
package quoting

import (
	"cmp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Tokens are the tokens of a statement.
type Tokens []sqltext.Token

// TokensOf returns the tokens of s.
func TokensOf(s *sqltext.Statement) Tokens { return slices.Collect(s.Tokens()) }

// At returns token i; an empty one outside of the statement.
func (t Tokens) At(i int) sqltext.Token {
	if i < 0 || i >= len(t) {
		return sqltext.Token{}
	}
	return t[i]
}

// Is reports whether token i is a word, in lower case.
func (t Tokens) Is(i int, word string) bool {
	return t.At(i).Kind == sqltext.Word && strings.EqualFold(t.At(i).Text, word)
}

// Rules are how an engine writes names.
type Rules struct {
	Text       sqltext.Dialect
	Quote      func(name string) string // writes a name so that it is never a string
	IsKeyword  func(word string) bool   // whether a word in lower case is a name in quotes only
	NeedsQuote func(name string) bool   // whether a name without quotes is another name
}

// quoting puts quotes around names of a statement.
type quoting struct {
	Rules
	tokens Tokens
	// of the tables that the statement names and of their columns, by folded name; "": several
	names  map[string]string
	tables map[int]*schema.Table // the table of a column, by where its mention begins
}

// Names returns the text of a statement with quotes around the names of known that need them, and these names.
func (r Rules) Names(s *sqltext.Statement, known *schema.Schema) (text string, names []string) {
	q := quoting{Rules: r, tokens: TokensOf(s), names: map[string]string{}, tables: map[int]*schema.Table{}}
	q.read(s, known)
	from := 0
	for i, t := range q.tokens {
		name := q.nameOf(i)
		if name == "" || !q.standsAsName(i) {
			continue
		}
		written := r.Quote(name)
		text += s.SQL()[from:t.Pos] + written
		from = t.Pos + len(t.Text)
		if !slices.Contains(names, written) {
			names = append(names, written)
		}
	}
	return text + s.SQL()[from:], names
}

// read collects the names that a statement may mean.
func (q *quoting) read(s *sqltext.Statement, known *schema.Schema) {
	mentioned := map[string]bool{}
	for _, t := range q.tokens {
		mentioned[schema.FoldCase(q.Text.Value(t))] = true
	}
	add := func(name string) {
		key := schema.FoldCase(name)
		if other, ok := q.names[key]; ok && other != name {
			name = ""
		}
		q.names[key] = name
	}
	for i := range known.Tables {
		t := &known.Tables[i]
		if !mentioned[schema.FoldCase(t.Name)] {
			continue
		}
		add(t.Name)
		if name := known.SchemaOf(t); !strings.Contains(name, ".") {
			add(name)
		}
		for j := range t.Columns {
			add(t.Columns[j].Name)
		}
	}
	for _, c := range s.Columns() {
		if t, ok := known.Lookup(c.Schema, c.Table); ok && c.Table != "" {
			q.tables[c.Pos] = t
		}
	}
}

// nameOf returns the name that token i means and that it does not write; "" if there is none.
func (q *quoting) nameOf(i int) string {
	t := q.tokens[i]
	quoted := t.Kind == sqltext.QuotedName && q.Text.CaseSensitiveQuotes
	if t.Kind != sqltext.Word && !quoted {
		return ""
	}
	written := q.Text.Value(t)
	name := q.names[schema.FoldCase(written)]
	if q.tokens.At(i+1).Text != "." {
		first := i
		for q.tokens.At(first-1).Text == "." {
			first -= 2
		}
		if of := q.tables[q.tokens.At(first).Pos]; of != nil {
			name = cmp.Or(onlyColumn(of, written), name)
		}
	}
	if otherCase := quoted || !q.Text.CaseSensitiveQuotes; name != written && otherCase || !quoted && q.NeedsQuote(name) {
		return name
	}
	return ""
}

// onlyColumn returns the column of t that has a name in some case; "" if none or several have it.
func onlyColumn(t *schema.Table, name string) (only string) {
	for _, c := range t.Columns {
		if schema.EqualFold(c.Name, name) {
			if only != "" {
				return ""
			}
			only = c.Name
		}
	}
	return only
}

// Words before which a keyword may stand as a name, and values that no column of the same name hides.
var (
	beforeNames = words.Set("select distinct from join by where and or on not when then else having like between in case")
	valueWords  = words.Set("null true false")
)

// standsAsName reports whether token i may be a name by the tokens beside it: it calls nothing and is not a type. A
// keyword has something before it that an expression or a table follows, and behind it what may follow one.
func (q *quoting) standsAsName(i int) bool {
	before, after := q.tokens.At(i-1), q.tokens.At(i+1)
	word := strings.ToLower(q.tokens[i].Text)
	switch {
	case after.Text == "(" || after.Kind == sqltext.String || before.Text == "::" || q.tokens.Is(i-1, "as") &&
		after.Text == ")":
		return false
	case q.tokens[i].Kind == sqltext.QuotedName || !q.IsKeyword(word):
		return true
	case valueWords[word]:
		return false
	case q.tokens.Is(i-1, "from") || q.tokens.Is(i-1, "join"):
		return true
	}
	opens := before.Kind == sqltext.Operator && !strings.Contains("*)]", before.Text) ||
		beforeNames[strings.ToLower(before.Text)]
	ends := after.Text == "" || after.Kind == sqltext.Operator || after.Kind == sqltext.Word &&
		q.IsKeyword(strings.ToLower(after.Text))
	return opens && ends
}
