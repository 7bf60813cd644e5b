package sqltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotation is what stands between quotation marks: s[From:To] of the text.
type Quotation struct{ From, To int }

// quotes are the marks that people put around a value, each with those that may
// close it.
var quotes = map[rune]string{
	'"': `"`, '\'': "'", '`': "`", '“': "”", '‘': "’", '„': "“”", '‚': "‘’", '«': "»", '»': "«", '‹': "›",
	'「': "」", '『': "』", '《': "》",
}

// Quotations returns the quotations in a question or another text of a person, in
// text order, none inside another. An apostrophe inside or at the end of a word, and
// the inch behind a number, open and close none, and neither does a mark without its
// other half.
func Quotations(s string) []Quotation {
	var found []Quotation
	before, single := ' ', "" // opening marks that nothing further on closes
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		start := i + size
		if closing, ok := quotes[r]; ok && !isApostrophe(r, before) && !strings.ContainsRune(single, r) {
			if end, behind := closed(s, start, closing); end >= 0 {
				found = append(found, Quotation{start, end})
				r, _ = utf8.DecodeLastRuneInString(s[:behind])
				start = behind
			} else {
				single += string(r)
			}
		}
		before, i = r, start
	}
	return found
}

// closed returns where one of the closing marks ends a quotation that starts at from,
// and where the text goes on; end is -1 where none does.
func closed(s string, from int, closing string) (end, behind int) {
	for i := from; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if strings.ContainsRune(closing, r) {
			next, n := utf8.DecodeRuneInString(s[i+size:])
			if n == 0 || !isApostrophe(r, next) {
				return i, i + size
			}
		}
		i += size
	}
	return -1, 0
}

// isApostrophe reports whether the quote r, beside a letter or digit that does
// not belong to what it quotes, is an apostrophe or a mark of inches. In scripts
// without blanks between words a quote stands beside a letter as a rule.
func isApostrophe(r, beside rune) bool {
	switch r {
	case '\'', '’', '"', '`':
		return unicode.IsDigit(beside) || unicode.IsLetter(beside) &&
			!unicode.In(beside, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
	}
	return false
}
