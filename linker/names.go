package linker

import (
	"context"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// Names links the tables that the question names in full: every word of the table's name, in the singular, is in the
// question or its evidence. If no table is named, it has no opinion: use it in a Union. It calls no model and runs no
// SQL. Safe for concurrent use.
type Names struct{}

// Link looks for the names. It fails only when ctx has ended.
func (Names) Link(ctx context.Context, in Input) (schema.Links, error) {
	var links schema.Links
	if err := in.needs("Names"); err != nil {
		return links, err
	}
	asked := askedWords(in, true)
	for i := range in.Schema.Tables {
		t := &in.Schema.Tables[i]
		if isNamed(t.Name, asked) {
			links.Tables = append(links.Tables, schema.TableLink{Schema: t.Schema, Table: t.Name, Score: 1})
		}
	}
	return links, ctx.Err()
}

// askedWords returns the stemmed words of the question and its evidence, without plain those that name something. A
// word with a digit may be a name: its parts are asked for too.
func askedWords(in Input, plain bool) map[string]bool {
	asked := map[string]bool{}
	for _, w := range words.Of(in.Question + " " + in.Evidence) {
		if !plain && words.IsPlain(w) {
			continue
		}
		asked[words.Stem(w)] = true
		if strings.ContainsAny(w, "0123456789") {
			for _, part := range words.Stems(w) {
				asked[part] = true
			}
		}
	}
	return asked
}

// isNamed reports whether all words of a name are asked for.
func isNamed(name string, asked map[string]bool) bool {
	words := words.OfName(name)
	return len(words) > 0 && all(words, asked)
}
