package doubt

import (
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/schema"
)

var (
	beginsWith = compile(`\b(?:start|begin)\w*(?: in| with)\b`)
	endsWith   = compile(`\bend(?:s|ing)?(?: in| on| with)\b`)
	within     = compile(`\b(?:contain|includ)\w*\b|\bsomewhere\b`)
)

// pattern compares "starts with", "ends in" and "contains" with the ends of a LIKE pattern.
func (h *held) pattern() string {
	if !strings.Contains(h.upper, "LIKE") || denies.MatchString(h.asked) {
		return ""
	}
	begins, ends, contains := beginsWith.FindString(h.asked), endsWith.FindString(h.asked), within.FindString(h.asked)

	for _, c := range h.constant {
		inner := strings.Trim(c.text, "%")
		like := (c.op == "LIKE" || c.op == "ILIKE") && !strings.ContainsAny(inner, "%_")
		if !like || h.ofTime(c.column) || !h.hasPhrase(strings.ToLower(inner)) {
			continue
		}
		word, want := "", ""
		switch {
		case begins != "" && ends+contains == "":
			word, want = begins, inner+"%"
		case ends != "" && begins+contains == "":
			word, want = ends, "%"+inner
		case contains != "" && begins+ends == "":
			word, want = contains, "%"+inner+"%"
		}
		if want != "" && c.text != want && h.differs(h.replaced(map[int]string{c.at: literal(want)})) {
			return fmt.Sprintf("The question says %s %s, the statement looks for %s.", word, inner, c.text)
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

// lateness compares late and on time with the comparison of a date with the one that was promised.
func (h *held) lateness() string {
	if !strings.ContainsAny(h.upper, "<>") {
		return ""
	}
	isLate, isPunctual := late.FindString(h.asked), onTime.FindString(h.asked)
	if (isLate == "") == (isPunctual == "") || denies.MatchString(h.asked) || comparing.MatchString(h.asked) {
		return ""
	}

	for i, t := range h.tokens {
		m := byDue.FindStringSubmatch(h.Statement.SQL()[t.Pos:])
		if m == nil || h.word(i-1) == "." || h.inCase(i) || due.MatchString(m[1]) == due.MatchString(m[3]) {
			continue
		}
		if !h.ofTime(sqlshape.ColumnRef{Column: m[1]}) || !h.ofTime(sqlshape.ColumnRef{Column: m[3]}) {
			continue
		}
		after := strings.HasPrefix(m[2], ">") != due.MatchString(m[1])
		if after != (isLate != "") {
			return fmt.Sprintf("The question says %s, the statement takes those with %s %s %s.", isLate+isPunctual,
				m[1], m[2], m[3])
		}
	}
	return ""
}

var (
	weekend  = compile(`\bweekends?\b`)
	workdays = compile(`\b(?:weekdays?|working days?|workdays?|business days?)\b`)
	// ofWeekend finds the numbers of Saturday and Sunday, as engines count them.
	ofWeekend = compile(`(?:%W|DOW|DAYOFWEEK|WEEKDAY)[^=<>]*?\)?\s+(NOT )?IN \('?([0156])'?\s*,\s*'?([0167])'?\)`)
)

// weekends compares weekend and weekday with the days of a list.
func (h *held) weekends() string {
	if !strings.Contains(h.upper, " IN ") {
		return ""
	}
	m := ofWeekend.FindStringSubmatch(h.upper)
	asked, others := weekend.FindString(h.asked), workdays.FindString(h.asked)
	if m == nil || (asked == "") == (others == "") || denies.MatchString(h.asked) || comparing.MatchString(h.asked) ||
		!slices.Contains([]string{"06", "60", "17", "71", "67", "56"}, m[2]+m[3]) || h.Statement.Uses("CASE") {
		return ""
	}
	if (m[1] == "") == (asked != "") {
		return ""
	}
	return fmt.Sprintf("The question says %s, the statement takes the other days.", asked+others)
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
func (h *held) tax() string {
	net, tax := "", ""
	for _, c := range h.columns {
		switch {
		case untaxed.MatchString(c.Column):
			net = c.Column
		case taxed.MatchString(c.Column):
			tax = c.Column
		}
	}
	if net == "" || comparing.MatchString(h.asked) || otherNet.MatchString(h.asked) || strings.ContainsAny(h.upper, "*/") {
		return ""
	}

	isNet, isGross := netOf.FindString(h.asked), grossOf.FindString(h.asked)
	switch {
	case isNet != "" && isGross == "" && tax != "" && len(h.outline.Items) == 1 && strings.Contains(h.upper, "+"):
		return fmt.Sprintf("The question says %s, the statement adds %s.", isNet, tax)
	case isGross != "" && isNet == "" && tax == "" && h.knowsTax():
		return fmt.Sprintf("The question says %s, the statement takes %s.", isGross, net)
	}
	return ""
}

// knowsTax reports whether a table that is read has a column of a tax.
func (h *held) knowsTax() bool {
	return slices.ContainsFunc(h.tables, func(t *schema.Table) bool {
		return slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return taxed.MatchString(c.Name) })
	})
}
