package result

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// period is how the times of a grain are read and written.
type period struct {
	reads       []string // layouts of Go
	short, long string   // layouts of exports and of texts for people
	begins      func(time.Time) bool
}

func (p period) has(t time.Time) bool { return p.begins == nil || p.begins(t) }

// periods are the grains of [Type.Grain].
var periods = map[string]period{
	"year": {[]string{"2006", time.DateOnly}, "2006", "2006", func(t time.Time) bool { return t.YearDay() == 1 }},
	"quarter": {[]string{time.DateOnly}, "", "",
		func(t time.Time) bool { return t.Day() == 1 && t.Month()%3 == 1 }},
	"month": {[]string{"2006-01", time.DateOnly, "2006/01", "01/2006", "Jan 2006", "January 2006", "2006 January"},
		"2006-01", "January 2006", func(t time.Time) bool { return t.Day() == 1 }},
	"week": {[]string{time.DateOnly}, time.DateOnly, "week of 2 January 2006", nil},
	"day":  {[]string{time.DateOnly, "2006/01/02"}, time.DateOnly, time.DateOnly, nil},
	"hour": {[]string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02 15"}, "2006-01-02 15:04", "2006-01-02 15:04",
		func(t time.Time) bool { return t.Minute() == 0 && t.Second() == 0 }},
}

var (
	quarterText = regexp.MustCompile(`^(\d{4})[- ]?Q([1-4])$`)
	offsetText  = regexp.MustCompile(`(?:Z|[+-]\d\d(?::?\d\d)?(?::\d\d)?)$`)
	clockText   = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)[ T](\d\d(?::\d\d){1,2})(?:\.0+)?(.*)$`)
)

// Period returns the first moment of the period that v names: its local time in the zone of the periods, as a time in
// UTC. ok is false if t has no Grain, or if v does not name such a period.
func (t Type) Period(v any) (start time.Time, ok bool) {
	if t.Grain == "" {
		return time.Time{}, false
	}
	as, known := periods[t.Grain]
	if !known {
		return time.Time{}, false
	}
	text, isText := v.(string)
	if !isText {
		n, whole := Type{}.Plain(v).(int64)
		if f, float := v.(float64); float && f == float64(int64(f)) {
			n, whole = int64(f), true
		}
		if t.Grain != "year" || !whole || n < 1000 || n > 9999 {
			return time.Time{}, false
		}
		text = strconv.FormatInt(n, 10)
	}
	if m := quarterText.FindStringSubmatch(text); m != nil && t.Grain == "quarter" {
		year, _ := strconv.Atoi(m[1])
		return time.Date(year, time.Month(3*int(m[2][0]-'1')+1), 1, 0, 0, 0, 0, time.UTC), true
	}
	text = strings.Join(strings.Fields(text), " ")
	if m := clockText.FindStringSubmatch(text); m != nil && (m[3] == "" || offsetText.MatchString(m[3])) {
		text = m[1]
		if strings.Trim(m[2], "0:") != "" || t.Grain == "hour" {
			text += " " + m[2]
		}
	}
	for _, layout := range as.reads {
		if at, err := time.Parse(layout, text); err == nil {
			return at, as.has(at)
		}
	}
	return time.Time{}, false
}

// named writes a period; people says for whom. ok is false where v names none, and where its offset says which of two
// equal hours it is.
func (t Type) named(v any, people bool) (text string, ok bool) {
	start, ok := t.Period(v)
	written, isText := v.(string)
	if !ok || !isText || t.Grain == "hour" && offsetText.MatchString(written) &&
		len(written) > len("2006-01-02 15:04:05") {
		return "", false
	}
	as := periods[t.Grain]
	switch quarter := strconv.Itoa((int(start.Month()) + 2) / 3); {
	case t.Grain == "quarter" && people:
		return "Q" + quarter + start.Format(" 2006"), true
	case t.Grain == "quarter":
		return start.Format("2006-Q") + quarter, true
	case people:
		return start.Format(as.long), true
	}
	return start.Format(as.short), true
}
