package exec

import (
	"path"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// instead returns what to write in place of the first of names for which the language has an alternative.
func (l Language) instead(names []string) string {
	for _, name := range names {
		for line := range strings.Lines(l.Instead) {
			patterns, advice, _ := strings.Cut(line, ": ")
			for pattern := range strings.FieldsSeq(patterns) {
				if is, _ := path.Match(pattern, schema.FoldCase(name)); is {
					return strings.TrimSpace(advice)
				}
			}
		}
	}
	return ""
}

// advised adds to an error about a statement, s or nil, what to write in place of a name in it. An error about a
// column, which may have any name, stays.
func (l Language) advised(err error, s *sqltext.Statement) error {
	switch e := err.(type) {
	case *RefusedError:
		if e.Reason == "column" || e.Reason == "rows" || e.Reason == "scope" || e.Reason == "too-complex" {
			return err
		}
		if advice := l.instead(namesIn(e.Detail, s)); advice != "" {
			told := *e
			told.Detail += ": " + advice
			return &told
		}
	case *InvalidError:
		ofColumn := e.Fault != "syntax" && noColumn.MatchString(e.Message)
		if e.Fault == "run" || e.Fault == "constraint" || ofColumn {
			return err
		}
		names := namesIn(e.Message, s)
		if e.Fault == "syntax" { // where it begins is not where the parser stops
			names = append(names, calledIn(s)...)
		}
		if advice := l.instead(names); advice != "" {
			told := *e
			told.Message += ": " + advice
			return &told
		}
	}
	return err
}

// namesIn are the words of a message, and the schemas of the tables in them.
func namesIn(message string, s *sqltext.Statement) []string {
	names := strings.FieldsFunc(message, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_@$.", r)
	})
	if s == nil {
		return names
	}
	words := names
	for _, ref := range s.Tables() {
		for _, word := range words {
			if ref.Schema != "" && schema.EqualFold(word, ref.Name) {
				names = append(names, ref.Schema)
			}
		}
	}
	return names
}

// calledIn are the words before a bracket.
func calledIn(s *sqltext.Statement) (names []string) {
	if s == nil {
		return nil
	}
	before := ""
	for t := range s.Tokens() {
		if t.Text == "(" && before != "" {
			names = append(names, before)
		}
		if before = ""; t.Kind == sqltext.Word {
			before = t.Text
		}
	}
	return names
}
