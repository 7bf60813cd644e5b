package trace

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

// secretValue is a value, with what is glued to its quotes.
const secretValue = `(?:(?:"[^"]*"|'[^']*')[^\s&;,"')}\]]*|[^\s&;,"')}\]]+)`

// credentials are the forms in which a credential gets into an error text. "token: x" and "key: x" are not among them,
// because engines write so about SQL (SQLite: `unrecognized token: "x"`). A form is tried only if the text, in lower case,
// has all of its needles, of which each may be one of several: trying costs a hundred times as much as looking for them,
// and ordinary errors have none. Groups of the form stay.
var credentials = []struct {
	needles []string
	form    *regexp.Regexp
}{
	// With any scheme, also in Go's print of an http.Header.
	{[]string{"authorization"}, regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*\[?["']?)(?:[a-z][\w-]*\s+)?[^\s"',;\]]+`)},
	// All of its pairs.
	{[]string{"cookie"}, regexp.MustCompile(`(?i)(cookie["']?\s*[:=]\s*\[?["']?)[^"'\]\r\n]+`)},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)(\bbearer\s+)[^\s"',;]+`)},
	{[]string{"="}, regexp.MustCompile(`(?i)((?:key|token|pass|password|passwd|pwd|secret)\s*=\s*)` + secretValue)},
	{[]string{":", "key|pass|secret|access_token"}, regexp.MustCompile(`(?i)((?:api[_-]?key|password|passwd|secret|access_token)["']?\s*:\s*)` + secretValue)},
	{[]string{`":|':`}, regexp.MustCompile(`(?i)(["'][\w-]*(?:key|token|pass|pwd)["']\s*:\s*)` + secretValue)},
	{[]string{"://", "@"}, regexp.MustCompile(`(://[^\s/:@]*:)[^\s/]*(@)`)},
	// A password with a slash; "8080/" is a port.
	{[]string{"://", "@"}, regexp.MustCompile(`(://[^\s/:@]*:)(?:\d*[^\s/@\d*])\S*(@)`)},
	{[]string{":", "@", "("}, regexp.MustCompile(`(\b[\w.-]+:)[^\s/]*(@(?:tcp|unix)\()`)},
	{[]string{"-|_|aiza"}, regexp.MustCompile(`\b` + words.ProviderKeys)},
	{[]string{"akia|asia"}, regexp.MustCompile(`\b` + words.CloudKeys + `\b`)},
	{[]string{"eyj"}, regexp.MustCompile(`\b` + words.WebTokens)},
}

// Scrub replaces everything in text that looks like a credential by "***": parameters such as key=, token= and
// password=, Authorization and Cookie headers, the password of a URL or DSN, and well-known forms of provider keys and
// tokens. It cannot find every credential, so do not pass any in the first place.
func Scrub(text string) string {
	lower := strings.ToLower(text)
	has := func(needle string) bool { return strings.Contains(lower, needle) }
	for _, c := range credentials {
		if !slices.ContainsFunc(c.needles, func(some string) bool { return !slices.ContainsFunc(strings.Split(some, "|"), has) }) {
			text = c.form.ReplaceAllString(text, "${1}***${2}")
		}
	}
	return text
}

// maxFailure bounds the text of an error or a warning in bytes, because providers and engines send whole bodies.
const maxFailure = 1000

// failureText returns the text of an error as a trace may hold it.
func failureText(text string) string { return cmp.Or(outsideText(text), "unknown error") }

// discreet is an error whose text repeats parts of statements, with another text that does not.
type discreet interface {
	error
	Public() string
}

// Public is what an error says outside of the program: its text with the public text of every error in it that has a
// method Public, in one line, shortened and without what looks like a secret.
func Public(err error) string { return failureText(publicText(err)) }

// publicText returns the text of err, with the public text of every discreet error that it wraps.
func publicText(err error) string {
	text := err.Error()
	put := map[string]bool{} // texts that were replaced
	var walk func(error)
	walk = func(err error) {
		if d, ok := err.(discreet); ok {
			message, public := d.Error(), cmp.Or(d.Public(), "withheld")
			switch {
			case put[message]:
			case message != "" && strings.Contains(text, message):
				text = strings.ReplaceAll(text, message, public)
				put[message] = true
			default:
				text = public // the wrapping error repeats it in other words
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

// outsideText scrubs and cuts text that may repeat something from outside.
func outsideText(text string) string {
	// The first cut keeps megabytes from the patterns. It leaves so much that a credential which it splits lies behind
	// the second cut.
	text = valid(Scrub(words.Cut(text, 8*maxFailure)))
	if short := words.Cut(text, maxFailure); short != text {
		return short + "…"
	}
	return text
}
