package web

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/result"
)

// TestSeries: a result has a chart only if it is a series.
func TestSeries(t *testing.T) {
	rows := func(n int, row func(i int) []any) (all [][]any) {
		for i := range n {
			all = append(all, row(i))
		}
		return all
	}
	day := func(i int) []any { return []any{fmt.Sprintf("2026-01-%02d", i+1), int64(i * i)} }
	two := []string{"day", "sold"}
	for _, tt := range []struct {
		columns []string
		rows    [][]any
		want    string // kinds and titles
		why     string
	}{
		{two, rows(5, day), "line: sold by day", "days"},
		{two, rows(2, day), "", "two points are no series"},
		{two, rows(28, func(i int) []any { return []any{day(i)[0], "x"} }), "", "no numbers"},
		{two, rows(5, func(i int) []any { return []any{"2026-01-01", int64(i)} }), "", "a day that comes twice"},
		{two, rows(5, func(i int) []any { return []any{nil, int64(i)} }), "", "labels that are NULL"},
		{two, rows(6, func(i int) []any { return []any{[]any{day(i)[0], nil}[i/5], int64(i)} }), "line: sold by day (Left out: 1 row without day.)", "no day"},
		{[]string{"region", "n"}, rows(4, func(i int) []any { return []any{[]any{"a", "b", "c", nil}[i], int64(i)} }), "bars: n by region", "a group that is NULL"},
		{[]string{"region", "n"}, rows(5, func(i int) []any { return []any{[]any{"a", "b", "c", nil, nil}[i], int64(i)} }), "", "NULL twice"},
		{[]string{"region", "status", "n"}, rows(6, func(i int) []any { return []any{[]any{"r", nil}[i/3], []any{"s", "t", nil}[i%3], int64(i)} }),
			"columns: n by region and status", "names and categories that are NULL"},
		{[]string{"price", "sold"}, rows(9, func(i int) []any { return []any{1.5 * float64(i), int64(i % 4)} }), "scatter: sold and price", "pairs of numbers"},
		{[]string{"name", "price", "sold"}, rows(40, func(i int) []any { return []any{fmt.Sprint("n", i), 1.5 * float64(i), int64(i % 4)} }),
			"scatter: sold and price", "pairs of numbers with many names"},
		{[]string{"price", "sold"}, rows(9, func(i int) []any { return []any{[]any{1.5, nil}[i/8], int64(i % 4)} }),
			"scatter: sold and price (Left out: 1 row without one of the numbers.)", "a pair that lacks one"},
		{two, rows(5, func(i int) []any { return []any{day(i)[0], nil} }), "", "values that are NULL"},
		{two, rows(5, func(i int) []any { return []any{day(i)[0], math.NaN()} }), "", "values that are no numbers"},
		{[]string{"day", "sold", "sent"}, rows(4, func(i int) []any { return append(day(i), 0.5) }),
			"line: sold by day, line: sent by day", "two lines"},
		{[]string{"month", "n"}, rows(12, func(i int) []any { return []any{int64(i + 1), int64(i)} }), "line: n by month", "months as numbers"},
		{[]string{"id", "n"}, rows(12, func(i int) []any { return []any{int64(i + 1), int64(i)} }), "", "keys are no labels"},
		{[]string{"quarter", "n"}, rows(4, func(i int) []any { return []any{fmt.Sprintf("2026-Q%d", i+1), int64(i)} }), "line: n by quarter", "quarters"},
		{[]string{"region", "n"}, rows(4, func(i int) []any { return []any{fmt.Sprint("region ", i), result.Decimal("0.5")} }),
			"bars: n by region", "names and a number"},
		{[]string{"region", "clerk_id"}, rows(4, func(i int) []any { return []any{fmt.Sprint("region ", i), int64(i)} }), "", "a key is no quantity"},
		{[]string{"region", "n"}, rows(30, func(i int) []any { return []any{fmt.Sprint("region ", i), int64(i)} }), "", "too many names"},
		{[]string{"region", "a", "b"}, rows(4, func(i int) []any { return []any{fmt.Sprint(i, "x"), 1.5, 2.5} }),
			"columns: a, b by region", "bars of two quantities"},
		{[]string{"region", "a", "b"}, rows(4, func(i int) []any { return []any{fmt.Sprint(i, "x"), 1.5, 250.5} }),
			"bars: a by region, bars: b by region", "two quantities far apart"},
		{[]string{"day", "status", "n"}, rows(8, func(i int) []any { return []any{day(i / 2)[0], fmt.Sprint("s", i%2), int64(i)} }),
			"line: n by day and status", "a time and a category"},
		{[]string{"status", "day", "n"}, rows(8, func(i int) []any { return []any{fmt.Sprint("s", i/4), day(i % 4)[0], nil} }), "", "no number at all"},
		{[]string{"status", "day", "n"}, rows(8, func(i int) []any { return []any{fmt.Sprint("s", i/4), day(i % 4)[0], 1.5} }),
			"line: n by day and status", "a category and a time"},
		{[]string{"region", "status", "n"}, rows(6, func(i int) []any { return []any{fmt.Sprint("r", i/2), fmt.Sprint("s", i%2), int64(i)} }),
			"columns: n by region and status", "names and a category"},
		{[]string{"region", "status", "n"}, rows(6, func(i int) []any { return []any{"r", fmt.Sprint("s", i%2), int64(i)} }), "", "a pair that comes twice"},
		{[]string{"day", "status", "n"}, rows(40, func(i int) []any { return []any{day(i / 8)[0], fmt.Sprint("s", i%8), int64(i)} }), "", "eight categories"},
		{[]string{"day", "clerk", "clerk_id"}, rows(8, func(i int) []any { return []any{day(i / 2)[0], fmt.Sprint("s", i%2), int64(i)} }), "", "a key by category"},
		{[]string{"n"}, rows(4, func(i int) []any { return []any{int64(i)} }), "", "one column"},
	} {
		var got []string
		for _, c := range series(&result.Table{Columns: tt.columns, Rows: tt.rows}, false) {
			text := c.Kind + ": " + c.Title
			if c.Note != "" {
				text += " (" + c.Note + ")"
			}
			got = append(got, text)
		}
		if strings.Join(got, ", ") != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
	if series(nil, true) != nil {
		t.Error("a chart of nothing")
	}
	cut := series(&result.Table{Columns: two, Rows: rows(5, day), Truncated: true}, true)
	if cut[0].Note != "Of the first 5 rows; there are more." || cut[0].Parts {
		t.Errorf("a chart of a part: %+v", cut)
	}
	down := series(&result.Table{Columns: two, Rows: [][]any{{"2026-01-09", int64(1)}, {"2026-01-02", int64(2)}, {"2026-01-01", int64(3)}}}, true)
	if diff := cmp.Diff([]string{"2026-01-01", "2026-01-02", "2026-01-09"}, down[0].Labels); diff != "" || down[0].At[2]-down[0].At[1] != 7*24*3600 {
		t.Error(diff, down[0].At)
	}
}

// TestCrossed: a value stands at its label and in its category; where a pair is missing nothing does.
func TestCrossed(t *testing.T) {
	c := series(&result.Table{Columns: []string{"month", "status", "n"}, Rows: [][]any{
		{"2026-03", "open", int64(1234)}, {"2026-01", "open", 2.5}, {"2026-01", "sent", int64(3)}, {"2026-02", "sent", nil}}}, true)[0]
	value := func(v *float64) any {
		if v == nil {
			return nil
		}
		return *v
	}
	var got []any
	for _, l := range c.Lines {
		for i := range c.Labels {
			got = append(got, l.Name+" "+c.Labels[i]+" "+l.Texts[i], value(l.Values[i]))
		}
	}
	if diff := cmp.Diff([]any{"open 2026-01 2.5", 2.5, "open 2026-02 ", nil, "open 2026-03 1,234", 1234.0,
		"sent 2026-01 3", 3.0, "sent 2026-02 NULL", nil, "sent 2026-03 ", nil}, got); diff != "" {
		t.Error(diff)
	}
}

// TestTabled: a page shows a bounded part of a result, says so, and tells NULL from the text NULL.
func TestTabled(t *testing.T) {
	long := strings.Repeat("x", maxText+1)
	wide := &result.Table{Columns: make([]string, 500)}
	for range 300 {
		wide.Rows = append(wide.Rows, make([]any, 500))
	}
	many := &result.Table{Columns: []string{"n"}, Truncated: true}
	for i := range 1000 {
		many.Rows = append(many.Rows, []any{int64(i)})
	}
	heavy := &result.Table{Columns: make([]string, 40)}
	for range 200 {
		row := make([]any, 40)
		for i := range row {
			row[i] = long
		}
		heavy.Rows = append(heavy.Rows, row)
	}
	for _, tt := range []struct {
		in    *result.Table
		shown int
		count string
		cut   bool
		why   string
	}{
		{&result.Table{Columns: []string{"a"}, Rows: [][]any{{nil}, {"NULL"}, {[]byte("abc")}, {0.1 + 0.2}, {"a\u202eb"}}}, 5, "5 rows", false, "a few"},
		{&result.Table{Columns: []string{"a"}}, 0, "0 rows", false, "none"},
		{many, 50, "the first 1,000 rows, and there are more", false, "many rows"},
		{wide, 20, "300 rows", false, "many columns"},
		{&result.Table{Columns: []string{"a"}, Rows: [][]any{{long}}}, 1, "1 row", true, "a long value"},
		{heavy, 27, "200 rows", true, "many long values"},
	} {
		got := tabled(tt.in)
		if len(got.Rows) != tt.shown || got.Count != tt.count || got.Cut != tt.cut {
			t.Errorf("%s: %d rows, %q, %v", tt.why, len(got.Rows), got.Count, got.Cut)
		}
	}
	var cells []string
	for _, row := range tabled(&result.Table{Columns: []string{"a"}, Rows: [][]any{{nil}, {"NULL"}, {[]byte("abc")}, {2.5}, {"a\u202eb"}}}).Rows {
		if row[0] == nil {
			cells = append(cells, "-")
		} else {
			cells = append(cells, *row[0])
		}
	}
	if diff := cmp.Diff([]string{"-", "NULL", "3 bytes", "2.5", "a⟨U+202E⟩b"}, cells); diff != "" {
		t.Error(diff)
	}
}

// TestMemo: it keeps the last turns.
func TestMemo(t *testing.T) {
	var m memo
	for i := range maxKept + 1 {
		m.put(memoKey{"a", i}, &kept{problem: &trouble{Error: fmt.Sprint(i)}})
		m.put(memoKey{"a", 1}, &kept{problem: &trouble{Error: "again"}})
	}
	if m.get(memoKey{"a", 0}) != nil || m.get(memoKey{"a", 1}).problem.Error != "again" || m.get(memoKey{"a", maxKept}) == nil ||
		len(m.all) != maxKept || len(m.ages) != maxKept {
		t.Error(len(m.all), m.ages)
	}
}
