package sqltext

import (
	"iter"
	"strings"
)

// Kind is the kind of a Token.
type Kind uint8

// The kinds of tokens.
const (
	Space        Kind = iota // blanks and line ends
	Comment                  // with its marks; a line comment without its line end
	Word                     // keyword or unquoted name
	QuotedName               // a name with its quotes
	String                   // string literal, with prefix and quotes
	Number                   // numeric literal, without sign
	Blob                     // x'…', with prefix and quotes
	Placeholder              // ?, ?1, :name, @name, $1, as the dialect allows
	Operator                 // an operator, punctuation, or a character of no other kind
	Unterminated             // a string, name or comment that is still open at the end of the text
)

var kindNames = [...]string{"space", "comment", "word", "quoted name", "string", "number", "blob", "placeholder",
	"operator", "unterminated"}

// String returns the name of k, as in "quoted name".
func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return "unknown"
	}
	return kindNames[k]
}

// Token is one piece of a text.
type Token struct {
	Kind Kind   // its kind
	Text string // the piece as written; shares memory with the text
	Pos  int    // byte offset of Text in the text
}

// Tokens returns the tokens of sql, in text order.
//
// The tokens cover all of sql: their texts, joined, are sql. Any input is accepted, including text that is not SQL and
// bytes that are not UTF-8. The time is linear in len(sql), and the function does not recurse.
func (d Dialect) Tokens(sql string) iter.Seq[Token] {
	return func(yield func(Token) bool) {
		l := lexer{d: d, src: sql}
		for l.next() && yield(l.tok) {
		}
	}
}

// Split returns the statements of sql, each without outer blanks, outer comments and its semicolon. It leaves out parts
// without a statement.
//
// Split cuts at every semicolon outside of strings, names and comments, so it also cuts the body of a CREATE TRIGGER.
// Use Check for text that will run.
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

// SplitList cuts a text at the commas outside of brackets and quotes, for example the types inside a type.
func (d Dialect) SplitList(list string) (parts []string) {
	depth, from := 0, 0
	for t := range d.Tokens(list + ",") {
		switch {
		case t.Text == "(":
			depth++
		case t.Text == ")":
			depth--
		case t.Text == "," && depth == 0:
			parts, from = append(parts, strings.TrimSpace(list[from:t.Pos])), t.Pos+1
		}
	}
	return parts
}

func (t Token) isOperator(text string) bool { return t.Kind == Operator && t.Text == text }

func (t Token) isWord(upper string) bool {
	return t.Kind == Word && strings.EqualFold(t.Text, upper)
}
