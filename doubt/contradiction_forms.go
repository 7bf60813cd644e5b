package doubt

import (
	"regexp"
	"strings"
	"time"

	"github.com/texttosql/texttosql/schema"
)

var (
	beginsWith = compile(`\b(?:start|begin)\w*(?: in| with)\b`)
	endsWith   = compile(`\bend(?:s|ing)?(?: in| on| with)\b`)
	within     = compile(`\b(?:contain|includ)\w*\b|\bsomewhere\b`)
)

// pattern compares "starts with", "ends in" and "contains" with the ends of a LIKE pattern.
func (h held) pattern() string {
	word, mold := "", "" // where the text stands in the pattern
	for form, of := range map[*regexp.Regexp]string{beginsWith: "_%", endsWith: "%_", within: "%_%"} {
		if m := form.FindString(h.asked); m != "" && word != "" {
			return ""
		} else if m != "" {
			word, mold = m, of
		}
	}
	if word == "" || h.asks(denies) {
		return ""
	}

	for _, c := range h.constant {
		inner := strings.Trim(c.text, "%")
		like := (c.op == "LIKE" || c.op == "ILIKE") && !strings.ContainsAny(inner, "%_")
		want := strings.Replace(mold, "_", inner, 1)
		if like && c.text != want && !c.column.ofTime() && h.hasPhrase(strings.ToLower(inner)) &&
			h.changes(c.at, h.literal(want)) {
			return tell("The question says %s %s, the statement looks for %s.", word, inner, c.text)
		}
	}
	return ""
}

var (
	late   = compile(`\b(?:late|delayed|after <promise>)\b`)
	onTime = compile(`\b(?:on time|in time|punctual(?:ly)?|early|ahead of schedule|(?:before|by) <promise>)\b`)
	due    = compile(`(?i)due|deadline|expected|planned|promised|scheduled|required|target|estimated`)
	// byDue finds a comparison of two columns.
	byDue = compile(`^(?:\w+\.)?(\w+)\s*(<=|>=|<|>)\s*(?:\w+\.)?(\w+)\b`)
)

// oneOf returns the words of the question that have one of two forms; "" where it has neither or both, or where it
// denies or compares.
func (h held) oneOf(one, other *regexp.Regexp) (word string, isFirst bool) {
	a, b := one.FindString(h.asked), other.FindString(h.asked)
	if a != "" && b != "" || h.asks(denies, comparing) {
		return "", false
	}
	return a + b, a != ""
}

// lateness compares late and on time with the comparison of a date with the one that was promised.
func (h held) lateness() string {
	word, isLate := h.oneOf(late, onTime)
	if word == "" {
		return ""
	}

	for i, t := range h.tokens {
		m := byDue.FindStringSubmatch(h.sql[t.Pos:])
		if m == nil || h.inCase(i) || !timed(m[1], "") || !timed(m[3], "") ||
			due.MatchString(m[1]) == due.MatchString(m[3]) {
			continue
		}
		if after := strings.HasPrefix(m[2], ">") != due.MatchString(m[1]); after != isLate {
			return tell("The question says %s, the statement takes those with %s %s %s.", word, m[1], m[2], m[3])
		}
	}
	return ""
}

var (
	weekend  = compile(`\bweekends?\b`)
	workdays = compile(`\b(?:weekdays?|working days?|workdays?|business days?)\b`)
	// ofWeekend finds the numbers of Saturday and Sunday, as engines count them.
	ofWeekend = compile(`(?:%W|DOW|DAYOFWEEK|WEEKDAY)[^=<>]*?\)?\s+(NOT )?IN \('?[0156]'?\s*,\s*'?[067]'?\)`)
)

// weekends compares weekend and weekday with the days of a list.
func (h held) weekends() string {
	m := ofWeekend.FindStringSubmatch(h.upper)
	word, isWeekend := h.oneOf(weekend, workdays)
	if m == nil || word == "" || h.Statement.Uses("CASE") || h.asks(nothingElse) ||
		(m[1] == "") == isWeekend {
		return h.weekday()
	}
	return differ(word, "takes the other days")
}

var (
	dayNames = compile(`\b(?:sun|mon|tues|wednes|thurs|fri|satur)days?\b`)
	dayTaken = compile(`(?:'%W'|\bDOW\b)[^=<>]*=\s*'?([0-6])\b`)
)

// weekday compares the one day of the week that the question names with that of the statement.
func (h held) weekday() string {
	asked, m := dayNames.FindAllString(h.asked, -1), dayTaken.FindStringSubmatch(h.upper)
	if len(asked) != 1 || m == nil || h.asks(denies, comparing) {
		return ""
	}
	if taken := time.Weekday(number(m[1])).String(); !strings.HasPrefix(asked[0], strings.ToLower(taken)) {
		return differ(asked[0], taken)
	}
	return ""
}

var (
	netOf      = compile(`\b(?:net|(?:excluding|without|excl\.?) (?:vat|tax(?:es)?))\b`)
	grossOf    = compile(`\b(?:gross|(?:including|with|incl\.?) (?:vat|tax(?:es)?))\b`)
	withoutTax = compile(`(?i)\b(?:excluding|without|excl\.?) (?:vat|tax(?:es)?)`)
	otherNet   = compile(`\b(?:net|gross) (?:margin|profit|weight|income|salary|pay|wage|loss|worth|earnings)`)
	taxed      = compile(`(?i)(?:^|_)(?:vat|tax(?:es)?)(?:_|$)|(?:VAT|Tax)(?:Amount)?$`)
	untaxed    = compile(`(?i)(?:^|_)net(?:_|$)|Net$|^Net`)
)

// tax compares net and gross with the columns that the statement adds up.
func (h held) tax() string {
	net, tax := "", ""
	for _, c := range h.columns {
		switch {
		case untaxed.MatchString(c.Column):
			net = c.Column
		case taxed.MatchString(c.Column):
			tax = c.Column
		}
	}
	if net == "" || h.asks(comparing, otherNet) || strings.ContainsAny(h.upper, "*/") {
		return ""
	}

	isNet, isGross := netOf.FindString(h.asked), grossOf.FindString(h.asked)
	switch {
	case isNet != "" && isGross == "" && tax != "" && len(h.Items) == 1 && h.writes("+"):
		return differ(isNet, "adds "+tax)
	case isGross != "" && isNet == "" && tax == "" &&
		h.anyTable(func(t *schema.Table) bool { return anyColumn(t, taxed.MatchString) }):
		return differ(isGross, "takes "+net)
	}
	return ""
}
