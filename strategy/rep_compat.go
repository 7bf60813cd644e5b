package strategy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// compatLiteral writes a text value as the source of REp does: bare, where it
// could not be taken for the end of the list, else in quotes with those inside
// doubled. What would leave the line, as the source lets it, is a blank; a text
// over 40 characters is left out.
func compatLiteral(text string) (string, bool) {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > repRunes {
		return "", false
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	plain := text != "" && strings.IndexFunc(text, func(r rune) bool {
		return !(unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" .-_:/+@%&", r))
	}) < 0
	if plain {
		return text, true
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'", true
}
