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
	names := make([]string, len(s.Tables))
	for i := range s.Tables {
		names[i] = s.Tables[i].Name
	}
	found := resolve(names, name)
	if found == "" {
		return nil, invented(name)
	}
	t = &s.Tables[slices.Index(names, found)]
	if strings.EqualFold(found, name) {
		return t, ""
	}
	return t, invented(name) + "; " + found + " is nearest"
}

// resolve returns the member of names that name means: by the first rule that any of them meets. It returns "" if none
// or several meet that rule.
func resolve(names []string, name string) string {
	for _, rule := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		strings.EqualFold,
		func(a, b string) bool { return words.Squeeze(a) == words.Squeeze(b) },
		func(a, b string) bool { return singular(a) == singular(b) },
		func(a, b string) bool {
			a, b = strings.ToLower(a), strings.ToLower(b)
			most := min(2, utf8.RuneCountInString(a)/4, utf8.RuneCountInString(b)/4)
			return words.Distance(a, b, most) <= most
		},
	} {
		hit, hits := "", 0
		for _, candidate := range names {
			if rule(candidate, name) {
				hit = candidate
				hits++
			}
		}
		if hits == 1 {
			return hit
		}
		if hits > 1 {
			return "" // a wider rule would find these too
		}
	}
	return ""
}

// singular returns the words of a name in the singular.
func singular(name string) string { return strings.Join(words.Stems(name), "") }
