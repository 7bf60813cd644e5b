package result

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Preview describes t in a few lines for a model that judges between answers: a
// line with the number of rows and columns, the column names, then at most rows
// rows (0: 3), each as a JSON array with values cut to cellRunes characters (0:
// 40).
//
//	2 rows, 2 columns
//	["name","orders"]
//	["Ann",12]
//	["Bo",null]
//
// What is stored is hostile until proven otherwise, and this text goes into a
// prompt: every text value is a JSON string in which <, >, & and ` and all
// characters that are not printable are escaped, so that no value can end a
// fence, a tag or its line. Blobs are shown by their size.
func (t *Table) Preview(rows, cellRunes int) string {
	if t == nil {
		return "no result"
	}
	if rows <= 0 {
		rows = 3
	}
	if cellRunes <= 0 {
		cellRunes = 40
	}
	// A judge reads a few columns of a wide result, not five hundred.
	const maxColumns = 20

	var b []byte
	switch {
	case t.Truncated:
		b = append(b, "more than "...)
		fallthrough
	default:
		b = strconv.AppendInt(b, int64(len(t.Rows)), 10)
		b = append(b, plural(" row", len(t.Rows))...)
	}
	b = append(b, ", "...)
	b = strconv.AppendInt(b, int64(len(t.Columns)), 10)
	b = append(b, plural(" column", len(t.Columns))...)

	line := func(n int, value func(i int) any) {
		b = append(b, "\n["...)
		for i := range min(n, maxColumns) {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendShown(b, value(i), cellRunes)
		}
		if n > maxColumns {
			b = append(b, ",…"...)
		}
		b = append(b, ']')
	}
	line(len(t.Columns), func(i int) any { return t.Columns[i] })
	for _, row := range t.Rows[:min(rows, len(t.Rows))] {
		line(len(row), func(i int) any { return row[i] })
	}
	if len(t.Rows) > rows || t.Truncated && len(t.Rows) > 0 {
		b = append(b, "\n…"...)
	}
	return string(b)
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}

// appendShown appends one value for Preview.
func appendShown(b []byte, v any, cellRunes int) []byte {
	switch v := v.(type) {
	case string:
		return appendShownText(b, v, cellRunes)
	case []byte:
		b = append(b, `"blob of `...)
		b = strconv.AppendInt(b, int64(len(v)), 10)
		return append(b, ` bytes"`...)
	case float64:
		return append(b, formatFloat(v)...)
	}
	return appendJSON(b, v)
}

func appendShownText(b []byte, s string, cellRunes int) []byte {
	cut := false
	runes := 0
	for i := range s {
		if runes == cellRunes {
			s, cut = s[:i], true
			break
		}
		runes++
	}
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(b, `\ufffd`...)
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case strings.ContainsRune("<>&`", r) || !strconv.IsPrint(r) && r != 0x200c && r != 0x200d:
			b = appendEscape(b, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	if cut {
		b = append(b, "…"...)
	}
	return append(b, '"')
}

// appendEscape appends r as JSON escapes, a surrogate pair where it needs one.
func appendEscape(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		b = appendEscape(b, 0xd800+r>>10)
		return appendEscape(b, 0xdc00+r&0x3ff)
	}
	const hexDigits = "0123456789abcdef"
	return append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}
