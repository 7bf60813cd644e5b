// Package form writes tables in forms that package result does not have, and texts within the width of a terminal.
package form

import (
	"io"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// BOM in front of CSV tells Excel on Windows that it is UTF-8.
const BOM = "\ufeff"

// Escaped returns a table whose texts no spreadsheet takes for a formula: a ' stands in front of those.
func Escaped(t *result.Table) *result.Table {
	safe := *t
	safe.Columns, safe.Rows = escaped(t.Columns), make([][]any, len(t.Rows))
	for i, row := range t.Rows {
		safe.Rows[i] = escaped(row)
	}
	return &safe
}

func escaped[T any](cells []T) []T {
	out := make([]T, len(cells))
	for i, cell := range cells {
		if text, ok := any(cell).(string); ok && text != "" && strings.ContainsAny(text[:1], "=+-@\t\r") {
			cell = any("'" + text).(T)
		}
		out[i] = cell
	}
	return out
}

// Markdown writes a table of GitHub's Markdown.
func Markdown(w io.Writer, t *result.Table) error {
	var b strings.Builder
	line := func(n int, cell func(i int) string) {
		for i := range n {
			b.WriteString("| " + strings.ReplaceAll(cell(i), "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(len(t.Columns), func(i int) string { return words.Line(t.Columns[i]) })
	line(len(t.Columns), func(int) string { return "---" })
	for _, row := range t.Rows {
		line(len(row), func(i int) string { return result.Show(row[i]) })
	}
	_, err := io.WriteString(w, b.String())
	return err
}
