package schema

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxValueRunes is the longest stored value that a prompt may show. Longer ones
// are left out, because a value that was cut would match nothing.
const maxValueRunes = 64

// Literal writes a stored value for a prompt. It is the one way by which values
// of a database get into a prompt; ok is false where the value must be left out.
//
// A string is written as a JSON string literal, in which <, >, the back quote
// and characters that cannot be seen are escaped by their code point: no value ends a
// line, a code fence or a tag. Numbers are written as SQL writes them, with ".0"
// behind an integral float; NULL is NULL.
//
// Left out are: strings of more than 64 characters (runes), strings that are not
// valid UTF-8 or hold a control or format character (Unicode classes Cc and Cf
// but the joiners U+200C and U+200D, and U+2028 and U+2029), because a changed
// value would match nothing; blobs; floats that are not finite; values that are
// neither nil, bool, int, int64, float64 nor string.
//
// The quotes say how far the value goes and are not those of SQL; a prompt says
// once that these are data.
func Literal(v any) (text string, ok bool) {
	return LiteralWithin(v, maxValueRunes)
}

// LiteralWithin is Literal with a lower limit on the length of strings: those of
// more than maxRunes characters are left out. A limit over 64 is taken as 64.
func LiteralWithin(v any, maxRunes int) (text string, ok bool) {
	switch v := v.(type) {
	case string:
		maxRunes = min(maxRunes, maxValueRunes)
		// The length in bytes first: a stored value may have a million runes.
		if len(v) > maxRunes*utf8.UTFMax || utf8.RuneCountInString(v) > maxRunes || !showable(v) {
			return "", false
		}
		return quoteJSON(v), true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return "", false
		}
	}
	return scalar(v)
}

// scalar writes a value that is no text.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "NULL", true
	case bool:
		return strconv.FormatBool(v), true
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		return formatFloat(v), true
	}
	return "", false
}

// formatFloat writes the shortest decimal that reads back as f, always with a
// point or an exponent, so that it is not taken for an integer. Python's repr
// does the same, which the compatible form of [Augmented] relies on.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// showable reports whether s is valid UTF-8 without characters that must not
// reach a prompt.
func showable(s string) bool {
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return false
			}
		}
		if isControl(r) {
			return false
		}
	}
	return true
}

// isControl reports whether r is a control or format character: it does
// something, or hides, instead of being read. The zero-width joiners are not
// meant: some scripts cannot be written without them.
func isControl(r rune) bool {
	switch {
	case r < 0x20 || 0x7F <= r && r < 0xA0:
		return true
	case r < 0xAD: // the first format character
		return false
	case r == '\u200C' || r == '\u200D':
		return false
	}
	return r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r)
}

// isInvisible reports whether r leaves no mark of its own though it is a letter
// or a sign: fillers and variation selectors, by which text can be hidden.
func isInvisible(r rune) bool {
	return r >= 0x34F && unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// quoteJSON writes s, which is showable, as a JSON string literal of one line.
func quoteJSON(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '<' || r == '>' || r == '`':
			escapeRune(&b, r)
		case r == ' ' || r == '\u200C' || r == '\u200D':
			b.WriteRune(r)
		case !unicode.IsPrint(r) || isInvisible(r):
			escapeRune(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

func escapeRune(b *strings.Builder, r rune) {
	const hex = "0123456789abcdef"
	unit := func(u rune) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte(hex[u>>shift&0xF])
		}
	}
	if r > 0xFFFF {
		high, low := utf16.EncodeRune(r)
		unit(high)
		unit(low)
		return
	}
	unit(r)
}

// EstimateTokens guesses how many tokens a model makes of s: one for every four
// bytes, rounded up. English text and SQL come near it; other scripts take three
// bytes a character and about one token, so the guess is of the right order for
// them too. It is for budgets, not for bills.
func EstimateTokens(s string) int { return (len(s) + 3) / 4 }
