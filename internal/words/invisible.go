package words

import (
	"unicode"
	"unicode/utf8"
)

// IsInvisible reports whether r shows nothing, or changes how its neighbours are shown. U+200C and U+200D are part of
// words in some scripts, and the number marks of Arabic are seen.
func IsInvisible(r rune) bool {
	switch {
	case r < utf8.RuneSelf, r == '\u200c', r == '\u200d':
		return false
	case r == '\u2028', r == '\u2029', unicode.In(r, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point):
		return true
	}
	return unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// IsOddBlank reports whether r looks like a blank and is none to an engine, which takes it for part of a name: the
// no-break space.
func IsOddBlank(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) }
