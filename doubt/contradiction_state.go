package doubt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
)

// opposite looks for what the question asks for and the statement leaves out: cancelled orders, and status <>
// 'cancelled'.
func (h held) opposite() string {
	if detail := cmp.Or(h.endedOnes(), h.otherFlag(), h.stillSome(), h.equals()); detail != "" {
		return detail
	}
	if denies.MatchString(replace(noLonger, h.asked, " ")) || h.asks(unWord, several) {
		return ""
	}
	for _, c := range h.constant {
		asked := strings.ToLower(c.text)
		if unequal[c.op] && !c.number && len(asked) > 3 && !h.off(asked) && h.allNamed(stemsOf(asked)) &&
			!h.inCase(c.at) && (h.filtersAt(c.at) || h.word(h.tokenAt(c.column.Pos)-1) != "(") &&
			!(h.asks(nothingElse) && doubleNo.MatchString(h.upper)) {
			return differ(c.text, "leaves them out")
		}
	}
	if h.asks(toBe, yesOrNo) || lacking.MatchString(replace(overNow, replace(whoLeft, h.asked, " "), " ")) {
		return ""
	}
	over := gone.FindString(h.asked)
	if over == "" && len(h.constant) == 0 { // only the column that says it is asked
		over = overNow.FindString(h.asked)
	}
	for _, i := range h.places("IS", "NULL") {
		c := h.columnBefore(i)
		named := without(words.Stems(c.Column), nil)
		switch {
		case h.inCase(i), over != "" && h.off(over), len(named) == 1 && h.off(named[0]):
		case over != "" && ended.MatchString(c.Column):
			return differ(over, "leaves them out")
		case len(named) == 1 && h.says(named[0]) && (strings.HasSuffix(named[0], "ed") || participles[named[0]]):
			return differ(named[0], "takes those that are not")
		}
	}
	return ""
}

var (
	nothingElse = compile(`\b(?:only|exclusively|solely|always|nothing (?:but|else))\b`)
	doubleNo    = compile(`\bNOT (?:EXISTS|IN) ?\(\s*SELECT\b|\bEXCEPT\b`)
)

// lacking are words by which a question asks for what is not there, or for all.
var (
	lacking = compile(`(?i)\b(?:yet|still|pending|missing|empty|blank|null|unknown|no|open|outstanding|lack\w*|
		remaining|left|overdue)\b`)
	// toBe are words for what is still to be done.
	toBe    = compile(`\b(?:(?:to|must|should) be|await\w*|waiting)\b`)
	several = compile(`(?i)\b(?:outside|beyond|away from|elsewhere|or not|but|whether|whose|both|all|rate|share|
		percent\w*|ratio|versus|vs|
		compared?|active|current\w*|other|ignor\w*|omit\w*|skip\w*|minus)\b|%`)
	// gone are words for rows that no longer count, and ended the columns that say so.
	gone    = compile(`\b(?:deleted|removed|archived|churned|former|cancell?ed|discontinued)\b`)
	overNow = compile(`\b(?:no longer|expired|ended)\b`)
	ended   = compile(`(?i)delet|remov|archiv|churn|cancel|discontinu|ended|left|terminat|retire|scrap|dissol|
		resign|quit|clos|expir|valid_?(?:to|until)|^end_|_end$`)
)

var (
	nonWord     = compile(`\bnon[- ]?\pL|\b(?:opt|turn|switch)\w*[- ](?:out|off)\b`)
	whoLeft     = compile(`(?i)\b(?:who|that|which|has|have|had) left\b`)
	participles = words.Set(`sold sent paid left built bought won lost held taken given shown written drawn done
	made met gone born`)
	stillThere = compile(`\b(?:current(?:ly)?|active|existing|still (?:open|active|there|running|employed|
		works?|working|practi[cs]\pL+|in (?:use|force|service)|valid|with us))\b`)
)

// settled are columns that say when something open came to its end.
var settled = compile(`(?i)settl|resolv|complet|finish|paid|solved|answered`)

// outstanding are words for what has not come to its end.
var outstanding = compile(`\b(?:outstanding|pending|unsettled|unresolved)\b`)

// openOnes finds open things: open tickets.
var openOnes = compile(`\bopen (\pL+)`)

// endedOnes looks for a statement that keeps only rows that have ended, where the question asks for those of today.
func (h held) endedOnes() string {
	m := h.lasting()
	if m == "" || h.asks(denies) {
		return ""
	}

	for _, i := range h.places("IS", "NOT", "NULL") {
		c := h.columnBefore(i)
		others := except(h.columns, func(o mention) bool { return !strings.EqualFold(o.Column, c.Column) })
		isOpen := strings.HasSuffix(m, "open") || outstanding.MatchString(m)
		over := ended.MatchString(c.Column) || isOpen && settled.MatchString(c.Column)
		if len(others) == 1 && over && c.ofTime() && !h.inCase(i) && h.filtersAt(i) {
			return differ(m, "takes those with "+c.Column)
		}
	}
	return ""
}

// lasting is the word of the question for what has not come to its end: current, open, outstanding; "": none.
func (h held) lasting() string {
	if m := stillThere.FindString(h.asked); m != "" || h.asks(comparing) {
		return m
	}
	if of := openOnes.FindStringSubmatch(h.asked); of != nil && h.inNames(of[1]) {
		return "open"
	}
	if len(h.Aggregates) < 2 {
		return outstanding.FindString(h.asked)
	}
	return ""
}

// Values of yes and no, in lower case.
var (
	yes = words.Set("1 true t y yes")
	no  = words.Set("0 false f n no")
)

// otherFlag looks for a column of yes and no of which the statement keeps the other half than the question asks for.
func (h held) otherFlag() string {
	if h.asks(denies, comparing) || doubleNo.MatchString(h.upper) {
		return ""
	}

	for i, t := range h.tokens {
		value := strings.Trim(strings.ToLower(t.Text), "'")
		isValue := (yes[value] || no[value]) && (h.isConstant(i) || len(value) > 3) // and no column t
		if !isValue || h.word(i-1) != "=" && h.word(i-1) != "IS" || h.inCase(i) || !h.filtersAt(i) {
			continue
		}
		c := h.columnBefore(i)
		named := without(words.Stems(c.Column), nil)
		if c.known == nil || len(named) != 1 || !isYesOrNo(c.known) {
			continue
		}
		says, off := h.says(named[0]), h.off(named[0])
		switch {
		case yes[value] && (off || h.says("in"+named[0], "un"+named[0]) && !says):
			return tell("The question says not %s, the statement takes those that are.", named[0])
		case off, h.asks(nonWord):
		case no[value] && says && !h.asks(toBe):
			return differ(named[0], "takes those that are not")
		case yes[value] && h.asks(noLonger) && stillThere.MatchString(named[0]):
			return tell("The question says no longer, the statement takes those that are %s.", named[0])
		}
	}
	return ""
}

// off reports whether the question asks for what is not so, by what stands in front of a word: non-smoking, out of
// stock.
func (h held) off(word string) bool {
	return slices.ContainsFunc([]string{"non-", "non ", "out of ", "out-of-"}, func(s string) bool {
		return strings.Contains(h.asked, s+word)
	})
}

// stillSome looks for a figure above zero of what the question says is out: out of stock.
func (h held) stillSome() string {
	for _, c := range h.constant {
		if c.text != "0" || c.op != ">" {
			continue
		}
		column := words.Stems(c.column.Column)
		if len(column) > 0 && strings.Contains(h.asked, "out of "+column[0]) && h.filtersAt(c.at) &&
			!h.asks(denies, comparing) {
			return tell("The question says out of %s, the statement takes those with some.", column[0])
		}
	}
	return ""
}

// unlike finds two columns of a row that differ.
var unlike = compile(`\b(?:differs?|different from|do(?:es)?(?: not|n['’]t) match|mismatch\w*)\b`)

// equals looks for an equality of two columns of a row that shall differ.
func (h held) equals() string {
	if !h.asks(unlike) || h.Statement.Uses("NOT") {
		return ""
	}
	for _, cond := range h.Statement.Conditions(nil) {
		if len(cond.Equal) != 2 {
			continue
		}
		a, b := h.mention(cond.Equal[0]), h.mention(cond.Equal[1])
		if a.of != nil && a.of == b.of && strings.EqualFold(a.Qualifier, b.Qualifier) && h.filtersAt(h.tokenAt(a.Pos)) {
			return tell("The question says that %s and %s differ, the statement takes those that are equal.", a.known.Name,
				b.known.Name)
		}
	}
	return ""
}

// noLonger are words for what has ended.
var noLonger = compile(`\b(?:no longer|former)\b`)

// comparing are words by which a question asks for both halves.
var comparing = compile(`\b(?:or not|whether|both|rate|share|percent\w*|ratio|versus|vs|compared?|yet)\b|%`)

// isYesOrNo reports whether a column holds yes and no, by its type or by its stored values.
func isYesOrNo(c *schema.Column) bool {
	top := profileOf(c).Top
	return strings.Contains(strings.ToUpper(c.Type), "BOOL") ||
		len(top) > 0 && !slices.ContainsFunc(top, func(v schema.Value) bool {
			text := strings.ToLower(fmt.Sprint(v.Value))
			return !yes[text] && !no[text]
		})
}

// filtersAt reports whether a token stands in a WHERE.
func (h held) filtersAt(i int) bool {
	return slices.ContainsFunc(h.selects, func(s sqlshape.Select) bool { return inWhere(s, h.tokens[i].Pos) })
}

// inWhere reports whether a byte offset lies in the WHERE of a SELECT.
func inWhere(s sqlshape.Select, pos int) bool {
	from := s.Pos + strings.LastIndex(s.Text, s.Where)
	return pos >= from && pos < from+len(s.Where)
}
