package prompttext

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// maxValueRunes is the longest stored value that a prompt shows. A longer one is left out, because a value that was cut
// matches nothing.
const maxValueRunes = 64

// Literal writes a stored value for a prompt. All values of a database pass it on
// their way into a prompt; ok is false if the value must be left out.
//
// A string is written as a JSON string literal. <, >, the back quote and characters that cannot be seen are escaped by
// their code point, so that no value ends a line, a code fence or a tag. The quotes show how far the value goes; they
// are not those of SQL. Numbers are written as SQL writes them, with ".0" behind an integral float; NULL is NULL.
//
// Left out are:
//   - strings of more than 64 characters (runes);
//   - strings that are not valid UTF-8 or hold a control or format character: Unicode classes Cc and Cf but for the
//     joiners U+200C and U+200D, and U+2028 and U+2029. A value without them matches nothing;
//   - blobs, and floats that are not finite;
//   - values of other types than nil, bool, int, int64, float64, string and exact numbers (with a method Decimal, which
//     gives their text: result.Decimal).
func Literal(v any) (text string, ok bool) {
	b, ok := AppendLiteral(nil, v)
	return string(b), ok
}

// AppendLiteral appends the [Literal] of v to b.
func AppendLiteral(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case string:
		// The length in bytes first: a stored value may have a million runes.
		if len(v) > maxValueRunes*utf8.UTFMax || utf8.RuneCountInString(v) > maxValueRunes || !showable(v) {
			return b, false
		}
		return appendQuoted(b, v), true
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return b, false
		}
	}
	return appendScalar(b, v)
}

// appendScalar appends a value that is no text.
func appendScalar(b []byte, v any) ([]byte, bool) {
	switch v := v.(type) {
	case nil:
		return append(b, "NULL"...), true
	case bool:
		return strconv.AppendBool(b, v), true
	case int:
		return strconv.AppendInt(b, int64(v), 10), true
	case int64:
		return strconv.AppendInt(b, v, 10), true
	case float64:
		return append(b, formatFloat(v)...), true
	case interface{ Decimal() string }:
		return append(b, v.Decimal()...), true
	}
	return b, false
}

// formatFloat writes f as Python's repr does.
func formatFloat(f float64) string {
	text := words.Float(f, 1e-4, 1e16)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		text = strings.ToLower(strings.TrimPrefix(text, "+"))
	}
	return text
}

// showable reports whether s is valid UTF-8 without characters that must not reach a prompt.
func showable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, words.Hidden)
}

// isInvisible reports whether r leaves no mark of its own though it is a letter or a sign: fillers and variation
// selectors, by which text can be hidden.
func isInvisible(r rune) bool {
	return r >= 0x34F && unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// appendQuoted appends s, which is showable, to b as a JSON string literal of one line.
func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '<' || r == '>' || r == '`':
			b = words.AppendEscape(b, r)
		case ' ' <= r && r <= '~':
			b = append(b, byte(r))
		case r == '\u200C' || r == '\u200D' || unicode.IsPrint(r) && !isInvisible(r):
			b = utf8.AppendRune(b, r)
		default:
			b = words.AppendEscape(b, r)
		}
	}
	return append(b, '"')
}

// EstimateTokens guesses how many tokens a model makes of s: one for every four bytes, rounded up. English text and SQL
// come near it. Characters of other scripts take three bytes and about one token, so the guess is of the right order
// for them too. It is meant for budgets and not for bills.
func EstimateTokens(s string) int { return (len(s) + 3) / 4 }
