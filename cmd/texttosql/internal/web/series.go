package web

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
)

// chart is a series to be drawn, or one for each of a few categories: lines over time, or the values of a few names.
type chart struct {
	Kind   string    `json:"kind"` // "line", "bars" of one series, or "columns" of several
	Title  string    `json:"title"`
	Labels []string  `json:"labels"`
	At     []float64 `json:"at,omitempty"` // of a line: where each label stands, ascending
	Lines  []line    `json:"lines"`
}

// line is a series: a value and its text for each label, nil where there is none.
type line struct {
	Name   string     `json:"name,omitempty"`
	Values []*float64 `json:"values"`
	Texts  []string   `json:"texts"` // as the table shows them
}

// How large a series may be.
const (
	minPoints = 3
	maxPoints = 400
	maxBars   = 24
	maxLines  = 3
	maxKinds  = 6 // categories of one chart
)

// series returns the charts of a result, one for each column of numbers; none where it is no series. A series has
// distinct labels in its first column and a number in every other. Labels that are times make lines, others bars, of
// one column only. A result that was cut at a limit has no chart, because a part of a series is seen as the whole.
func series(t *result.Table) []chart {
	if t == nil || t.Truncated || len(t.Rows) < minPoints || len(t.Rows) > maxPoints || len(t.Columns) < 2 || len(t.Columns) > 1+maxLines {
		return nil
	}
	type point struct {
		label string
		at    float64
		row   []any
	}
	as := shapes(t)
	if c := crossed(t, as); c != nil {
		return []chart{*c}
	}
	points, timed, seen := make([]point, len(t.Rows)), true, map[string]bool{}
	for i, row := range t.Rows {
		if row[0] == nil {
			return nil
		}
		p := point{label: as[0].text(row[0]), row: row}
		if seen[p.label] || p.label == "" {
			return nil
		}
		seen[p.label] = true
		at, ok := moment(t.Columns[0], row[0])
		p.at, timed = at, timed && ok
		points[i] = p
	}
	if timed {
		slices.SortStableFunc(points, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	} else if _, text := t.Rows[0][0].(string); !text || len(points) > maxBars || len(t.Columns) > 2 {
		return nil
	}
	var all []chart
	for column := 1; column < len(t.Columns); column++ {
		c := chart{Kind: "bars", Title: visible(t.Columns[column] + " by " + t.Columns[0]), Lines: make([]line, 1)}
		if timed {
			c.Kind = "line"
		}
		if identifies(t.Columns[column]) {
			return nil
		}
		for _, p := range points {
			y, ok := number(p.row[column])
			if !ok || !timed && utf8.RuneCountInString(p.label) > 100 {
				return nil
			}
			c.Labels = append(c.Labels, visible(p.label))
			c.Lines[0].Texts, c.Lines[0].Values = append(c.Lines[0].Texts, as[column].text(p.row[column])), append(c.Lines[0].Values, &y)
			if timed {
				c.At = append(c.At, p.at)
			}
		}
		all = append(all, c)
	}
	return all
}

// crossed is the chart of a series for each category; nil where a result is none. It has a time or a name, a category and a
// number, and each pair of the first two once. The number may be missing for a pair.
func crossed(t *result.Table, as []shape) *chart {
	if len(t.Columns) != 3 || !as[2].numeric || identifies(t.Columns[2]) {
		return nil
	}
	times := func(column int) bool {
		return !slices.ContainsFunc(t.Rows, func(row []any) bool { _, ok := moment(t.Columns[column], row[column]); return !ok })
	}
	x, by := 0, 1
	if !times(0) && times(1) {
		x, by = 1, 0
	}
	c := &chart{Kind: "columns", Title: visible(t.Columns[2] + " by " + t.Columns[x] + " and " + t.Columns[by])}
	var labels []any
	names := map[string]int{}
	for _, row := range t.Rows {
		name, ok := row[by].(string)
		if _, text := row[x].(string); !ok || row[x] == nil || !text && !times(x) {
			return nil
		}
		if _, known := names[name]; !known {
			names[name] = len(c.Lines)
			c.Lines = append(c.Lines, line{Name: visible(words.Short(name, 60))})
		}
		if !slices.Contains(labels, row[x]) {
			labels = append(labels, row[x])
		}
	}
	if times(x) {
		at := func(label any) float64 { f, _ := moment(t.Columns[x], label); return f }
		slices.SortStableFunc(labels, func(a, b any) int { return cmp.Compare(at(a), at(b)) })
		for _, label := range labels {
			c.At = append(c.At, at(label))
		}
		c.Kind = "line"
	}
	if len(c.Lines) < 2 || len(c.Lines) > maxKinds || len(labels) < 2 || c.Kind == "columns" && len(labels)*len(c.Lines) > 2*maxBars {
		return nil
	}
	for i := range c.Lines {
		c.Lines[i].Values, c.Lines[i].Texts = make([]*float64, len(labels)), make([]string, len(labels))
	}
	for _, label := range labels {
		c.Labels = append(c.Labels, visible(words.Short(as[x].text(label), 100)))
	}
	for _, row := range t.Rows {
		of, i := c.Lines[names[row[by].(string)]], slices.Index(labels, row[x])
		if of.Texts[i] != "" {
			return nil // a pair that comes twice
		}
		if of.Texts[i] = "NULL"; row[2] != nil {
			y, _ := number(row[2])
			of.Values[i], of.Texts[i] = &y, as[2].text(row[2])
		}
	}
	return c
}

// identifies reports whether a column is named as the key of something, which is a number and no quantity.
func identifies(name string) bool {
	low := strings.ToLower(name)
	return low == "id" || strings.HasSuffix(low, "_id") || strings.HasSuffix(low, " id") || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

// steps are words in the name of a column whose whole numbers are times.
var steps = regexp.MustCompile(`(?i)(year|quarter|month|week|day|hour)`)

// forms are the forms of a time as text; a quarter and a week have one of their own.
var forms = []string{"2006", "2006-01", "2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05", time.RFC3339, "2006/01/02"}

var quarter = regexp.MustCompile(`^(\d{4})-?(Q|W)(\d{1,2})$`)

// moment is the place of a label on an axis of time.
func moment(column string, v any) (at float64, ok bool) {
	switch v := (result.Type{}).Plain(v).(type) {
	case int64:
		return float64(v), steps.MatchString(column) && v >= 0 && v < 3000
	case string:
		for _, form := range forms {
			if t, err := time.Parse(form, v); err == nil {
				return float64(t.Unix()), true
			}
		}
		if m := quarter.FindStringSubmatch(v); m != nil {
			year, _ := time.Parse("2006", m[1])
			part, _ := strconv.Atoi(m[3])
			days := map[string]int{"Q": 91, "W": 7}[m[2]]
			return float64(year.AddDate(0, 0, days*part).Unix()), true
		}
	}
	return 0, false
}
