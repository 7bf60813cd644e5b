// Package redact removes credentials and parts of statements from texts that come from outside.
package redact

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
// because engines write so about SQL (SQLite: `unrecognized token: "x"`). A form is tried only if the text, in lower
// case, has all of its needles, of which each may be one of several: trying costs a hundred times as much as looking
// for them, and ordinary errors have none. Groups of the form stay.
var credentials = []struct {
	needles []string
	form    *regexp.Regexp
}{
	// With any scheme, also in Go's print of an http.Header.
	{[]string{"authorization"},
		regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*\[?["']?)(?:[a-z][\w-]*\s+)?[^\s"',;\]]+`)},
	// All of its pairs.
	{[]string{"cookie"}, regexp.MustCompile(`(?i)(cookie["']?\s*[:=]\s*\[?["']?)[^"'\]\r\n]+`)},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)(\bbearer\s+)[^\s"',;]+`)},
	{[]string{"="}, regexp.MustCompile(`(?i)((?:key|token|pass|password|passwd|pwd|secret)\s*=\s*)` + secretValue)},
	{[]string{":", "key|pass|secret|access_token"},
		regexp.MustCompile(`(?i)((?:api[_-]?key|password|passwd|secret|access_token)["']?\s*:\s*)` + secretValue)},
	{[]string{`":|':`}, regexp.MustCompile(`(?i)(["'][\w-]*(?:key|token|pass|pwd)["']\s*:\s*)` + secretValue)},
	{[]string{"://", "@"}, regexp.MustCompile(`(://[^\s/:@]*:)[^\s/]*(@)`)},
	// A password with a slash; "8080/" is a port.
	{[]string{"://", "@"}, regexp.MustCompile(`(://[^\s/:@]*:)(?:\d*[^\s/@\d*])\S*(@)`)},
	{[]string{":", "@", "("}, regexp.MustCompile(`(\b[\w.-]+:)[^\s/]*(@(?:tcp|unix)\()`)},
	{[]string{"-|_|aiza"}, regexp.MustCompile(`\b` + words.ProviderKeys)},
	{[]string{"akia|asia"}, regexp.MustCompile(`\b` + words.CloudKeys + `\b`)},
	{[]string{"eyj"}, regexp.MustCompile(`\b` + words.WebTokens)},
}

// Credentials replaces everything in text that looks like a credential by "***": parameters such as key=, token= and
// password=, Authorization and Cookie headers, the password of a URL or DSN, and well-known forms of provider keys and
// tokens. It cannot find every credential, so do not pass any in the first place.
func Credentials(text string) string {
	lower := strings.ToLower(text)
	has := func(needle string) bool { return strings.Contains(lower, needle) }
	for _, c := range credentials {
		if !slices.ContainsFunc(c.needles, func(some string) bool {
			return !slices.ContainsFunc(strings.Split(some, "|"), has)
		}) {
			text = c.form.ReplaceAllString(text, "${1}***${2}")
		}
	}
	return text
}

// maxFailure bounds the text of an error or a warning in bytes, because providers and engines send whole bodies.
const maxFailure = 1000

// Failure returns the text of an error as a trace may hold it.
func Failure(text string) string { return cmp.Or(Text(text), "unknown error") }

// discreet is an error whose text repeats parts of statements, with another text that does not.
type discreet interface {
	error
	Public() string
}

// Error returns the text of an error as it may leave the program: with the public text of every error in it that has a
// method Public, in one line, shortened and without what looks like a secret.
func Error(err error) string { return Failure(publicText(err)) }

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

// Text removes credentials from text that may repeat something from outside, and cuts it.
func Text(text string) string {
	// The first cut keeps megabytes from the patterns. It leaves so much that a credential which it splits lies behind
	// the second cut.
	text = strings.ToValidUTF8(Credentials(words.Cut(text, 8*maxFailure)), "\uFFFD")
	if short := words.Cut(text, maxFailure); short != text {
		return short + "…"
	}
	return text
}

// maxMessage bounds what an error text repeats of a provider's words, in bytes. It is enough for the first sentence and
// too little for a prompt that the provider echoes.
const maxMessage = 200

// Line makes text from outside fit for an error text: one line without control characters, with credentials replaced
// by "***" ([Credentials]). A longer text is cut at 200 bytes and ends with "…".
func Line(text string) string {
	if start := words.Cut(text, 16*maxMessage); start != text { // a body may be megabytes
		// Without the last word: half a credential might not look like one.
		text = start[:strings.LastIndexAny(start, " \t\r\n")+1]
		if text == "" {
			text = start
		}
	}
	text = Credentials(words.Line(strings.ToValidUTF8(text, "\uFFFD")))
	if short := words.Cut(text, maxMessage); short != text {
		return strings.TrimRight(short, " ") + "…"
	}
	return text
}
