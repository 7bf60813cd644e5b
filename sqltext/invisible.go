package sqltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file knows the characters that nobody sees. Models copy them from pages; others put them where a person should
// read something else than what runs.

// isInvisible reports whether r shows nothing, or changes how its neighbours are shown. U+200C and U+200D are part of
// words in some scripts, and the number marks of Arabic are seen.
func isInvisible(r rune) bool {
	switch {
	case r < utf8.RuneSelf, r == '\u200c', r == '\u200d':
		return false
	case r == '\u2028', r == '\u2029', unicode.In(r, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point):
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// isOddBlank reports whether r looks like a blank and is none to an engine, which takes it for part of a name: the
// no-break space.
func isOddBlank(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) }

// visible returns s with a blank for each odd one and without invisible characters, but for those in strings and quoted
// names, which are part of what they stand in.
func (d Dialect) visible(s string) string {
	hidden := func(r rune) bool { return isInvisible(r) || isOddBlank(r) }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for l := (lexer{d: d, src: s}); l.next(); {
		switch l.tok.Kind {
		case String, QuotedName, Unterminated:
			b.WriteString(l.tok.Text)
			continue
		}
		for _, r := range l.tok.Text {
			switch {
			case isOddBlank(r):
				b.WriteByte(' ')
			case !isInvisible(r):
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
