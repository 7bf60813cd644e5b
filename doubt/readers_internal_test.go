package doubt

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/contradict"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// TestRulesOfThePage: docs/confidence.md names the rules that read English words, and the others.
func TestRulesOfThePage(t *testing.T) {
	page := string(testutil.Value(os.ReadFile("../docs/confidence.md"))(t))
	var english, every []string
	for _, r := range readers() {
		if wordless[r.name] {
			every = append(every, r.name)
		} else {
			english = append(english, r.name)
		}
	}
	for what, names := range map[string][]string{"These rules read English words:\n`": english, "The others (`": every} {
		slices.Sort(names)
		_, list, _ := strings.Cut(page, what)
		list, _, _ = strings.Cut(list, "`")
		if diff := cmp.Diff(strings.Join(names, ", "), list); diff != "" {
			t.Errorf("%s %s", what, diff)
		}
	}
}

// TestLiteral: a stored text stays a text, whatever the engine reads in it.
func TestLiteral(t *testing.T) {
	for _, tt := range []struct {
		why, text, want string
		dialect         sqltext.Dialect
	}{
		{"a quote", "O'Neill", "'O''Neill'", sqltext.SQLite()},
		{"a backslash is a letter", `a\`, `'a\'`, sqltext.SQLite()},
		{"a backslash would take the quote away", `a\`, `'a\\'`, sqltext.MySQL()},
		{"both", `\') AS o UNION SELECT 42 -- `, `'\\'') AS o UNION SELECT 42 -- '`, sqltext.MySQL()},
	} {
		h := held{&shared{answer: answer{Answer: contradict.Answer{Statement: tt.dialect.Parse("SELECT 1")}}}}
		if got := h.literal(tt.text); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.why, got, tt.want)
		}
	}
}

// TestMonthsOfEngines: engines have words of their own for the month of a time.
func TestMonthsOfEngines(t *testing.T) {
	const year, march = "2024", "March 2024"
	for _, tt := range []struct{ why, condition, want string }{
		{"a function of SQL", "EXTRACT(YEAR FROM d) = 2024 AND EXTRACT(MONTH FROM d) = 3", march},
		{"a function of MySQL", "YEAR(o.d) = 2024 AND MONTH(o.d) = 3", march},
		{"a part by name", "DATE_PART('month', d) = 3", march},
		{"a text of PostgreSQL", "TO_CHAR(d, 'MM') = '03'", march},
		{"another type", "EXTRACT(MONTH FROM d)::int = 3", march},
		{"a column of two words", "order_month = 3", march},
		{"a quarter", "EXTRACT(QUARTER FROM d) = 2", "1 April 2024 to 30 June 2024"},
		{"a quarter of a month", "(MONTH(d) - 1) / 3 + 1 = 2", "1 April 2024 to 30 June 2024"},
		{"from one on, without another", "MONTH(d) >= 2 AND MONTH(d) < 4", "1 February 2024 to 31 March 2024"},
		{"up to one", "MONTH(d) < 3", "1 January 2024 to 29 February 2024"},
		{"another column", "MONTH(d) = 3 AND amount = 12", march},
		{"an alias", "d > 0 GROUP BY month HAVING COUNT(*) = 3", year},
		{"a price of a month", "monthly_price = 5", year},
		{"another month", "MONTH(d) <> 3", year},
		{"a bound beyond the months", "MONTH(d) = 13", year},
		{"a day", "DAY(d) = 3", year},
		{"no month is left", "MONTH(d) < 1", year},
	} {
		h := held{&shared{upper: strings.ToUpper("SELECT 1 FROM t WHERE " + tt.condition)}}
		if got := h.inMonths([]stated{{stretch: yearOf(2024)}})[0].String(); got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.why, tt.condition, got, tt.want)
		}
	}
}

// TestBucketsOfEngines: engines have words of their own for the first day of a period, which stands for all of it.
func TestBucketsOfEngines(t *testing.T) {
	const day, month = "1 March 2024", "March 2024"
	for _, tt := range []struct{ why, condition, want string }{
		{"a function of PostgreSQL", "date_trunc('month', o.d) = DATE '2024-03-01'", month},
		{"another type", "CAST(date_trunc('month', d) AS date) = '2024-03-01'", month},
		{"a function of BigQuery", "DATE_TRUNC(DATE(d), MONTH) = '2024-03-01'", month},
		{"a function of SQL Server", "DATETRUNC(month, d) = '2024-03-01'", month},
		{"a function of ClickHouse", "toStartOfMonth(d) = '2024-03-01'", month},
		{"a quarter", "date_trunc('quarter', d) = '2024-01-01'", "1 January 2024 to 31 March 2024"},
		{"a year", "date_trunc('year', d) = '2024-01-01'", "2024"},
		{"a week", "date_trunc('week', d) = '2024-03-04'", "4 March 2024 to 10 March 2024"},
		{"two of them", "date_trunc('month', d) BETWEEN '2024-01-01' AND '2024-02-01'", "1 January 2024 to 29 February 2024"},
		{"after one", "date_trunc('month', d) > '2024-02-01'", "from 1 March 2024 on"},
		{"before one", "date_trunc('month', d) < '2024-03-01'", "before 1 March 2024"},
		{"up to one", "date_trunc('month', d) <= '2024-03-01'", "before 1 April 2024"},
		{"a day", "date_trunc('day', d) = '2024-03-01'", day},
		{"no unit", "trunc(d) = '2024-03-01'", day},
		{"of another condition", "date_trunc('month', e) IS NOT NULL AND d = '2024-03-01'", day},
	} {
		s := sqltext.PostgreSQL().Parse("SELECT 1 FROM t WHERE " + tt.condition)
		h := newHeld(answer{Answer: contradict.Answer{Statement: s, Schema: &schema.Schema{}}})
		if got := h.statedTimes()[0].String(); got != tt.want {
			t.Errorf("%s: %s: %s, want %s", tt.why, tt.condition, got, tt.want)
		}
	}
}
