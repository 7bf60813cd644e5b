package prompttext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// MaxCommentRunes is the longest comment that a prompt shows.
const MaxCommentRunes = 200

// Comment cleans a text that people wrote about the database for a prompt. The result is one line of at most 200
// characters (runes); a longer text is cut and ends in "…".
//
// Runs of blanks and line ends become one blank. Control and format characters and invisible signs are removed. A back
// quote becomes an apostrophe, a "<" that could open a tag becomes "‹", and the fence ~~~ and boxes such as [INST] lose
// their form, so that no comment ends a fence, a tag or a turn. Comments may be changed because, unlike names and
// values, they are compared with nothing.
//
// Comment is idempotent.
func Comment(text string) string {
	if isPlainComment(text) {
		return text
	}
	out := make([]rune, 0, min(len(text), MaxCommentRunes+1))
	blank := false
	for i, r := range text {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\uFFFD"): // not UTF-8
			continue
		case unicode.IsSpace(r) || r == '\u2028' || r == '\u2029':
			blank = len(out) > 0
			continue
		case words.Hidden(r) || isInvisible(r):
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
		if len(out) > MaxCommentRunes {
			// A "<" left at the end would open a tag with what follows it.
			return words.Unboxed(strings.TrimRight(string(out[:MaxCommentRunes-1]), " <") + "…")
		}
	}
	return words.Unboxed(string(out))
}

// isPlainComment reports whether a text needs no cleaning for certain, as most do.
func isPlainComment(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' && (i == 0 || i == len(text)-1 || text[i-1] == ' '), c < ' ' || c > '~', c == '`', c == '<', c == '[',
			c == '~':
			return false
		}
	}
	return len(text) <= MaxCommentRunes
}

// opensTag reports whether "<" before rest may be read as the start of a tag, and not as a comparison.
func opensTag(rest string) bool {
	return rest != "" && !strings.ContainsRune(" =>.-0123456789", rune(rest[0]))
}
