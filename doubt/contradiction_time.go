package doubt

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/sqlshape"
)

// stretch is a time from, up to and without to. A zero bound is open.
type stretch struct{ from, to time.Time }

// meets reports whether two stretches have a moment in common.
func (s stretch) meets(o stretch) bool {
	return (s.to.IsZero() || o.from.IsZero() || s.to.After(o.from)) && (o.to.IsZero() || s.from.IsZero() ||
		o.to.After(s.from))
}

// touches reports whether an open stretch ends where another one begins, as one before 1980 does.
func (s stretch) touches(o stretch) bool {
	return s.from.IsZero() && s.to.Equal(o.from) || s.to.IsZero() && s.from.Equal(o.to)
}

// String is a stretch as people say it.
func (s stretch) String() string {
	last := s.to.AddDate(0, 0, -1)
	switch {
	case s.from.IsZero():
		return "before " + s.to.Format("2 January 2006")
	case s.to.IsZero():
		return "from " + s.from.Format("2 January 2006") + " on"
	case s.to.Equal(s.from.AddDate(0, 0, 1)):
		return s.from.Format("2 January 2006")
	case s.from.YearDay() == 1 && s.to.Equal(s.from.AddDate(1, 0, 0)):
		return s.from.Format("2006")
	case s.from.YearDay() == 1 && s.from.Year()%10 == 0 && s.to.Equal(s.from.AddDate(10, 0, 0)):
		return s.from.Format("the 2006s")
	case s.from.Day() == 1 && s.to.Equal(s.from.AddDate(0, 1, 0)):
		return s.from.Format("January 2006")
	}
	return s.from.Format("2 January 2006") + " to " + last.Format("2 January 2006")
}

func yearOf(y int) stretch {
	return stretch{time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(y+1, 1, 1, 0, 0, 0, 0, time.UTC)}
}

func decadeOf(y int) stretch { return stretch{yearOf(y).from, yearOf(y + 10).from} }

func monthsOf(y, m, n int) stretch {
	from := time.Date(y, time.Month(m), 1, 0, 0, 0, 0, time.UTC)
	return stretch{from, from.AddDate(0, n, 0)}
}

func dayOf(y, m, d int) stretch {
	from := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return stretch{from, from.AddDate(0, 0, 1)}
}

// monthPair finds two months of which only the second one has its year.
var monthPair = compile(`(?i)\b<month> (and|to|until|till|through) <month>,?(?: of)? ((?:19|20)\d\d)\b`)

// Forms of times in a question: groups are year, month and day, by name.
var (
	isoDay   = compile(`(?:^|[^\pL\d-])(?P<y>(?:19|20)\d\d)-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?:[^\d-]|$)`)
	isoMonth = compile(`(?:^|[^\pL\d-])(?P<y>(?:19|20)\d\d)-(?P<m>\d{2})(?:[^\d-]|$)`)
	numMonth = compile(`(?:^|[^\pL\d/-])(?P<m>\d{1,2})/(?P<y>(?:19|20)\d\d)(?:[^\d/]|$)`)
	dayFirst = compile(`(?i)\b(?P<d>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<name><month>),? (?P<y>(?:19|20)\d\d)\b`)
	dayLast  = compile(`(?i)\b(?P<name><month>) (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>(?:19|20)\d\d)\b`)
	monthly  = compile(`(?i)\b(?P<name><month>),?(?: of)? (?P<y>(?:19|20)\d\d)\b`)
	quarter  = compile(`(?i)\b(?:q(?P<q>[1-4])|(?P<q>first|second|third|fourth|last|1st|2nd|3rd|
		4th) quarter)(?:,? (?:of |in )?)(?P<y>(?:19|20)\d\d)\b`)
	half = compile(`(?i)\b(?:h(?P<h>[12])|(?P<h>first|second|1st|2nd) half)(?:,? (?:of |in )?)(?P<y>(?:19|
		20)\d\d)\b`)
	decade    = compile(`(?i)(?:^|[^\pL\d])(?P<y>(?:19|20)\d)0['’]?s\b`)
	decadeSet = compile(`(?i)\bthe (?P<name>fif|six|seven|eigh|nine)ties\b`)
	bareYear  = compile(`(?:^|[^\pL\d#.,/$€£_-])(?P<y>(?:19|20)\d\d)(?:['’]s)?(?:[^\pL\d%€$£_/-]|$)`)
	// numbered finds a year that is the number of something.
	numbered = compile(`(?i)(?:\b(?:id|no|number|order|invoice|ticket|account|customer|code|room|item|raceid|
		over|above|than|least|most|under|below|exactly)\.?\s*$|[=<>#]\s*$)`)
	// open finds words by which a time is a bound, or one of several, and not the whole.
	open = compile(`(?i)\b(?:since|from|until|till|before|after|between|through|by the end|prior|later|earlier|
		onwards?|on or|compar\w*|versus|vs|than|change[ds]?|growth|grew|increase[ds]?|decrease[ds]?|difference|
		trend|previous|ago|as of|to date|so far|starting|beginning|and|or|not|except|exclud\w*|up to|into|old|
		age[ds]?|still)\b|['’]s\b`)
)

var ordinals = map[string]int{
	"first": 1, "1st": 1, "1": 1, "second": 2, "2nd": 2, "2": 2, "third": 3, "3rd": 3, "3": 3, "fourth": 4,
	"last": 4, "4th": 4, "4": 4,
}

// decadeNames have the decade of a century at their places.
var decadeNames = []string{5: "fif", 6: "six", 7: "seven", 8: "eigh", 9: "nine"}

// monthNumber reads a month by the first letters of its name.
func monthNumber(name string) int {
	return strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(name[:3]))/3 + 1
}

// timeForms are the forms in which a text names a time with its year, the longest first.
var timeForms = []struct {
	form *regexp.Regexp
	read func(y int, group func(string) string) stretch
}{
	{isoDay, func(y int, g func(string) string) stretch { return dayOf(y, number(g("m")), number(g("d"))) }},
	{isoMonth, func(y int, g func(string) string) stretch { return monthsOf(y, number(g("m")), 1) }},
	{numMonth, func(y int, g func(string) string) stretch { return monthsOf(y, number(g("m")), 1) }},
	{dayFirst, func(y int, g func(string) string) stretch { return dayOf(y, monthNumber(g("name")), number(g("d"))) }},
	{dayLast, func(y int, g func(string) string) stretch { return dayOf(y, monthNumber(g("name")), number(g("d"))) }},
	{monthly, func(y int, g func(string) string) stretch { return monthsOf(y, monthNumber(g("name")), 1) }},
	{quarter, func(y int, g func(string) string) stretch {
		return monthsOf(y, 3*ordinals[strings.ToLower(g("q"))]-2, 3)
	}},
	{half, func(y int, g func(string) string) stretch {
		return monthsOf(y, 6*ordinals[strings.ToLower(g("h"))]-5, 6)
	}},
	{decade, func(y int, _ func(string) string) stretch { return decadeOf(10 * y) }},
	{decadeSet, func(_ int, g func(string) string) stretch {
		return decadeOf(1900 + 10*slices.Index(decadeNames, strings.ToLower(g("name"))))
	}},
	{bareYear, func(y int, _ func(string) string) stretch { return yearOf(y) }},
}

// timesIn returns the times that a text names with their year, and the text without them.
func timesIn(text string) (times []stretch, rest string) {
	if !strings.ContainsAny(text, "0123456789") && !(strings.Contains(text, "ties") && decadeSet.MatchString(text)) {
		return nil, text
	}
	text = monthPair.ReplaceAllString(text, "$1 $4 $2 $3 $4")
	for _, f := range timeForms {
		for from := 0; ; {
			m := f.form.FindStringSubmatchIndex(text[from:])
			if m == nil {
				break
			}
			group := func(name string) string {
				for i, n := range f.form.SubexpNames() {
					if n == name && m[2*i] >= 0 {
						return text[from+m[2*i] : from+m[2*i+1]]
					}
				}
				return ""
			}
			begin, end := from+m[0], from+m[1]
			if at := f.form == bareYear; at && numbered.MatchString(text[:from+m[2]]) {
				from += m[3]
				continue
			}
			times = append(times, f.read(number(group("y")), group))
			text = text[:begin] + " " + strings.Repeat("\x00", max(0, end-begin-2)) + " " + text[end:]
			from = max(begin, 0)
		}
	}
	return times, strings.ReplaceAll(text, "\x00", "")
}

func number(digits string) int { n, _ := strconv.Atoi(digits); return n }

// stated is a time by which the statement compares a column.
type stated struct {
	stretch
	column string
	place  int // of its constant
}

var statedTime = compile(`^((?:19|20)\d\d)(?:-?(\d{2})(?:-?(\d{2}))?)?(?:[ T%].*)?%?$`)

// statedTimes are the times by which the statement compares its columns.
func (h *held) statedTimes() (list []stated) {
	for _, c := range h.constant {
		m := statedTime.FindStringSubmatch(c.text)
		if m == nil || c.op == "" || strings.HasPrefix(c.op, "NOT") || c.op == "<>" || c.op == "!=" ||
			len(c.text) == 4 && !h.yearly(c) {
			continue
		}
		at := yearOf(number(m[1]))
		if m[2] != "" {
			at = monthsOf(number(m[1]), number(m[2]), 1)
		}
		if m[3] != "" {
			at = dayOf(number(m[1]), number(m[2]), number(m[3]))
		}
		column := strings.ToLower(c.column.Column)
		begun := len(list) - 1
		for ; begun >= 0 && list[begun].column != column; begun-- {
		}
		switch c.op {
		case ">", ">=", "BETWEEN":
			if c.op == ">" && (m[3] == "" || !h.hasClock(c.column)) {
				at.from = at.to
			}
			if begun >= 0 && list[begun].from.IsZero() {
				list[begun].from = at.from
				continue
			}
			list = append(list, stated{stretch{from: at.from}, column, c.at})
		case "<", "<=", "AND":
			if c.op == "<" {
				at.to = at.from
			}
			if begun >= 0 && list[begun].to.IsZero() {
				list[begun].to = at.to
				continue
			}
			list = append(list, stated{stretch{to: at.to}, column, c.at})
		default:
			list = append(list, stated{at, column, c.at})
		}
	}
	return list
}

// yearly reports whether a constant of four digits is compared with a year.
func (h *held) yearly(c constant) bool {
	var before []string
	for i := max(0, c.at-14); i < c.at; i++ {
		before = append(before, h.word(i))
	}
	text := strings.Join(before, " ")
	return !c.number || strings.Contains(text, "YEAR") || strings.Contains(text, "%Y") ||
		yearNamed.MatchString(c.column.Column)
}

var yearNamed = compile(`(?i)year|date|season|founded|since|born|birth|_at$|_on$|released`)

// ofToday finds functions of the day of today.
var ofToday = compile(`(?i)\b(?:CURRENT_DATE|CURRENT_TIMESTAMP|LOCALTIMESTAMP|NOW|GETDATE|CURDATE|TODAY|
		SYSDATE)\b|'now'`)

var (
	paired = compile(`(?i)\bcompar\w*|\b(?:and|or|vs|versus)\b`)
	ranged = compile(`(?i)\b(?:between|from|until|till|before|after|since|to|through|than)\b`)
)

// time compares the years, months and days of the question with those of the statement.
func (h *held) time() string {
	times, rest := h.times, h.timeless
	if len(times) == 0 {
		return ""
	}
	told := h.statedTimes()
	for _, asked := range times {
		bounds := h.Question.Language != "en" || ranged.MatchString(h.Question.Text) || bounded.MatchString(h.Question.Text)
		if slices.ContainsFunc(told, func(s stated) bool { return s.meets(asked) || bounds && s.touches(asked) }) ||
			ofToday.MatchString(h.Statement.SQL()) {
			continue
		}
		if len(told) > 0 && !open.MatchString(h.Question.Text) && len(times) == 1 {
			return fmt.Sprintf("The question says %s, the statement %s.", asked, told[0].stretch)
		}
		paired := len(times) > 1 && paired.MatchString(h.Question.Text) && !ranged.MatchString(h.Question.Text)
		if len(told) > 0 && paired {
			return fmt.Sprintf("The question says %s, and the statement does not.", asked)
		}
		if !h.writes(asked.from.Year()) && len(told) == 0 &&
			!strings.Contains(h.evidence, strconv.Itoa(asked.from.Year())) {
			return fmt.Sprintf("The question says %s, and the statement does not.", asked)
		}
	}
	if detail := cmp.Or(h.oneSided(times, told), h.twoSided(times, told)); detail != "" {
		return detail
	}
	if len(times) != 1 || len(told) == 0 || open.MatchString(rest) || h.Question.Language == "" {
		return ""
	}
	if wider := told[0].stretch; len(told) == 1 && h.exceeds(wider, times[0]) {
		return fmt.Sprintf("The question says %s, the statement %s.", times[0], wider)
	}
	return ""
}

// exceeds reports whether a stretch reaches beyond another one, the days to come aside.
func (h *held) exceeds(s, asked stretch) bool {
	ended := !h.Now.IsZero() && !asked.to.After(h.Now)
	return s.from.Before(asked.from) || s.to.After(asked.to.AddDate(0, 0, 1)) || s.to.IsZero() && ended
}

// writes reports whether a number stands in a constant of the statement.
func (h *held) writes(n int) bool {
	return slices.ContainsFunc(h.constant, func(c constant) bool {
		return strings.Contains(c.text,
			strconv.Itoa(n))
	}) ||
		strings.Contains(h.upper, strconv.Itoa(n))
}

// relative finds periods that are relative to today: this, last or next, a number, and a unit.
var relative = compile(`(?i)\b(?:(this|current|last|past|previous|next)(?: full| calendar)?(?: <number>)? (day|
		week|month|quarter|year)s?\b|(today|yesterday|tomorrow)\b)`)

// ofAnother finds a period within another one, as "last quarter of 2023" and "last week of March" are. Today has no part
// in it.
var ofAnother = compile(`(?i)\b(?:last|past|previous|next)(?: full| calendar)?(?: <number>)? (?:day|week|month|
		quarter)s?,? (?:(?:of|in) (?:the )?(?:year )?)?(?:<month>\b|(?:19|20)\d\d\b|(?:the|each|every|
		a) (?:week|month|quarter|year)\b)`)

// birthday finds questions about ages, which a statement computes back to a year of birth.
var birthday = compile(`(?i)\b(?:turn(?:s|ed|ing)?|birthdays?|anniversar(?:y|ies)|jubilees?)\b`)

// period compares a period relative to today with the bounds of the statement.
func (h *held) period() string {
	found := relative.FindAllStringSubmatch(ofAnother.ReplaceAllString(h.Question.Text, " "), -1)
	if h.Now.IsZero() || len(found) != 1 || birthday.MatchString(h.Question.Text) {
		return ""
	}
	m := found[0]
	if words := strings.ToLower(m[0]); ofToday.MatchString(h.Statement.SQL()) {
		if m[2] == "" && rolls(h.upper) && (m[3] == "month" || m[3] == "year") {
			return fmt.Sprintf("The question says %s, the statement counts back from today.", words)
		}
		return ""
	}
	readings := h.readings(strings.ToLower(m[1]+m[4]), numberOf(m[2]), strings.ToLower(m[3]))
	told := h.statedTimes()
	if len(readings) == 0 || len(told) == 0 ||
		open.MatchString(strings.NewReplacer("from "+strings.ToLower(m[0]), "", strings.ToLower(m[0]), "", "’s", "", "'s", "").Replace(h.asked)) {
		return ""
	}
	near := func(a, b time.Time, days int) bool { return a.Sub(b).Abs() <= time.Duration(days)*24*time.Hour }
	for _, s := range told {
		for _, r := range readings {
			slack := 1
			switch {
			case m[2] != "":
				slack = 2
			case m[4] != "":
				slack = 0
			}
			begins := near(s.from, r.from, slack) || s.from.IsZero() && r.from.IsZero()
			if begins && (s.to.IsZero() || near(s.to, r.to, slack) || near(s.to, h.Now, 2)) {
				return ""
			}
		}
	}
	return fmt.Sprintf("The question says %s, which is %s; the statement says %s.", strings.ToLower(m[0]),
		readings[0], told[0].stretch)
}

// rolls reports whether a statement counts days or months back from today and not whole months or years.
func rolls(upper string) bool {
	return countsBack.MatchString(upper) && !wholePeriods.MatchString(upper)
}

var (
	countsBack   = compile(`'-\d+ (?:DAY|MONTH|YEAR)S?'|INTERVAL|DATEADD|-\s*\d+`)
	wholePeriods = compile(`START OF|TRUNC|STRFTIME|EXTRACT|YEAR\s*\(|MONTH\s*\(|FORMAT|LAST_DAY|TO_CHAR|
		DATE_PART|EOMONTH|DATEFROMPARTS`)
)

// readings are the stretches that a period relative to today may mean, the usual one first.
func (h *held) readings(which string, n int, unit string) (list []stretch) {
	y, m, d := h.Now.Date()
	today := dayOf(y, int(m), d)
	day := func(days int) stretch { return stretch{today.from.AddDate(0, 0, days), today.to.AddDate(0, 0, days)} }
	switch which {
	case "today":
		return []stretch{today}
	case "yesterday":
		return []stretch{day(-1)}
	case "tomorrow":
		return []stretch{day(1)}
	}
	step := map[string]int{"this": 0, "current": 0, "next": 1}[which]
	if which == "last" || which == "past" || which == "previous" {
		step = -1
	}
	var whole func(n int) stretch // the n-th whole unit from that of today
	months := 0
	switch unit {
	case "day":
		whole = func(n int) stretch { return day(n) }
	case "week":
		monday := -(int(h.Now.Weekday()) + 6) % 7
		whole = func(n int) stretch { return stretch{day(monday + 7*n).from, day(monday + 7*n + 6).to} }
	case "month":
		months, whole = 1, func(n int) stretch { return monthsOf(y, int(m)+n, 1) }
	case "quarter":
		months, whole = 3, func(n int) stretch { return monthsOf(y, (int(m)-1)/3*3+1+3*n, 3) }
	default:
		months, whole = 12, func(n int) stretch { return yearOf(y + n) }
	}
	if n == 0 {
		list = append(list, whole(step))
		if step == -1 && unit == "week" {
			list = append(list, stretch{day(-7).from, today.to})
		}
		return list
	}
	if step == 0 {
		return nil
	}
	if months > 0 {
		list = append(list, stretch{today.from.AddDate(0, step*n*months, 0), today.to})
	}
	first, last := whole(min(step, step*n)), whole(max(step, step*n))
	list = append(list, stretch{first.from, last.to}, stretch{whole(step * n).from, today.to})
	if unit == "week" {
		list = append(list, stretch{day(step * 7 * n).from, today.to})
	}
	if step > 0 {
		for i := range list {
			list[i] = stretch{today.from, list[i].to}
		}
	}
	return list
}

// aMonth finds a month without a year.
var aMonth = compile(`(?i)\b(?:in|of|during|for|from|since|until|and|or|to|is|was|last|this|every)\s+<month>\b`)

// month compares a month without a year with the months of the statement.
func (h *held) month() string {
	m := aMonth.FindStringSubmatch(h.timeless)
	told := h.statedTimes()
	if m == nil || len(told) == 0 || ofToday.MatchString(h.Statement.SQL()) {
		return ""
	}
	n := monthNumber(m[1])
	for _, s := range told {
		from, to := s.from, s.to
		if from.IsZero() || to.IsZero() || to.Sub(from) > 330*24*time.Hour {
			return ""
		}
		for ; from.Before(to); from = from.AddDate(0, 1, 1-from.Day()) {
			if int(from.Month()) == n {
				return ""
			}
		}
	}
	return fmt.Sprintf("The question says %s, the statement %s.", time.Month(n), told[0].stretch)
}

// hasClock reports whether a column may hold times of day: by its type, or by its name where the type is a text.
func (h *held) hasClock(c sqlshape.ColumnRef) bool {
	_, column := h.home(c)
	if column == nil {
		return true
	}

	kind := strings.ToUpper(column.Type)
	return strings.Contains(kind, "TIME") || !strings.Contains(kind, "DATE") && clockNamed.MatchString(column.Name)
}

var clockNamed = compile(`(?i)_at$|time`)

// timed reports whether a column holds times, by its name or its type.
func timed(name, kind string) bool {
	kind = strings.ToUpper(kind)
	return strings.Contains(kind, "DATE") || strings.Contains(kind, "TIME") || timeNamed.MatchString(name)
}

var timeNamed = compile(`(?i)(?:^|_)(?:date|time|year|month|born|birth\w*|dob|when|day)(?:_|$)|_(?:at|on)$|
		Date$|Year$|Time$`)

// ofTime reports whether a mention is of a column that holds times.
func (h *held) ofTime(c sqlshape.ColumnRef) bool {
	_, column := h.home(c)
	return column != nil && timed(column.Name, column.Type) || column == nil && timed(c.Column, "")
}
