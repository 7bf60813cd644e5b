package answerable

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/schema"
)

// wordList is a sorted vocabulary.
type wordList []string

// schemaWords derives the words of a schema once: a question does not pay for the number of its tables.
var schemaWords = &snapshot.Derived[*schema.Schema, wordList]{
	Reach: snapshot.OfPolicy,
	Size: func(_ *schema.Schema, list wordList) (bytes int) {
		for _, w := range list {
			bytes += 16 + len(w)
		}
		return bytes
	},
}

// schemaWords returns the words of the schema that the question may read.
func (q *Question) schemaWords() wordList {
	if q.Schema == nil {
		return nil
	}
	list, _ := schemaWords.Of(context.Background(), q.Snapshot.For(q.Schema), q.Schema,
		func(context.Context) (wordList, error) {
			return readSchemaWords(q.Schema), nil
		})
	return list
}

func readSchemaWords(s *schema.Schema) wordList {
	v := vocabulary{}
	seen := map[string]bool{} // names repeat where there are many tables
	for i := range s.Tables {
		t := &s.Tables[i]
		v.name(t.Name)
		v.text(t.Description)
		for j := range t.Columns {
			if name := t.Columns[j].Name; !seen[name] {
				seen[name] = true
				v.name(name)
			}
			v.column(&t.Columns[j])
		}
	}
	return slices.Sorted(maps.Keys(v))
}

// has reports whether a word is in the list, or one that is related to it. Related words stand together, since they
// begin with the same letters.
func (l wordList) has(word string) bool {
	if _, found := slices.BinarySearch(l, word); found || len(word) < beginning {
		return found
	}
	first, _ := slices.BinarySearch(l, word[:beginning])
	for _, w := range l[first:] {
		if !strings.HasPrefix(w, word[:beginning]) {
			return false
		}
		if related(word, w) {
			return true
		}
	}
	return false
}
