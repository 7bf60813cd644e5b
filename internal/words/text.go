package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Hidden reports whether a reader does not see r, or sees its neighbours in another order because of r: control and
// format characters (Unicode classes Cc and Cf: zero-width, bidirectional and invisible tag characters among them) and
// the separators U+2028 and U+2029. The joiners U+200C and U+200D are not hidden, because some scripts and emoji need
// them.
func Hidden(r rune) bool {
	switch {
	case r < 0x20 || 0x7f <= r && r < 0xa0:
		return true
	case r < 0xad: // the first format character
		return false
	case r == '\u200c' || r == '\u200d':
		return false
	}
	return r == '\u2028' || r == '\u2029' || unicode.Is(unicode.Cf, r)
}

// Clean returns text without its [Hidden] characters, which have no place in a prompt. Newline and tab stay. Bytes that
// are not UTF-8 become U+FFFD.
//
// It is for questions, comments and error texts. Do not clean stored values: a changed value matches nothing.
func Clean(text string) string {
	return strings.Map(func(r rune) rune {
		if Hidden(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}

// Line returns text as one clean line: no [Hidden] character, one blank in place of each run of white space, none at
// the ends.
func Line(text string) string {
	// Collapse white space first, so that a removed line separator does not join two words. Removed characters may
	// leave two blanks side by side.
	return collapse(Clean(collapse(text)))
}

func collapse(text string) string { return strings.Join(strings.Fields(text), " ") }

// Fold returns text in lower case with one blank between its words, for comparing questions.
func Fold(text string) string { return strings.ToLower(collapse(text)) }

// LowerASCII returns text with its ASCII letters in lower case. All other bytes keep their places.
func LowerASCII(text string) string {
	isUpper := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i := range len(text) {
		if isUpper(text[i]) {
			b := []byte(text)
			for ; i < len(b); i++ {
				if isUpper(b[i]) {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return text
}

// Cut returns the first n bytes of text, without a character that n would split.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for split := 1; split < utf8.UTFMax && n > 0 && !utf8.RuneStart(text[n]); split++ {
		n--
	}
	return text[:n]
}

// Short returns the first n characters of text, with "…" behind if there are more.
func Short(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i] + "…"
		}
		n--
	}
	return text
}

// Visible returns text with the code of each character for which hidden reports true in place of the character. The
// code is made with format, a Printf format for a rune. With the format "" the code is the escape of a Go string (\n,
// \x1b, \u200b), and bytes that are not UTF-8 are written out too.
func Visible(text, format string, hidden func(rune) bool) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 8)
	for i, n := 0, 0; i < len(text); i += n {
		var r rune
		switch r, n = utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && n == 1 && format == "":
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case !hidden(r):
			b.WriteRune(r)
		case format == "":
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			fmt.Fprintf(&b, format, r)
		}
	}
	return b.String()
}

// Float returns f with as few digits as read back the same, and with a point or an exponent, so that it is not taken
// for an integer. Numbers below low or from high on have an exponent. What is not finite is NaN, +Inf or -Inf.
func Float(f, low, high float64) string {
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < low || a >= high) {
		format = 'e'
	}
	text := strconv.FormatFloat(f, format, -1, 64)
	if !strings.ContainsAny(text, ".eNI") {
		text += ".0"
	}
	return text
}

// CutLast is strings.Cut at the last sep; without one, all of s is after.
func CutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return "", s, false
}

// Plain is a value as it is, for people: money without an exponent, and the size of bytes.
func Plain(v any) string {
	switch v := v.(type) {
	case []byte:
		return fmt.Sprintf("%d bytes", len(v))
	case float64:
		if a := math.Abs(v); a == 0 || a >= 1e-6 && a < 1e15 {
			return strconv.FormatFloat(v, 'f', -1, 64)
		}
	}
	return fmt.Sprint(v)
}

// AppendEscape appends r to b as JSON writes it in escapes: \u and four digits, twice for a character over U+FFFF.
func AppendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return AppendEscape(AppendEscape(b, high), low)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}
