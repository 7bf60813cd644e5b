package doubt

import (
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/vote"
)

// TestForeseen: a result without rows is a remark where the question names what is looked for.
func TestForeseen(t *testing.T) {
	for _, tt := range []struct {
		why, question, sql string
		findings           []vote.Finding
		form               bool
	}{
		{"a value that the question names", "orders to Peru", "SELECT id FROM orders WHERE country = 'Peru'", nil, true},
		{"a year", "guests born in 2023", "SELECT id FROM guests WHERE born >= '2023-01-01' AND born < '2024-01-01'", nil,
			true},
		{"a number", "who has more than 100 cars?", "SELECT id FROM cars GROUP BY id HAVING count(*) > 100", nil, true},
		{"a day in other words", "invoices due tomorrow",
			"SELECT id FROM invoices WHERE due_on = '2024-11-21'", nil, true},
		{"a month that has no year", "invoices due in March",
			"SELECT id FROM invoices WHERE due_on >= '2024-03-01' AND due_on < '2024-04-01'", nil, true},
		{"a day of nothing", "invoices that are due", "SELECT id FROM invoices WHERE due_on = '2024-11-21'", nil, false},
		{"rows that do not count are left out", "invoices due tomorrow",
			"SELECT id FROM invoices WHERE due_on = '2024-11-21' AND status <> 'cancelled' AND state NOT IN ('void', " +
				"'draft')", nil,
			true},
		{"other rows are left out", "orders to Peru", "SELECT id FROM orders WHERE country = 'Peru' AND kind <> " +
			"'gift'", nil,
			false},
		{"another value", "orders to Peru", "SELECT id FROM orders WHERE country = 'PE'", nil, false},
		{"nothing is looked for", "list the orders", "SELECT id FROM orders", nil, false},
		{"no column has the value", "orders to Peru", "SELECT id FROM orders WHERE country = 'Peru'",
			[]vote.Finding{{Rule: checks.Absent}}, false},
		{"a code may be stored in another form", "races with the time 0:01:40", "SELECT id FROM races WHERE time = '0:01:40'",
			nil, false},
	} {
		got := Rules{}.Find(tt.question, "", vote.Candidate{SQL: tt.sql, Findings: tt.findings},
			&result.Table{Columns: []string{"id"}})
		at := slices.IndexFunc(got, func(f vote.Finding) bool { return f.Rule == "empty" })
		if at < 0 || got[at].Form != tt.form {
			t.Errorf("%s: %s: findings %+v, want a remark: %v", tt.why, tt.sql, got, tt.form)
		}
	}
}
