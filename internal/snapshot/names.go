package snapshot

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// names are the tables of a schema by name, and the words of the names of its tables and columns, each in the singular.
type names struct {
	places map[schema.TableName]int
	words  map[string]bool
}

// namesOf derives the names of a snapshot's schema once: a question does not pay for the number of its tables.
var namesOf = &Derived[struct{}, *names]{
	Reach: OfPolicy,
	Size:  func(_ struct{}, n *names) int { return 60*len(n.places) + 40*len(n.words) },
}

// manyTables is the number of tables above which a search for a name uses namesOf.
const manyTables = 64

// namesFor returns the names for a search in shown; nil: shown is small, or nothing is stored between questions.
func (s *Snapshot) namesFor(shown *schema.Schema) *names {
	if s == nil || len(shown.Tables) <= manyTables {
		return nil
	}
	n, _ := namesOf.Of(context.Background(), s, struct{}{}, func(context.Context) (*names, error) {
		return readNames(s.Schema), nil
	})
	return n
}

func readNames(s *schema.Schema) *names {
	n := &names{places: make(map[schema.TableName]int, len(s.Tables)), words: map[string]bool{}}
	seen := map[string]bool{} // names repeat where there are many tables
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			for _, w := range words.Stems(name) {
				n.words[w] = true
			}
		}
	}
	for i := range s.Tables {
		n.places[s.Tables[i].TableName()] = i
		add(s.Tables[i].Name)
		for _, c := range s.Tables[i].Columns {
			add(c.Name)
		}
	}
	return n
}

// table returns a table of the shown schema; nil: it does not show the table.
func (w Words) table(name schema.TableName) *schema.Table {
	if w.names != nil {
		if i, ok := w.names.places[name]; ok && i < len(w.shown.Tables) && w.shown.Tables[i].TableName() == name {
			return &w.shown.Tables[i]
		}
	}
	if t, ok := w.shown.Lookup(name.Schema, name.Name); ok && t.Schema == name.Schema {
		return t
	}
	return nil
}

// InNames reports whether the name of a table or a column has a word, which is in the singular.
func (w Words) InNames(word string) bool {
	if w.names != nil {
		return w.names.words[word]
	}
	has := func(name string) bool { return slices.Contains(words.Stems(name), word) }
	return slices.ContainsFunc(w.shown.Tables, func(t schema.Table) bool {
		return has(t.Name) || slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return has(c.Name) })
	})
}
