package doubt

import (
	"regexp"
	"strings"
)

// parts are what several expressions have in common. A break of a line and its tabs are no part of an expression.
var parts = strings.NewReplacer("\n", "", "\t", "",
	"<month>", `(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|`+
		`oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)`,
	"<number>", `(\d+(?:,\d{3})*|once|twice|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|`+
		`twenty|thirty|fifty|hundred|a dozen)`,
	"<behind>", `(later|after|onwards?|newer|earlier|before|older)`,
	"<too>", `(?:including|also|even|plus|counting) (?:\pL+ ){0,4}(?:without|`+
		`(?:with|ha(?:ve|s|d)|did) (?:no|none|zero)|never)`,
	"<promise>", `(?:the|its|their) (?:due|deadline|promised|planned|scheduled|expected)`,
	"<utmost>", `(?:most|least|fewest|highest|lowest|largest|smallest|biggest|greatest|best|worst|cheapest|dearest|`+
		`newest|latest|oldest|youngest|earliest|longest|shortest|tallest|heaviest|lightest|strongest|fastest|slowest|`+
		`richest|top)`)

// compile returns a regular expression whose text may stand on several lines.
func compile(expression string) *regexp.Regexp { return regexp.MustCompile(parts.Replace(expression)) }

// replace is re.ReplaceAllString, which copies a text without a match too.
func replace(re *regexp.Regexp, text, by string) string {
	if !re.MatchString(text) {
		return text
	}
	return re.ReplaceAllString(text, by)
}
