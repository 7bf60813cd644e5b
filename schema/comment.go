package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxCommentRunes is the longest comment that a prompt shows.
const maxCommentRunes = 200

// Comment cleans a text that people wrote about the database for a prompt: one
// line of at most 200 characters (runes).
//
// Runs of blanks and line ends become one blank; control and format characters
// and invisible signs go; a back quote becomes an apostrophe and a "<" that could
// open a tag becomes "‹", so that no comment ends a fence or a tag. A longer text
// is cut and ends in "…". Comments are prose: unlike names and values they may
// be changed, because nothing is compared with them.
//
// Comment is idempotent.
func Comment(text string) string {
	out := make([]rune, 0, min(len(text), maxCommentRunes+1))
	blank := false
	for i, r := range text {
		switch {
		case r == utf8.RuneError && invalidAt(text, i):
			continue
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			blank = len(out) > 0
			continue
		case isControl(r) || isInvisible(r):
			continue
		case r == '`':
			r = '\''
		case r == '<' && opensTag(text[i+1:]):
			r = '‹'
		}
		if blank {
			out = append(out, ' ')
			blank = false
		}
		out = append(out, r)
		if len(out) > maxCommentRunes {
			// A "<" left at the end would open a tag with what follows it.
			return strings.TrimRight(string(out[:maxCommentRunes-1]), " <") + "…"
		}
	}
	return string(out)
}

// opensTag reports whether "<" before rest may be read as the start of a tag:
// anything but a comparison with a number or a blank.
func opensTag(rest string) bool {
	if rest == "" {
		return false
	}
	c := rest[0]
	return c != ' ' && c != '=' && c != '>' && c != '.' && c != '-' && (c < '0' || c > '9')
}

func invalidAt(s string, i int) bool {
	_, n := utf8.DecodeRuneInString(s[i:])
	return n == 1
}
