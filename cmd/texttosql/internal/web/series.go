package web

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/texttosql/texttosql/result"
)

// chart is a series to be drawn: a line over time, or bars of the values of a few names.
type chart struct {
	Kind   string    `json:"kind"` // "line" or "bars"
	Title  string    `json:"title"`
	Labels []string  `json:"labels"`
	Texts  []string  `json:"texts"` // the values as the table shows them
	Values []float64 `json:"values"`
	At     []float64 `json:"at,omitempty"` // of a line: where each point stands, ascending
}

// How large a series may be.
const (
	minPoints = 3
	maxPoints = 400
	maxBars   = 24
	maxLines  = 3
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
		slices.SortStableFunc(points, func(a, b point) int {
			switch {
			case a.at < b.at:
				return -1
			case a.at > b.at:
				return 1
			}
			return 0
		})
	} else if _, text := t.Rows[0][0].(string); !text || len(points) > maxBars || len(t.Columns) > 2 {
		return nil
	}
	var all []chart
	for column := 1; column < len(t.Columns); column++ {
		c := chart{Kind: "bars", Title: visible(t.Columns[column] + " by " + t.Columns[0])}
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
			c.Labels, c.Texts, c.Values = append(c.Labels, visible(p.label)), append(c.Texts, as[column].text(p.row[column])), append(c.Values, y)
			if timed {
				c.At = append(c.At, p.at)
			}
		}
		all = append(all, c)
	}
	return all
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
	switch v := v.(type) {
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
