package trace

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/words"
)

const secretValue = `("[^"]*"|'[^']*'|[^\s&;,"')}\]]+)`

// The forms in which a credential gets into an error text. "token: x" and "key: x" are not among them, because engines
// write so about SQL (SQLite: `unrecognized token: "x"`).
var (
	header    = regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*\[?["']?)(?:[a-z][\w-]*\s+)?[^\s"',;\]]+`) // with any scheme, also in Go's print of an http.Header
	cookie    = regexp.MustCompile(`(?i)(cookie["']?\s*[:=]\s*\[?["']?)[^"'\]\r\n]+`)                           // all of its pairs
	bearer    = regexp.MustCompile(`(?i)(\bbearer\s+)[^\s"',;]+`)
	parameter = regexp.MustCompile(`(?i)((?:key|token|pass|password|passwd|pwd|secret)\s*=\s*)` + secretValue)
	field     = regexp.MustCompile(`(?i)((?:api[_-]?key|password|passwd|secret|access_token)["']?\s*:\s*)` + secretValue)
	quoted    = regexp.MustCompile(`(?i)(["'][\w-]*(?:key|token|pass|pwd)["']\s*:\s*)` + secretValue)
	userinfo  = regexp.MustCompile(`(://[^\s/:@]*:)[^\s/]*(@)`)
	slashed   = regexp.MustCompile(`(://[^\s/:@]*:)(?:\d*[^\s/@\d*])\S*(@)`) // a password with a slash; "8080/" is a port
	mysqlDSN  = regexp.MustCompile(`(\b[\w.-]+:)[^\s/]*(@(?:tcp|unix)\()`)
	apiKey    = regexp.MustCompile(`\b(sk-|AIza|gsk_|hf_|xai-|gh[opsur]_|github_pat_|glpat-|xox[abpr]-|r8_|pplx-|nvapi-)[\w-]{8,}`)
	awsKey    = regexp.MustCompile(`\b(AKIA|ASIA)[A-Z0-9]{16}\b`)
	jwt       = regexp.MustCompile(`\b(eyJ)[\w-]{8,}\.[\w.-]+`)
)

// Scrub replaces everything in text that looks like a credential by "***": parameters such as key=, token= and
// password=, Authorization and Cookie headers, the password of a URL or DSN, and well-known forms of provider keys and
// tokens. It cannot find every credential, so do not pass any in the first place.
func Scrub(text string) string {
	// A pattern is tried only if all of its needles occur. It costs a hundred times as much as looking for them, and
	// ordinary errors have none.
	lower := strings.ToLower(text)
	for _, form := range [...]struct {
		needles []string
		find    *regexp.Regexp
		replace string
	}{
		{[]string{"authorization"}, header, "${1}***"},
		{[]string{"cookie"}, cookie, "${1}***"},
		{[]string{"bearer"}, bearer, "${1}***"},
		{[]string{"="}, parameter, "${1}***"},
		{[]string{":", "key"}, field, "${1}***"},
		{[]string{":", "pass"}, field, "${1}***"},
		{[]string{":", "secret"}, field, "${1}***"},
		{[]string{":", "access_token"}, field, "${1}***"},
		{[]string{`":`}, quoted, "${1}***"},
		{[]string{`':`}, quoted, "${1}***"},
		{[]string{"://", "@"}, userinfo, "${1}***${2}"},
		{[]string{"://", "@"}, slashed, "${1}***${2}"},
		{[]string{":", "@", "("}, mysqlDSN, "${1}***${2}"},
		{[]string{"-"}, apiKey, "${1}***"},
		{[]string{"_"}, apiKey, "${1}***"},
		{[]string{"aiza"}, apiKey, "${1}***"},
		{[]string{"akia"}, awsKey, "${1}***"},
		{[]string{"asia"}, awsKey, "${1}***"},
		{[]string{"eyj"}, jwt, "${1}***"},
	} {
		if !slices.ContainsFunc(form.needles, func(n string) bool { return !strings.Contains(lower, n) }) {
			text = form.find.ReplaceAllString(text, form.replace)
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

// publicText returns the text of err, with the public text of every discreet error that it wraps.
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
