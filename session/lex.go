package session

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is a name or word, which may be dotted, or a mark.
type token struct {
	parts    []string // of a name or word, without quotes; nil: a mark
	quoted   bool     // a part stands in quotes
	mark     string   // one character
	from, to int      // its place in the text
}

// quotes are the opening quotes with the closing ones. In all but the typographic ones a doubled closing quote is one.
var quotes = map[rune]string{'"': `"`, '`': "`", '[': "]", '\'': "'", '“': "”", '„': "“", '‘': "’"}

// lex parts a text into names, words and marks. A word may have hyphens and apostrophes inside.
func lex(text string) (tokens []token) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			i += size
			continue
		}
		t := token{from: i}
		part, quoted, n := namePart(text, i)
		for n > 0 {
			t.parts, t.quoted = append(t.parts, part), t.quoted || quoted
			i += n
			if i >= len(text) || text[i] != '.' {
				break
			}
			if part, quoted, n = namePart(text, i+1); n > 0 {
				n++ // the dot
			}
		}
		if t.parts == nil {
			t.mark = text[i : i+size]
			i += size
		}
		t.to = i
		tokens = append(tokens, t)
	}
	return tokens
}

// namePart returns the part of a name that starts at text[i], and its length there; 0: none does.
func namePart(text string, i int) (part string, quoted bool, length int) {
	rest := text[i:]
	r, size := utf8.DecodeRuneInString(rest)
	if closing := quotes[r]; closing != "" {
		inside, found := "", false
		for rest = rest[size:]; ; rest = rest[len(closing):] {
			piece, after, ends := strings.Cut(rest, closing)
			inside += piece
			rest = after
			if found = ends; !found || closing != `"` && closing != "`" && closing != "]" && closing != "'" ||
				!strings.HasPrefix(rest, closing) {
				break
			}
			inside += closing
		}
		if found && strings.TrimSpace(inside) != "" {
			return inside, true, len(text) - i - len(rest)
		}
		return "", false, 0
	}
	for length < len(rest) {
		r, size := utf8.DecodeRuneInString(rest[length:])
		next, _ := utf8.DecodeRuneInString(rest[length+size:])
		if !inName(r) && (length == 0 || r != '-' && r != '\'' && r != '’' || !inName(next)) {
			break
		}
		length += size
	}
	return rest[:length], false, length
}

func inName(r rune) bool {
	return r == '_' || r == '$' || r == '#' || r == '@' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
