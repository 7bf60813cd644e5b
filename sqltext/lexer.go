package sqltext

import "strings"

// lexer walks over a text without allocating; every byte is looked at a bounded number of times.
type lexer struct {
	d   Dialect
	src string
	pos int
	tok Token // the token found last
}

// next moves to the next token and reports whether there was one.
func (l *lexer) next() bool {
	if l.pos >= len(l.src) {
		return false
	}
	start := l.pos
	kind := l.scan()
	l.tok = Token{Kind: kind, Text: l.src[start:l.pos], Pos: start}
	return true
}

// at returns the byte n places further on, or 0 behind the end. A NUL in the text reads the same, which only ends a
// token early.
func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isNameStart holds for every byte over 0x7F: no-break spaces, full-width semicolons and the Greek question mark are
// name characters to the engines, so they must be to us.
func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}

func isName(c byte) bool { return isNameStart(c) || isDigit(c) || c == '$' }

// scan moves pos behind the token that starts there and returns its kind.
func (l *lexer) scan() Kind {
	c := l.src[l.pos]
	switch {
	case isSpace(c):
		n := l.pos + 1
		for n < len(l.src) && isSpace(l.src[n]) {
			n++
		}
		l.pos = n
		return Space
	case isNameStart(c):
		return l.word(c)
	case isDigit(c), c == '.' && isDigit(l.at(1)):
		return l.number()
	}
	switch c {
	case '\'':
		return l.text('\'', 0, l.d.Backslash)
	case '"':
		if l.d.DoubleQuotedStrings {
			return l.text('"', 0, l.d.Backslash)
		}
		return l.quoted('"', 0, QuotedName, false)
	case '`':
		if !l.d.PlainBackticks {
			return l.quoted('`', 0, QuotedName, l.d.RawStrings)
		}
	case '[':
		if !l.d.PlainBrackets {
			return l.quoted(']', 0, QuotedName, false)
		}
	case '-':
		if l.at(1) == '-' && (!l.d.DashNeedsBlank || l.pos+2 >= len(l.src) || l.at(2) <= ' ' || l.at(2) == 0x7F) {
			return l.lineComment()
		}
	case '#':
		if l.d.HashComments {
			return l.lineComment()
		}
	case '/':
		if l.at(1) == '*' {
			return l.blockComment()
		}
	case '$':
		if l.d.DollarQuotes {
			if tag := l.dollarTag(); tag > 0 {
				return l.dollarQuoted(tag)
			}
		}
	}
	if n := l.placeholder(c); n > 0 {
		l.pos += n
		return Placeholder
	}
	l.pos += l.operator()
	return Operator
}

// word reads a name or keyword, or the string or blob of which it is the prefix.
func (l *lexer) word(c byte) Kind {
	quote := l.at(1)
	switch c {
	case 'x', 'X':
		if quote == '\'' {
			return l.quoted('\'', 1, Blob, false)
		}
	case 'e', 'E':
		if quote == '\'' && l.d.EscapeStrings {
			return l.text('\'', 1, true)
		}
	case 'u', 'U':
		if quote == '&' && l.d.UnicodeQuotes {
			switch l.at(2) {
			case '\'':
				return l.quoted('\'', 2, String, false)
			case '"':
				return l.quoted('"', 2, QuotedName, false)
			}
		}
	case 'r', 'R', 'b', 'B':
		if l.d.RawStrings {
			n := 1
			if other := l.at(1); other|0x20 != c|0x20 && (other|0x20 == 'r' || other|0x20 == 'b') {
				n = 2
			}
			if q := l.at(n); q == '\'' || q == '"' {
				// A backslash keeps the quote behind it from closing a raw string, too.
				return l.text(q, n, true)
			}
		}
	}
	n := l.pos + 1
	for n < len(l.src) && isName(l.src[n]) {
		n++
	}
	l.pos = n
	return Word
}

// number reads digits, a fraction and an exponent, or a hexadecimal number. With name characters behind it the whole is
// a word: MySQL has such names, the other engines refuse it.
func (l *lexer) number() Kind {
	kind := Number
	if l.src[l.pos] == '0' && l.at(1)|0x20 == 'x' {
		l.pos += 2
	} else {
		l.digits()
		if l.at(0) == '.' {
			l.pos++
			l.digits()
		}
		exponent := 1
		if sign := l.at(1); sign == '+' || sign == '-' {
			exponent = 2
		}
		if l.at(0)|0x20 == 'e' && isDigit(l.at(exponent)) {
			l.pos += exponent
			l.digits()
		}
		if isName(l.at(0)) {
			kind = Word
		}
	}
	for isName(l.at(0)) {
		l.pos++
	}
	return kind
}

func (l *lexer) digits() {
	for isDigit(l.at(0)) || l.at(0) == '_' && isDigit(l.at(1)) {
		l.pos++
	}
}

// text reads a string whose quote stands prefix bytes further on.
func (l *lexer) text(quote byte, prefix int, backslash bool) Kind {
	if l.d.RawStrings && l.at(prefix+1) == quote && l.at(prefix+2) == quote {
		return l.tripleQuoted(quote, prefix+3)
	}
	kind := l.quoted(quote, prefix, String, backslash)
	// PostgreSQL joins strings that only blanks with a line end separate, and the later parts go on under the escape
	// rules of the first.
	for kind == String && l.d.EscapeStrings && backslash {
		next := l.continuation()
		if next == 0 {
			break
		}
		kind = l.quoted(quote, next, String, true)
	}
	return kind
}

// continuation returns how far on the next part of a string starts, or 0.
func (l *lexer) continuation() int {
	line := false
	for i := l.pos; i < len(l.src); {
		switch c := l.src[i]; {
		case c == '\n' || c == '\r':
			line = true
			i++
		case isSpace(c):
			i++
		case c == '-' && strings.HasPrefix(l.src[i:], "--"):
			n := strings.IndexAny(l.src[i:], "\r\n")
			if n < 0 {
				return 0
			}
			i += n
		case c == '\'' && line:
			return i - l.pos
		default:
			return 0
		}
	}
	return 0
}

// quoted reads what ends with quote, prefix bytes behind pos being the opening one. A doubled quote stands for itself,
// except in [names].
func (l *lexer) quoted(quote byte, prefix int, kind Kind, backslash bool) Kind {
	for i := l.pos + prefix + 1; i < len(l.src); i++ {
		switch c := l.src[i]; {
		case c == '\\' && backslash:
			i++
		case c != quote:
		case quote != ']' && i+1 < len(l.src) && l.src[i+1] == quote:
			i++
		default:
			l.pos = i + 1
			return kind
		}
	}
	l.pos = len(l.src)
	return Unterminated
}

func (l *lexer) tripleQuoted(quote byte, prefix int) Kind {
	for i := l.pos + prefix; i < len(l.src); i++ {
		switch l.src[i] {
		case '\\':
			i++
		case quote:
			if i+2 < len(l.src) && l.src[i+1] == quote && l.src[i+2] == quote {
				l.pos = i + 3
				return String
			}
		}
	}
	l.pos = len(l.src)
	return Unterminated
}

// dollarTag returns the length of the opening $tag$ at pos, or 0.
func (l *lexer) dollarTag() int {
	for n := 1; ; n++ {
		switch c := l.at(n); {
		case c == '$':
			return n + 1
		case isNameStart(c), isDigit(c) && n > 1:
		default:
			return 0
		}
	}
}

func (l *lexer) dollarQuoted(tag int) Kind {
	body := l.pos + tag
	n := strings.Index(l.src[body:], l.src[l.pos:body])
	if n < 0 {
		l.pos = len(l.src)
		return Unterminated
	}
	l.pos = body + n + tag
	return String
}

func (l *lexer) lineComment() Kind {
	ends := "\n"
	if l.d.CarriageReturn {
		ends = "\r\n"
	}
	if n := strings.IndexAny(l.src[l.pos:], ends); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.src)
	}
	return Comment
}

func (l *lexer) blockComment() Kind {
	depth := 1
	for i := l.pos + 2; i+1 < len(l.src); i++ {
		switch {
		case l.src[i] == '*' && l.src[i+1] == '/':
			i++
			if depth--; depth == 0 {
				l.pos = i + 1
				return Comment
			}
		case l.d.NestedComments && l.src[i] == '/' && l.src[i+1] == '*':
			i++
			depth++
		}
	}
	l.pos = len(l.src)
	return Unterminated
}

// placeholder returns the length of the placeholder at pos, which starts with c, or 0.
func (l *lexer) placeholder(c byte) int {
	run := func(n int, is func(byte) bool) int { // the place behind a run that starts at n; 0 for none
		from := n
		for is(l.at(n)) {
			n++
		}
		if n == from {
			return 0
		}
		return n
	}
	switch next := l.at(1); {
	case c == '?' && !l.d.NoQuestionMark:
		return max(1, run(1, isDigit))
	case c == '$' && l.d.NumberedDollars:
		return run(1, isDigit)
	case c == '@' && l.d.NoAtName:
	case c == '@' && next == '@': // system variable
		return run(2, isName)
	case c == '@' && (next == '`' || next == '\'' || next == '"'): // user variable in quotes
		return 1
	case c == '$', c == '@', c == ':' && !l.d.NoColonName && next != ':',
		c == '#' && !l.d.HashComments && !l.d.NoAtName: // SQLite's lexer takes #name for a variable, too
		return run(1, isName)
	}
	return 0
}

// operator returns the length of the operator or single character at pos.
func (l *lexer) operator() int {
	rest := l.src[l.pos:]
	for n := min(3, len(rest)); n > 1; n-- {
		switch rest[:n] {
		case "->>", "<=>", "!~*",
			"->", "||", "<=", ">=", "<>", "!=", "==", "<<", ">>", "::", ":=", "=>", "~*", "!~", "&&":
			return n
		case "#>>", "#>", "@>", "<@", "@@", "?|", "?&":
			// Where these characters start placeholders the pairs are none.
			if l.d.NoAtName {
				return n
			}
		}
	}
	return 1
}
