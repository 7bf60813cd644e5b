package periods

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// TestMark: the expression of a column says its grain, values confirm it, and a plain column has none.
func TestMark(t *testing.T) {
	lite, pg, my, duck, big := sqltext.SQLite(), sqltext.PostgreSQL(), sqltext.MySQL(), sqltext.DuckDB(),
		sqltext.BigQuery()
	months := []any{"2024-01-01", nil, "2024-02-01"}

	for _, tt := range []struct {
		why    string
		d      sqltext.Dialect
		item   string
		values []any
		want   string
	}{
		{"a month of moments in a zone", pg, "date_trunc('month', t)",
			[]any{"2024-03-01 00:00:00-05", "2024-04-01 00:00:00-04"}, "month"},
		{"a bare unit", big, "DATE_TRUNC(t, MONTH)", months, "month"},
		{"TIMESTAMP_TRUNC", big, "TIMESTAMP_TRUNC(t, QUARTER)", []any{"2024-04-01 00:00:00Z"}, "quarter"},
		{"an interval as a text", duck, "time_bucket(INTERVAL '1 month', t)", months, "month"},
		{"an interval as words", duck, "time_bucket(INTERVAL 1 HOUR, t)", []any{"2024-01-08 13:00:00"}, "hour"},
		{"an interval in both", pg, "time_bucket(INTERVAL '3' MONTH, t)", []any{"2024-04-01"}, "quarter"},
		{"a text alone, and a zone", pg, "time_bucket('1 day', t, 'Asia/Tokyo')", []any{"2024-01-05 00:00:00+09"}, "day"},
		{"from an origin", pg, "date_bin('1 hour', t, TIMESTAMP '2000-01-01')", []any{"2024-01-08 13:00:00"}, "hour"},
		{"behind the time", big, "TIMESTAMP_BUCKET(t, INTERVAL 1 DAY)", []any{"2024-01-05 00:00:00Z"}, "day"},
		{"no grain's length", duck, "time_bucket(INTERVAL '2 months', t)", []any{"2024-01-01"}, ""},
		{"half an hour", duck, "time_bucket(INTERVAL '30 minutes', t)", []any{"2024-01-08 13:30:00"}, ""},
		{"an hour from another minute", pg, "date_bin('1 hour', t, TIMESTAMP '2000-01-01 00:30')",
			[]any{"2024-01-08 13:30:00"}, ""},
		{"cast to a date", pg, "date_trunc('month', t)::date", months, "month"},
		{"CAST", duck, "CAST(date_trunc('year', t) AS DATE)", []any{"2024-01-01"}, "year"},
		{"in another zone", pg, "date_trunc('day', t AT TIME ZONE 'Asia/Tokyo')", []any{"2024-01-05 00:00:00"}, "day"},
		{"a week", pg, "date_trunc('week', t)", []any{"2024-01-08"}, "week"},
		{"an hour", pg, "date_trunc('hour', t)", []any{"2024-01-08 13:00:00"}, "hour"},
		{"a format of SQLite", lite, "strftime('%Y-%m', t)", []any{"2024-01"}, "month"},
		{"a format of DuckDB", duck, "strftime(t, '%Y-%m')", []any{"2024-01"}, "month"},
		{"with a first day", lite, "strftime('%Y-%m-01', t)", months, "month"},
		{"a year in a format", lite, "strftime('%Y', t)", []any{"2024"}, "year"},
		{"DATE_FORMAT", my, "DATE_FORMAT(t, '%Y-%m')", []any{"2024-01"}, "month"},
		{"to_char", pg, "to_char(t, 'YYYY-MM')", []any{"2024-01"}, "month"},
		{"a name of a month", pg, "to_char(t, 'Mon YYYY')", []any{"Jan 2024"}, "month"},
		{"a quarter in a format", pg, `to_char(t, 'YYYY-"Q"Q')`, []any{"2024-Q1"}, "quarter"},
		{"YEAR", my, "YEAR(t)", []any{int64(2024)}, "year"},
		{"extract", pg, "extract(year FROM t)", []any{result.Decimal("2024")}, "year"},
		{"a cast year", lite, "CAST(strftime('%Y', t) AS INTEGER)", []any{int64(2024)}, "year"},
		{"date_part", pg, "date_part('year', t)", []any{2024.0}, "year"},
		{"a day", lite, "date(t)", []any{"2024-01-05"}, "day"},
		{"a day by a cast", pg, "t::date", []any{"2024-01-05"}, "day"},
		{"the start of the month", lite, "date(t, 'start of month')", months, "month"},
		{"the week's first day", lite, "date(t, 'weekday 0', '-6 days')", []any{"2024-01-08"}, "week"},
		{"a missing one", pg, "coalesce(date_trunc('month', t), now())", months, "month"},
		{"put together", lite, "strftime('%Y', t) || '-' || strftime('%m', t)", []any{"2024-01", "2024-03"}, "month"},
		{"an unknown function", pg, "first_of_month(t)", months, "month"},
		{"days taken away", my, "DATE_SUB(DATE(t), INTERVAL DAYOFMONTH(t) - 1 DAY)", months, "month"},

		{"a plain column on boundaries", pg, "t", months, ""},
		{"a qualified one", pg, "s.t", months, ""},
		{"a plain number", lite, "year", []any{int64(2024)}, ""},
		{"the latest of a plain column", pg, "max(t)", months, ""},
		{"a plain column with a fallback", pg, "coalesce(t, '2024-01-01')", months, ""},
		{"a shifted plain column", my, "DATE_ADD(t, INTERVAL 1 MONTH)", months, ""},
		{"an unknown function within months", pg, "due(t)", []any{"2024-01-01", "2024-02-15"}, ""},
		{"one value of an unknown function", pg, "due(t)", []any{"2024-01-01"}, ""},
		{"a CASE", pg, "CASE WHEN f(x) THEN '2024-01-01' ELSE t END", months, ""},
		{"values that are no months", pg, "date_trunc('month', t)", []any{"2024-01-15"}, ""},
		{"a month of each year", lite, "strftime('%m', t)", []any{"01"}, ""},
		{"a weekday", pg, "to_char(t, 'Day')", []any{"Monday"}, ""},
		{"a week with a number", lite, "strftime('%Y-%W', t)", []any{"2024-05"}, ""},
		{"weeks put together", lite, "strftime('%Y', t) || '-' || strftime('%W', t)", []any{"2024-05", "2024-06"}, ""},
		{"weeks of MySQL put together", my, "CONCAT(YEAR(t), '-', LPAD(WEEK(t), 2, '0'))", []any{"2024-05", "2024-06"}, ""},
		{"the end of a week", lite, "date(t, 'weekday 0')", []any{"2024-01-07"}, ""},
		{"a week's first day from the day before", lite, "date(t, '-6 days', 'weekday 1')", []any{"2024-01-08"}, "week"},
		{"a time of day", lite, "strftime('%H:%M', t)", []any{"12:30"}, ""},
		{"an extracted month", pg, "extract(month FROM t)", []any{int64(3)}, ""},
		{"only NULL", pg, "date_trunc('month', t)", []any{nil}, ""},
	} {
		table := &result.Table{Columns: []string{"a", "n"}, Types: make([]result.Type, 2)}
		for _, v := range tt.values {
			table.Rows = append(table.Rows, []any{v, int64(1)})
		}
		Mark(tt.d.Parse("SELECT "+tt.item+" AS a, count(*) FROM s GROUP BY 1"), table)
		if diff := cmp.Diff([]result.Type{{Grain: tt.want}, {}}, table.Types); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.why, tt.item, diff)
		}
	}
}

// TestSpans: each column has the part of a time that its expression cuts, or weeks by its name.
func TestSpans(t *testing.T) {
	lite, my := sqltext.SQLite(), sqltext.MySQL()
	for _, tt := range []struct {
		why     string
		d       sqltext.Dialect
		item    string
		columns []string
		want    []string
	}{
		{"a week by its expression", lite, "strftime('%Y-%W', d) AS w", []string{"w", "n"}, []string{"week", ""}},
		{"a week by the name that its expression gives", lite, "strftime('%Y-%W', d)",
			[]string{"strftime('%Y-%W', d)", "n"}, []string{"week", ""}},
		{"a week by its name", lite, "w AS order_wk", []string{"order_wk", "n"}, []string{"week", ""}},
		{"a month by its expression", lite, "strftime('%Y-%m', d) AS week", []string{"week", "n"}, []string{"month", ""}},
		{"a weekday", my, "DAYOFWEEK(d) AS weekday", []string{"weekday", "n"}, []string{"weekday", ""}},
		{"other columns than those of the list", lite, "strftime('%m', d) AS a", []string{"a", "n", "week"},
			[]string{"", "", "week"}},
		{"all columns", lite, "*", []string{"week", "n"}, []string{"week", ""}},
		{"no columns", lite, "strftime('%m', d) AS a", nil, []string{}},
	} {
		got := Spans(tt.d.Parse("SELECT "+tt.item+", count(*) AS n FROM s GROUP BY 1"), tt.columns)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", tt.why, tt.item, diff)
		}
	}
}

// TestMarkNested: a column keeps the grain that a nested SELECT gives it, where there is one such column.
func TestMarkNested(t *testing.T) {
	for _, tt := range []struct{ why, sql, want string }{
		{"WITH", "WITH m AS (SELECT date_trunc('month', t) AS month, count(*) AS n FROM s GROUP BY 1) SELECT month, n FROM m",
			"month"},
		{"a derived table", "SELECT x.month, x.n FROM (SELECT date_trunc('month', t) AS month, 1 AS n FROM s) x", "month"},
		{"two of one grain",
			"SELECT month, n FROM (SELECT date_trunc('month', t) AS month, 1 AS n FROM s UNION ALL SELECT date_trunc('month', " +
				"u) AS month, 2 FROM v) x", "month"},
		{"two of different grains", "SELECT a, n FROM (SELECT date_trunc('month', t) AS a FROM s) x, (SELECT u AS a, " +
			"1 AS n FROM v) y", ""},
		{"all columns of a table", "SELECT * FROM s", ""},
	} {
		table := &result.Table{Columns: []string{"month", "n"}, Types: make([]result.Type, 2),
			Rows: [][]any{{"2024-01-01", int64(1)}}}
		Mark(sqltext.PostgreSQL().Parse(tt.sql), table)
		if got := table.Types[0].Grain; got != tt.want {
			t.Errorf("%s: grain %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestCut: the part of a time that an expression cuts, also where it is no period.
func TestCut(t *testing.T) {
	for _, tt := range []struct {
		why  string
		d    sqltext.Dialect
		expr string
		span string
		of   string
	}{
		{"a month of a year", sqltext.PostgreSQL(), "extract(month FROM s.t)", "month of the year", "s.t"},
		{"a number of a month", sqltext.SQLite(), "strftime('%m', t)", "month of the year", "t"},
		{"a weekday", sqltext.MySQL(), "DAYNAME(t)", "weekday", "t"},
		{"a weekday by its name", sqltext.PostgreSQL(), "to_char(t, 'Day')", "weekday", "t"},
		{"a week with its number", sqltext.SQLite(), "strftime('%Y-%W', t)", "week", "t"},
		{"a week of a year of weeks", sqltext.PostgreSQL(), "to_char(t, 'IYYY-IW')", "week", "t"},
		{"the same of BigQuery", sqltext.BigQuery(), "FORMAT_DATE('%G-%V', t)", "week", "t"},
		{"a week of MySQL", sqltext.MySQL(), "DATE_FORMAT(t, '%x-%v')", "week", "t"},
		{"a number of a week of MySQL", sqltext.MySQL(), "DATE_FORMAT(t, '%u')", "week of the year", "t"},
		{"a weekday of MySQL", sqltext.MySQL(), "DATE_FORMAT(t, '%W')", "weekday", "t"},
		{"a weekday of SQLite", sqltext.SQLite(), "strftime('%u', t)", "weekday", "t"},
		{"a month of MySQL by its name", sqltext.MySQL(), "DATE_FORMAT(t, '%M %Y')", "month", "t"},
		{"the beginning of a text", sqltext.SQLite(), "substr(t, 1, 7)", "month", "t"},
		{"another part of a text", sqltext.SQLite(), "substr(t, 6, 7)", "", "t"},
		{"a shifted time", sqltext.SQLite(), "date(t, '-1 month')", "", ""},
		{"a time in another zone", sqltext.PostgreSQL(), "date_trunc('day', t AT TIME ZONE 'Asia/Tokyo')", "day", ""},
		{"a month without its year", sqltext.SQLite(), "strftime('%m-%d', t)", "", "t"},
		{"a number", sqltext.PostgreSQL(), "trunc(x, 2)", "", "x"},
	} {
		b := Cut(tt.d, slices.Collect(tt.d.Parse(tt.expr).Tokens()))
		of := ""
		for _, token := range b.Of {
			of += token.Text
		}
		if b.Span != tt.span || of != tt.of {
			t.Errorf("%s: %s: %q of %q", tt.why, tt.expr, b.Span, of)
		}
	}
}

// TestCompare: the moments that a comparison leaves, the first one and the first one behind them.
func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		why, span, op, constant string
		days                    bool
		from, until             string // "": open
	}{
		{"from a day", "", ">=", "2024-05-01", false, "2024-05-01 00:00:00", ""},
		{"before a moment", "", "<", "2024-05-01T08:30:00Z", false, "", "2024-05-01 08:30:00"},
		{"up to a day of moments has its first one alone", "", "<=", "2024-05-31", false, "", "2024-05-31 00:00:00"},
		{"up to a day of days", "", "<=", "2024-05-31", true, "", "2024-06-01 00:00:00"},
		{"up to the last second", "", "<=", "2024-05-31 23:59:59", false, "", "2024-06-01 00:00:00"},
		{"up to the last minute leaves its seconds out", "", "<=", "2024-05-31 23:59", false, "", "2024-05-31 23:59:00"},
		{"behind a day", "", ">", "2024-05-31", true, "2024-06-01 00:00:00", ""},
		{"one day", "", "=", "2024-05-31", true, "2024-05-31 00:00:00", "2024-06-01 00:00:00"},
		{"one moment", "", "=", "2024-05-31", false, "", ""},
		{"another day", "", "<>", "2024-05-31", true, "", ""},
		{"a year", "year", "=", "2024", false, "2024-01-01 00:00:00", "2025-01-01 00:00:00"},
		{"behind a month", "month", ">", "2024-05", false, "2024-06-01 00:00:00", ""},
		{"up to a quarter", "quarter", "<=", "2024-04-01", false, "", "2024-07-01 00:00:00"},
		{"before a week", "week", "<", "2024-01-08", false, "", "2024-01-08 00:00:00"},
		{"an hour", "hour", "=", "2024-01-08 13:00:00", false, "2024-01-08 13:00:00", "2024-01-08 14:00:00"},
		{"no beginning of a month", "month", ">=", "2024-05-15", false, "", ""},
		{"a month of each year", "month of the year", "=", "5", false, "", ""},
		{"no time", "", ">=", "open", false, "", ""},
		{"no day", "", ">=", "2024-02-31", false, "", ""},
	} {
		b, ok := Compare(tt.span, tt.op, tt.constant, tt.days)
		if !ok {
			b = Bounds{}
		}
		from, until := b.Exact(tt.days)
		show := func(at time.Time) string {
			if at.IsZero() {
				return ""
			}
			return at.Format(time.DateTime)
		}
		if show(from) != tt.from || show(until) != tt.until {
			t.Errorf("%s: %q %s %s: from %q until %q", tt.why, tt.span, tt.op, tt.constant, show(from), show(until))
		}
	}
}
