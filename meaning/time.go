package meaning

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// moment is a year, a month or a day.
type moment struct {
	at     time.Time
	layout string // of Go, as a person reads it
}

func (m moment) String() string { return m.at.Format(m.layout) }

// iso are the forms of years, months and days, with the layout that reads them and the one that a person reads.
var iso = []struct {
	form        *regexp.Regexp
	read, shown string
}{
	{regexp.MustCompile(`^[12]\d{3}$`), "2006", "2006"},
	{regexp.MustCompile(`^\d{4}-\d{2}$`), "2006-01", "January 2006"},
	{regexp.MustCompile(`^\d{4}-\d{2}-\d{2}$`), time.DateOnly, "2 January 2006"},
}

// periods are the names of rows as times, all of one form; nil: they are none, or there are fewer than two.
func periods(line []point) (all []moment) {
	if len(line) < 2 {
		return nil
	}
	for _, p := range line {
		m, ok := momentOf(p.label)
		if !ok || len(all) > 0 && m.layout != all[0].layout {
			return nil
		}
		all = append(all, m)
	}
	coarser(all)
	return all
}

// momentOf reads a year, a month or a day, whose time is midnight where it has one.
func momentOf(text string) (moment, bool) {
	if day, clock, timed := strings.Cut(strings.Replace(text, "T", " ", 1), " "); timed && strings.Trim(clock, "0:.+Z") == "" {
		text = day
	}
	for _, f := range iso {
		if f.form.MatchString(text) {
			at, err := time.Parse(f.read, text)
			return moment{at, f.shown}, err == nil
		}
	}
	return moment{}, false
}

// coarser makes months, or years, of days that are the first ones of them: what date_trunc gives.
func coarser(all []moment) {
	if all[0].layout != "2 January 2006" || slices.ContainsFunc(all, func(m moment) bool { return m.at.Day() != 1 }) {
		return
	}
	layout := "2006"
	if slices.ContainsFunc(all, func(m moment) bool { return m.at.Month() != 1 }) {
		layout = "January 2006"
	}
	for i := range all {
		all[i].layout = layout
	}
}

// overTime says when the figures were highest, and how the last one differs from the first one.
func overTime(line []point, at []moment) string {
	order := make([]int, len(line))
	top, tops := 0, 0
	for i := range line {
		order[i] = i
		if line[i].value > line[top].value {
			top = i
		}
	}
	for _, p := range line {
		if p.value == line[top].value {
			tops++
		}
	}
	slices.SortFunc(order, func(a, b int) int { return at[a].at.Compare(at[b].at) })
	first, last := order[0], order[len(order)-1]
	became := change(line[first].value, line[last].value)

	if tops == len(line) {
		return "The same each time: " + line[0].figure + ", from " + between(at[first], at[last]) + "."
	}
	if len(line) == 2 {
		text := at[last].String() + ": " + line[last].figure
		if became != "" {
			text += ", " + became + " from " + at[first].String() + " (" + line[first].figure + ")"
		} else {
			text += "; " + at[first].String() + ": " + line[first].figure
		}
		return text + "."
	}

	text := line[first].figure + at[first].when() + ", " + line[last].figure + at[last].when()
	if became != "" {
		text = became + " from " + between(at[first], at[last])
	}
	if tops == 1 {
		text = "highest" + at[top].when() + ": " + line[top].figure + "; " + text
	}
	return capital(text) + "."
}

// between names two times, the year once where it is the same.
func between(a, b moment) string {
	from := a.String()
	if a.at.Year() == b.at.Year() {
		from = strings.TrimSuffix(from, " "+a.at.Format("2006"))
	}
	return from + " to " + b.String()
}

// when is the moment behind what happened: " in August 2024", " on 5 August 2024".
func (m moment) when() string {
	if strings.HasPrefix(m.layout, "2 ") {
		return " on " + m.String()
	}
	return " in " + m.String()
}
