package linker

import (
	"strings"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// resolveTable finds the table that a statement means by a name. note is about a
// name that does not exist, resolved or not.
func resolveTable(s *schema.Schema, schemaName, name string) (t *schema.Table, note string) {
	for i := range s.Tables { // a table that is called so, before one that differs in case
		if t := &s.Tables[i]; t.Name == name && (schemaName == "" || strings.EqualFold(t.Schema, schemaName)) {
			return t, ""
		}
	}
	var names []string
	for i := range s.Tables {
		names = append(names, s.Tables[i].Name)
	}
	found := resolve(names, name)
	if found == "" {
		return nil, invented("table", name)
	}
	for i := range s.Tables {
		if s.Tables[i].Name == found {
			t = &s.Tables[i]
			break
		}
	}
	if strings.EqualFold(found, name) {
		return t, ""
	}
	return t, invented("table", name) + "; " + found + " is nearest"
}

// resolve returns the one of names that name means, "" where none or several may
// be meant: by the first rule that exactly one of them meets.
func resolve(names []string, name string) string {
	for _, rule := range []func(a, b string) bool{
		func(a, b string) bool { return a == b },
		strings.EqualFold,
		func(a, b string) bool { return squeeze(a) == squeeze(b) },
		func(a, b string) bool { return singular(a) == singular(b) },
		func(a, b string) bool {
			a, b = strings.ToLower(a), strings.ToLower(b)
			n := min(len([]rune(a)), len([]rune(b)))
			return editDistance(a, b) <= min(2, n/4)
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
			return "" // whatever a wider rule finds, these are among it
		}
	}
	return ""
}

// squeeze leaves out case, underscores and blanks.
func squeeze(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// singular is the words of a name in the singular.
func singular(name string) string {
	words := sqltext.SplitName(name)
	for i, w := range words {
		words[i] = sqltext.Stem(w)
	}
	return strings.Join(words, "")
}

// editDistance is the Levenshtein distance in characters.
func editDistance(a, b string) int {
	from, to := []rune(a), []rune(b)
	if len(from)-len(to) > 2 || len(to)-len(from) > 2 {
		return 3 // over every limit here
	}
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, x := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, y := range to {
			cost := diagonal
			if x != y {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}
