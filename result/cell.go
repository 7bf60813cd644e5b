package result

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// cellText is a cell of a text table.
type cellText struct {
	text  string
	width int  // in terminal columns
	right bool // aligned right, because it is a number
}

// showCell writes one value for people, at most limit columns wide; limit < 0: any width.
func showCell(v any, limit int) cellText {
	switch v := v.(type) {
	case nil:
		return cellText{text: "NULL", width: 4}
	case int64:
		return number(strconv.FormatInt(v, 10))
	case float64:
		if short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 15, 64), 64); err == nil {
			v = short // 61084.420000000006 is what a sum of floats leaves
		}
		return number(formatFloat(v))
	case Decimal:
		return number(string(v))
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

// Format writes one value of a column of type t as WriteTable does, but never cuts it. A month is January 2024, and a
// share 12 %.
func (t Type) Format(v any) string { return t.cell(v, -1).text }

// cell writes one value of a column of type t.
func (t Type) cell(v any, limit int) cellText {
	if text, ok := t.named(v, true); ok {
		return cellText{text: text, width: len(text)}
	}
	if _, ok := t.Number(v); ok && t.Share {
		one := &Table{Columns: []string{""}, Types: []Type{t}, Rows: [][]any{{v}}}
		return number(one.Texts(0).Text(v))
	}
	return showCell(t.Shown(v), limit)
}

func number(s string) cellText { return cellText{text: s, width: textWidth(s), right: true} }

// ambiguous reports whether the text v without quotes would look like another value or hide a blank.
func ambiguous(v string) bool {
	quoted := len(v) > 1 && strings.HasPrefix(v, `"`) && strings.HasSuffix(v, `"`)
	return v == "NULL" || quoted || strings.Trim(v, " ") != v
}

// formatFloat writes f for people and JSON: NaN, Infinity and -Infinity are names.
func formatFloat(f float64) string {
	text := strings.TrimPrefix(words.Float(f, 1e-6, 1e15), "+")
	if math.IsInf(f, 0) {
		text += "inity"
	}
	return text
}

// visible escapes the characters of s that a reader would not see as they are: control characters, format and direction
// marks, line separators, invalid bytes. It reads no more of s than limit columns can show.
func visible(s string, limit int) string {
	// Sixteen bytes for each column are more than any script needs, marks included.
	if limit >= 0 && (len(s)-1)/16 > limit {
		s = words.Cut(s, 16*(limit+1)) + "…"
	}
	return words.Visible(s, "", hidden)
}

// hidden reports whether a terminal would not show r, or would obey it.
func hidden(r rune) bool { return words.Hidden(r) || unicode.Is(unicode.Co, r) }

// cutCell measures s and cuts it to limit columns, of which "…" is the last.
func cutCell(s string, limit int) cellText {
	width, cut := 0, len(s)
	for i, r := range s {
		w := runeWidth(r)
		if limit > 0 && width+w > limit-1 && cut == len(s) && w > 0 {
			cut = i // the place of the ellipsis, if s turns out to be too long
		}
		width += w
		if limit > 0 && width > limit {
			kept := s[:cut]
			return cellText{text: kept + "…", width: textWidth(kept) + 1}
		}
	}
	return cellText{text: s, width: width}
}

// cutMiddle is cutCell for a name, whose end tells it from others as its start does: "…" stands in the middle.
func cutMiddle(s string, limit int) cellText {
	whole := cutCell(s, 0)
	if limit <= 0 || whole.width <= limit {
		return whole
	}
	head := strings.TrimSuffix(cutCell(s, limit/2+1).text, "…")
	room := limit - 1 - textWidth(head)
	tail := s[len(head):]
	for textWidth(tail) > room {
		_, size := utf8.DecodeRuneInString(tail)
		tail = tail[size:]
	}
	text := head + "…" + tail
	return cellText{text: text, width: textWidth(text)}
}
