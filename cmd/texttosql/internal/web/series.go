package web

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/periods"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// chart is a series to be drawn, or one for each of a few categories: lines over time, the values of a few names, or
// pairs of numbers.
type chart struct {
	Kind    string   `json:"kind"` // "line", "bars" of one series, "columns" of several, or "scatter"
	Title   string   `json:"title"`
	Measure string   `json:"measure,omitempty"` // what the axis of numbers shows; "": the lines have names of their own
	Labels  []string `json:"labels"`
	// where each label stands: of a line ascending; of a scatter its first number
	At []float64 `json:"at,omitempty"`
	// what At counts seconds of: "moment", or the grain of periods; "": At is a number
	Time   string `json:"time,omitempty"`
	Moment bool   `json:"moments,omitempty"` // the labels are moments, which the page shows by the reader's clock
	Across string `json:"across,omitempty"`  // of a scatter: what At is
	Lines  []line `json:"lines"`
	Parts  bool   `json:"parts,omitempty"` // the values are parts of a whole: they may be stacked and shown as shares
	Note   string `json:"note,omitempty"`  // what the chart does not show
}

// line is a series: a value and its text for each label, nil where there is none.
type line struct {
	Name   string     `json:"name,omitempty"`
	Values []*float64 `json:"values"`
	Texts  []string   `json:"texts"` // as the table shows them
}

// put adds the value of a column to a line.
func (l *line) put(as shape, v any) {
	if y, ok := as.of.Number(v); ok {
		l.Values, l.Texts = append(l.Values, &y), append(l.Texts, as.Text(v))
	} else {
		l.Values, l.Texts = append(l.Values, nil), append(l.Texts, "NULL")
	}
}

// How large a series may be.
const (
	minPoints  = 3
	maxPoints  = 1000
	maxBars    = 24
	maxLines   = 3
	maxKinds   = 6 // categories of one chart
	minScatter = 8
	apart      = 50 // measures whose largest values differ by this factor stand in charts of their own
)

// none is the name of a group that is NULL.
const none = "(none)"

// asked is what a statement tells about the charts of its result.
type asked struct {
	parts   bool     // its numbers are sums or counts of groups
	ordered bool     // somebody ordered the rows
	units   []string // of each column, see unitOf; nil: not known
	spans   []string // of each column, as periods.Spans; nil: not known
}

// outlined reads a statement for its charts.
func outlined(s *sqltext.Statement, columns []string) asked {
	of := s.Outline()
	a := asked{parts: addsUp(of), ordered: len(of.OrderBy) > 0, spans: periods.Spans(s, columns)}
	for i, name := range columns {
		text, counts := name, false
		if len(of.Items) == len(columns) && !of.Star {
			text = of.Items[i].Text
			counts = slices.Contains(of.Items[i].Aggregates, "COUNT") && !strings.Contains(text, "/")
		}
		a.units = append(a.units, unitOf(text, counts))
	}
	return a
}

// money are words of what is measured in money.
var money = regexp.MustCompile(
	`(?i)(amount|total|price|cost|revenue|sales|salary|budget|balance|payment|fee|tax|profit|spent|paid)`)

// word is a name in an expression.
var word = regexp.MustCompile(`[\pL_][\pL\pN_]*`)

// unitOf is what the values of an expression are counted in: things, money, or what its last name says.
func unitOf(text string, counts bool) string {
	names := word.FindAllString(text, -1)
	switch {
	case counts:
		return "count"
	case money.MatchString(text):
		return "money"
	case len(names) == 0:
		return ""
	}
	parts := words.OfName(names[len(names)-1])
	return parts[len(parts)-1]
}

// series returns the charts of a result; none where it is no series.
//
// A series has distinct labels in its first column and numbers in every other, or a category in the second. Labels that
// are times make lines, others bars. Pairs of numbers make a scatter. A chart of a result that was cut at a limit says
// so.
func series(t *result.Table, a asked) []chart {
	if t == nil || len(t.Rows) < minPoints || len(t.Rows) > maxPoints || len(t.Columns) < 2 || len(t.Columns) > 1+
		maxLines {
		return nil
	}
	as := shapes(t)
	for i, span := range a.spans {
		if span == "week" {
			as[i].name = span // "2024-05" is the fifth week
		}
	}
	all := crossed(t, as)
	if all == nil {
		all = labelled(t, as, a.units)
	}
	if all == nil {
		all = scattered(t, as)
	}
	for i := range all {
		c := &all[i]
		c.Parts = a.parts && !t.Truncated && c.Kind != "scatter" && !slices.ContainsFunc(c.Lines, negative)
		if t.Truncated {
			c.Note = strings.TrimSpace("Of the first " + counted(len(t.Rows), "row") + ". " + c.Note)
		}
		if !a.ordered && c.At == nil && slices.ContainsFunc(c.Labels, func(label string) bool {
			return label != none && !orderly.MatchString(label)
		}) {
			c.sort()
		}
	}
	return all
}

// orderly are labels that have an order of their own: ages, quarters, months, days of a week.
var orderly = regexp.MustCompile(`(?i)^(\d.*|[<>].*|(under|over) .*|q[1-4]|jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|` +
	`sept?(ember)?|oct(ober)?|nov(ember)?|dec(ember)?|(mon|tues?|wed(nes)?|thu(rs)?|fri|sat(ur)?|sun)(day)?)$`)

// sort puts the labels with the largest values first.
func (c *chart) sort() {
	sum := make([]float64, len(c.Labels))
	var order []int
	for i := range c.Labels {
		order = append(order, i)
		for _, l := range c.Lines {
			if l.Values[i] != nil {
				sum[i] += *l.Values[i]
			}
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(sum[j], sum[i]) })
	c.Labels = placed(c.Labels, order)
	for i, l := range c.Lines {
		c.Lines[i].Values, c.Lines[i].Texts = placed(l.Values, order), placed(l.Texts, order)
	}
}

// placed is a list in another order.
func placed[T any](list []T, order []int) (out []T) {
	for _, i := range order {
		out = append(out, list[i])
	}
	return out
}

func negative(l line) bool {
	return slices.ContainsFunc(l.Values, func(v *float64) bool { return v != nil && *v < 0 })
}

// timely reports whether all values of a column but NULL are times, and there is one.
func timely(t *result.Table, as []shape, column int) bool {
	found := false
	for _, row := range t.Rows {
		if _, ok := as[column].at(row[column]); ok {
			found = true
		} else if row[column] != nil {
			return false
		}
	}
	return found
}

// point is a row with its label.
type point struct {
	label string
	at    float64
	row   []any
}

// points are the rows by their first column, which are times or names, each once. A name may be NULL; a row without a
// time has no place, and left says how many there are.
func points(t *result.Table, as []shape) (all []point, timed bool, left int) {
	timed = timely(t, as, 0)
	seen := map[string]bool{}
	for _, row := range t.Rows {
		p := point{label: none, row: row}
		_, text := row[0].(string)
		switch {
		case row[0] == nil && timed:
			left++
			continue
		case row[0] != nil:
			p.label = as[0].Text(row[0])
		}
		if seen[p.label] || p.label == "" || !timed && row[0] != nil && (!text || utf8.RuneCountInString(p.label) > 100) {
			return nil, false, 0
		}
		seen[p.label] = true
		p.at, _ = as[0].at(row[0])
		all = append(all, p)
	}
	if timed {
		slices.SortStableFunc(all, func(a, b point) int { return cmp.Compare(a.at, b.at) })
	} else if len(all) > maxBars {
		return nil, false, 0
	}
	return all, timed, left
}

// labelled are the charts of numbers by a time or a name: one for each column, or one of several columns of one unit
// and about the same size by a name.
func labelled(t *result.Table, as []shape, units []string) (charts []chart) {
	all, timed, left := points(t, as)
	if len(all) < minPoints {
		return nil
	}
	base, largest := chart{Kind: "bars"}, []float64{}
	if base.Moment = timed && as[0].Instant; timed {
		base.Kind, base.Time = "line", as[0].time(all[0].row[0])
	}
	if left > 0 {
		base.Note = "Left out: " + counted(left, "row") + " without " + visible(t.Columns[0]) + "."
	}
	for _, p := range all {
		base.Labels = append(base.Labels, visible(p.label))
		if timed {
			base.At = append(base.At, p.at)
		}
	}
	for column := 1; column < len(t.Columns); column++ {
		if identifies(t.Columns[column]) || !as[column].Numeric {
			return nil
		}
		c, high, found := base, 0.0, 0
		c.Measure = as[column].axis()
		c.Title, c.Lines = visible(t.Columns[column]+" by "+t.Columns[0]), []line{{Name: c.Measure}}
		for _, p := range all {
			if y, ok := as[column].of.Number(p.row[column]); ok {
				high, found = max(high, math.Abs(y)), found+1
			} else if p.row[column] != nil {
				return nil // no place on an axis
			}
			c.Lines[0].put(as[column], p.row[column])
		}
		if found < minPoints {
			return nil
		}
		charts, largest = append(charts, c), append(largest, high)
	}
	alike := units == nil || len(slices.Compact(slices.Clone(units[1:]))) == 1
	if timed || !alike || len(charts) == 1 || slices.Max(largest) > apart*slices.Min(largest) {
		for i := range charts {
			charts[i].Lines[0].Name = "" // its title has it
		}
		return charts
	}
	joined := charts[0]
	joined.Kind, joined.Measure, joined.Title = "columns", "",
		visible(strings.Join(t.Columns[1:], ", ")+" by "+t.Columns[0])
	for _, c := range charts[1:] {
		joined.Lines = append(joined.Lines, c.Lines[0])
	}
	return []chart{joined}
}

// scattered is the chart of two columns of numbers that are neither keys nor times, with a name in front of them or
// without.
func scattered(t *result.Table, as []shape) []chart {
	x := len(t.Columns) - 2
	if len(t.Rows) < minScatter || x > 1 {
		return nil
	}
	for _, column := range []int{x, x + 1} {
		if !as[column].Numeric || as[column].Plain {
			return nil
		}
	}
	c := chart{Kind: "scatter", Title: visible(t.Columns[x+1] + " and " + t.Columns[x]),
		Measure: as[x+1].axis(), Across: as[x].axis(),
		Lines: make([]line, 1)}
	left := 0
	for _, row := range t.Rows {
		at, ok := as[x].of.Number(row[x])
		if _, also := as[x+1].of.Number(row[x+1]); !ok || !also {
			left++
			continue
		}
		label := as[x].Text(row[x])
		if x == 1 && row[0] != nil {
			label = words.Short(as[0].Text(row[0]), 60) + ", " + label
		}
		c.Labels, c.At = append(c.Labels, visible(label)), append(c.At, at)
		c.Lines[0].put(as[x+1], row[x+1])
	}
	if len(c.At) < minScatter {
		return nil
	}
	if left > 0 {
		c.Note = "Left out: " + counted(left, "row") + " without one of the numbers."
	}
	return []chart{c}
}

// crossed is the chart of a series for each category; nil where a result is none. It has a time or a name, a category
// and a number, and each pair of the first two once. The number may be missing for a pair, and a name may be NULL.
func crossed(t *result.Table, as []shape) []chart {
	if len(t.Columns) != 3 || !as[2].Numeric || identifies(t.Columns[2]) {
		return nil
	}
	x, by := 0, 1
	if !timely(t, as, 0) && timely(t, as, 1) {
		x, by = 1, 0
	}
	timed := timely(t, as, x)
	if timed && slices.ContainsFunc(t.Rows, func(row []any) bool { return row[x] == nil }) {
		return nil
	}
	c := chart{Kind: "columns", Title: visible(t.Columns[2] + " by " + t.Columns[x] + " and " + t.Columns[by]),
		Measure: as[2].axis()}
	var labels []any
	names := map[any]int{}
	for _, row := range t.Rows {
		if !named(row[by]) || !timed && !named(row[x]) {
			return nil
		}
		if _, known := names[row[by]]; !known {
			names[row[by]] = len(c.Lines)
			c.Lines = append(c.Lines, line{Name: nameOf(row[by])})
		}
		if !slices.Contains(labels, row[x]) {
			labels = append(labels, row[x])
		}
	}
	if timed {
		at := func(label any) float64 { f, _ := as[x].at(label); return f }
		slices.SortStableFunc(labels, func(a, b any) int { return cmp.Compare(at(a), at(b)) })
		for _, label := range labels {
			c.At = append(c.At, at(label))
		}
		c.Kind, c.Moment, c.Time = "line", as[x].Instant, as[x].time(labels[0])
	}
	if len(c.Lines) < 2 || len(c.Lines) > maxKinds || len(labels) < 2 || c.Kind == "columns" &&
		len(labels)*len(c.Lines) > 2*maxBars {
		return nil
	}
	for i := range c.Lines {
		c.Lines[i].Values, c.Lines[i].Texts = make([]*float64, len(labels)), make([]string, len(labels))
	}
	for _, label := range labels {
		text := none
		if label != nil {
			text = visible(words.Short(as[x].Text(label), 100))
		}
		c.Labels = append(c.Labels, text)
	}
	for _, row := range t.Rows {
		of, i := c.Lines[names[row[by]]], slices.Index(labels, row[x])
		if of.Texts[i] != "" {
			return nil // a pair that comes twice
		}
		if of.Texts[i] = "NULL"; row[2] != nil {
			y, _ := as[2].of.Number(row[2])
			of.Values[i], of.Texts[i] = &y, as[2].Text(row[2])
		}
	}
	return []chart{c}
}

// named reports whether a value can be the name of a group: a text, or NULL.
func named(v any) bool {
	_, text := v.(string)
	return text || v == nil
}

// nameOf is the name of a group.
func nameOf(v any) string {
	if v == nil {
		return none
	}
	return visible(words.Short(v.(string), 60))
}

// identifies reports whether a column is named as the key of something, which is a number and no quantity.
func identifies(name string) bool {
	low := strings.ToLower(name)
	return low == "id" || strings.HasSuffix(low, "_id") || strings.HasSuffix(low, " id") ||
		strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "ID")
}

// steps are words in the name of a column whose whole numbers are times.
var steps = regexp.MustCompile(`(?i)(year|quarter|month|week|day|hour)`)

// forms are the forms of a time as text; a quarter and a week have one of their own.
var forms = []string{"2006", "2006-01", "2006-01-02", "2006-01-02 15:04", "2006-01-02 15:04:05",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z07", time.RFC3339, "2006/01/02"}

var quarter = regexp.MustCompile(`^(\d{4})-?(Q|W|)(\d{1,2})$`)

// moment is the place of a label on an axis of time.
func moment(column string, v any) (at float64, ok bool) {
	switch v := (result.Type{}).Plain(v).(type) {
	case int64:
		return float64(v), steps.MatchString(column) && v >= 0 && v < 3000
	case string:
		week := strings.Contains(strings.ToLower(column), "week")
		for _, form := range forms {
			if form == "2006" && !steps.MatchString(column) || form == "2006-01" && week {
				continue
			}
			if t, err := time.Parse(form, v); err == nil {
				return float64(t.Unix()), true
			}
		}
		if m := quarter.FindStringSubmatch(v); m != nil && (m[2] != "" || week) {
			year, _ := time.Parse("2006", m[1])
			part, _ := strconv.Atoi(m[3])
			months, days := 0, 7*(part-1)
			if m[2] == "Q" {
				months, days = 3*(part-1), 0
			}
			return float64(year.AddDate(0, months, days).Unix()), true
		}
	}
	return 0, false
}
