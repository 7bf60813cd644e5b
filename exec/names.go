package exec

import (
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/schema"
)

// PromptQuoter returns the quoter for names in prompts and messages. It quotes a name only if this engine needs
// quotes, by its keywords and its case rules. It is a [schema.Quoter] for engines with catalogs.
func (l Language) PromptQuoter() interface {
	schema.Quoter
	QuoteSchema(name string) string
} {
	return promptQuoter{l}
}

type promptQuoter struct{ language Language }

// Quote writes a name.
func (q promptQuoter) Quote(name string) string {
	if name = prompttext.ShownName(name); q.language.needsQuotes(name) {
		return q.language.Quote(name)
	}
	return name
}

// needsQuotes reports whether a name without quotes is another name, a keyword or the call of a function.
func (l Language) needsQuotes(name string) bool {
	lower := strings.ToLower(name)
	folded := l.Text.CaseSensitiveQuotes && lower != name
	return folded || !prompttext.IsPlainName(name) || l.isKeyword(lower)
}

// isKeyword reports whether a word in lower case is a name in quotes only.
func (l Language) isKeyword(word string) bool {
	if l.Keywords == nil {
		return prompttext.QuoteName(word) != word
	}
	return l.Keywords[word] || l.BareFunctions[word]
}

// QuoteSchema writes the name of a schema, with its catalog if it has one.
func (q promptQuoter) QuoteSchema(name string) string {
	if q.language.QuoteSchemaName != nil {
		return q.language.QuoteSchemaName(name)
	}
	return q.Quote(name)
}

// TablesOf returns the tables read, spelled as in s. Tables of its default schema have the Schema "".
func (a Analysis) TablesOf(s *schema.Schema) []TableRead {
	read := slices.Clone(a.Tables)
	for i := range read {
		t := &read[i]
		if strings.EqualFold(t.Schema, s.Default) {
			t.Schema = ""
		}
		if found, ok := s.Lookup(t.Schema, t.Table); ok {
			t.Schema, t.Table = found.Schema, found.Name
		}
	}
	return read
}
