package intent

import (
	"testing"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/sqltext"
)

// TestExcuses: words of a question ask for what a check finds odd.
func TestExcuses(t *testing.T) {
	for _, tt := range []struct {
		why, question, rule string
		excused             bool
	}{
		{"whole things", "How many full crates of 12 fit?", "division", true},
		{"whole hours", "time per job in whole hours", "division", true},
		{"a quarter is a division", "sales per quarter", "division", true},
		{"a share is none", "What share of the orders is paid?", "division", false},
		{"what is complete is no whole", "average of completed jobs", "division", false},
		{"combinations", "every combination of size and colour", "unjoined", true},
		{"each with each", "compare all teams with all teams", "unjoined", true},
		{"all of one", "all orders of customers", "unjoined", false},
		{"a comma before or", "open and late, or lost", "or-and", true},
		{"whatever", "paid, whatever the sum", "or-and", true},
		{"no comma", "open or paid orders over 50", "or-and", false},
		{"another rule", "every combination in full dozens", "date", false},
	} {
		if got := Excuses(tt.question, checks.Odd+tt.rule); got != tt.excused {
			t.Errorf("%s: %q excuses %s: %v", tt.why, tt.question, tt.rule, got)
		}
	}
}

// TestReadsInstead: a wish that a statement fulfils by reading asks for no change.
func TestReadsInstead(t *testing.T) {
	for sql, done := range map[string]bool{
		"SELECT id, CASE WHEN n > 5 THEN 'large' ELSE 'small' END FROM orders": true,
		"SELECT a FROM x UNION SELECT a FROM y":                                true,
		"SELECT id, iif(n > 5, 'large', 'small') FROM orders":                  true,
		"SELECT * FROM orders WHERE status = 'cancelled'":                      false,
	} {
		if got := ReadsInstead(sqltext.SQLite().Parse(sql)); got != done {
			t.Errorf("%s is done by reading: %v", sql, got)
		}
	}
}

// TestWishesInOtherWords: what should be done, and what only asks.
func TestWishesInOtherWords(t *testing.T) {
	for question, wish := range map[string]bool{
		"Invoices 3 and 4 should be marked as paid":     true,
		"Clear the notes of all old tickets":            true,
		"Bump all prices by 3 %":                        true,
		"Undo the refund of invoice 7":                  true,
		"I'd like ticket 9 closed":                      true,
		"Which orders should be cancelled?":             false,
		"show the orders that must be updated":          false,
		"Make a supplier list sorted by city":           false,
		"Mark all late jobs and list them":              false,
		"Clear sky: how many days were there?":          false,
		"Close prices of the last week":                 false,
		"how many invoices have to be paid by Tuesday?": false,
	} {
		if got := AsksForWrite(question); got != wish {
			t.Errorf("%q wishes for a change: %v", question, got)
		}
	}
}
