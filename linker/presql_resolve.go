package linker

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// resolveTable finds the table that a statement means by a name. note says that the name does not exist, and which
// table is taken for it.
func resolveTable(s *schema.Schema, schemaName, name string) (t *schema.Table, note string) {
	for i := range s.Tables { // the exact name goes before a name in another case
		if t := &s.Tables[i]; t.Name == name && (schemaName == "" || strings.EqualFold(t.Schema, schemaName)) {
			return t, ""
		}
	}
	i := resolve(s.Tables, func(t schema.Table) string { return t.Name }, name)
	if i < 0 {
		return nil, invented(name)
	}
	if t = &s.Tables[i]; strings.EqualFold(t.Name, name) {
		return t, ""
	}
	return t, invented(name) + "; " + t.Name + " is nearest"
}

// resolve returns the place of the item that name means: by the first rule that any of them meets. It returns -1 if
// none or several meet that rule.
func resolve[T any](items []T, nameOf func(T) string, name string) int {
	for _, rule := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		strings.EqualFold,
		func(a, b string) bool { return words.Squeeze(a) == words.Squeeze(b) },
		func(a, b string) bool { return stemmed(a) == stemmed(b) },
		func(a, b string) bool {
			a, b = strings.ToLower(a), strings.ToLower(b)
			most := min(2, utf8.RuneCountInString(a)/4, utf8.RuneCountInString(b)/4)
			return words.Distance(a, b, most) <= most
		},
	} {
		meets := func(item T) bool { return rule(nameOf(item), name) }
		if i := slices.IndexFunc(items, meets); i >= 0 {
			if slices.ContainsFunc(items[i+1:], meets) {
				return -1 // a wider rule would find these too
			}
			return i
		}
	}
	return -1
}
