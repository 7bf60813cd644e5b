package form

import (
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/sqltext"
)

// Wrap breaks the lines of a text at blanks so that they have at most width characters, words that are longer aside. Further lines
// are indented as the first one is. 0 is no limit.
func Wrap(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(rest)]
		b.WriteString(broken(append([]string{indent}, strings.SplitAfter(rest, " ")...), indent, width))
	}
	return b.String()
}

// WrapSQL is Wrap for a statement, which is never broken within a string, a name or a comment.
func WrapSQL(d sqltext.Dialect, sql string, width int) string {
	var pieces []string // what stands between blanks, each with the blanks behind it
	blank := true
	for t := range d.Tokens(sql) {
		if blank {
			pieces = append(pieces, "")
		}
		pieces[len(pieces)-1] += t.Text
		blank = t.Kind == sqltext.Space
	}
	return broken(pieces, "  ", width)
}

// broken joins pieces, and begins a line before each that does not fit any more.
func broken(pieces []string, indent string, width int) string {
	var b strings.Builder
	line := ""
	for _, piece := range pieces {
		word := strings.TrimRight(piece, " \n")
		if width > 0 && strings.TrimSpace(line) != "" && utf8.RuneCountInString(line+word) > width {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += piece
		if end := strings.LastIndexByte(line, '\n'); end >= 0 {
			b.WriteString(line[:end+1])
			line = line[end+1:]
		}
	}
	return b.String() + line
}
