package trace

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

const secretValue = `("[^"]*"|'[^']*'|[^\s&;,"')}\]]+)`

// The forms in which a credential gets into an error text. "token: x" and
// "key: x" are not among them, because engines write so of SQL (SQLite:
// `unrecognized token: "x"`). All are linear, as everything of regexp.
var (
	header    = regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*\[?["']?)(?:[a-z][\w-]*\s+)?[^\s"',;\]]+`) // with any scheme, also as Go prints a http.Header
	bearer    = regexp.MustCompile(`(?i)(\bbearer\s+)[^\s"',;]+`)
	parameter = regexp.MustCompile(`(?i)((?:key|token|password|passwd|pwd|secret)\s*=\s*)` + secretValue)
	field     = regexp.MustCompile(`(?i)((?:api[_-]?key|password|passwd|secret|access_token)["']?\s*:\s*)` + secretValue)
	userinfo  = regexp.MustCompile(`(://[^\s/:@]*:)[^\s/]*(@)`)
	mysqlDSN  = regexp.MustCompile(`(\b[\w.-]+:)[^\s/]*(@(?:tcp|unix)\()`)
	apiKey    = regexp.MustCompile(`\b(sk-|AIza)[\w-]{8,}()`)
)

// Scrub returns text with what looks like a credential replaced by "***":
// parameters such as key=, token= and password=, Authorization headers, the
// password of a URL or DSN, and well-known forms of provider keys. It is a net
// under code that should not let one get here, no proof that none is left.
func Scrub(text string) string {
	// A pattern is tried only where each of its needles is: it costs a hundred
	// times what looking for them does, and ordinary errors have none.
	lower := strings.ToLower(text)
	for _, form := range [...]struct {
		needles []string
		find    *regexp.Regexp
		replace string
	}{
		{[]string{"authorization"}, header, "${1}***"},
		{[]string{"bearer"}, bearer, "${1}***"},
		{[]string{"="}, parameter, "${1}***"},
		{[]string{":", "key"}, field, "${1}***"},
		{[]string{":", "pass"}, field, "${1}***"},
		{[]string{":", "secret"}, field, "${1}***"},
		{[]string{":", "access_token"}, field, "${1}***"},
		{[]string{"://", "@"}, userinfo, "${1}***${2}"},
		{[]string{":", "@", "("}, mysqlDSN, "${1}***${2}"},
		{[]string{"sk-"}, apiKey, "${1}***"},
		{[]string{"aiza"}, apiKey, "${1}***"},
	} {
		if !slices.ContainsFunc(form.needles, func(n string) bool { return !strings.Contains(lower, n) }) {
			text = form.find.ReplaceAllString(text, form.replace)
		}
	}
	return text
}

// maxFailure bounds the text of an error or a warning in bytes: providers and
// engines send whole bodies.
const maxFailure = 1000

// failureText is the text of an error as a trace may hold it.
func failureText(text string) string {
	if text = outsideText(text); text != "" {
		return text
	}
	return "unknown error"
}

// discreet is an error whose text repeats parts of statements, and which has
// another text without them.
type discreet interface {
	error
	Public() string
}

// publicText is the text of err with the public text of every discreet error that
// it wraps in place of its own.
func publicText(err error) string {
	text := err.Error()
	put := map[string]bool{} // texts that were replaced
	var walk func(error)
	walk = func(err error) {
		if d, ok := err.(discreet); ok {
			whole, public := d.Error(), cmp.Or(d.Public(), "withheld")
			switch {
			case put[whole]:
			case whole != "" && strings.Contains(text, whole):
				text = strings.ReplaceAll(text, whole, public)
				put[whole] = true
			default:
				text = public // who wraps it says it in other words
			}
			return
		}
		switch err := err.(type) {
		case interface{ Unwrap() error }:
			if inner := err.Unwrap(); inner != nil {
				walk(inner)
			}
		case interface{ Unwrap() []error }:
			for _, inner := range err.Unwrap() {
				walk(inner)
			}
		}
	}
	walk(err)
	return text
}

// outsideText is text that may repeat what came from outside, scrubbed and cut.
func outsideText(text string) string {
	// Cut before scrubbing as well: the patterns need not see a megabyte. What
	// the first cut leaves is so much longer that the second one ends before it.
	text = valid(Scrub(cut(text, 8*maxFailure)))
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
