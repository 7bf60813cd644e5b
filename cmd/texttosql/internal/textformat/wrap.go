package textformat

import (
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/sqltext"
)

// Wrap breaks the lines of a text at blanks so that they have at most width characters, words that are longer aside.
// Further lines are indented as the first one is. 0 is no limit.
func Wrap(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		rest := strings.TrimLeft(line, " ")
		indent := line[:len(line)-len(rest)]
		b.WriteString(broken(append([]string{indent}, strings.SplitAfter(rest, " ")...), indent, width))
	}
	return b.String()
}

// Hanging is Wrap for a text that begins at a column of a line: its further lines begin there, too.
func Hanging(text string, width, column int) string {
	return strings.ReplaceAll(Wrap(text, max(0, width-column)), "\n", "\n"+strings.Repeat(" ", column))
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

// clauses are the words that begin a line of a statement.
var clauses = map[string]bool{
	"SELECT": true, "FROM": true, "WHERE": true, "GROUP": true, "HAVING": true, "ORDER": true, "LIMIT": true,
	"WINDOW":  true,
	"QUALIFY": true, "UNION": true, "INTERSECT": true, "EXCEPT": true,
	"JOIN": true, "INNER": true, "LEFT": true, "RIGHT": true, "FULL": true, "CROSS": true, "NATURAL": true,
}

// joined are the words after which a clause word goes on with its line: LEFT JOIN, IS DISTINCT FROM.
var joined = map[string]bool{
	"INNER": true, "LEFT": true, "RIGHT": true, "FULL": true, "CROSS": true, "NATURAL": true, "OUTER": true,
	"DISTINCT": true,
}

// calls are clause words that are something else before a parenthesis: LEFT(name, 2), WITHIN GROUP (…), * EXCEPT (…).
var calls = map[string]bool{"LEFT": true, "RIGHT": true, "GROUP": true, "EXCEPT": true}

// LayoutSQL is WrapSQL with a line for each clause of the outer statement. A statement that has lines, or that is
// short, keeps its form.
func LayoutSQL(d sqltext.Dialect, sql string, width int) string {
	const short = 40
	if width == 0 || utf8.RuneCountInString(sql) <= short || strings.Contains(sql, "\n") {
		return WrapSQL(d, sql, width)
	}
	var lines strings.Builder
	depth, before, start := 0, "", 0
	for t := range d.Tokens(sql) {
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Kind == sqltext.Space:
			continue
		}
		word := strings.ToUpper(t.Text)
		behind := strings.TrimLeft(sql[t.Pos+len(t.Text):], " ")
		if depth == 0 && t.Pos > 0 && clauses[word] && !joined[before] && !(calls[word] && strings.HasPrefix(behind, "(")) {
			lines.WriteString(strings.TrimRight(sql[start:t.Pos], " ") + "\n")
			start = t.Pos
		}
		before = word
	}
	return WrapSQL(d, lines.String()+sql[start:], width)
}
