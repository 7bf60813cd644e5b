package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/textformat"
	"github.com/texttosql/texttosql/internal/summary"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// Readings prints what the user is asked: each option with what it computes, its figures and its statement, as far as
// they tell it from the others, in lines of width characters where they can be broken; 0: of any. The error is that of
// w.
func Readings(w io.Writer, d sqltext.Dialect, width int, asked *session.QuestionError) error {
	statements, tables := make([]string, len(asked.Options)), make([]*result.Table, len(asked.Options))
	for i, o := range asked.Options {
		statements[i], tables[i] = o.SQL, o.Rows
	}
	says, shows := summary.DescribeDifferences(d, statements), summary.PreviewRows(tables)

	const indent = "     "
	Say(w, "%s\n", textformat.Wrap(Capital(asked.Message), width))
	for i, o := range asked.Options {
		Say(w, "\n%s\n", textformat.Wrap(fmt.Sprintf("  %d  %s", i+1, Reading(says[i], o.Label)), width))
		sql := textformat.WrapSQL(d, words.Line(o.SQL), max(0, width-len(indent)))
		for _, text := range []string{textformat.Hanging(shows[i], width, len(indent)),
			strings.ReplaceAll(sql, "\n", "\n"+indent)} {
			if text != "" {
				Say(w, "%s%s\n", indent, text)
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

// Capital is a sentence with a capital in front.
func Capital(text string) string {
	if text != "" && text[0] >= 'a' && text[0] <= 'z' {
		return string(text[0]-'a'+'A') + text[1:]
	}
	return text
}
