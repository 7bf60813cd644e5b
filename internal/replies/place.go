package replies

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// maxPlaces bounds the places that are tried in one text.
const maxPlaces = 24

// places returns the bytes at which a line, or the text behind a colon, starts with a query word, or a sentence with
// one in capitals. Marks of lists, quotes and code before it are skipped. A SELECT that goes on with something (behind
// a bracket, UNION or AS) is none.
func places(d sqltext.Dialect, text string) []int {
	var found []int
	mark := byte('\n') // the mark that ends before i
	for i := 0; len(found) < maxPlaces; {
		if at := place(d, text, i, mark); at >= 0 && (len(found) == 0 || found[len(found)-1] < at) {
			found = append(found, at)
		}
		n := strings.IndexAny(text[i:], "\n:.!?：")
		if n < 0 {
			break
		}
		mark = text[i+n]
		if i += n + 1; mark >= 0x80 {
			mark, i = ':', i+len("：")-1
		}
	}
	return found
}

// place returns where the query word behind text[:i] stands, or -1.
func place(d sqltext.Dialect, text string, i int, mark byte) int {
	sentence := mark != '\n' && mark != ':'
	if sentence && i < len(text) && !isSpace(text[i]) { // a dot inside a word or a number
		return -1
	}
	at := i + len(text[i:]) - len(strings.TrimLeft(text[i:], " \t\r\n"))
	at += listMark(text[at:])
	if at < len(text) && text[at] == '`' && !strings.HasPrefix(text[at:], "``") {
		at++
	}
	word := leadingWord(text[at:])
	if !isQueryWord(word) || sentence && word != strings.ToUpper(word) {
		return -1
	}
	if before := strings.TrimRight(text[:at], " \t\r\n"); continues(d, before) &&
		!(strings.EqualFold(word, "WITH") && strings.HasSuffix(before, ",")) {
		return -1
	}
	return at
}

// listMark returns the length of "1. ", "- ", "* ", "> " and bold marks.
func listMark(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n > 0 && n < len(s) && (s[n] == '.' || s[n] == ')') {
		n++
	} else {
		n = 0
		for n < len(s) && strings.IndexByte("-*>#", s[n]) >= 0 {
			n++
		}
	}
	return n + len(s[n:]) - len(strings.TrimLeft(s[n:], " \t"))
}

func leadingWord(s string) string {
	n := 0
	for n < len(s) && isName(s[n]) {
		n++
	}
	if i := strings.IndexFunc(s[:n], func(r rune) bool { return words.IsInvisible(r) || words.IsOddBlank(r) }); i >= 0 {
		return s[:i]
	}
	return s[:n]
}

// continues reports whether a query word behind before belongs to the statement that before holds.
func continues(d sqltext.Dialect, before string) bool {
	before = strings.TrimRight(before, " \t\r\n")
	if before == "" {
		return false
	}
	switch before[len(before)-1] {
	case '(', ')', ',':
		return true
	}
	n := len(before)
	for n > 0 && isName(before[n-1]) {
		n--
	}
	return isOneOf(before[n:], "UNION", "ALL", "EXCEPT", "INTERSECT", "DISTINCT", "AS", "IN", "EXISTS", "FROM")
}

// cut is a place where a statement may end.
type cut struct {
	at   int
	live bool // at a semicolon
	end  bool // at the end of the text
	text bool // before words that are not SQL
}

// whole reports whether nothing but a semicolon made the cut.
func (c cut) whole() bool { return c.live || c.end }

// maxCuts bounds the cuts at blank lines.
const maxCuts = 8

// cuts returns where the statement at the start of text may end, the likeliest place first: at its first live
// semicolon, or else the end of the text; at a fence; at a line with a label; before words; at blank lines, the last
// one first.
func cuts(d sqltext.Dialect, text string) []cut {
	var label, fence, prose cut
	var blanks []cut
	whole := cut{at: len(text), end: true}
	line := false // the token starts a line
	for t := range d.Tokens(text) {
		if t.Kind == sqltext.Operator && t.Text == ";" {
			whole = cut{at: t.Pos, live: true}
			break
		}
		if fence.at == 0 && isFence(text[t.Pos:], line) {
			fence.at = t.Pos
		}
		if line && label.at == 0 && isLabel(text[t.Pos:]) {
			label.at = t.Pos
		}
		if prose.at == 0 && (line && isWords(text[t.Pos:]) || t.Text == "." && sentenceEnd.MatchString(text[t.Pos:])) {
			prose = cut{at: t.Pos, text: true}
		}
		line = line && t.Kind == sqltext.Comment
		if t.Kind != sqltext.Space {
			continue
		}
		line = strings.IndexByte(t.Text, '\n') >= 0
		if t.Pos > 0 && endsParagraph(d, t.Text, text[t.Pos+len(t.Text):]) {
			blanks = append(blanks, cut{at: t.Pos})
		}
	}
	cuts := []cut{whole}
	for _, c := range []cut{fence, label, prose} {
		if c.at > 0 {
			cuts = append(cuts, c)
		}
	}
	if len(blanks) > maxCuts {
		blanks = append(blanks[:1], blanks[len(blanks)-maxCuts+1:]...)
	}
	slices.Reverse(blanks)
	return append(cuts, blanks...)
}

// endsParagraph reports whether blanks hold a blank line, and rest, behind them, does not go on with the statement.
func endsParagraph(d sqltext.Dialect, blanks, rest string) bool {
	return strings.Count(blanks, "\n") > 1 && rest != "" && !goesOn(d, rest)
}

// isFence reports whether s starts with a fence, one of tildes where it starts a line, or with a mark that ends a text.
func isFence(s string, line bool) bool {
	return strings.HasPrefix(s, "```") || line && strings.HasPrefix(s, "~~~") || strings.HasPrefix(s, "<|") ||
		strings.HasPrefix(s, "</s>") || strings.HasPrefix(s, `\G`)
}

var (
	sentenceEnd = regexp.MustCompile(`^\.(?:\s*$|\s+\p{Lu}\p{Ll}|\s+[^\x00-\x7F])`)
	// A heading, a list with numbers, the end of a batch, a field of YAML, a sentence.
	wordsLine = regexp.MustCompile(`^(?:#+ |\d+[.)] |(?i:go|/)\s*(?:\n|$)|[a-z_]+: |` +
		`\p{Lu}\p{Ll}*\b[^\n]*[.!:]\s*(?:\n|$))`)
)

// isWords reports whether s starts a line of prose after a statement. A reserved word such as Join does not start one.
func isWords(s string) bool {
	return wordsLine.MatchString(s) && !sqlshape.IsReserved(leadingWord(s))
}

// isLabel reports whether s starts with a label that ends a statement.
func isLabel(s string) bool {
	s = strings.TrimLeft(s, "*#> ")
	n := 0
	for n < len(s) && (isName(s[n]) || s[n] == ' ') && n < 24 {
		n++
	}
	return n < len(s) && s[n] == ':' && isOneOf(strings.TrimSpace(s[:n]),
		"SQLRESULT", "SQL RESULT", "RESULT", "ANSWER", "FINAL ANSWER", "EXPLANATION", "NOTE", "NOTES", "OUTPUT", "QUESTION",
		"REASONING",
		"OBSERVATION", "THOUGHT", "ACTION")
}

// continuesBehind reports whether s, behind a semicolon, starts with a keyword in capitals that continues a statement:
// then the semicolon was a slip, and what stands before it is not the whole statement.
func continuesBehind(d sqltext.Dialect, s string) bool {
	word := leadingWord(strings.TrimLeft(s, "; \t\r\n"))
	return len(word) > 1 && word == strings.ToUpper(word) && goesOn(d, word)
}

// goesOn reports whether s starts with a keyword that continues a statement, as WHERE does; sentences write it Where.
func goesOn(d sqltext.Dialect, s string) bool {
	word := leadingWord(s)
	upper := strings.ToUpper(word)
	return sqlshape.IsReserved(word) && !isQueryWord(word) && (word == upper || word == strings.ToLower(word))
}

func isQueryWord(word string) bool { return isOneOf(word, "SELECT", "WITH", "VALUES") }

// isOneOf compares without case.
func isOneOf(word string, upper ...string) bool {
	return slices.ContainsFunc(upper, func(u string) bool { return strings.EqualFold(u, word) })
}

func isSpace(c byte) bool { return strings.IndexByte(" \n\t\r\f", c) >= 0 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isName holds for every byte over 0x7F, as in package sqltext.
func isName(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80 || isDigit(c) || c == '$'
}
