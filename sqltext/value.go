package sqltext

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value returns the content of a string without its quotes and with its escapes undone, and a quoted name without its
// quotes. It returns any other token as it is written.
//
// Escapes that the dialect does not define stay as they are written. The name in U&"…" is returned without undoing its
// escapes.
func (d Dialect) Value(t Token) string {
	s := t.Text
	switch t.Kind {
	case QuotedName:
		if strings.HasPrefix(s, "U&") || strings.HasPrefix(s, "u&") {
			s = s[2:]
		}
		return undouble(s[1:len(s)-1], s[len(s)-1])
	case String:
		return d.stringValue(s)
	}
	return s
}

func (d Dialect) stringValue(s string) string {
	if s[0] == '$' {
		tag := strings.IndexByte(s[1:], '$') + 2
		return s[tag : len(s)-tag]
	}
	open := strings.IndexAny(s, `'"`)
	prefix, quote := s[:open], s[open]
	if d.RawStrings {
		body := s[open+1 : len(s)-1]
		if len(s)-open >= 6 && s[open+1] == quote && s[open+2] == quote {
			body = s[open+3 : len(s)-3]
		}
		if strings.ContainsAny(prefix, "rR") {
			return body
		}
		return unescape(body, quote)
	}
	escaped := d.Backslash || prefix == "E" || prefix == "e"
	if !escaped || !d.EscapeStrings {
		return decode(s[open+1:len(s)-1], quote, escaped)
	}
	// PostgreSQL's continued string: decode the parts, drop what is between.
	var b strings.Builder
	l := lexer{d: Dialect{Backslash: true, CarriageReturn: true}, src: s[open:]}
	for l.next() {
		if l.tok.Kind == String {
			b.WriteString(decode(l.tok.Text[1:len(l.tok.Text)-1], quote, true))
		}
	}
	return b.String()
}

func decode(body string, quote byte, escaped bool) string {
	if escaped {
		return unescape(body, quote)
	}
	return undouble(body, quote)
}

func undouble(body string, quote byte) string {
	if quote == ']' || strings.IndexByte(body, quote) < 0 {
		return body
	}
	q := string(quote)
	return strings.ReplaceAll(body, q+q, q)
}

// unescape undoes backslashes and doubled quotes.
func unescape(body string, quote byte) string {
	if strings.IndexByte(body, '\\') < 0 {
		return undouble(body, quote)
	}
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == quote && i+1 < len(body) && body[i+1] == quote {
			i++
		} else if c == '\\' && i+1 < len(body) {
			c = body[i+1]
			if at := strings.IndexByte("ntrbf0", c); at >= 0 {
				c = "\n\t\r\b\f\x00"[at]
			}
			switch body[i+1] {
			case 'x', 'u', 'U':
				if r, size := hexEscape(body[i+1:]); size > 0 {
					b.WriteString(r)
					i += size
					continue
				}
			case '%', '_':
				// Both stay escaped: they mean something to LIKE.
				b.WriteByte('\\')
			}
			i++
		}
		b.WriteByte(c)
	}
	return b.String()
}

// hexEscape reads xHH, uHHHH or UHHHHHHHH and returns its text and length.
func hexEscape(s string) (string, int) {
	width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[0]]
	if len(s) < 1+width {
		return "", 0
	}
	n, err := strconv.ParseUint(s[1:1+width], 16, 32)
	if err != nil {
		return "", 0
	}
	if s[0] == 'x' {
		return string([]byte{byte(n)}), 1 + width
	}
	if !utf8.ValidRune(rune(n)) {
		return "", 0
	}
	return string(rune(n)), 1 + width
}
