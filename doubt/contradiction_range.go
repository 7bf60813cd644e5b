package doubt

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
)

var (
	// bounded finds the word that makes a bound of a year, a month or a day: in front of it, or behind it.
	bounded = compile(`(?i)\b(?:(?:in|on) or )?(since|from|after|before|until|till) (?:\d{1,2}(?:st|nd|rd|
		th)? )?(?:\pL+ ){0,2}(?:\d{1,2}(?:,? |/))?(?:19|20)\d\d(?: (?:or|and) <behind>\b)?|
		\b(?:19|20)\d\d (?:or|and) <behind>\b`)
	// between finds two times of which one begins a range and the other one ends it.
	until   = compile(`\b(?:until|till|exclu\w+)\b`)
	between = compile(`(?i)\bbetween .*\band\b|\bfrom .*\b(?:to|until|till|through)\b`)
)

// isNear reports whether a time is some days from another one at most: a bound may take its day in or leave it out.
func isNear(a time.Time, days time.Duration, times ...time.Time) bool {
	return slices.ContainsFunc(times, func(b time.Time) bool { return a.Sub(b).Abs() <= days*24*time.Hour })
}

// oneSided compares the time beside a word such as since or before with the bound of the statement.
func (h held) oneSided(told []stated) string {
	m := bounded.FindStringSubmatch(h.asked)
	if m == nil || len(h.times) != 1 || len(told) != 1 || vagueTime.MatchString(m[0]) ||
		h.asks(denies) && (slices.Contains(h.Functions, "MAX") || strings.Contains(told[0].column, "last")) {
		return ""
	}

	s, asked, edge := told[0].stretch, h.times[0], edges[m[1]]
	behind, bound, own := m[2]+m[3], s.from, "begin"
	if upTo[cmp.Or(behind, m[1])] {
		bound, own = s.to, "end"
	}
	if behind != "" || strings.Contains(m[0], " or ") { // the time itself is in it
		edge = own
	}
	if edge != "end" && isNear(bound, 1, asked.from) || edge != "begin" && isNear(bound, 1, asked.to) {
		return ""
	}
	if behind != "" {
		return differ(tell("%s and %s", asked, behind), s)
	}
	return differ(tell("%s %s", m[1], asked), s)
}

var (
	// edges are the words in front of a time that say which end of it is the bound, and upTo those of the last bound.
	edges = words.Pairs("from begin since begin before begin after end")
	upTo  = words.Set("before until till earlier older")
	// vagueTime finds words for a part of a year.
	vagueTime = compile(`\b(?:early|mid\w*|late|start|begin\w*|end|season|spring|summer|autumn|fall|
		winter|christmas|easter)\b`)
)

// twoSided compares the two ends of a range with those of the statement.
func (h held) twoSided(told []stated) string {
	if len(h.times) != 2 || len(told) != 1 || !h.asks(between) {
		return ""
	}

	first, last, s := h.times[0], h.times[1], told[0].stretch
	if last.from.Before(first.from) {
		first, last = last, first
	}
	if (s.from.IsZero() || isNear(s.from, 1, first.from, first.to)) &&
		(s.to.IsZero() || isNear(s.to, 1, last.to) || h.asks(until) && isNear(s.to, 1, last.from)) {
		return ""
	}
	return differ(tell("%s to %s", first, last), s)
}

// average comparisons, by the side that they ask for.
var (
	aboveAverage = compile(`(?i)\b(?:above|over|exceed\w*|(?:more(?: \pL+)?|dearer|higher|greater|larger|bigger|
		longer|heavier|taller|richer) than) (?:the |its |their |our )?(?:\pL+ )?(?:average|mean)\b`)
	belowAverage = compile(`(?i)\b(?:below|under|(?:less(?: \pL+)?|fewer|cheaper|lower|smaller|shorter|lighter|
		poorer) than) (?:the |its |their |our )?(?:\pL+ )?(?:average|mean)\b`)
)

// beyondAverage compares "above average" with the side of the average that the statement takes.
func (h held) beyondAverage() string {
	side, op := "above", ">"
	if h.asks(belowAverage) {
		side, op = "below", "<"
	}
	if h.asks(aboveAverage) == h.asks(belowAverage) || h.asks(denies) {
		return ""
	}

	for _, i := range h.places("(", "SELECT", "AVG") {
		if (constant{op: h.word(i - 1)}).beyond(op) && !h.columnBefore(i).ofTime() {
			return tell("The question says %s average, the statement takes the other side.", side)
		}
	}
	return ""
}

// Sides of an age.
var (
	olderThan = compile(`\b(?:older than|over|above|at least) \d{1,2}\b|
		\b\d{1,2} (?:(?:and|or) )?(?:over|older|above)\b`)
	youngerThan = compile(`\b(?:younger than|under|below) \d{1,2}\b|
		\b\d{1,2} (?:(?:and|or) )?(?:under|younger|below)\b`)
)

// agedOtherwise compares the side of an age with that of the one day of birth by which the statement asks for it.
func (h held) agedOtherwise() string {
	word, older := h.oneOf(olderThan, youngerThan)
	if word == "" {
		return ""
	}
	days := except(h.constant, func(c constant) bool { return !ofBirth.MatchString(c.column.Column) })
	if len(days) != 1 || days[0].number || h.inCase(days[0].at) ||
		!h.isAge(days[0].text, digits.FindString(word)) {
		return ""
	}
	if op := days[0].op; older && strings.HasPrefix(op, ">") || !older && strings.HasPrefix(op, "<") {
		return tell("The question says %s, the statement takes the other side of it.", word)
	}
	return ""
}

// isAge reports whether who was born on a day has an age in this year or the one before.
func (h held) isAge(day, age string) bool {
	if m := statedTime.FindStringSubmatch(day); m != nil && !h.Now.IsZero() {
		years := h.Now.Year() - number(m[1]) - number(age)
		return years == 0 || years == 1
	}
	return day == "now" && standsAlone(h.upper, age, unicode.IsDigit)
}
