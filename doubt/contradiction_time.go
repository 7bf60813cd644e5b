package doubt

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
)

// stretch is a time from, up to and without to. A zero bound is open.
type stretch struct{ from, to time.Time }

// meets reports whether a stretch has a moment in common with one that has both bounds.
func (s stretch) meets(o stretch) bool {
	return (s.to.IsZero() || s.to.After(o.from)) && o.to.After(s.from)
}

// touches reports whether an open stretch ends where another one begins, as one before 1980 does.
func (s stretch) touches(o stretch) bool {
	return s.from.IsZero() && s.to.Equal(o.from) || s.to.IsZero() && s.from.Equal(o.to)
}

// String is a stretch as people say it.
func (s stretch) String() string {
	const day = "2 January 2006"
	y, m, d := s.from.Date()
	switch {
	case s.from.IsZero():
		return "before " + s.to.Format(day)
	case s.to.IsZero():
		return "from " + s.from.Format(day) + " on"
	case s == dayOf(y, int(m), d):
		return s.from.Format(day)
	case s == yearOf(y):
		return s.from.Format("2006")
	case s == decadeOf(y/10*10):
		return s.from.Format("the 2006s")
	case s == monthsOf(y, int(m), 1):
		return s.from.Format("January 2006")
	}
	return s.from.Format(day) + " to " + s.to.AddDate(0, 0, -1).Format(day)
}

// since is the stretch of some years, months and days from a day on.
func since(y, m, d int, years, months, days int) stretch {
	from := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	return stretch{from, from.AddDate(years, months, days)}
}

func yearOf(y int) stretch { return since(y, 1, 1, 1, 0, 0) }

func decadeOf(y int) stretch { return since(y, 1, 1, 10, 0, 0) }

func monthsOf(y, m, n int) stretch { return since(y, m, 1, 0, n, 0) }

func dayOf(y, m, d int) stretch { return since(y, m, d, 0, 0, 1) }

// monthPair finds two months of which only the second one has its year.
var monthPair = compile(`(?i)\b<month> (and|to|until|till|through) <month>,?(?: of)? ((?:19|20)\d\d)\b`)

var (
	decadeSet = compile(`(?i)\bthe (?P<ties>fif|six|seven|eigh|nine)ties\b`)
	bareYear  = compile(`(?:^|[^\pL\d#.,/$€£_-])(?P<y>(?:19|20)\d\d)(?:['’]s)?(?:[^\pL\d%€$£_/-]|$)`)
	// numbered finds a year that is the number of something.
	numbered = compile(`(?i)(?:\b(?:id|no|number|order|invoice|ticket|account|customer|code|room|item|raceid|
		over|above|than|least|most|under|below|exactly)\.?\s*$|[=<>#]\s*$)`)
	// open finds words by which a time is a bound, or one of several, and not the whole. Behind "by" at least two
	// blanks are left of a time.
	open = compile(`(?i)\bby\s{2,}|\b(?:since|from|until|till|before|after|between|through|(?:by|at) the (?:end|
		start|close)|balance|inventory|prior|later|earlier|
		onwards?|on or|compar\w*|versus|vs|than|change[ds]?|growth|grew|increase[ds]?|decrease[ds]?|difference|
		trend|previous|ago|as of|to date|so far|starting|beginning|and|or|not|except|exclud\w*|up to|into|old|
		age[ds]?|still)\b|['’]s\b`)
	// around finds words for a longer time than the one that they name: the week of 3 June.
	around = compile(`\b(?:week(?:end)? of|(?:week|month|year)s? ending|around)\b`)
)

var decades = words.Pairs("fif 1950 six 1960 seven 1970 eigh 1980 nine 1990")

var ordinals = words.Pairs("first 1 1st 1 1 1 second 2 2nd 2 2 2 third 3 3rd 3 3 3 fourth 4 last 4 4th 4 4 4")

// timeForms are the forms in which a text names a time with its year, the longest first: groups are year, month and
// day, by name.
var timeForms = []*regexp.Regexp{
	compile(`(?:^|[^\pL\d-])(?P<y>(?:19|20)\d\d)-(?P<m>\d{1,2})-(?P<d>\d{1,2})(?:[^\d-]|$)`),
	compile(`(?:^|[^\pL\d-])(?P<y>(?:19|20)\d\d)-(?P<m>\d{2})(?:[^\d-]|$)`),
	compile(`(?:^|[^\pL\d/-])(?P<m>\d{1,2})/(?P<y>(?:19|20)\d\d)(?:[^\d/]|$)`),
	compile(`(?i)\b(?P<d>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?P<name><month>),? (?P<y>(?:19|20)\d\d)\b`),
	compile(`(?i)\b(?P<name><month>) (?P<d>\d{1,2})(?:st|nd|rd|th)?,? (?P<y>(?:19|20)\d\d)\b`),
	compile(`(?i)\b(?P<name><month>),?(?: of)? (?P<y>(?:19|20)\d\d)\b`),
	compile(`(?i)\b(?P<y>(?:19|20)\d\d)[ -]?q(?P<q>[1-4])\b`),
	compile(`(?i)\b(?:q(?P<q>[1-4])|(?P<q>first|second|third|fourth|last|1st|2nd|3rd|
		4th) quarter)(?:\)?,? (?:of |in )?)(?P<y>(?:19|20)\d\d)\b`),
	compile(`(?i)\b(?:h(?P<h>[12])|(?P<h>first|second|1st|2nd) half)(?:,? (?:of |in )?)(?P<y>(?:19|
		20)\d\d)\b`),
	compile(`(?i)(?:^|[^\pL\d])(?P<decade>(?:19|20)\d)0['’]?s\b`),
	decadeSet,
	bareYear,
}

// readTime reads a time of the groups of its form, in lower case.
func readTime(group map[string]string) stretch {
	y, m := number(group["y"]), number(group["m"])
	if name := group["name"]; name != "" {
		m = strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", name[:3])/3 + 1
	}
	switch {
	case group["ties"] != "":
		return decadeOf(number(decades[group["ties"]]))
	case group["decade"] != "":
		return decadeOf(10 * number(group["decade"]))
	case group["q"] != "":
		return monthsOf(y, 3*number(ordinals[group["q"]])-2, 3)
	case group["h"] != "":
		return monthsOf(y, 6*number(ordinals[group["h"]])-5, 6)
	case group["d"] != "":
		return dayOf(y, m, number(group["d"]))
	case group["m"]+group["name"] != "":
		return monthsOf(y, m, 1)
	}
	return yearOf(y)
}

// timesIn returns the times that a text names with their year, and the text without them.
func timesIn(text string) (times []stretch, rest string) {
	if !strings.ContainsAny(text, "0123456789") && !decadeSet.MatchString(text) {
		return nil, text
	}
	text = monthPair.ReplaceAllString(text, "$1 $4 $2 $3 $4")
	for _, form := range timeForms {
		for from := 0; ; {
			m := form.FindStringSubmatchIndex(text[from:])
			if m == nil {
				break
			}
			if form == bareYear && numbered.MatchString(text[:from+m[2]]) {
				from += m[3]
				continue
			}
			group := map[string]string{}
			for i, name := range form.SubexpNames() {
				if m[2*i] >= 0 {
					group[name] = strings.ToLower(text[from+m[2*i] : from+m[2*i+1]])
				}
			}
			times = append(times, readTime(group))
			begin, end := from+m[0], from+m[1]
			text = text[:begin] + " " + strings.Repeat("\x00", max(0, end-begin-2)) + " " + text[end:]
			from = begin
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

// moved finds what makes another day of the one in front of it: , '-7 days') or - INTERVAL '7 days'.
var moved = compile(`(?i)^\s*(?:AS DATE)?\)?\s*(?:,\s*'(?:[-+]?\d+ |START|WEEKDAY)|[-+])`)

// bucket finds the unit to whose begin a statement cuts a time: the first day of a month stands for the whole of it.
var bucket = compile(`(?i)(?:trunc\w*\s*\(.*\b|start ?of ?)(week|month|quarter|year)\b`)

// statedTimes are the times by which the statement compares its columns; none where it computes one of them.
func (h held) statedTimes() (list []stated) {
	for _, c := range h.constant {
		m := statedTime.FindStringSubmatch(c.text)
		if m == nil || c.op == "" || c.drops() || !h.yearly(c) {
			continue
		}
		if t := h.tokens[c.at]; moved.MatchString(h.sql[t.Pos+len(t.Text):]) {
			return nil
		}
		s := stated{readTime(map[string]string{"y": m[1], "m": m[2], "d": m[3]}), strings.ToLower(c.column.Column), c.at}
		cut := bucket.FindStringSubmatch(h.conditionOf(c))
		if cut != nil {
			unit := strings.ToLower(cut[1])
			s.to = s.from.AddDate(0, monthsIn[unit], daysIn[unit])
		}
		switch c.op {
		case ">", ">=", "BETWEEN":
			if c.op == ">" && (m[3] == "" || cut != nil || !c.column.hasClock()) {
				s.from = s.to
			}
			s.to = time.Time{}
		case "<", "<=", "AND":
			if c.op == "<" {
				s.to = s.from
			}
			s.from = time.Time{}
		}
		begun := len(list) - 1
		for ; begun >= 0 && list[begun].column != s.column; begun-- {
		}
		switch {
		case begun >= 0 && s.to.IsZero() && list[begun].from.IsZero() && s.from.Before(list[begun].to):
			list[begun].from = s.from
		case begun >= 0 && s.from.IsZero() && list[begun].to.IsZero() && list[begun].from.Before(s.to):
			list[begun].to = s.to
		default:
			list = append(list, s)
		}
	}
	return h.inMonths(list)
}

var (
	// takesMonths finds the months of a time that the statement compares with a number, a list or the ends of a range:
	// groups are the word for a quarter, what makes a quarter of a month, a bound, and the numbers.
	takesMonths = compile(`(?:'%M',\s*[\w."(]+|'MM'|\b6,\s*2|
		(?:\b|_)(?:MONTH|(QUARTER))(?:_\w+|\b(?:\(|\s+FROM\s+|',\s*)?[\w."]*))\)*(?:\s+AS\s+\w+\)|::\w+)?
		(\s*[-+]\s*[12]\)?\s*/\s*3(?:\.0)?(?:\s*\+\s*1)?\)?)?\s*(?:=|\bIN\b|\bBETWEEN\b|([<>]=|<))
		(\s*\(?\s*'?(?:1[0-2]|0?[1-9])\b'?(?:(?:\s*,|\s+AND)\s*'?(?:1[0-2]|0?[1-9])\b'?)*)`)
	digits = compile(`\d+`)
)

// monthsTaken are the first and the last month that the statement compares with a number; 13 and 0: none.
func (h held) monthsTaken() (from, to int) {
	from, sides := 13, ""
	for _, m := range takesMonths.FindAllStringSubmatch(h.upper, -1) {
		sides += m[3]
		for _, n := range digits.FindAllString(m[4], -1) {
			first, last := number(n), number(n)
			if m[1]+m[2] != "" {
				first, last = 3*last-2, 3*last
			}
			from, to = min(from, first), max(to, last)
		}
	}
	if sides == ">=" {
		to = 12
	}
	if strings.HasPrefix(sides, "<") {
		from = 1
	}
	if strings.HasSuffix(sides, "<") {
		to--
	}
	return from, to
}

// inMonths narrows the years of a list to the months that the statement compares beside them.
func (h held) inMonths(list []stated) []stated {
	from, to := h.monthsTaken()
	for i := range list {
		if y := list[i].from.Year(); from <= to && list[i].stretch == yearOf(y) {
			list[i].stretch = monthsOf(y, from, to-from+1)
		}
	}
	return list
}

// isAmount reports whether the statement compares a year of the question with something else than times: 2000 euros.
func (h held) isAmount(s stretch) bool {
	return h.anyConstant(func(c constant) bool {
		return c.op != "" && c.text == strconv.Itoa(s.from.Year()) && !h.yearly(c)
	})
}

// yearly reports whether a constant is a text, or is compared with a year.
func (h held) yearly(c constant) bool {
	before := h.sql[h.tokens[max(0, c.at-14)].Pos:h.tokens[c.at].Pos]
	return !c.number || takesYear.MatchString(before) || yearNamed.MatchString(c.column.Column)
}

var (
	takesYear = compile(`(?i)YEAR|%Y`)
	yearNamed = compile(`(?i)year|date|season|founded|since|born|birth|_at$|_on$|released`)
)

// ofToday finds functions of the day of today.
var ofToday = compile(`(?i)\b(?:CURRENT_DATE|CURRENT_TIMESTAMP|LOCALTIMESTAMP|NOW|GETDATE|CURDATE|TODAY|
		SYSDATE)\b|'now'`)

var (
	// fiscal finds years that may begin in another month.
	fiscal = compile(`\b(?:(?:fiscal|financial|tax|school|academic) years?|fy)\b`)
	paired = compile(`(?i)\bcompar\w*|\b(?:and|or|vs|versus)\b`)
	ranged = compile(`(?i)\b(?:between|from|until|till|before|after|since|to|through|than)\b`)
)

// time compares the years, months and days of the question with those of the statement.
func (h held) time() string {
	told, one := h.statedTimes(), len(h.times) == 1
	if len(told) > 0 && h.asks(fiscal) {
		return ""
	}
	bounds := h.Language != "en" || h.asks(ranged, bounded)
	for _, asked := range h.times {
		year := strconv.Itoa(asked.from.Year())
		switch {
		case ofToday.MatchString(h.upper) ||
			slices.ContainsFunc(told, func(s stated) bool { return s.meets(asked) || bounds && s.touches(asked) }):
		case len(told) > 0 && one && !h.asks(open):
			return differ(asked, told[0].stretch)
		case len(told) > 0 && !one && h.asks(paired) && !h.asks(ranged),
			len(told) == 0 && !h.writes(year) && !strings.Contains(h.evidence, year):
			return lack(asked)
		}
	}
	if detail := cmp.Or(h.oneSided(told), h.twoSided(told)); detail != "" {
		return detail
	}
	if one && len(told) == 1 && !open.MatchString(h.timeless) && !h.asks(around) && h.Language != "" &&
		h.exceeds(told[0].stretch, h.times[0]) {
		return differ(h.times[0], told[0].stretch)
	}
	return ""
}

// exceeds reports whether a stretch reaches beyond another one, the days to come aside.
func (h held) exceeds(s, asked stretch) bool {
	ended := !h.Now.IsZero() && !asked.to.After(h.Now)
	return s.from.Before(asked.from) || s.to.After(asked.to.AddDate(0, 0, 1)) || s.to.IsZero() && ended
}

// relative finds periods that are relative to today: this, last or next, a number, and a unit.
var relative = compile(`(?i)\b(?:(this|current|last|past|previous|next)(?: full| calendar)?(?: <number>)? (day|
		week|month|quarter|year)s?\b|(today|yesterday|tomorrow)\b)`)

// ofAnother finds a period within another one, as "last quarter of 2023" and "last week of March" are. Today has no
// part in it.
var ofAnother = compile(`(?i)\b(?:last|past|previous|next)(?: full| calendar)?(?: <number>)? (?:day|week|month|
		quarter)s?,? (?:(?:of|in) (?:the )?(?:year )?)?(?:<month>\b|(?:19|20)\d\d\b|(?:the|each|every|
		a) (?:week|month|quarter|year)\b)`)

// toDate writes a period up to today like one that is whole.
var toDate = strings.NewReplacer("year to date", "this year", "ytd", "this year", "month to date", "this month",
	"so far this", "this", " so far", "")

// theLast finds a period that may be counted from today: in the last month.
var theLast = compile(`\b(?:in|within|over|during) the (?:last|past|next)\b`)

// birthday finds questions about ages, which a statement computes back to a year of birth.
var birthday = compile(`(?i)\b(?:turn(?:s|ed|ing)?|birthdays?|anniversar(?:y|ies)|jubilees?)\b`)

// period compares a period relative to today with the bounds of the statement.
func (h held) period() string {
	asked := toDate.Replace(h.asked)
	found := relative.FindAllStringSubmatch(replace(ofAnother, asked, " "), -1)
	if h.Now.IsZero() || len(found) != 1 || h.asks(birthday) {
		return ""
	}
	m := found[0]
	rolling := m[1] == "past" || h.asks(theLast)
	if ofToday.MatchString(h.upper) {
		switch n := numberOf(m[2]); {
		case n > 1 && !h.counts(float64(n)) && !h.writes(strconv.Itoa(n/30)+" MONTH"): // of days
			return lack(m[0])
		case m[2] == "" && strings.HasPrefix(steps[m[1]+m[4]], "-") && !goesBack.MatchString(h.upper):
			return differ(m[0], "does not go back from today")
		case m[2] == "" && (m[3] == "month" || m[3] == "year") && countsBack.MatchString(h.upper) &&
			!wholePeriods.MatchString(h.upper) && !rolling:
			return differ(m[0], "counts back from today")
		}
		return ""
	}
	readings, told := h.readings(m[1]+m[4], numberOf(m[2]), m[3], rolling), h.statedTimes()
	rest := strings.NewReplacer("from "+m[0], "", m[0], "", "’s", "", "'s", "").Replace(asked)
	if len(readings) == 0 || len(told) == 0 || open.MatchString(rest) {
		return ""
	}
	slack := time.Duration(1)
	switch {
	case m[2] != "":
		slack = 2
	case m[4] != "":
		slack = 0
	}
	for _, s := range told {
		if slices.ContainsFunc(readings, func(r stretch) bool {
			return isNear(s.from, slack, r.from) && (s.to.IsZero() || isNear(s.to, slack, r.to) || isNear(s.to, 2, h.Now))
		}) {
			return ""
		}
	}
	return tell("The question says %s, which is %s; the statement says %s.", m[0], readings[0], told[0].stretch)
}

// counts reports whether the statement has a number of units, or that of other units of the same length.
func (h held) counts(n float64) bool {
	return slices.ContainsFunc([]float64{n, n - 1, n * 3, n * 7, n * 12, n * 30, n * 365, n / 7, n / 12},
		func(n float64) bool { return h.writesNumber(strconv.FormatFloat(n, 'f', -1, 64)) })
}

var (
	// goesBack finds what leads from today to another period.
	goesBack     = compile(`'-|-\s*\d|-\s+\w|-\w+[(.]|INTERVAL|SUB|ADD|DIFF|\bAGE\b|YESTERDAY|LAG\(|MAX\(`)
	countsBack   = compile(`'-\d+ (?:DAY|MONTH|YEAR)S?'|INTERVAL|DATEADD|-\s*\d+`)
	wholePeriods = compile(`START OF|TRUNC|STRFTIME|EXTRACT|YEAR\s*\(|MONTH\s*\(|FORMAT|LAST_DAY|TO_CHAR|DATE_PART|
		EOMONTH|DATEFROMPARTS`)
)

// steps are the words of a period relative to today, and which one it is from that of today on.
var steps = words.Pairs("this 0 current 0 today 0 last -1 past -1 previous -1 yesterday -1 next 1 tomorrow 1")

// whole is the n-th whole unit from that of today.
func (h held) whole(unit string, n int) stretch {
	y, month, d := h.Now.Date()
	m := int(month)
	switch unit {
	case "week":
		monday := d - (int(h.Now.Weekday())+6)%7
		return since(y, m, monday+7*n, 0, 0, 7)
	case "month":
		return monthsOf(y, m+n, 1)
	case "quarter":
		return monthsOf(y, (m-1)/3*3+1+3*n, 3)
	case "year":
		return yearOf(y + n)
	}
	return dayOf(y, m, d+n)
}

// monthsIn and daysIn are the lengths of units.
var (
	monthsIn = map[string]int{"month": 1, "quarter": 3, "year": 12}
	daysIn   = map[string]int{"day": 1, "week": 7}
)

// readings are the stretches that a period relative to today may mean, the usual one first. rolling: it may be counted
// from today.
func (h held) readings(which string, n int, unit string, rolling bool) []stretch {
	today, step := h.whole("day", 0), number(steps[which])
	months, days := monthsIn[unit], daysIn[unit]
	rolled := stretch{today.from.AddDate(0, months*step*max(n, 1), days*step*max(n, 1)), today.to}
	near, far := h.whole(unit, step), h.whole(unit, step*n)
	switch {
	case n == 0 && step < 0 && (unit == "week" || rolling):
		return []stretch{near, rolled}
	case n == 0 && step > 0 && rolling:
		return []stretch{near, {today.from, rolled.from}}
	case n == 0:
		return []stretch{near}
	case step == 0:
		return nil
	case step > 0:
		return []stretch{{today.from, far.to}, today}
	case months > 0:
		return []stretch{rolled, {far.from, near.to}, {far.from, today.to}}
	}
	return []stretch{{far.from, near.to}, {far.from, today.to}, rolled}
}

// aMonth finds a month without a year.
var aMonth = compile(`(?i)\b(?:in|of|during|for|from|since|until|and|or|to|is|was|last|this|every)\s+<month>\b`)

// month compares a month without a year with the months of the statement.
func (h held) month() string {
	text, told := strings.ToLower(h.timeless), h.statedTimes()
	if ofToday.MatchString(h.upper) {
		return ""
	}
	m := aMonth.FindStringSubmatch(text)
	if m == nil {
		return h.quarter(aQuarter.FindStringSubmatch(text), told)
	}
	n := readTime(map[string]string{"name": m[1]}).from.Month()
	if len(told) == 0 {
		if from, to := h.monthsTaken(); from <= to && (int(n) < from || int(n) > to) {
			return differ(n, time.Month(from))
		}
		return ""
	}
	for _, s := range told {
		if s.from.IsZero() || s.to.IsZero() || s.to.Sub(s.from) > 330*24*time.Hour ||
			monthsOf(s.from.Year(), int(n), 1).meets(s.stretch) || monthsOf(s.to.Year(), int(n), 1).meets(s.stretch) {
			return ""
		}
	}
	return differ(n, told[0].stretch)
}

// aQuarter finds a quarter without a year.
var aQuarter = compile(`\b(?:q([1-4])|(first|second|third|fourth) quarter)\b`)

// quarter compares a quarter without a year, a match of aQuarter, with the quarters of the statement.
func (h held) quarter(m []string, told []stated) string {
	if m == nil || len(h.times) > 0 || len(told) == 0 {
		return ""
	}
	n := number(ordinals[m[1]+m[2]])
	for _, s := range told {
		y, month, _ := s.from.Date()
		if month%3 != 1 || s.stretch != monthsOf(y, int(month), 3) || int(month) == 3*n-2 {
			return ""
		}
	}
	return differ(m[0], told[0].stretch)
}

// hasClock reports whether a column may hold times of day: by its type, or by its name where the type is a text.
func (m mention) hasClock() bool {
	if m.known == nil {
		return true
	}
	kind := strings.ToUpper(m.known.Type)
	return strings.Contains(kind, "TIME") || !strings.Contains(kind, "DATE") && clockNamed.MatchString(m.Column)
}

// timed reports whether a column holds times, by its name or its type.
func timed(name, kind string) bool { return timeTyped.MatchString(kind) || timeNamed.MatchString(name) }

var (
	clockNamed = compile(`(?i)_at$|time`)
	timeTyped  = compile(`(?i)DATE|TIME`)
	timeNamed  = compile(`(?i)(?:^|_)(?:date|time|year|month|born|birth\w*|dob|when|day)(?:_|$)|_(?:at|on)$|
		Date$|Year$|Time$`)
)

// ofTime reports whether a mention is of a column that holds times.
func (m mention) ofTime() bool {
	if m.known == nil {
		return timed(m.Column, "")
	}
	return timed(m.known.Name, m.known.Type)
}
