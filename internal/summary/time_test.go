package summary

import (
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/sqltext"
)

// TestOverTime: a change needs two periods that the bounds of the statement make whole.
func TestOverTime(t *testing.T) {
	two := []string{"month", "total"}
	year := rows(two, []any{"2023-01", int64(200)}, []any{"2023-08", int64(900)}, []any{"2023-12", int64(205)})
	sum := "SELECT strftime('%Y-%m', day) AS month, sum(amount) AS total FROM sales WHERE "
	by := " GROUP BY 1 ORDER BY 1"
	whole, high := "Highest in August 2023: 900; up 2.5 % from January to December 2023.", "Highest in August 2023: 900."
	days := rows([]string{"day", "n"}, []any{"2024-03-01", int64(3)}, []any{"2024-03-02", int64(1)},
		[]any{"2024-03-03", int64(6)})
	weeks := rows([]string{"w", "n"}, []any{"2024-07", int64(30)}, []any{"2024-08", int64(31)})

	for _, tt := range []struct {
		why, sql string
		rows     *result.Table
		want     string
	}{
		{"a half-open range of a year", sum + "day >= '2023-01-01' AND day < '2024-01-01'" + by, year, whole},
		{"with a midnight", sum + "day >= '2023-01-01 00:00:00' AND day < '2024-01-01T00:00:00'" + by, year, whole},
		{"to the last second", sum + "day BETWEEN '2023-01-01' AND '2023-12-31 23:59:59'" + by, year, whole},
		{"typed constants", sum + "day >= DATE '2023-01-01' AND day < '2024-01-01'::date" + by, year, whole},
		{"the year of the column", sum + "strftime('%Y', day) = '2023'" + by, year, whole},
		{"its year as a number", sum + "EXTRACT(YEAR FROM day) = 2023 AND paid" + by, year, whole},
		{"months of the bucket", sum + "strftime('%Y-%m', day) BETWEEN '2023-01' AND '2023-12'" + by, year, whole},
		{"the constant first", sum + "'2023-01-01' <= day AND '2024-01-01' > day" + by, year, whole},

		{"no bounds", sum + "paid" + by, year, high},
		{"BETWEEN days cuts the last one of moments", sum + "day BETWEEN '2023-01-01' AND '2023-12-31'" + by, year, high},
		{"no upper bound", sum + "day >= '2023-01-01'" + by, year, high},
		{"no lower bound", sum + "day < '2024-01-01'" + by, year, high},
		{"the first month is cut", sum + "day >= '2023-01-15' AND day < '2024-01-01'" + by, year, high},
		{"the rows end before the bound: the last one may be cut", sum + "day >= '2023-01-01' AND day < '2024-02-01'" + by,
			year, high},
		{"bounds of another column", sum + "paid_on >= '2023-01-01' AND paid_on < '2024-01-01'" + by, year, high},
		{"one of two", sum + "(day >= '2023-01-01' OR paid) AND day < '2024-01-01'" + by, year, high},
		{"OR without brackets", sum + "day >= '2023-01-01' AND day < '2024-01-01' OR paid" + by, year, high},
		{"bounds in another zone", sum + "day AT TIME ZONE 'UTC' >= '2023-01-01' AND day < '2024-01-01'" + by, year, high},
		{"NOT BETWEEN", sum + "day NOT BETWEEN '2023-01-01' AND '2023-12-31 23:59:59'" + by, year, high},
		{"a bound of today", sum + "day >= '2023-01-01' AND day < CURRENT_DATE" + by, year, high},
		{"a shifted column", strings.Replace(sum, "day)", "day, '-1 month')", 1) +
			"day >= '2023-01-01' AND day < '2024-01-01'" + by, year, high},
		{"HAVING leaves months out", sum + "day >= '2023-01-01' AND day < '2024-01-01' GROUP BY 1 HAVING sum(amount) > 9",
			year, high},
		{"a period that is not over", sum + "day >= '2023-01-01' AND day < '2028-01-01'" + by,
			rows(two, []any{"2023-01", int64(4)}, []any{"2023-02", int64(9)}, []any{"2027-12", int64(5)}),
			"Highest in February 2023: 9."},

		{"a day that is left out", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND day <> '2023-12-31'" + by, year,
			high},
		{"its day as a day", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND date(day) <> '2023-12-31'" + by,
			year, high},
		{"days that are left out", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND day NOT IN ('2023-12-31')" + by,
			year, high},
		{"a day by its end", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND day NOT LIKE '%-01'" + by, year, high},
		{"one of two bounds more", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND (paid OR day < '2023-12-01')" + by,
			year, high},
		{"a time that is known", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND day IS NOT NULL" + by, year, whole},
		{"another time", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND paid_on <> '2023-12-31'" + by, year, whole},
		{"half years are no years", "SELECT strftime('%Y', day) AS month, sum(amount) AS total FROM sales WHERE " +
			"day >= '2022-01-01' AND day < '2024-01-01' AND strftime('%m', day) <= '06'" + by,
			rows(two, []any{"2022", int64(200)}, []any{"2023", int64(205)}), "Highest in 2023: 205."},
		{"years", "SELECT strftime('%Y', day) AS month, sum(amount) AS total FROM sales WHERE " +
			"day >= '2022-01-01' AND day < '2024-01-01'" + by,
			rows(two, []any{"2022", int64(200)}, []any{"2023", int64(205)}), "2023: 205, up 2.5 % from 2022 (200)."},
		{"weekends are no months", sum + "day >= '2023-01-01' AND day < '2024-01-01' AND strftime('%w', day) = '6'" + by,
			year, high},
		{"two whole months", sum + "day >= '2024-01-01' AND day < '2024-03-01'" + by,
			rows(two, []any{"2024-01", int64(200)}, []any{"2024-02", int64(100)}),
			"February 2024: 100, down 50 % from January 2024 (200)."},
		{"two months, of which one may be cut", sum + "day >= '2024-01-01'" + by,
			rows(two, []any{"2024-01", int64(200)}, []any{"2024-02", int64(100)}), "Highest in January 2024: 200."},
		{"many times as high", sum + "day >= '2024-01-01' AND day < '2024-03-01'" + by,
			rows(two, []any{"2024-01", int64(2)}, []any{"2024-02", int64(100)}),
			"February 2024: 100, 50 times as high from January 2024 (2)."},
		{"from nothing", sum + "day >= '2023-01-01' AND day < '2024-01-01'" + by,
			rows(two, []any{"2023-01", int64(0)}, []any{"2023-08", int64(9)}, []any{"2023-12", int64(5)}),
			"Highest in August 2023: 9."},
		{"equal ends are not the same throughout", sum + "day >= '2023-01-01' AND day < '2024-01-01'" + by,
			rows(two, []any{"2023-01", int64(7)}, []any{"2023-08", int64(9)}, []any{"2023-12", int64(7)}),
			"Highest in August 2023: 9."},
		{"all the same", sum + "paid" + by,
			rows(two, []any{"2023-01", int64(7)}, []any{"2023-08", int64(7)}), "Both months have the same: 7."},
		{"all the same but one that is missing", sum + "paid" + by,
			rows(two, []any{"2023-01", int64(7)}, []any{"2023-08", int64(7)}, []any{"2023-09", nil}), ""},
		{"the highest twice", sum + "paid" + by,
			rows(two, []any{"2023-01", int64(7)}, []any{"2023-08", int64(7)}, []any{"2023-09", int64(1)}),
			"Highest in January 2023 and in August 2023: 7 each."},
		{"the highest often", sum + "paid" + by,
			rows(two, []any{"2023-01", int64(7)}, []any{"2023-02", int64(7)}, []any{"2023-03", int64(7)},
				[]any{"2023-04", int64(1)}),
			"Highest: 7, in 3 of 4 months."},

		{"months as moments of a zone",
			"SELECT date_trunc('month', day) AS month, sum(amount) FROM sales WHERE day >= '2023-12-01' " +
				"AND day < '2024-04-01' GROUP BY 1",
			rows(two, []any{"2023-12-01 00:00:00-05", int64(4)}, []any{"2024-02-01 00:00:00-05", int64(8)},
				[]any{"2024-03-01 00:00:00-05", int64(6)}),
			"Highest in February 2024: 8; up 50 % from December 2023 to March 2024."},
		{"days that are the first of months stay days", "SELECT due, sum(amount) FROM invoices GROUP BY due",
			rows([]string{"due", "total"}, []any{"2024-01-01", int64(4)}, []any{"2024-02-01", int64(5)}),
			"Highest on 1 February 2024: 5."},
		{"a range of plain days", "SELECT day, n FROM visits WHERE day BETWEEN '2024-03-01' AND '2024-03-03'", days,
			"Highest on 3 March 2024: 6; up 100 % from 1 to 3 March 2024."},
		{"years of a plain column", "SELECT year, count(*) FROM films GROUP BY year",
			rows([]string{"year", "n"}, []any{int64(2001), int64(5)}, []any{int64(2002), int64(4)},
				[]any{int64(2003), int64(1)}),
			"Highest in 2001: 5."},
		{"a year and a month",
			"SELECT extract(year FROM d) AS y, extract(month FROM d) AS m, count(*) AS n FROM t WHERE d >= '2023-01-01' " +
				"AND d < '2023-03-01' GROUP BY 1, 2",
			rows([]string{"y", "m", "n"}, []any{int64(2023), int64(1), int64(5)}, []any{int64(2023), int64(2), int64(10)}),
			"February 2023: 10, up 100 % from January 2023 (5)."},
		{"a month before its year",
			"SELECT strftime('%m', d) AS m, strftime('%Y', d) AS y, count(*) AS n FROM t GROUP BY 1, 2",
			rows([]string{"m", "y", "n"}, []any{"01", "2023", int64(5)}, []any{"02", "2023", int64(10)}),
			"Highest in February 2023: 10."},
		{"a quarter before its year, alone",
			"SELECT DISTINCT quarter(d) AS q, year(d) AS y FROM t",
			rows([]string{"q", "y"}, []any{int64(1), int64(2023)}, []any{int64(2), int64(2023)}), ""},
		{"a month and its year, alone", "SELECT DISTINCT strftime('%m', d) AS m, strftime('%Y', d) AS y FROM t",
			rows([]string{"m", "y"}, []any{"01", "2023"}, []any{"02", "2023"}), ""},
		{"the year of another time", "SELECT strftime('%Y', c.created_at) AS joined, strftime('%m', o.ordered_at) AS m, " +
			"count(*) AS n FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY 1, 2",
			rows([]string{"joined", "m", "n"}, []any{"2022", "03", int64(141)}, []any{"2022", "04", int64(140)}), ""},
		{"a year and a quarter", "SELECT year(d) AS y, quarter(d) AS q, count(*) AS n FROM t GROUP BY 1, 2",
			rows([]string{"y", "q", "n"}, []any{int64(2023), int64(1), int64(5)}, []any{int64(2023), int64(2), int64(9)}),
			"Highest in Q2 2023: 9."},
		{"a year and a month of a compound statement", "SELECT year(d) AS y, month(d) AS m, count(*) AS n FROM " +
			"(SELECT * FROM t UNION SELECT * FROM u) x GROUP BY 1, 2",
			rows([]string{"y", "m", "n"}, []any{int64(2023), int64(1), int64(5)}, []any{int64(2023), int64(2), int64(9)}),
			"Highest in February 2023: 9."},
		{"quarters", "SELECT strftime('%Y', d) || '-Q' || ((CAST(strftime('%m', d) AS INTEGER) + 2) / 3) AS q, " +
			"count(*) AS n FROM t GROUP BY 1",
			rows([]string{"q", "n"}, []any{"2023-Q1", int64(5)}, []any{"2023-Q2", int64(9)}, []any{"2023-Q3", int64(2)}),
			"Highest in Q2 2023: 9."},
		{"a bucket of a nested SELECT",
			"WITH m AS (SELECT strftime('%Y-%m', d) AS month, sum(x) AS total FROM t WHERE d >= '2023-01-01' " +
				"AND d < '2024-01-01' " +
				"GROUP BY 1) SELECT month, total FROM m ORDER BY 1",
			year, whole},

		{"a running total", "SELECT month, sum(total) OVER (ORDER BY month) AS running FROM m", year, ""},
		{"a running total by a join", "SELECT a.month, sum(b.total) AS total FROM m a JOIN m b ON b.month <= a.month " +
			"GROUP BY 1", year, ""},
		{"the last three months", "SELECT strftime('%Y-%m', d) AS month, count(*) AS n FROM t GROUP BY 1 " +
			"ORDER BY month DESC LIMIT 3", year,
			"Of these 3 months, highest in August 2023: 900."},
		{"the best month", "SELECT strftime('%Y-%m', d) AS month, count(*) AS n FROM t GROUP BY 1 ORDER BY n DESC LIMIT 1",
			rows(two, []any{"2023-08", int64(9)}), "August 2023 has the most: 9."},
		{"the worst month may be one that is cut", "SELECT strftime('%Y-%m', d) AS month, count(*) AS n FROM t GROUP BY 1 " +
			"ORDER BY n LIMIT 1",
			rows(two, []any{"2023-08", int64(9)}), ""},
		{"computed days that are no known periods", "SELECT shifted(d) AS day, count(*) AS n FROM t GROUP BY 1",
			rows([]string{"day", "n"}, []any{"2024-01-03", int64(9)}, []any{"2024-01-10", int64(9)},
				[]any{"2024-01-17", int64(1)}),
			"2024-01-03 and 2024-01-10 have the most: 9 each."},
		{"weeks", "SELECT date(d, 'weekday 0', '-6 days') AS w, count(*) AS n FROM t GROUP BY 1",
			rows([]string{"w", "n"}, []any{"2024-01-01", int64(9)}, []any{"2024-01-08", int64(10)}),
			"Highest in the week of 8 January 2024: 10."},
		{"weeks by their numbers", "SELECT strftime('%Y-%W', d) AS w, count(*) AS n FROM t GROUP BY 1",
			weeks, "Week 2024-08 has the most: 31 of 61 (51 %), then week 2024-07 with 30."},
		{"a week in two parts", "SELECT strftime('%Y', d) || '-' || strftime('%W', d) AS w, count(*) AS n FROM t GROUP BY 1",
			weeks, "Week 2024-08 has the most: 31 of 61 (51 %), then week 2024-07 with 30."},
		{"a week of ISO", "SELECT to_char(d, 'IYYY-IW') AS w, count(*) AS n FROM t GROUP BY 1",
			weeks, "Week 2024-08 has the most: 31 of 61 (51 %), then week 2024-07 with 30."},
		{"a week by the name of a column", "SELECT week, guests FROM visits",
			rows([]string{"week", "guests"}, []any{"2024-07", int64(30)}, []any{"2024-08", int64(31)}),
			"Highest guests: week 2024-08, 31; then week 2024-07, 30."},
		{"weeks that are equal", "SELECT strftime('%Y-%W', day) AS w, count(*) AS visits FROM visits GROUP BY 1",
			rows([]string{"w", "visits"}, []any{"2024-07", int64(9)}, []any{"2024-08", int64(9)}, []any{"2024-09", int64(9)},
				[]any{"2024-10", int64(2)}),
			"3 weeks have the most visits: 9 each."},
		{"a week by its first day", "SELECT week, n FROM visits",
			rows([]string{"week", "n"}, []any{"2024-01-08", int64(30)}, []any{"2024-01-15", int64(31)}),
			"Highest in the week of 15 January 2024: 31."},
		{"days of several weeks", "SELECT week, n FROM visits",
			rows([]string{"week", "n"}, []any{"2024-01-08", int64(30)}, []any{"2024-01-16", int64(31)}),
			""},
		{"months of a calendar", "WITH RECURSIVE c(month) AS (SELECT '2024-01-01' UNION ALL SELECT date(month, '+1 month') " +
			"FROM c WHERE month < '2024-02-01') SELECT c.month, count(o.id) AS n FROM c LEFT JOIN o ON o.m = c.month GROUP BY 1",
			rows([]string{"month", "n"}, []any{"2024-01-01", int64(30)}, []any{"2024-02-01", int64(31)}),
			"Highest in February 2024: 31."},
		{"months of a calendar as days", "SELECT m::date AS month, count(*) AS n FROM c GROUP BY 1",
			rows([]string{"month", "n"}, []any{"2024-01-01", int64(30)}, []any{"2024-02-01", int64(31)}),
			"Highest in February 2024: 31."},
		{"quarters by their first day", "SELECT quarter_start, fees FROM stats",
			rows([]string{"quarter_start", "fees"}, []any{"2024-01-01", int64(30)}, []any{"2024-04-01", int64(31)}),
			"Highest in Q2 2024: 31."},
		{"the ends of months", "SELECT month_end, fees FROM stats",
			rows([]string{"month_end", "fees"}, []any{"2024-01-31", int64(30)}, []any{"2024-02-29", int64(31)}),
			"Highest fees: 2024-02-29, 31; then 2024-01-31, 30."},
		{"first days of another name", "SELECT due_date, fees FROM stats",
			rows([]string{"due_date", "fees"}, []any{"2024-01-01", int64(30)}, []any{"2024-02-01", int64(31)}),
			"Highest on 1 February 2024: 31."},
		{"the last days of weeks", "SELECT date(d, 'weekday 0') AS w, count(*) AS n FROM t GROUP BY 1",
			rows([]string{"w", "n"}, []any{"2024-01-07", int64(9)}, []any{"2024-01-14", int64(10)}),
			"2024-01-14 has the most: 10 of 19 (53 %), then 2024-01-07 with 9."},
		{"a percentage has no change in percent",
			"SELECT strftime('%Y-%m', day) AS month, 100.0 * sum(paid) / count(*) AS total FROM sales " +
				"WHERE day >= '2023-01-01' AND day < '2024-01-01' GROUP BY 1",
			rows(two, []any{"2023-01", 20.0}, []any{"2023-08", 80.5}, []any{"2023-12", 30.0}),
			"Highest in August 2023: 80.50 %."},
	} {
		now := time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)
		if got := Found(sqltext.SQLite(), tt.sql, tt.rows, now, untold, false); got != tt.want {
			t.Errorf("%s: %s\n got %q\nwant %q", tt.why, tt.sql, got, tt.want)
		}
	}
}

// untold are the ends of a column of which the database tells nothing.
func untold(string, string) (least, most any, values int64) { return nil, nil, 0 }

// TestFills: a change needs data that goes on to the last day, and that does not begin late in the first period.
func TestFills(t *testing.T) {
	sql := "SELECT strftime('%Y-%m', sold_at) AS month, sum(amount) AS total FROM sales WHERE sold_at >= '2024-01-01' " +
		"AND sold_at < '2024-03-01' GROUP BY 1"
	table := rows([]string{"month", "total"}, []any{"2024-01", int64(200)}, []any{"2024-02", int64(100)})
	for _, tt := range []struct {
		why         string
		least, most any
		values      int64
		whole       bool
	}{
		{"the data ends in the last month", "2023-01-01", "2024-02-16 11:34:00", 900, false},
		{"it ends on its last day", "2023-01-01", "2024-02-29 09:00:00", 900, true},
		{"it goes on", "2023-01-01", "2024-05-01", 900, true},
		{"its ends are not known", nil, nil, 0, true},
		{"its beginning is not known", nil, "2024-05-01", 900, true},
		{"its end is not known", "2024-01-20", nil, 0, true},
		{"it begins with the month", "2024-01-01 06:30:00", "2024-05-01", 900, true},
		{"it begins behind a holiday", "2024-01-02", "2024-05-01", 900, true},
		{"it begins late in the month", "2024-01-04 03:38:00", "2024-05-01", 900, false},
		{"it begins late, as far as one knows of few values", "2024-01-04 03:38:00", "2024-05-01", 30, true},
		{"it begins late of few values", "2024-01-20", "2024-05-01", 30, false},
		{"there is one value", "2024-05-01", "2024-05-01", 1, true},
	} {
		want := "Highest in January 2024: 200."
		if tt.whole {
			want = "February 2024: 100, down 50 % from January 2024 (200)."
		}
		got := Found(sqltext.SQLite(), sql, table, time.Time{}, func(table, column string) (least, most any, values int64) {
			if table != "sales" || column != "sold_at" {
				t.Errorf("asks for %s.%s", table, column)
			}
			return tt.least, tt.most, tt.values
		}, false)
		if got != want {
			t.Errorf("%s: got %q, want %q", tt.why, got, want)
		}
	}
	if got := Found(sqltext.SQLite(), sql, table, time.Time{}, nil, false); got != "Highest in January 2024: 200." {
		t.Errorf("nobody knows the ends: %q", got)
	}
}

// TestCutsDay: a range of days of a column that has times leaves most of its last day out; no text says it is whole.
func TestCutsDay(t *testing.T) {
	n := rows([]string{"n"}, []any{int64(1156)})
	for _, tt := range []struct{ why, condition, days, times string }{
		{"up to a last day", "rental_date BETWEEN '2024-05-01' AND '2024-05-31'", "1,156 rentals in May 2024.", ""},
		{"up to a day", "rental_date <= '2024-05-31'", "1,156 rentals up to 31 May 2024.", ""},
		{"behind a day", "rental_date > '2024-05-31'", "1,156 rentals after 31 May 2024.", ""},
		{"on a day", "rental_date = '2024-05-31'", "1,156 rentals on 31 May 2024.", ""},
		{"half open", "rental_date >= '2024-05-01' AND rental_date < '2024-06-01'", "1,156 rentals in May 2024.",
			"1,156 rentals in May 2024."},
		{"days of the times", "date(rental_date) BETWEEN '2024-05-01' AND '2024-05-31'", "1,156 rentals in May 2024.",
			"1,156 rentals in May 2024."},
		{"up to the last second", "rental_date BETWEEN '2024-05-01' AND '2024-05-31 23:59:59'",
			"1,156 rentals from 1 May 2024 to 31 May 2024, 23:59:59.",
			"1,156 rentals from 1 May 2024 to 31 May 2024, 23:59:59."},
	} {
		for end, want := range map[string]string{"2024-06-09": tt.days, "2024-06-09 13:00:00": tt.times} {
			got := Found(sqltext.SQLite(), "SELECT count(*) FROM rental WHERE "+tt.condition, n, time.Time{},
				func(string, string) (least, most any, values int64) { return "2024-01-01", end, 9000 }, false)
			if got != want {
				t.Errorf("%s, values up to %s: got %q, want %q", tt.why, end, got, want)
			}
		}
	}
	by := "SELECT kind, count(*) AS n FROM rental WHERE rental_date <= '2024-05-31' GROUP BY kind"
	got := Found(sqltext.SQLite(), by, rows([]string{"kind", "n"}, []any{"van", int64(3)}, []any{"car", int64(1)}),
		time.Time{}, func(string, string) (least, most any, values int64) { return nil, "2024-06-09 13:00:00", 9 }, false)
	if want := "van has the most: 3 of 4 (75 %), then car with 1."; got != want {
		t.Errorf("a text that does not say the range: got %q, want %q", got, want)
	}
}
