package doubt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
)

// figures finds numbers that stand for themselves.
var figures = compile(`(?:^|[\s(>=<$€£+])(-?\d+(?:,\d{3})*(?:\.\d+)?)(?:\s{0,2}(k|m|million|thousand|
		billion)\b)?(?:\s{0,2}(tons?|tonnes?|t|kg|kilos?|km|kilomet(?:er|re)s?|lit(?:er|re)s?|seconds?|minutes?|
		hours?|[kmg]b)\b)?(?:[\s%?!.,;:)€$]|$)`)

// ofUnits are numbers of years and days, which a statement turns into a date.
var ofUnits = compile(`(?i)\b\d+[ -](?:years?|months?|weeks?|days?|hours?)\b|\b(?:under|over|above|below|aged?|
		older than|younger than|turn(?:s|ed|ing)?) \d{1,2}\b|\b\d{1,2} (?:and|or) (?:over|under|older|younger|
		above|below)\b`)

var thousands = map[string]float64{"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "billion": 1e9}

// askedNumber is a number of the question, as it was written, and the ways in which a statement may write it, the plain one
// first.
type askedNumber struct {
	written string
	forms   []string
}

// asksNumbers are the numbers of the question that are no times.
func (h *held) asksNumbers() (list []askedNumber) {
	text := h.timeless
	for _, quoted := range words.Quotations(text) {
		text = text[:quoted.From] + strings.Repeat("x", quoted.To-quoted.From) + text[quoted.To:]
	}
	text = relative.ReplaceAllString(text, " ")
	if told := h.statedTimes(); len(told) > 0 || ofToday.MatchString(h.Statement.SQL()) {
		text = ofUnits.ReplaceAllString(text, " ")
	}
	for _, m := range figures.FindAllStringSubmatch(strings.ReplaceAll(text, " ", "  "), -1) {
		plain := strings.ReplaceAll(m[1], ",", "")
		f, err := strconv.ParseFloat(plain, 64)
		if err != nil {
			continue
		}
		forms := []string{plain}
		others := []float64{f * 100} // cents
		if factor := thousands[strings.ToLower(m[2])]; factor > 0 {
			others = []float64{f * factor}
		} else if strings.Contains(h.asked, "%") || strings.Contains(h.asked, "percent") {
			others = append(others, f/100, 100+f, 100-f, 1+f/100, 1-f/100)
		}
		if m[3] != "" { // the column may have another unit
			for _, factor := range []float64{60, 3600, 1e3, 1e6, 1 << 10, 1 << 20, 1 << 30} {
				others = append(others, f*factor, f/factor)
			}
		}
		for _, other := range others {
			forms = append(forms, strconv.FormatFloat(other, 'f', -1, 64))
		}
		list = append(list, askedNumber{m[1] + m[2], forms})
	}
	return list
}

// number looks for a number of the question that the statement lacks.
func (h *held) number() string {
	var missing []string
	for _, f := range h.asksNumbers() {
		plain := f.forms[0]
		used := slices.ContainsFunc(f.forms, func(n string) bool {
			return slices.ContainsFunc(h.constant, func(c constant) bool {
				return c.number && (sameNumber(c.text, n) || c.op != "=" && c.op != "IN" && beside(c.text, n)) ||
					!c.number && strings.Contains(c.text, n)
			}) || len(n) > 2 && standsAlone(h.upper, n, unicode.IsDigit)
		})
		if plain != "0" && plain != "1" && !used && !strings.Contains(h.evidence, plain) && !words.SecretValue(plain) {
			missing = append(missing, f.written)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	for _, c := range h.constant {
		if c.number && c.op != "" && !h.names(c.text) && h.word(c.at-1) != "LIMIT" {
			return fmt.Sprintf("The question says %s, the statement %s.", missing[0], c.text)
		}
	}
	return fmt.Sprintf("The question says %s, and the statement does not.", missing[0])
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
func (h *held) hasPhrase(words string) bool {
	return standsAlone(h.asked, words, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) })
}

// beside reports whether two numbers differ by one: more than 4 is at least 5.
func beside(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	return err == nil && other == nil && (x == y+1 || x == y-1)
}

func sameNumber(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, other := strconv.ParseFloat(b, 64)
	return err == nil && other == nil && x == y
}

// names reports whether a number stands in the question or its evidence.
func (h *held) names(n string) bool {
	return strings.Contains(h.asked, n) || strings.Contains(h.evidence, n)
}

var wordNumbers = words.Pairs("once 1 twice 2 one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 " +
	"eleven 11 twelve 12 dozen 12 fifteen 15 twenty 20 thirty 30 fifty 50 hundred 100")

// numberOf returns the number that digits or a word stand for.
func numberOf(text string) int {
	text = strings.TrimPrefix(strings.ToLower(text), "a ")
	return number(strings.ReplaceAll(cmp.Or(wordNumbers[text], text), ",", ""))
}

var (
	topN = compile(`(?i)\b(?:top|first|last|bottom|best|worst|next) <number>\b(?: \pL|\?|$)|
		\b<number> (?:\pL+ly )?<utmost>\b|(?:^|\b(?:the|which|what|show|list|name|find|
		give me) )<number> \pL+(?: \pL+)? (?:with|have|had|has|having|that|whose|by)(?: \pL+){0,3} <utmost>\b`)
	notTop = compile(`(?i)\b(?:second|third|fourth|\d(?:nd|rd|th)|per|each|every)\b|\bfirst (?:one|two|
		three) (?:letters?|characters?|digits?|names?)|\b(?:first|last) \d+ (?:days?|weeks?|months?|quarters?|
		years?|minutes|hours|letters?|characters?|digits?|laps?|rounds?)`)
	limitsTo = compile(`(?i)^(?:LIMIT\s+(?:\d+\s*,\s*)?(\d+)|(?:OFFSET\s+\d+\s+ROWS?\s+)?FETCH\s+(?:FIRST|
		NEXT)\s+(\d+))`)
)

// limit compares the number of a top list with the LIMIT.
func (h *held) limit() string {
	m := topN.FindStringSubmatch(h.Question.Text)
	if m == nil || notTop.MatchString(h.Question.Text) || len(h.selects) == 0 {
		return ""
	}
	asked := numberOf(strings.Join(m[1:], ""))
	for _, s := range h.selects {
		m := limitsTo.FindStringSubmatch(strings.TrimSpace(s.Limit))
		if m == nil || s.Nested && (h.outline.Limit || number(m[1]+m[2]) == 1) {
			continue
		}
		if n := number(m[1] + m[2]); n != asked && n > 0 && asked > 0 {
			return fmt.Sprintf("The question asks for %d, the statement gives %d.", asked, n)
		}
	}
	return ""
}

// bounds are words in front of a number, or behind it, with the operators that they ask for and those that
// they exclude.
var bounds = []struct {
	form  *regexp.Regexp
	words string
	not   string // the operator that leaves the number out, or takes it in
	step  int    // what makes it right: > n-1 for at least n
	wrong []string
}{
	{compile(`(?i)\b(?:at least|no (?:less|fewer) than|not less than|a minimum of|minimum) \$?<number>\b|
		\b<number> (?:\pL+ )?or (?:more|over|above|greater|higher|older|longer)\b`), "at least", ">", -1, []string{"<", "<="}},
	{compile(`(?i)\b(?:at most|no more than|not more than|up to|a maximum of|maximum) \$?<number>\b|
		\b<number> (?:\pL+ )?or (?:less|fewer|under|below|lower|younger|shorter)\b`), "at most", "<", 1, []string{">", ">="}},
	{compile(`(?i)(?:^|[^o] )(?:more than|over|above|greater than|higher than|larger than|exceed(?:s|ing)?|
		longer than|older than|bigger than|heavier than|dearer than|more expensive than|
		costlier than) \$?<number>\b`), "more than", ">=", 1,
		[]string{"<", "<="}},
	{compile(`(?i)(?:^|[^o] )(?:less than|fewer than|under|below|lower than|smaller than|shorter than|
		younger than|cheaper than|lighter than) \$?<number>\b`), "less than", "<=", -1, []string{">", ">="}},
}

// bound compares at least, more than, at most and less than with the operators.
func (h *held) bound() string {
	text := h.Question.Text
	if strings.Contains(h.asked, " not ") || strings.Contains(h.asked, "n't") || strings.Contains(h.asked, "except") {
		return ""
	}
	for _, b := range bounds {
		for _, m := range b.form.FindAllStringSubmatch(text, -1) {
			n := numberOf(strings.Join(m[1:], ""))
			if others := strings.Count(text, strconv.Itoa(n)); others > 1 || n >= 1900 && n <= 2100 {
				continue
			}
			ops := h.operatorsOf(n)
			if other := h.otherCount(); other != "" && len(ops)+len(h.operatorsOf(n+b.step)) == 0 {
				return fmt.Sprintf("The question says %s %d, the statement %s.", b.words, n, other)
			}
			if len(ops) != 1 || len(h.operatorsOf(n+b.step)) > 0 {
				continue
			}
			if slices.Contains(b.wrong, ops[0]) || ops[0] == b.not && h.matters(n, ops[0]) {
				return fmt.Sprintf("The question says %s %d, the statement %s %d.", b.words, n, ops[0], n)
			}
		}
	}
	return cmp.Or(h.exact(), h.beyondAverage())
}

var (
	havingCount = compile(`HAVING COUNT\([^()]*\) ?([<>]=?) ?(\d+)$`)
	anyNumber   = compile(`(?i)\b<number>\b`)
)

// otherCount is the bound on how many rows a group has, of a question with one number; "": there is none, or the
// question has it.
func (h *held) otherCount() string {
	m := havingCount.FindStringSubmatch(h.upper)
	one := len(anyNumber.FindAllString(h.Question.Text, -1)) == 1 && !ofUnits.MatchString(h.asked) &&
		!h.Question.Has("several", "multiple", "repeat*", "again")
	if m == nil || !one || h.names(m[2]) {
		return ""
	}
	return m[1] + " " + m[2]
}

var exactly = compile(`(?i)\b(exactly|precisely|only|just) <number>\b`)

// exact compares "exactly two" with the one number that the statement asks for. "Only two" may be the length of a list.
func (h *held) exact() string {
	found := exactly.FindAllStringSubmatch(h.Question.Text, -1)
	if len(found) != 1 {
		return ""
	}

	word, n := strings.ToLower(found[0][1]), numberOf(found[0][2])
	ops := h.operatorsOf(n)
	if len(ops) == 1 && strings.ContainsAny(ops[0], "<>") && ops[0] != "<>" && h.matters(n, ops[0]) {
		return fmt.Sprintf("The question says %s %d, the statement %s %d.", word, n, ops[0], n)
	}
	if len(ops) > 0 || word == "only" || word == "just" {
		return ""
	}

	other := ""
	for _, c := range h.constant {
		equals := c.op == "=" || c.op == "" && h.word(c.at-1) == "="
		if !c.number || !equals || h.names(c.text) {
			continue
		}
		if other != "" {
			return ""
		}
		other = c.text
	}
	if other == "" {
		return ""
	}
	return fmt.Sprintf("The question says %s %d, the statement %s.", word, n, other)
}

// matters reports whether another row is in the answer where a bound takes its number in, or leaves it out:
// unless it is known
// not to.
func (h *held) matters(n int, op string) bool {
	for _, c := range h.constant {
		if at := h.operator(c.at); at >= 0 && c.op == op && sameNumber(c.text, strconv.Itoa(n)) {
			other := op + "="
			if strings.HasSuffix(op, "=") {
				other = op[:1]
			}
			return h.Query == nil || h.Table == nil || h.Table.Truncated ||
				h.differs(h.replaced(map[int]string{at: other}))
		}
	}
	return true
}

// operatorsOf are the comparisons of the statement with a number.
func (h *held) operatorsOf(n int) (ops []string) {
	for _, c := range h.constant {
		if !sameNumber(c.text, strconv.Itoa(n)) {
			continue
		}
		op := c.op
		if op == "" && slices.Contains(compares, h.word(c.at-1)) {
			op = h.word(c.at - 1)
		}
		if op != "" {
			ops = append(ops, op)
		}
	}
	return ops
}
