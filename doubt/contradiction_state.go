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
func (h *held) opposite() string {
	if detail := cmp.Or(h.endedOnes(), h.otherFlag()); detail != "" {
		return detail
	}
	if denies.MatchString(noLonger.ReplaceAllString(h.Question.Text, " ")) ||
		unWord.MatchString(h.Question.Text) || outside.MatchString(h.asked) ||
		several.MatchString(h.Question.Text) {
		return ""
	}
	for _, c := range h.constant {
		asked := strings.ToLower(c.text)
		if (c.op == "<>" || c.op == "!=" || c.op == "NOT IN") && !c.number && len(asked) > 3 &&
			h.allNamed(stemsOf(asked)) && !h.inCase(c.at) {
			return fmt.Sprintf("The question says %s, the statement leaves them out.", c.text)
		}
	}
	over := overNow.FindString(h.asked)
	if lacking.MatchString(overNow.ReplaceAllString(whoLeft.ReplaceAllString(h.asked, " "), " ")) {
		return ""
	}
	gone := gone.FindString(h.asked)
	if gone == "" && len(h.constant) == 0 { // only the column that says it is asked
		gone = over
	}
	for i := range h.tokens {
		c := h.columnBefore(h.tokens[i].Pos)
		if h.word(i) == "NULL" && h.word(i-1) == "IS" && gone != "" && ended.MatchString(c.Column) && !h.inCase(i) {
			return fmt.Sprintf("The question says %s, the statement leaves them out.", gone)
		}
		named := without(words.Stems(c.Column), nil)
		if h.word(i) == "NULL" && h.word(i-1) == "IS" && len(named) == 1 && h.says(named[0]) &&
			(strings.HasSuffix(named[0], "ed") || participles[named[0]]) && !h.inCase(i) {
			return fmt.Sprintf("The question says %s, the statement takes those that are not.", named[0])
		}
	}
	return ""
}

// lacking are words by which a question asks for what is not there, or for all.
var (
	outside = compile(`\b(?:outside|beyond|away from|elsewhere)\b`)
	lacking = compile(`(?i)\b(?:yet|still|pending|missing|empty|blank|null|unknown|no|open|outstanding|lack\w*|
		remaining|left|overdue)\b`)
	several = compile(`(?i)\b(?:or not|but|whether|whose|both|all|rate|share|percent\w*|ratio|versus|vs|
		compared?|active|current\w*|other)\b|%`)
	// gone are words for rows that no longer count, and ended the columns that say so.
	gone    = compile(`\b(?:deleted|removed|archived|churned|former|cancell?ed|discontinued)\b`)
	overNow = compile(`\b(?:no longer|expired|ended)\b`)
	ended   = compile(`(?i)delet|remov|archiv|churn|cancel|discontinu|ended|left|terminat|retire|scrap|dissol|
		resign|quit|clos|expir|valid_?(?:to|until)|^end_|_end$`)
)

var (
	nonWord     = compile(`\bnon[- ]?\pL`)
	whoLeft     = compile(`(?i)\b(?:who|that|which|has|have|had) left\b`)
	participles = words.Set("sold sent paid left built bought won lost held taken given shown written drawn done made met gone born")
	stillThere  = compile(`\b(?:current(?:ly)?|active|existing|still (?:open|active|there|running|employed|
		works?|working|practi[cs]\pL+|in (?:use|force|service)|valid|with us))\b`)
)

// settled are columns that say when something open came to its end.
var settled = compile(`(?i)settl|resolv|complet|finish|paid|solved|answered`)

// openOnes finds open things: open tickets.
var openOnes = compile(`\bopen (\pL+)`)

// endedOnes looks for a statement that keeps only rows that have ended, where the question asks for those of today.
func (h *held) endedOnes() string {
	m := stillThere.FindString(h.asked)
	of := openOnes.FindStringSubmatch(h.asked)
	if m == "" && of != nil && h.inNames(of[1]) && !comparing.MatchString(h.asked) {
		m = "open"
	}
	if m == "" || denies.MatchString(h.asked) {
		return ""
	}

	for i := range h.tokens {
		if h.word(i) != "NULL" || h.word(i-1) != "NOT" || h.word(i-2) != "IS" || h.inCase(i) || !h.filtersAt(i) {
			continue
		}
		c := h.columnBefore(h.tokens[i].Pos)
		mentions := 0
		for _, other := range h.columns {
			if strings.EqualFold(other.Column, c.Column) {
				mentions++
			}
		}
		over := ended.MatchString(c.Column) || strings.HasSuffix(m, "open") && settled.MatchString(c.Column)
		if mentions == 1 && over && h.ofTime(c) {
			return fmt.Sprintf("The question says %s, the statement takes those with %s.", m, c.Column)
		}
	}
	return ""
}

// Values of yes and no, in upper case as a statement writes them, with and without quotes.
var (
	yes = words.Set("1 TRUE 'Y' 'YES' 'TRUE' 'T'")
	no  = words.Set("0 FALSE 'N' 'NO' 'FALSE' 'F'")
)

// otherFlag looks for a column of yes and no of which the statement keeps the other half than the question asks for.
func (h *held) otherFlag() string {
	if denies.MatchString(h.asked) || nonWord.MatchString(h.asked) || comparing.MatchString(h.asked) {
		return ""
	}

	for i := range h.tokens {
		value := h.word(i)
		if h.word(i-1) != "=" && h.word(i-1) != "IS" || !yes[value] && !no[value] || h.inCase(i) || !h.filtersAt(i) {
			continue
		}
		c := h.columnBefore(h.tokens[i].Pos)
		_, column := h.home(c)
		named := without(words.Stems(c.Column), nil)
		if column == nil || len(named) != 1 || !isYesOrNo(column) {
			continue
		}
		switch denied := []string{"in" + named[0], "un" + named[0]}; {
		case no[value] && h.says(named[0]):
			return fmt.Sprintf("The question says %s, the statement takes those that are not.", named[0])
		case yes[value] && noLonger.MatchString(h.asked) && stillThere.MatchString(named[0]):
			return fmt.Sprintf("The question says no longer, the statement takes those that are %s.", named[0])
		case yes[value] && h.says(denied...) && !h.says(named[0]):
			return fmt.Sprintf("The question says not %s, the statement takes those that are.", named[0])
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
	if isFlag(c) {
		return true
	}
	return c.Profile != nil && len(c.Profile.Top) > 0 && !slices.ContainsFunc(c.Profile.Top, func(v schema.Value) bool {
		text, isText := v.Value.(string)
		quoted := "'" + strings.ToUpper(text) + "'"
		return v.Value != int64(0) && v.Value != int64(1) && !(isText && (yes[quoted] || no[quoted]))
	})
}

// isYesOrNoText reports whether all stored values of a column are texts of yes and no.
func isYesOrNoText(c *schema.Column) bool {
	return isYesOrNo(c) && c.Profile != nil && slices.ContainsFunc(c.Profile.Top, func(v schema.Value) bool {
		_, isText := v.Value.(string)
		return isText
	})
}

// filtersAt reports whether a token stands in a WHERE.
func (h *held) filtersAt(i int) bool {
	return slices.ContainsFunc(h.selects, func(s sqlshape.Select) bool { return inWhere(s, h.tokens[i].Pos) })
}

// inWhere reports whether a byte offset lies in the WHERE of a SELECT.
func inWhere(s sqlshape.Select, pos int) bool {
	from := s.Pos + strings.LastIndex(s.Text, s.Where)
	return pos >= from && pos < from+len(s.Where)
}
