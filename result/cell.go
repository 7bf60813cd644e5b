package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// cellText is how a cell looks in a text table.
type cellText struct {
	text  string
	width int  // in terminal columns
	right bool // stands at the right: a number
}

// showCell writes one value for people, at most limit columns wide; limit < 0 is
// none.
func showCell(v any, limit int) cellText {
	switch v := v.(type) {
	case nil:
		return cellText{text: "NULL", width: 4}
	case int64:
		return number(strconv.FormatInt(v, 10))
	case float64:
		return number(formatFloat(v))
	case string:
		s := visible(v, limit)
		if ambiguous(v) {
			s = `"` + s + `"`
		}
		return cutCell(s, limit)
	case []byte:
		s := fmt.Sprintf("<blob, %d bytes>", len(v))
		return cellText{text: s, width: len(s)}
	}
	return cutCell(visible(fmt.Sprint(v), limit), limit)
}

func number(s string) cellText { return cellText{text: s, width: len(s), right: true} }

// ambiguous reports whether the text v, written bare, would be taken for
// something else or hide a blank.
func ambiguous(v string) bool {
	if v == "NULL" {
		return true
	}
	if v == "" {
		return false // an empty cell; NULL is the one that is written out
	}
	first, last := v[0], v[len(v)-1]
	return first == ' ' || last == ' ' || first == '"' || last == '"'
}

// formatFloat writes f as short as it can be read back, and so that it is seen
// to be a float.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	format := byte('f')
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e15) {
		format = 'e'
	}
	s := strconv.FormatFloat(f, format, -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// visible returns s with everything escaped that would not be seen as it is:
// control characters, format and direction marks, line separators, invalid
// bytes. It reads no more of s than can show in limit columns.
func visible(s string, limit int) string {
	// Sixteen bytes a column are more than any script needs, marks included.
	if limit >= 0 && (len(s)-1)/16 > limit {
		most := 16 * (limit + 1)
		for range utf8.UTFMax - 1 { // not inside of a character
			if !utf8.RuneStart(s[most]) {
				most--
			}
		}
		s = s[:most] + "…"
	}
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= 0x20 && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case hidden(r) && r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case hidden(r) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// hidden reports whether r is not seen, or moves what is seen. The joiners
// U+200C and U+200D stay: some scripts, and emoji, need them.
func hidden(r rune) bool {
	switch r {
	case 0x200c, 0x200d:
		return false
	case 0x2028, 0x2029, 0x00ad, 0xfeff:
		return true
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r)
}

// cutCell measures s and cuts it to limit columns, the last of them "…".
func cutCell(s string, limit int) cellText {
	width, cut := 0, len(s)
	for i, r := range s {
		w := runeWidth(r)
		if limit > 0 && width+w > limit-1 && cut == len(s) && w > 0 {
			cut = i // where the ellipsis would go, if s turns out to be too long
		}
		width += w
		if limit > 0 && width > limit {
			kept := s[:cut]
			return cellText{text: kept + "…", width: textWidth(kept) + 1}
		}
	}
	return cellText{text: s, width: width}
}
