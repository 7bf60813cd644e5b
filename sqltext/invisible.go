package sqltext

import (
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// This file knows the characters that nobody sees. Models copy them from pages; others put them where a person should
// read something else than what runs.

// Visible returns s without invisible characters, and with an ordinary blank for each odd one. Such characters in
// strings and quoted names stay, because they are part of the value.
func (d Dialect) Visible(s string) string {
	hidden := func(r rune) bool { return words.IsInvisible(r) || words.IsOddBlank(r) }
	if strings.IndexFunc(s, hidden) < 0 {
		return s
	}
	var b strings.Builder
	for l := (lexer{d: d, src: s}); l.next(); {
		switch l.tok.Kind {
		case String, QuotedName, Unterminated:
			b.WriteString(l.tok.Text)
			continue
		}
		for _, r := range l.tok.Text {
			switch {
			case words.IsOddBlank(r):
				b.WriteByte(' ')
			case !words.IsInvisible(r):
				b.WriteRune(r)
			}
		}
	}
	return b.String()
}
