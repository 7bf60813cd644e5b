package periods

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/texttosql/texttosql/result"
)

// Moment is a period of time. The grain of a time of the clock is "minute" or "second".
type Moment struct {
	At    time.Time
	Grain string
	Zone  string // as the text has it
}

var (
	timeText = regexp.MustCompile(
		`^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?(?:\.\d+)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$`)
	// shown is how people read the moments of a grain.
	shown = map[string]string{
		"year": "2006", "month": "January 2006", "week": "the week of 2 January 2006", "day": "2 January 2006",
		"hour":   "2 January 2006, 15:04",
		"minute": "2 January 2006, 15:04", "second": "2 January 2006, 15:04:05",
	}
)

// ReadTime reads a day, or a time of the clock of its zone. A midnight is a day.
func ReadTime(text string) (m Moment, ok bool) {
	part := timeText.FindStringSubmatch(text)
	if part == nil {
		return m, false
	}
	clock := "00:00:00"
	if part[2] != "" {
		clock = (part[2] + part[3] + ":00")[:len(clock)]
	}
	at, err := time.Parse(time.DateTime, part[1]+" "+clock)
	m = Moment{at, "day", part[4]}
	if clock != "00:00:00" {
		m.Grain = "minute"
	}
	if at.Second() > 0 {
		m.Grain = "second"
	}
	return m, err == nil
}

func (m Moment) String() string {
	if m.Grain == "quarter" {
		return "Q" + strconv.Itoa((int(m.At.Month())+2)/3) + m.At.Format(" 2006")
	}
	return m.At.Format(shown[m.Grain])
}

// Coarse returns the largest period that begins then.
func (m Moment) Coarse() Moment {
	switch {
	case m.Grain != "day":
	case m.At.YearDay() == 1:
		m.Grain = "year"
	case m.At.Day() == 1:
		m.Grain = "month"
	}
	return m
}

// Next returns the first moment behind m.
func (m Moment) Next() time.Time {
	months := map[string]int{"year": 12, "quarter": 3, "month": 1}[m.Grain]
	days := map[string]int{"week": 7, "day": 1}[m.Grain]
	return m.At.AddDate(0, months, days).Add(map[string]time.Duration{"hour": time.Hour, "second": time.Second}[m.Grain])
}

// Between names two periods of one grain and those between them, a month and a year that they share once.
func Between(a, b Moment) string {
	from, year := a.String(), a.At.Year() == b.At.Year()
	switch {
	case year && a.Grain == "day" && a.At.Month() == b.At.Month():
		from = strconv.Itoa(a.At.Day())
	case year && a.Grain != "year":
		from = strings.TrimSuffix(from, a.At.Format(" 2006"))
	}
	return from + " to " + b.String()
}

// Bound is an end of a range of times.
type Bound struct {
	Moment
	Included bool
}

// Bounds are the ends of a range of times; nil: it is open there.
type Bounds struct{ From, To *Bound }

// Compare returns the bounds that a comparison with a constant sets to a part of a time; span "": to the time itself.
// ok is false where it sets none. days: the column has days, of which one may be equal.
func Compare(span, op, constant string, days bool) (b Bounds, ok bool) {
	m, isTime := ReadTime(constant)
	switch one := op == "=" && days && m.Grain == "day"; {
	case op == "<>" || op == "!=" || span == "" && !isTime:
		return b, false
	case span == "" && !one:
		at := &Bound{m, strings.HasSuffix(op, "=")}
		if op[0] == '>' {
			b.From = at
		} else if op[0] == '<' {
			b.To = at
		}
		return b, b != Bounds{}
	case span == "":
		span = "day"
	}
	start, ok := result.Type{Grain: span}.Period(constant)
	grain := "day"
	if span == "hour" {
		grain = "minute"
	}
	from, next := Moment{start, grain, ""}, Moment{Moment{start, span, ""}.Next(), grain, ""}
	at := from
	if op == ">" || op == "<=" {
		at = next
	}
	switch op[0] {
	case '>':
		b.From = &Bound{at, true}
	case '<':
		b.To = &Bound{at, false}
	default:
		b = Bounds{&Bound{from, true}, &Bound{next, false}}
	}
	return b, ok
}

// Add adds the other end of a range; false: o has more ends, or others.
func (b *Bounds) Add(o Bounds) bool {
	if b.From != nil && o.From != nil || b.To != nil && o.To != nil {
		return false
	}
	if o.From != nil {
		b.From = o.From
	} else {
		b.To = o.To
	}
	return true
}

// Exact returns the first moment of a range and the first one behind it; zero: it is open there. Moments of the last
// day but its first one are left out, unless the column has days.
func (b Bounds) Exact(days bool) (from, until time.Time) {
	if b.From != nil {
		if from = b.From.At; !b.From.Included {
			from = b.From.Next()
		}
	}
	if b.To != nil {
		if until = b.To.At; b.To.Included && (days || b.To.Grain != "day") {
			until = b.To.Next()
		}
	}
	return from, until
}

// Span returns the largest periods by which a range of days begins and ends. until is the first day behind it.
func Span(from, until time.Time) (first, last Moment) {
	first, last = Moment{from, "day", ""}, Moment{until.AddDate(0, 0, -1), "day", ""}
	begins, ends := first.Coarse().Grain, Moment{until, "day", ""}.Coarse().Grain
	first.Grain = finer[max(slices.Index(finer, begins), slices.Index(finer, ends))]
	last.Grain = first.Grain
	if first.String() == last.String() {
		last = first
	}
	return first, last
}
