package summary

import (
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// when is the moment behind what happened: " in August 2024", " on 5 August 2024".
func when(m periods.Moment) string {
	switch m.Grain {
	case "day":
		return " on " + m.String()
	case "hour":
		return " at " + m.At.Format("15:04 on 2 January 2006")
	}
	return " in " + m.String()
}

// timed sets the periods that the names of rows are, and sorts the rows by them; false: they have several grains, or
// there are fewer than two.
func (s answer) timed(by int, line []point) bool {
	for i, p := range line {
		at, ok := s.period(by, p.row[by])
		if year, is := p.row[by].(int64); !ok && is && strings.HasSuffix(strings.ToLower(s.Columns[by]), "year") {
			at, ok = periods.Moment{At: time.Date(int(year), 1, 1, 0, 0, 0, 0, time.UTC), Grain: "year"}, year >= 1000 &&
				year < 3000
		}
		if line[i].at = at; !ok || at.Grain != line[0].at.Grain {
			return false
		}
	}
	return len(line) > 1
}

// overTime says when the figures were highest, and how the last one differs from the first one where both are whole.
func (s answer) overTime(line []point, by, of int, least bool) string {
	slices.SortStableFunc(line, func(a, b point) int { return a.at.At.Compare(b.at.At) })
	first, last := line[0], line[len(line)-1]
	top := slices.MaxFunc(line, order(least))
	tops := omit(line, func(i int) bool { return line[i].value != top.value })
	became := ""
	if s.whole(by, first.at, last.at) && !s.columns[of].percent && !least {
		became = change(first.value, last.value)
	}

	n := words.Thousands(len(line)) + " " + words.Plural(first.at.Grain, len(line))
	text := extremes(false, false)[least]
	switch {
	case len(tops) == len(line):
		return s.same(line, n)
	case len(line) == 2 && became != "":
		return last.label + ": " + last.figure + ", " + became + " from " + first.label + " (" + first.figure + ")."
	case len(tops) == 1:
		text += when(top.at) + ": " + top.figure + s.beside(top, of)
	case len(tops) == 2:
		text += when(tops[0].at) + " and" + when(tops[1].at) + ": " + top.figure + " each"
	default:
		text += ": " + top.figure + ", in " + words.Thousands(len(tops)) + " of " + n
	}
	if s.limited {
		return "Of these " + n + ", " + text + "."
	}
	if became != "" {
		text += "; " + became + " from " + periods.Between(first.at, last.at)
	}
	return capital(text) + "."
}

// whole reports whether the bounds of the statement are those of the first and the last period, the last one is over,
// and the data fills them.
func (s answer) whole(by int, first, last periods.Moment) bool {
	f, it := s.source(by)
	if f.parts || s.limited || s.outline.Having || s.ranks || f.limit != "" || len(f.having) > 0 {
		return false
	}
	same := func(c columnRef) bool { return c.name == it.column.name && c.of == it.column.of }
	if slices.ContainsFunc(f.loose, same) { // it leaves out a day
		return false
	}
	from, until := f.rangeOf(it.column).Exact(it.span == "" && last.Grain == "day")
	ended := s.now.IsZero() || !until.After(s.now)
	return ended && from.Equal(first.At) && until.Equal(last.Next()) && s.fills(it.column, from, until)
}

// fills reports whether the data of a column goes on to the last day before a time, and begins with another one: its
// first value may come less than two days later, or than three times what lies between two values. An end that is not
// known counts as one that does.
func (s answer) fills(c columnRef, from, until time.Time) bool {
	if s.ends == nil || c.of == nil {
		return s.ends != nil
	}
	least, most, values := s.ends(c.of.name, c.name)
	begin, _ := least.(string)
	end, _ := most.(string)
	first, begins := periods.ReadTime(begin)
	last, ends := periods.ReadTime(end)
	if !begins || !ends || values < 2 {
		return !ends || !last.At.Before(until.AddDate(0, 0, -1))
	}
	gap := last.At.Sub(first.At) / time.Duration(values-1)
	return !last.At.Before(until.AddDate(0, 0, -1)) && first.At.Before(from.Add(max(48*time.Hour, 3*gap)))
}

// source is the SELECT that computes a column, with its item there: this one, or the only nested one.
func (s answer) source(i int) (f facts, it item) {
	if s.known {
		return s.facts, s.facts.items[i]
	}
	for _, q := range s.statement.Selects() {
		if q.Nested {
			f, _ = read(s.statement.Dialect(), q.Text)
		}
	}
	at := slices.IndexFunc(f.items, func(it item) bool { return it.alias == strings.ToLower(s.Columns[i]) })
	if at < 0 || len(s.statement.Selects()) != 2 {
		return facts{}, it
	}
	return f, f.items[at]
}

// rangeOf are the bounds of the times of a column; none where several conditions set them.
func (f facts) rangeOf(c columnRef) (of periods.Bounds) {
	for _, b := range f.ranges {
		switch same := b.column.name == c.name && b.column.of == c.of; {
		case same && of != (periods.Bounds{}):
			return periods.Bounds{}
		case same:
			of = b.Bounds
		}
	}
	return of
}

// spokenMoment writes a date, or a date and time; "" for any other value.
func spokenMoment(t result.Type, v any) string {
	text, isText := v.(string)
	if !isText || t.Kind == result.KindText && len(text) > len(time.DateOnly) {
		return ""
	}
	at, ok := periods.ReadTime(text)
	if !ok {
		return ""
	}
	if clock := len(text) > len(time.DateOnly) && t.Kind == result.KindInstant; at.Grain != "day" || clock {
		at.Grain = "minute"
	}
	if at.Zone == "Z" {
		at.Zone = "UTC"
	}
	return strings.TrimSpace(at.String() + " " + at.Zone)
}
