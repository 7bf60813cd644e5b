package words

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotation is a text between quotation marks: s[From:To] of the whole text s.
type Quotation struct{ From, To int }

// quotes maps each mark that may open a quotation to the marks that may close it.
var quotes = map[rune]string{
	'"': `"`, '\'': "'", '`': "`", '“': "”", '‘': "’", '„': "“”", '‚': "‘’", '«': "»", '»': "«", '‹': "›",
	'「': "」", '『': "』", '《': "》",
}

// Quotations returns the quotations in a question or another text of a person, in text order, none inside another.
// Three marks open and close no quotation: an apostrophe inside or at the end of a word, the inch behind a number, and
// a mark without its other half.
func Quotations(s string) []Quotation {
	var found []Quotation
	before, single := ' ', "" // single: opening marks that no later mark closes
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

// closed returns where the first closing mark ends a quotation that starts at from, and where the text goes on. Without
// a closing mark end is -1.
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

// isApostrophe reports whether the quote r, beside a letter or digit that does not belong to what it quotes, is an
// apostrophe or a mark of inches. In scripts without blanks between words a quote stands beside a letter as a rule.
func isApostrophe(r, beside rune) bool {
	switch r {
	case '\'', '’', '"', '`':
		return unicode.IsDigit(beside) || unicode.IsLetter(beside) &&
			!unicode.In(beside, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao,
				unicode.Khmer, unicode.Myanmar)
	}
	return false
}
