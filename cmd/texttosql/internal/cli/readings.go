package cli

import (
	"cmp"
	"io"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/meaning"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// Readings prints what the user is asked: each option with what it computes, its figures and its statement, as far as they tell
// it from the others. The error is that of w.
func Readings(w io.Writer, d sqltext.Dialect, asked *session.QuestionError) error {
	statements, tables := make([]string, len(asked.Options)), make([]*result.Table, len(asked.Options))
	for i, o := range asked.Options {
		statements[i], tables[i] = o.SQL, o.Rows
	}
	says, shows := meaning.Differences(d, statements), meaning.Figures(tables)

	Say(w, "%s\n", capital(asked.Message))
	for i, o := range asked.Options {
		Say(w, "\n  %d  %s\n", i+1, Reading(says[i], o.Label))
		for _, text := range []string{shows[i], words.Line(o.SQL)} {
			if text != "" {
				Say(w, "     %s\n", text)
			}
		}
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// Reading is the title of an option: what it does, with its votes, or its label where that is not known.
func Reading(says, label string) string {
	votes, _, counted := strings.Cut(label, ";")
	if says == "" || !counted {
		return cmp.Or(says, label)
	}
	return says + " (" + votes + ")"
}

// capital is a sentence with a capital in front.
func capital(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}
