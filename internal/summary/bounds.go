package summary

import (
	"regexp"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
)

// bounds are the bounds of a time.
type bounds struct {
	periods.Bounds
	column columnRef
	merged bool // into those of another condition
	days   bool // only of a column without times are they what a reader takes them for
}

// takes merges the other end of the same time into b, if b lacks it.
func (b *bounds) takes(o *bounds) bool {
	if b == nil || o == nil || b.merged || !b.Add(o.Bounds) {
		return false
	}
	o.merged, b.days = true, b.days || o.days
	return true
}

// phrase is the range behind the rows: "created in 2023"; "" where their column says nothing about them.
func (b *bounds) phrase() string {
	happened, ok := b.column.happened()
	text := b.text()
	if day := strings.HasPrefix(text, "on "); !ok || day && happened != "" {
		return "" // "hired on" may be the name of the column
	}
	return strings.TrimSpace(happened + " " + text)
}

// happened says what happened to the rows at the time of a column; ok is false where it says nothing about them.
func (c columnRef) happened() (verb string, ok bool) {
	s := c.stamp
	return s.happened(), c.own && c.of != nil && s.is && (s.self || s.verb != "")
}

// readBounds are the bounds that a comparison sets to a time; nil: it sets none.
func (v value) readBounds(op string, l literal) *bounds {
	if v.measure != nil || v.column.name == "" {
		return nil
	}
	b, ok := periods.Compare(v.span, strings.Replace(op, "==", "=", 1), l.text, v.column.daily())
	if !ok {
		return nil
	}
	at, _ := periods.ReadTime(l.text)
	days := v.span == "" && at.Grain == "day" && v.column.daily() && op != ">=" && op != "<"
	return &bounds{Bounds: b, column: v.column, days: days}
}

// cutsDay reports whether a text has a range of days of a column that has times, of a day of which the statement leaves
// most out, or not the day alone. Where nobody knows the values, the column may have times.
func (s answer) cutsDay(text string) bool {
	return slices.ContainsFunc(s.facts.ranges, func(b *bounds) bool {
		if !b.days || b.column.of == nil || !strings.Contains(text, strings.TrimPrefix(b.text(), "on ")) {
			return false
		}
		if s.ends == nil {
			return true
		}
		_, most, _ := s.ends(b.column.of.name, b.column.name)
		end, _ := most.(string)
		at, ok := periods.ReadTime(end)
		return ok && at.Grain != "day"
	})
}

var agoText = regexp.MustCompile(`^-(\d+) (day|week|month|year|hour)s?$`)

// ago reads a time that is relative to now: "today", "30 days ago"; "" where no such time stands next.
func (r *reader) ago() string {
	at, base, by := r.at, "", ""
	day := r.take("DATE", "(")
	switch {
	case day || r.take("DATETIME", "("):
		if r.peek(0).Text != "'now'" {
			r.at = at
			return ""
		}
		r.at++
		if base = "now"; r.take(",") {
			by = r.d.Value(r.peek(0))
			r.at++
		}
		r.want(")")
	case r.take("CURRENT_DATE"), r.take("CURDATE", "(", ")"):
		base = "today"
	case r.take("CURRENT_TIMESTAMP"), r.take("NOW", "(", ")"):
		base = "now"
	default:
		return ""
	}
	if day {
		base = "today"
	}
	if r.take("-", "INTERVAL") {
		by = "-" + strings.Trim(r.peek(0).Text, "'")
		if r.at++; r.named() {
			by += " " + strings.ToLower(r.name())
		}
	}
	if m := agoText.FindStringSubmatch(by); m != nil {
		if m[1] != "1" {
			m[2] += "s"
		}
		return m[1] + " " + m[2] + " ago"
	}
	if by != "" {
		r.fail()
	}
	return base
}

// since compares a time with one that is relative to now.
func (r *reader) since(v value, op, ago string) condition {
	lead, known := words.Pairs(">= since_ > after_ < before_ <= up_to_ = _")[op]
	if !known {
		r.fail()
	}
	text := strings.TrimSpace(lead + ago)
	c := condition{text: v.words + " is " + text, at: inTime}
	if happened, ok := v.column.happened(); ok && v.span == "" {
		c.phrase = strings.TrimSpace(happened + " " + text)
	}
	return c
}

// daily reports whether a column has days, by its name. For a column that may have times, a text shows the time of its
// bounds.
func (c columnRef) daily() bool {
	return c.stamp.is && c.stamp.unit == "date" || dayName.MatchString(c.words)
}

// says is the range as a predicate.
func (b *bounds) says() string {
	text := b.text()
	if since, ok := strings.CutPrefix(text, "since "); ok {
		text = since + " or later"
	}
	if b.column.daily() {
		text = strings.TrimPrefix(text, "on ")
	}
	return b.column.text + " is " + text
}

// text is the range: "in 2023", "from 1 to 7 March 2024", "since May 2024".
func (b *bounds) text() string {
	from, to := b.From, b.To
	switch {
	case from == nil && to.Included:
		return "up to " + b.exact(to)
	case from == nil:
		return "before " + to.Coarse().String()
	case to == nil && from.Included:
		return "since " + from.Coarse().String()
	case to == nil:
		return "after " + b.exact(from)
	case !from.Included:
		until := bounds{column: b.column, Bounds: periods.Bounds{To: to}}
		return "after " + b.exact(from) + " and " + until.text()
	case from.Grain != "day" || to.Grain != "day" || to.Included && !b.column.daily():
		before := map[bool]string{false: "before "}[to.Included]
		return "from " + from.String() + " to " + before + b.exact(to)
	}
	first, last := periods.Span(b.Exact(true))
	switch {
	case first != last:
		return "from " + periods.Between(first, last)
	case first.Grain == "day":
		return "on " + first.String()
	}
	return "in " + first.String()
}

// exact is a bound with its time, unless the column has days.
func (b *bounds) exact(at *periods.Bound) string {
	if at.Grain == "day" && !b.column.daily() {
		return at.String() + ", 00:00"
	}
	return at.String()
}
