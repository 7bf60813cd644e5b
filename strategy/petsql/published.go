package petsql

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Published returns p with the prompt of its source; see REp.Published.
func (p Strategy) Published() Strategy {
	p.Prompter = p.Prompter.Published()
	return p
}

// Published returns r in the form of its source: the sections and data lines of the source in one user message, without
// types, keys and descriptions.
func (r REp) Published() REp {
	r.published = true
	return r
}

// publishedLiteral writes a text value as the source of REp does: bare, where it could not be taken for the end of the
// list, else in quotes with those inside doubled. What would leave the line, as the source lets it, is a blank; a text
// over 40 characters is left out.
func publishedLiteral(text string) (string, bool) {
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 40 {
		return "", false // not shown in our form either
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
