package web

import (
	cmpstd "cmp"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec/sqlite"
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
		{two, rows(6, func(i int) []any { return []any{[]any{day(i)[0], nil}[i/5], int64(i)} }),
			"line: sold by day (Left out: 1 row without day.)", "no day"},
		{[]string{"region", "n"}, rows(4, func(i int) []any { return []any{[]any{"a", "b", "c", nil}[i], int64(i)} }),
			"bars: n by region", "a group that is NULL"},
		{[]string{"region", "n"}, rows(5, func(i int) []any { return []any{[]any{"a", "b", "c", nil, nil}[i], int64(i)} }),
			"", "NULL twice"},
		{[]string{"region", "status", "n"}, rows(6, func(i int) []any {
			return []any{[]any{"r", nil}[i/3], []any{"s", "t", nil}[i%3], int64(i)}
		}),
			"columns: n by region and status", "names and categories that are NULL"},
		{[]string{"price", "sold"}, rows(9, func(i int) []any { return []any{1.5 * float64(i), int64(i % 4)} }),
			"scatter: sold and price", "pairs of numbers"},
		{[]string{"name", "price", "sold"}, rows(40, func(i int) []any {
			return []any{fmt.Sprint("n", i), 1.5 * float64(i), int64(i % 4)}
		}),
			"scatter: sold and price", "pairs of numbers with many names"},
		{[]string{"price", "sold"}, rows(9, func(i int) []any { return []any{[]any{1.5, nil}[i/8], int64(i % 4)} }),
			"scatter: sold and price (Left out: 1 row without one of the numbers.)", "a pair that lacks one"},
		{two, rows(5, func(i int) []any { return []any{day(i)[0], nil} }), "", "values that are NULL"},
		{two, rows(5, func(i int) []any { return []any{day(i)[0], math.NaN()} }), "", "values that are no numbers"},
		{[]string{"day", "sold", "sent"}, rows(4, func(i int) []any { return append(day(i), 0.5) }),
			"line: sold by day, line: sent by day", "two lines"},
		{[]string{"month", "n"}, rows(12, func(i int) []any { return []any{int64(i + 1), int64(i)} }), "line: n by month",
			"months as numbers"},
		{[]string{"id", "n"}, rows(12, func(i int) []any { return []any{int64(i + 1), int64(i)} }), "", "keys are no labels"},
		{[]string{"quarter", "n"}, rows(4, func(i int) []any { return []any{fmt.Sprintf("2026-Q%d", i+1), int64(i)} }),
			"line: n by quarter", "quarters"},
		{[]string{"zip", "n"}, rows(3, func(i int) []any { return []any{fmt.Sprint(1010 + 10*i), int64(i)} }),
			"bars: n by zip", "four digits that are no year"},
		{[]string{"fiscal_year", "n"}, rows(3, func(i int) []any { return []any{fmt.Sprint(2021 + i), int64(i)} }),
			"line: n by fiscal_year", "years as texts"},
		{[]string{"region", "n"}, rows(4, func(i int) []any {
			return []any{fmt.Sprint("region ", i), result.Decimal("0.5")}
		}),
			"bars: n by region", "names and a number"},
		{[]string{"region", "clerk_id"}, rows(4, func(i int) []any { return []any{fmt.Sprint("region ", i), int64(i)} }), "",
			"a key is no quantity"},
		{[]string{"region", "n"}, rows(30, func(i int) []any { return []any{fmt.Sprint("region ", i), int64(i)} }), "",
			"too many names"},
		{[]string{"region", "a", "b"}, rows(4, func(i int) []any { return []any{fmt.Sprint(i, "x"), 1.5, 2.5} }),
			"columns: a, b by region", "bars of two quantities"},
		{[]string{"region", "a", "b"}, rows(4, func(i int) []any { return []any{fmt.Sprint(i, "x"), 1.5, 250.5} }),
			"bars: a by region, bars: b by region", "two quantities far apart"},
		{[]string{"day", "status", "n"}, rows(8, func(i int) []any {
			return []any{day(i / 2)[0], fmt.Sprint("s", i%2), int64(i)}
		}),
			"line: n by day and status", "a time and a category"},
		{[]string{"status", "day", "n"}, rows(8, func(i int) []any {
			return []any{fmt.Sprint("s", i/4), day(i % 4)[0], nil}
		}), "", "no number at all"},
		{[]string{"status", "day", "n"}, rows(8, func(i int) []any {
			return []any{fmt.Sprint("s", i/4), day(i % 4)[0], 1.5}
		}),
			"line: n by day and status", "a category and a time"},
		{[]string{"region", "status", "n"}, rows(6, func(i int) []any {
			return []any{fmt.Sprint("r", i/2), fmt.Sprint("s", i%2), int64(i)}
		}),
			"columns: n by region and status", "names and a category"},
		{[]string{"region", "status", "n"}, rows(6, func(i int) []any { return []any{"r", fmt.Sprint("s", i%2), int64(i)} }),
			"", "a pair that comes twice"},
		{[]string{"day", "status", "n"}, rows(40, func(i int) []any {
			return []any{day(i / 8)[0], fmt.Sprint("s", i%8), int64(i)}
		}), "", "eight categories"},
		{[]string{"day", "clerk", "clerk_id"}, rows(8, func(i int) []any {
			return []any{day(i / 2)[0], fmt.Sprint("s", i%2), int64(i)}
		}), "", "a key by category"},
		{[]string{"n"}, rows(4, func(i int) []any { return []any{int64(i)} }), "", "one column"},
	} {
		var got []string
		for _, c := range series(&result.Table{Columns: tt.columns, Rows: tt.rows}, asked{ordered: true}) {
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
	if series(nil, asked{}) != nil {
		t.Error("a chart of nothing")
	}
	cut := series(&result.Table{Columns: two, Rows: rows(5, day), Truncated: true}, asked{parts: true, ordered: true})
	if cut[0].Note != "Of the first 5 rows." || cut[0].Parts {
		t.Errorf("a chart of a part: %+v", cut)
	}
	down := series(&result.Table{Columns: two,
		Rows: [][]any{{"2026-01-09", int64(1)}, {"2026-01-02", int64(2)}, {"2026-01-01", int64(3)}}}, asked{parts: true,
		ordered: true})
	if diff := cmp.Diff([]string{"2026-01-01", "2026-01-02", "2026-01-09"}, down[0].Labels); diff != "" ||
		down[0].At[2]-down[0].At[1] != 7*24*3600 {
		t.Error(diff, down[0].At)
	}
}

// TestMoment: a text has its place by the beginning of what it names.
func TestMoment(t *testing.T) {
	for _, tt := range []struct{ why, column, text, want string }{
		{"a month", "month", "2024-05", "2024-05-01"},
		{"a month of a column without a name of a time", "at", "2024-05", "2024-05-01"},
		{"the first quarter", "q", "2023-Q1", "2023-01-01"},
		{"the last quarter", "q", "2023Q4", "2023-10-01"},
		{"the first week", "at", "2024-W01", "2024-01-01"},
		{"a week by the name of its column", "week", "2024-05", "2024-01-29"},
		{"a day of a week", "week", "2024-01-08", "2024-01-08"},
		{"a year", "fiscal_year", "2024", "2024-01-01"},
		{"a code", "zip", "8020", ""},
		{"a long code", "zip", "802051", ""},
	} {
		at, ok := moment(tt.column, tt.text)
		if got := time.Unix(int64(at), 0).UTC().Format(time.DateOnly); ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %q of %q at %s, %v", tt.why, tt.text, tt.column, got, ok)
		}
	}
}

// TestWeeks: the statement tells weeks from months.
func TestWeeks(t *testing.T) {
	columns := []string{"w", "n"}
	table := &result.Table{Columns: columns,
		Rows: [][]any{{"2024-01", int64(3)}, {"2024-05", int64(4)}, {"2024-12", int64(5)}}}
	for _, tt := range []struct{ why, format, want string }{
		{"weeks", "%Y-%W", "2024-03-18"}, {"months", "%Y-%m", "2024-12-01"},
	} {
		s := sqlite.Dialect{}.Language().Text.Parse(
			"SELECT strftime('" + tt.format + "', d) AS w, count(*) AS n FROM t GROUP BY 1")
		at := series(table, outlined(s, columns))[0].At
		if got := time.Unix(int64(at[2]), 0).UTC().Format(time.DateOnly); got != tt.want {
			t.Errorf("%s: the last one is at %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestFigure: what nobody looked behind, and what nobody knows the ends of, is not called first or whole. A small line
// goes to the end of its values.
func TestFigure(t *testing.T) {
	s := open(t, nil).server
	row := func(cells ...any) []any { return cells }
	price := []string{"name", "price"}
	for _, tt := range []struct {
		why, sql string
		columns  []string
		rows     [][]any
		want     string
	}{
		{"the first one", "SELECT name, price FROM products ORDER BY price DESC LIMIT 1", price,
			[][]any{row("Ink", 7.5)}, ""},
		{"the first two", "SELECT name, price FROM products ORDER BY price DESC LIMIT 2", price,
			[][]any{row("Ink", 7.5), row("Pad", 6.5)}, ""},
		{"the first three", "SELECT name, price FROM products ORDER BY price DESC LIMIT 3", price,
			[][]any{row("Ink", 7.5), row("Pad", 6.5), row("Cup", 5.5)}, "Highest price: Ink, 7.50; then Pad, 6.50."},
		{"no rows", "SELECT name, price FROM products ORDER BY price DESC LIMIT 1", price, nil,
			"There are no products."},
		{"all", "SELECT name, price FROM products ORDER BY price DESC", price, [][]any{row("Ink", 7.5), row("Pad", 6.5)},
			"Highest price: Ink, 7.50; then Pad, 6.50."},
		{"days of a column that may have times", "SELECT count(*) AS n FROM rentals " +
			"WHERE rental_date BETWEEN '2024-01-01' AND '2024-01-31'", []string{"n"}, [][]any{row(int64(9))}, ""},
		{"a half-open range", "SELECT count(*) AS n FROM rentals " +
			"WHERE rental_date >= '2024-01-01' AND rental_date < '2024-02-01'", []string{"n"}, [][]any{row(int64(9))},
			"9 rentals in January 2024."},
		{"months", "SELECT strftime('%Y-%m', sold_at) AS month, sum(amount) AS total FROM sales " +
			"WHERE sold_at >= '2024-01-01' AND sold_at < '2024-03-01' GROUP BY 1", []string{"month", "total"},
			[][]any{row("2024-01", int64(200)), row("2024-02", int64(100))}, "Highest in January 2024: 200."},
	} {
		if got := s.found(tt.sql, &result.Table{Columns: tt.columns, Rows: tt.rows}); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
	for n, want := range map[int]string{3: "[0 1 2]", 60: "60 up to 59", 61: "31 up to 60", 1000: "59 up to 986"} {
		days := &result.Table{Columns: []string{"day", "n"}}
		for i := range n {
			days.Rows = append(days.Rows, row(time.Unix(int64(i)*24*3600, 0).UTC().Format(time.DateOnly), int64(i)))
		}
		values := s.figure("SELECT day, n FROM visits", days, time.Time{}).Spark.Values
		got := fmt.Sprint(values)
		if n > 3 {
			got = fmt.Sprintf("%d up to %v", len(values), values[len(values)-1])
		}
		if got != want {
			t.Errorf("a line of %d values has %s, want %s", n, got, want)
		}
	}
}

// TestFoundOnce: what the engine said of the rows of an answer stays, also where it said nothing.
func TestFoundOnce(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How many in the north?").ID
	for _, tt := range []struct {
		why   string
		known *texttosql.Result
		want  string
	}{
		{"the engine was silent", &texttosql.Result{}, ""}, {"its words are gone", nil, "2 sales where region is “North”."},
	} {
		s.server.seen.change(memoKey{id, 0}, func(k *kept) { k.result, k.Found = tt.known, "" })
		if got := s.view(t, id).Turns[0].Answer.Found; got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestShares: the axis and the texts of shares are in percent, in each kind of chart; a table has the same texts.
func TestShares(t *testing.T) {
	part := result.Type{Kind: result.KindFloat, Share: true}
	bars := &result.Table{Columns: []string{"name", "paid"}, Types: []result.Type{{}, part},
		Rows: [][]any{{"A", 0.5}, {"B", 0.07}, {"C", nil}, {"D", 0.125}}}
	got := series(bars.Shown(), asked{ordered: true})[0]
	half, seven, eighth := 50.0, 7.0, 12.5
	want := []line{{Values: []*float64{&half, &seven, nil, &eighth}, Texts: []string{"50.0 %", "7.0 %", "NULL", "12.5 %"}}}
	if diff := cmp.Diff(want, got.Lines); diff != "" || got.Measure != "paid, %" {
		t.Errorf("bars: %q (-want +got):\n%s", got.Measure, diff)
	}
	if text := *tabled(bars).Rows[1][1]; text != "7.0 %" {
		t.Errorf("table: %q", text)
	}

	pairs := &result.Table{Columns: []string{"n", "paid"}, Types: []result.Type{{}, part}}
	crossed := &result.Table{Columns: []string{"name", "kind", "paid"}, Types: []result.Type{{}, {}, part}}
	for i := range minScatter {
		pairs.Rows = append(pairs.Rows, []any{float64(i) + 0.5, 0.5})
		crossed.Rows = append(crossed.Rows, []any{string(rune('A' + i/2)), string(rune('X' + i%2)), 0.5})
	}
	for _, table := range []*result.Table{pairs, crossed} {
		got := series(table, asked{ordered: true})[0]
		if *got.Lines[0].Values[0] != 50 || got.Lines[0].Texts[0] != "50 %" || got.Measure != "paid, %" {
			t.Errorf("%s: %v %q %q", got.Kind, *got.Lines[0].Values[0], got.Lines[0].Texts[0], got.Measure)
		}
	}
}

// TestCrossed: a value stands at its label and in its category; where a pair is missing nothing does.
func TestCrossed(t *testing.T) {
	c := series(&result.Table{Columns: []string{"month", "status", "n"}, Rows: [][]any{
		{"2026-03", "open", int64(1234)}, {"2026-01", "open", 2.5}, {"2026-01", "sent", int64(3)}, {"2026-02", "sent", nil}}},
		asked{parts: true, ordered: true})[0]
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
	if diff := cmp.Diff([]any{"open 2026-01 2.50", 2.5, "open 2026-02 ", nil, "open 2026-03 1,234.00", 1234.0,
		"sent 2026-01 3.00", 3.0, "sent 2026-02 NULL", nil, "sent 2026-03 ", nil}, got); diff != "" {
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
		{&result.Table{Columns: []string{"a"}, Rows: [][]any{{nil}, {"NULL"}, {[]byte("abc")}, {0.1 + 0.2}, {"a\u202eb"}}}, 5,
			"5 rows", false, "a few"},
		{&result.Table{Columns: []string{"a"}}, 0, "0 rows", false, "none"},
		{many, 50, "the first 1,000 rows", false, "many rows"},
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
	for _, row := range tabled(&result.Table{Columns: []string{"a"}, Rows: [][]any{{nil}, {"NULL"}, {[]byte("abc")}, {2.5},
		{"a\u202eb"}}}).Rows {
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
	if m.get(memoKey{"a", 0}) != nil || m.get(memoKey{"a", 1}).problem.Error != "again" ||
		m.get(memoKey{"a", maxKept}) == nil ||
		len(m.all) != maxKept || len(m.ages) != maxKept {
		t.Error(len(m.all), m.ages)
	}
}

// TestAddsUp: sums and counts of groups are parts of a whole, and nothing else is.
func TestAddsUp(t *testing.T) {
	for _, tt := range []struct {
		why, item string
		want      bool
	}{
		{"a count", "count(*)", true}, {"a sum", "sum(total)", true}, {"an average", "avg(total)", false},
		{"a percentage", "100.0 * sum(paid) / count(*)", false}, {"different values", "count(DISTINCT city)", false},
		{"no figure", "city", false},
	} {
		s := sqlite.Dialect{}.Language().Text.Parse("SELECT a / 2, " + tt.item + " FROM orders GROUP BY 1")
		if got := addsUp(s.Outline()); got != tt.want {
			t.Errorf("%s: %v", tt.why, got)
		}
	}
}

// TestUnits: measures of one unit stand in one chart, those of two in a chart each. Bars stand by their size unless
// somebody ordered them.
func TestUnits(t *testing.T) {
	dialect := sqlite.Dialect{}.Language().Text
	for _, tt := range []struct {
		why, sql string
		rows     [][]any
		charts   int
		first    []string
	}{
		{"a count and a sum", "SELECT status, COUNT(*) AS orders, SUM(total) AS revenue FROM orders GROUP BY status",
			[][]any{{"a", int64(5), 7.5}, {"b", int64(9), 6.5}, {"c", int64(7), 9.5}}, 2, []string{"b", "c", "a"}},
		{"a count and a percentage",
			"SELECT country, COUNT(*) AS orders, ROUND(100.0 * SUM(paid) / COUNT(*), 1) AS paid_pct " +
				"FROM orders GROUP BY country",
			[][]any{{"a", int64(5), 7.5}, {"b", int64(9), 6.5}, {"c", int64(7), 9.5}}, 2, []string{"b", "c", "a"}},
		{"two sums of money", "SELECT status, SUM(price) AS revenue, SUM(cost) AS spent FROM orders GROUP BY status",
			[][]any{{"a", 5.5, 7.5}, {"b", 9.5, 6.5}, {"c", 7.5, 9.5}}, 1, []string{"c", "b", "a"}},
		{"two numbers of one column", "SELECT status, MIN(height) AS low, MAX(height) AS high FROM trees GROUP BY status",
			[][]any{{"a", 5.5, 7.5}, {"b", 9.5, 6.5}, {"c", 7.5, 9.5}}, 1, []string{"c", "b", "a"}},
		{"a height and a weight", "SELECT status, AVG(height) AS h, AVG(weight) AS w FROM trees GROUP BY status",
			[][]any{{"a", 5.5, 7.5}, {"b", 9.5, 6.5}, {"c", 7.5, 9.5}}, 2, []string{"b", "c", "a"}},
		{"ordered by somebody", "SELECT status, COUNT(*) AS n FROM orders GROUP BY status ORDER BY status",
			[][]any{{"a", int64(5)}, {"b", int64(9)}, {"c", int64(7)}}, 1, []string{"a", "b", "c"}},
		{"labels with an order of their own", "SELECT age, COUNT(*) AS n FROM people GROUP BY age",
			[][]any{{"18-24", int64(5)}, {"25-34", int64(9)}, {"35+", int64(7)}}, 1, []string{"18-24", "25-34", "35+"}},
		{"days of a week", "SELECT weekday, COUNT(*) AS n FROM visits GROUP BY weekday",
			[][]any{{"Mon", int64(5)}, {"Tuesday", int64(9)}, {"Wed", int64(7)}}, 1, []string{"Mon", "Tuesday", "Wed"}},
		{"a name that begins like a month", "SELECT name, COUNT(*) AS n FROM visits GROUP BY name",
			[][]any{{"Marie", int64(5)}, {"Monica", int64(9)}, {"Sunil", int64(7)}}, 1, []string{"Monica", "Sunil", "Marie"}},
	} {
		of := dialect.Parse(tt.sql)
		columns := make([]string, len(of.Outline().Items))
		for i, item := range of.Outline().Items {
			columns[i] = cmpstd.Or(item.Alias, item.Column)
		}
		charts := series(&result.Table{Columns: columns, Rows: tt.rows}, outlined(of, columns))
		if len(charts) != tt.charts {
			t.Errorf("%s: %d charts", tt.why, len(charts))
			continue
		}
		if diff := cmp.Diff(tt.first, charts[0].Labels); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}
