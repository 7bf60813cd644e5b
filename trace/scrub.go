package trace

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

const value = `("[^"]*"|'[^']*'|[^\s&;,"')}\]]+)`

// The forms in which a credential gets into an error text. "token: x" and
// "key: x" are not among them, because engines write so of SQL (SQLite:
// `unrecognized token: "x"`). All are linear, as everything of regexp.
var (
	parameter = regexp.MustCompile(`(?i)([\w-]*(?:key|token|password|passwd|pwd|secret)\s*=\s*)` + value)
	field     = regexp.MustCompile(`(?i)([\w-]*(?:api[_-]?key|password|passwd|secret|access_token)["']?\s*:\s*)` + value)
	header    = regexp.MustCompile(`(?i)((?:proxy-)?authorization["']?\s*[:=]\s*["']?)(?:(?:bearer|basic)\s+)?[^\s"',;]+`)
	bearer    = regexp.MustCompile(`(?i)(\bbearer\s+)[^\s"',;]+`)
	userinfo  = regexp.MustCompile(`(://[^\s/:@]*:)[^\s/]*@`)
	apiKey    = regexp.MustCompile(`\b(sk-|AIza)[\w-]{8,}`)
)

// Scrub returns text with what looks like a credential replaced by "***":
// parameters such as key=, token= and password=, Authorization headers, the
// password of a URL or DSN, and well-known forms of provider keys. It is a net
// under code that should not let one get here, no proof that none is left.
func Scrub(text string) string {
	if !strings.ContainsAny(text, "=:-") && !strings.Contains(text, "AIza") && !bearer.MatchString(text) {
		return text // none of the forms without one of these
	}
	for _, find := range [...]*regexp.Regexp{header, bearer, parameter, field} {
		text = find.ReplaceAllString(text, "${1}***")
	}
	text = userinfo.ReplaceAllString(text, "${1}***@")
	return apiKey.ReplaceAllString(text, "${1}***")
}

// maxFailure bounds the text of an error in bytes: providers and engines send
// whole bodies.
const maxFailure = 1000

// failureText is the text of err as a trace may hold it.
func failureText(err error) string {
	text := strings.ToValidUTF8(err.Error(), "\uFFFD")
	// Cut before scrubbing as well: the patterns need not see a megabyte. What
	// the first cut leaves is so much longer that the second one ends before it.
	text = Scrub(cut(text, 8*maxFailure))
	if text == "" {
		return "unknown error"
	}
	if short := cut(text, maxFailure); short != text {
		return short + "…"
	}
	return text
}

// cut returns the first n bytes of text, less a rune that would be split.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
