package result

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// Preview describes t in a few lines for a model that judges between answers. It writes a line with the number of rows
// and columns, the column names, then at most rows rows (0: 3). Each row is a JSON array with values cut to cellRunes
// characters (0: 40).
//
//	2 rows, 2 columns
//	["name","orders"]
//	["Ann",12]
//	["Bo",null]
//
// The text goes into a prompt, and stored values may be hostile. So every text value is a JSON string in which <, >, &
// and ` and all characters that are not printable are escaped. No value can end a fence, a tag or its line. Blobs are
// shown by their size.
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
	const maxColumns = 20 // a judge does not read five hundred columns

	var b []byte
	if t.Truncated {
		b = append(b, "more than "...)
	}
	n, m := len(t.Rows), len(t.Columns)
	b = fmt.Appendf(b, "%d %s, %d %s", n, words.Plural("row", n), m, words.Plural("column", m))
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
		line(len(row), func(i int) any { return t.typeOf(i).Plain(row[i]) })
	}
	if len(t.Rows) > rows || t.Truncated && len(t.Rows) > 0 {
		b = append(b, "\n…"...)
	}
	return string(b)
}

// appendShown appends one value for Preview.
func appendShown(b []byte, v any, cellRunes int) []byte {
	switch v := v.(type) {
	case string:
		return appendShownText(b, v, cellRunes)
	case []byte:
		return fmt.Appendf(b, `"blob of %d bytes"`, len(v))
	case float64:
		return append(b, formatFloat(v)...)
	case Decimal:
		return append(b, v...)
	}
	return appendJSON(b, v)
}

func appendShownText(b []byte, s string, cellRunes int) []byte {
	s = words.Short(s, cellRunes)
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
			b = words.AppendEscape(b, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return append(b, '"')
}
