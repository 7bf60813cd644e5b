package doubt

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
)

// figures finds numbers that stand for themselves.
var figures = compile(`(?i)(?:^|[\s(>=<$€£+])(-?\d+(?:,\d{3})*(?:\.\d+)?)(?:\s{0,2}(k|mn?|million|thousand|
		bn|billion|trillion)\b)?(?:\s{0,2}(tons?|tonnes?|t|kg|kilos?|km|kilomet(?:er|re)s?|lit(?:er|re)s?|seconds?|
		minutes?|hours?|[kmg]b)\b)?(?:[\s%?!.,;:)€$]|$)`)

// ofUnits are numbers of years and days, which a statement turns into a date.
var ofUnits = compile(`(?i)\b\d+[ -](?:years?|months?|weeks?|days?|hours?)\b|\b(?:under|over|above|below|aged?|
		older than|younger than|turn(?:s|ed|ing)?) \d{1,2}\b|\b\d{1,2} (?:and|or) (?:over|under|older|younger|
		above|below)\b`)

var thousands = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "mn": 1e6, "million": 1e6,
	"bn": 1e9, "billion": 1e9, "trillion": 1e12}

// askedNumber is a number of the question, as it was written, and the ways in which a statement may write it, the plain
// one first.
type askedNumber struct {
	written string
	forms   []string
}

var (
	// ages are those of people whose day of birth is known.
	ages    = compile(`(?i)\b(?:between|from|aged?) \d{1,2} (?:and|to) \d{1,2}\b`)
	ofBirth = compile(`(?i)born|birth|dob`)
)

// asksNumbers are the numbers of the question that are no times.
func (h held) asksNumbers() (list []askedNumber) {
	text, told := replace(relative, unquoted(h.timeless, "x"), " "), h.statedTimes()
	if slices.ContainsFunc(told, func(s stated) bool { return ofBirth.MatchString(s.column) }) {
		text = replace(ages, text, " ")
	}
	if len(told) > 0 || ofToday.MatchString(h.upper) {
		text = replace(ofUnits, text, " ")
	}
	for _, m := range figures.FindAllStringSubmatch(strings.ReplaceAll(text, " ", "  "), -1) {
		plain := strings.ReplaceAll(m[1], ",", "")
		f, _ := strconv.ParseFloat(plain, 64)
		others := []float64{f * 100} // cents
		if factor := thousands[strings.ToLower(m[2])]; factor > 0 {
			others = []float64{f * factor}
		} else if strings.Contains(h.asked, "%") || strings.Contains(h.asked, "percent") {
			others = append(others, f/100, 100+f, 100-f, (100+f)/100, (100-f)/100)
		}
		if m[3] != "" { // the column may have another unit
			for _, factor := range []float64{60, 3600, 1e3, 1e6, 1 << 10, 1 << 20, 1 << 30} {
				others = append(others, f*factor, f/factor)
			}
		}
		n := askedNumber{m[1] + m[2], []string{plain}}
		for _, other := range others {
			n.forms = append(n.forms, strconv.FormatFloat(other, 'f', -1, 64))
		}
		list = append(list, n)
	}
	return list
}

// number looks for a number of the question that the statement lacks.
func (h held) number() string {
	missing := except(h.asksNumbers(), func(n askedNumber) bool {
		plain := n.forms[0]
		return plain == "0" || plain == "1" || slices.ContainsFunc(n.forms, h.writesNumber) ||
			strings.Contains(h.evidence, plain) || words.SecretValue(plain)
	})
	if len(missing) == 0 {
		return ""
	}
	for _, c := range h.constant {
		if c.number && c.op != "" && !h.knows(c.text) {
			return differ(missing[0].written, c.text)
		}
	}
	return lack(missing[0].written)
}

// writesNumber reports whether the statement has a number, or the one beside it for a bound: more than 4 is at least 5.
func (h held) writesNumber(n string) bool {
	return h.anyConstant(func(c constant) bool {
		if !c.number {
			return strings.Contains(c.text, n)
		}
		off := apart(c.text, n)
		return off == 0 || off == 1 && c.op != "=" && c.op != "IN" && !h.offBound(c, n)
	}) || len(n) > 2 && standsAlone(h.upper, n, unicode.IsDigit)
}

// offBound reports whether a bound next to a number cannot be meant for it: at least 3 for 4, or at most 5.
func (h held) offBound(c constant, n string) bool {
	less := apart(c.text, "0") < apart(n, "0")
	return c.op == ">=" && less || c.op == "<=" && !less
}

// standsAlone reports whether a part of a text is neither preceded nor followed by a rune of its own kind: 100 in 1000
// does not.
func standsAlone(text, part string, kind func(rune) bool) bool {
	for from := 0; part != ""; {
		at := strings.Index(text[from:], part)
		if at < 0 {
			return false
		}

		at += from
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(part):])
		if !kind(before) && !kind(after) {
			return true
		}
		from = at + len(part)
	}
	return false
}

// hasPhrase reports whether the question has words side by side.
func (h held) hasPhrase(words string) bool {
	return standsAlone(h.asked, words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// apart is how far two numbers are apart; infinite where one of them is none.
func apart(a, b string) float64 {
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	if err != nil || other != nil {
		return math.Inf(1)
	}
	return math.Abs(x - y)
}

var wordNumbers = words.Pairs(`once 1 twice 2 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10
	eleven 11 twelve 12 dozen 12 fifteen 15 twenty 20 thirty 30 fifty 50 hundred 100`)

// numberOf returns the number that digits or a word stand for.
func numberOf(text string) int {
	text = strings.TrimPrefix(strings.ToLower(text), "a ")
	return number(strings.ReplaceAll(cmp.Or(wordNumbers[text], text), ",", ""))
}

var (
	topN = compile(`(?i)\b(?:top|first|last|bottom|best|worst|next) <number>\b(?: \pL|\?|$)|
		\b<number> (?:\pL+ly )?<utmost>\b|(?:^|\b(?:the|which|what|show|list|name|find|
		give me) )<number> \pL+(?: \pL+)? (?:with|have|had|has|having|that|who|where|whose|by)(?: \pL+){0,3} <utmost>\b`)
	notTop = compile(`(?i)\b(?:second|third|fourth|\d(?:nd|rd|th)|per|each|every)\b|\bfirst (?:one|two|
		three) (?:letters?|characters?|digits?|names?)|\b(?:first|last) \d+ (?:letters?|characters?|digits?|laps?|
		rounds?)`)
	// nth finds a place behind the first one.
	nth = compile(`\b(?:second|third|2nd|3rd)[ -]<utmost>\b`)
	// periodOf finds a period of several units, which is no number of rows.
	periodOf = compile(`(?i)\b(?:first|last|next) <number> (?:\pL+ )?(?:days?|weeks?|months?|quarters?|
		years?|minutes|hours)\b`)
	limitsTo = compile(`(?i)^(?:LIMIT\s+(?:\d+\s*,\s*)?(\d+)|(?:OFFSET\s+\d+\s+ROWS?\s+)?FETCH\s+(?:FIRST|
		NEXT)\s+(\d+))`)
)

// limit compares the number of a top list with the LIMIT.
func (h held) limit() string {
	first := h.single && strings.EqualFold(strings.TrimSpace(h.selects[0].Limit), "LIMIT 1")
	if m := nth.FindString(h.asked); m != "" && first {
		return tell("The question says %s, the statement takes the first.", m)
	}
	text := replace(periodOf, h.asked, " ")
	m := topN.FindStringSubmatch(text)
	if m == nil || notTop.MatchString(text) {
		return ""
	}
	asked := numberOf(strings.Join(m[1:], ""))
	cuts := func(s sqlshape.Select) bool { return limitOf(s) == asked }
	for _, s := range h.selects {
		n := limitOf(s)
		if n > 0 && !slices.ContainsFunc(h.selects, cuts) && !(s.Nested && (h.Limit || n == 1)) {
			return tell("The question asks for %d, the statement gives %d.", asked, n)
		}
	}
	return ""
}

// limitOf is the number of rows to which a SELECT is cut; 0: all.
func limitOf(s sqlshape.Select) int {
	m := limitsTo.FindStringSubmatch(strings.TrimSpace(s.Limit))
	return number(strings.Join(m[min(1, len(m)):], ""))
}

// bounds are words in front of a number, or behind it, with the operator that they ask for, but for its number.
var bounds = []struct {
	form  *regexp.Regexp
	words string
	not   string // the operator that leaves the number out, or takes it in
	step  int    // what makes it right: > n-1 for at least n
}{
	{compile(`(?i)\b(?:at least|no (?:less|fewer) than|not less than|a minimum of|minimum) \$?<number>\b|
		\b<number> (?:\pL+ )?or (?:more|over|above|greater|higher|older|longer)\b|
		\bbetween \$?<number> and`), "at least", ">", -1},
	{compile(`(?i)\b(?:at most|no more than|not more than|up to|a maximum of|maximum) \$?<number>\b|
		\b<number> (?:\pL+ )?or (?:less|fewer|under|below|lower|younger|shorter)\b|
		\bbetween \S+ and \$?<number>\b`), "at most", "<", 1},
	{compile(`(?i)(?:^|[^o] )(?:more than|over|above|greater than|higher than|larger than|exceed(?:s|ing)?|
		longer than|later than|older than|bigger than|heavier than|dearer than|more expensive than|
		costlier than) \$?<number>\b`), "more than", ">=", 1},
	{compile(`(?i)(?:^|[^o] )(?:less than|fewer than|under|below|lower than|smaller than|shorter than|
		younger than|cheaper than|lighter than) \$?<number>\b`), "less than", "<=", -1},
}

// unbound finds words that turn a bound around.
var (
	unbound  = compile(` not |n't|except|\b(?:exclud\w*|leaving out|but) (?:those|the ones|any\w*) `)
	decimals = compile(`\d+\.\d+`)

	inThousands = compile(`\b(\d+) ?(?:k|thousand)\b`)
	inMillions  = compile(`\b(\d+) ?(?:mn|million)\b`)
)

// bound compares at least, more than, at most and less than with the operators.
func (h held) bound() string {
	if h.asks(unbound) {
		return ""
	}
	text := replace(inMillions, replace(inThousands, replace(decimals, h.asked, " "), "${1}000"), "${1}000000")
	for _, b := range bounds {
		for _, m := range b.form.FindAllStringSubmatch(text, -1) {
			n := numberOf(strings.Join(m[1:], ""))
			of := h.compared(n)
			other, same := h.otherCount(), func(c constant) bool { return c.op == b.not }
			switch {
			case n >= 1900 && n <= 2100,
				len(of) == 1 && of[0].op == flippedOperator[b.not] && // those that are not so go elsewhere
					(h.inCase(of[0].at) || doubleNo.MatchString(h.upper)):
			case len(of) == 0 && other != "" && !slices.ContainsFunc(h.compared(n+b.step), same):
				return tell("The question says %s %d, the statement %s.", b.words, n, other)
			case len(of) == 1 && (of[0].beyond(b.not) || of[0].op == b.not && h.matters(of[0])):
				return tell("The question says %s %d, the statement %s %[2]d.", b.words, n, of[0].op)
			}
		}
	}
	return cmp.Or(h.exact(), h.beyondAverage(), h.agedOtherwise())
}

// beyond reports whether a constant is the bound of the other side than that of an operator.
func (c constant) beyond(op string) bool {
	return strings.TrimSuffix(c.op, "=") == flippedOperator[op[:1]]
}

var (
	havingCount = compile(`HAVING COUNT\([^()]*\) ?([<>]=?) ?(\d+)$`)
	anyNumber   = compile(`(?i)\b<number>\b`)
)

// otherCount is the bound on how many rows a group has, of a question with one number; "": there is none, or the
// question has it.
func (h held) otherCount() string {
	m, asked := havingCount.FindStringSubmatch(h.upper), strings.ToLower(h.timeless)
	if m == nil || len(anyNumber.FindAllString(asked, -1)) != 1 || h.asks(ofUnits) ||
		standsAlone(asked+" "+h.evidence, m[2], unicode.IsDigit) ||
		h.Has("several", "multiple", "repeat*", "again") {
		return ""
	}
	return m[1] + " " + m[2]
}

var exactly = compile(`(?i)\b(exactly|precisely|only|just) <number>\b`)

// exact compares "exactly two" with the one number that the statement asks for. "Only two" may be the length of a list.
func (h held) exact() string {
	found := exactly.FindAllStringSubmatch(h.asked, -1)
	if len(found) != 1 {
		return ""
	}

	word, n := found[0][1], numberOf(found[0][2])
	of := h.compared(n)
	if len(of) == 1 && strings.ContainsAny(of[0].op, "<>") && h.matters(of[0]) {
		return tell("The question says %s %d, the statement %s %[2]d.", word, n, of[0].op)
	}
	others := except(h.constant, func(c constant) bool { return !c.number || c.op != "=" || h.knows(c.text) })
	if len(of) > 0 || word == "only" || word == "just" || len(others) != 1 {
		return ""
	}
	return tell("The question says %s %d, the statement %s.", word, n, others[0].text)
}

// matters reports whether another row is in the answer where a bound takes its number in, or leaves it out: unless it
// is known not to.
func (h held) matters(c constant) bool {
	other := c.op + "="
	if strings.HasSuffix(c.op, "=") {
		other = c.op[:1]
	}
	return c.opAt < 0 || h.Query == nil || h.Table == nil || h.Table.Truncated || h.changes(c.opAt, other)
}

// compared are the constants that are a number with which the statement compares.
func (h held) compared(n int) []constant {
	return except(h.constant, func(c constant) bool { return c.op == "" || apart(c.text, strconv.Itoa(n)) != 0 })
}
