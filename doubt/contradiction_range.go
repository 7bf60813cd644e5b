package doubt

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

var (
	// bounded finds the word that makes a bound of a year, a month or a day: in front of it, or behind it.
	bounded = compile(`(?i)\b(since|from|after|before|until|till) (?:\d{1,2}(?:st|nd|rd|
		th)? )?(?:\pL+ ){0,2}(?:\d{1,2}(?:,? |/))?(?:19|20)\d\d|\b(?:19|20)\d\d (?:or|and) (later|after|
		onwards?|newer|earlier|before|older)\b`)
	// between finds two times of which one begins a range and the other one ends it.
	between = compile(`(?i)\bbetween .*\band\b|\bfrom .*\b(?:to|until|till|through)\b`)
)

// isNear reports whether two times are at most a day apart: a bound may take its day in or leave it out.
func isNear(a, b time.Time) bool { return !a.IsZero() && !b.IsZero() && a.Sub(b).Abs() <= 24*time.Hour }

// oneSided compares the time beside a word such as since or before with the bound of the statement.
func (h *held) oneSided(times []stretch, told []stated) string {
	m := bounded.FindStringSubmatch(h.Question.Text)
	if m == nil || len(times) != 1 || len(told) != 1 || h.Question.Language == "" {
		return ""
	}

	s, asked, fits := told[0].stretch, times[0], false
	word := strings.ToLower(m[1] + m[2])
	switch word {
	case "from", "later", "onward", "onwards", "newer":
		fits = isNear(s.from, asked.from)
	case "since", "after":
		fits = isNear(s.from, asked.from) || isNear(s.from, asked.to)
	case "earlier", "older":
		fits = isNear(s.to, asked.to)
	default:
		fits = isNear(s.to, asked.from) || isNear(s.to, asked.to)
	}
	switch {
	case fits:
		return ""
	case m[2] != "":
		return fmt.Sprintf("The question says %s and %s, the statement %s.", asked, word, s)
	}
	return fmt.Sprintf("The question says %s %s, the statement %s.", word, asked, s)
}

// twoSided compares the two ends of a range with those of the statement.
func (h *held) twoSided(times []stretch, told []stated) string {
	if len(times) != 2 || len(told) != 1 || !between.MatchString(h.Question.Text) || h.Question.Language == "" {
		return ""
	}

	first, last, s := times[0], times[1], told[0].stretch
	if last.from.Before(first.from) {
		first, last = last, first
	}
	begins := s.from.IsZero() || isNear(s.from, first.from) || isNear(s.from, first.to)
	ends := s.to.IsZero() || isNear(s.to, last.to) || isNear(s.to, last.from)
	if begins && ends {
		return ""
	}
	return fmt.Sprintf("The question says %s to %s, the statement %s.", first, last, s)
}

// average comparisons, by the side that they ask for.
var (
	aboveAverage = compile(`(?i)\b(?:above|over|exceed\w*|(?:more(?: \pL+)?|dearer|higher|greater|larger|bigger|
		longer|heavier|taller|richer) than) (?:the |its |their |our )?(?:\pL+ )?(?:average|mean)\b`)
	belowAverage = compile(`(?i)\b(?:below|under|(?:less(?: \pL+)?|fewer|cheaper|lower|smaller|shorter|lighter|
		poorer) than) (?:the |its |their |our )?(?:\pL+ )?(?:average|mean)\b`)
)

// beyondAverage compares "above average" with the side of the average that the statement takes.
func (h *held) beyondAverage() string {
	text := h.Question.Text
	above := aboveAverage.MatchString(text)
	if above == belowAverage.MatchString(text) || denies.MatchString(text) {
		return ""
	}

	wrong := []string{"<", "<="}
	if !above {
		wrong = []string{">", ">="}
	}
	for i := range h.tokens {
		if h.word(i) == "(" && h.word(i+1) == "SELECT" && h.word(i+2) == "AVG" && slices.Contains(wrong, h.word(i-1)) &&
			!h.ofTime(h.columnBefore(h.tokens[i].Pos)) {
			return fmt.Sprintf("The question says %s average, the statement takes the other side.",
				map[bool]string{true: "above", false: "below"}[above])
		}
	}
	return ""
}
