package sqltext

import (
	"iter"
	"strings"
)

// Kind says what a Token is.
type Kind uint8

// The kinds of tokens.
const (
	Space        Kind = iota // blanks and line ends
	Comment                  // with its marks; a line comment without its line end
	Word                     // keyword or unquoted name
	QuotedName               // name in quotes, with them
	String                   // string literal, with prefix and quotes
	Number                   // numeric literal, without sign
	Blob                     // x'…', with prefix and quotes
	Placeholder              // ?, ?1, :name, @name, $1, as the dialect has them
	Operator                 // operator, punctuation, or a character that no other kind takes
	Unterminated             // string, name or comment that is still open where the text ends
)

var kindNames = [...]string{"space", "comment", "word", "quoted name", "string", "number", "blob", "placeholder", "operator", "unterminated"}

// String returns the name of k, as in "quoted name".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Token is one piece of a text.
type Token struct {
	Kind Kind   // what it is
	Text string // the piece as written; shares memory with the text
	Pos  int    // byte offset of Text in the text
}

// Tokens are the tokens of sql, in text order.
//
// Nothing is lost: the texts of the tokens, joined, are sql. Any input is accepted, also text that is no SQL and bytes
// that are not UTF-8. The time is linear in len(sql), and nothing recurses.
func (d Dialect) Tokens(sql string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		l := lexer{d: d, src: sql}
		for l.next() && yield(l.tok) {
		}
	}
}

// Split returns the statements of sql, each without outer blanks, outer comments and its semicolon; what holds no
// statement is left out.
//
// The cut is at every semicolon outside of strings, names and comments, so the body of a CREATE TRIGGER is cut too. Use
// Check for text that is about to run.
func (d Dialect) Split(sql string) []string {
	var parts []string
	start, end := -1, 0
	flush := func() {
		if start >= 0 {
			parts = append(parts, sql[start:end])
		}
		start = -1
	}
	l := lexer{d: d, src: sql}
	for l.next() {
		switch {
		case l.tok.Kind == Space, l.tok.Kind == Comment:
		case l.tok.isOperator(";"):
			flush()
		default:
			if start < 0 {
				start = l.tok.Pos
			}
			end = l.tok.Pos + len(l.tok.Text)
		}
	}
	flush()
	return parts
}

func (t Token) isOperator(text string) bool { return t.Kind == Operator && t.Text == text }

func (t Token) isWord(upper string) bool {
	return t.Kind == Word && strings.EqualFold(t.Text, upper)
}
