package vote

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// span is a part of a text in bytes.
type span struct{ from, to int }

// quotedSpans returns the parts of s inside of quotation marks, without the
// marks. An apostrophe inside of a word, or one that nothing closes, is none.
func quotedSpans(s string) []span {
	const open, closing = "\"“«„'‘", "\"”»“'’"
	var out []span
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		at := strings.IndexRune(open, r)
		if at < 0 || !opens(s, i) {
			i += n
			continue
		}
		// The mark that closes stands at the same place of the other list.
		c := []rune(closing)[utf8.RuneCountInString(open[:at])]
		from, to := i+n, -1
		for j := from; j < len(s); {
			r, m := utf8.DecodeRuneInString(s[j:])
			if r == c && closes(s, j+m) {
				to = j
				break
			}
			j += m
		}
		if to < 0 {
			i += n
			continue
		}
		out = append(out, span{from, to})
		i = to + utf8.RuneLen(c)
	}
	return out
}

// opens reports whether a mark at i may open a quotation: no word ends there.
func opens(s string, i int) bool {
	r, n := utf8.DecodeLastRuneInString(s[:i])
	return n == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// closes reports whether a mark before i may close one: no word begins there.
func closes(s string, i int) bool {
	r, n := utf8.DecodeRuneInString(s[i:])
	return n == 0 || !unicode.IsLetter(r) && !unicode.IsDigit(r)
}
