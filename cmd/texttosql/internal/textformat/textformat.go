// Package textformat writes tables in forms that package result does not have, and texts within the width of a
// terminal.
package textformat

import (
	"io"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

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
		if text, ok := any(cell).(string); ok && isFormula(text) {
			cell = any("'" + text).(T)
		}
		out[i] = cell
	}
	return out
}

// signs begin a formula, in their forms for East Asian text, too: Excel reads those as the plain ones.
const signs = "=+-@＝＋－＠﹦﹢﹣﹫"

// numeric is a number that a spreadsheet reads as one. Its sign does not begin a formula.
var numeric = regexp.MustCompile(`^[+-]?[0-9]+([.,][0-9]+)*([eE][+-]?[0-9]+)?$`)

// isFormula reports whether a spreadsheet may take a text for a formula. Some drop what cannot be seen in front of the
// sign.
func isFormula(text string) bool {
	seen := strings.TrimLeftFunc(text, func(r rune) bool {
		return r == utf8.RuneError || unicode.IsSpace(r) ||
			unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	})
	first, _ := utf8.DecodeRuneInString(seen)
	signed := seen != "" && strings.ContainsRune(signs, first) && !numeric.MatchString(text)
	return signed || strings.HasPrefix(text, "\t") || strings.HasPrefix(text, "\r")
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
		line(len(row), func(i int) string {
			if i < len(t.Types) {
				return t.Types[i].Format(row[i])
			}
			return result.Type{}.Format(row[i])
		})
	}
	_, err := io.WriteString(w, b.String())
	return err
}
