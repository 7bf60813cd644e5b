package postgres_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sqlc-dev/oliphant/parser"

	"github.com/texttosql/texttosql/exec/postgres"
	"github.com/texttosql/texttosql/internal/race"
)

// TestReadings: the parser takes under 10 ms for the deepest statement of each form that may run, with rules in it.
func TestReadings(t *testing.T) {
	const query = "SELECT a, b, c + 1 FROM t WHERE x = 1 AND y LIKE 'x%'"
	for _, form := range []struct{ why, begin, open, middle, close string }{
		{"an expression that begins with a query", "SELECT ", "((SELECT ", query[7:], ")+1)"},
		{"two around it", "SELECT ", "(((SELECT ", query[7:], ")+1)+1)"},
		{"and more", "SELECT ", "(((((SELECT ", query[7:], ")+1)+1)+1)+1)"},
		{"an error inside", "SELECT ", "((SELECT ", query[7:] + " oops oops", ")+1)"},
		{"a compound", "SELECT ", "(((SELECT ", query[7:], ") UNION SELECT 1)+1)"},
		{"a limit that is a query", "SELECT ", "(((SELECT 1) LIMIT ((SELECT ", query[7:], ") + 2)) + 2)"},
		{"a call with two forms", "SELECT ", "substring(", "a", ",1,2)"},
		{"and queries in it", "SELECT ", "substring(((SELECT ", "a", ")+1),1,2)"},
		{"an object", "SELECT ", "json_object(", "a", ",1,2)"},
		{"joins", "SELECT * FROM ", "((SELECT * FROM ", "t", ") x JOIN y ON 1=1)"},
		{"lists", "SELECT ", "a IN ((SELECT ", "1", "), 2)"},
		{"lists of ANY", "SELECT ", "a = ANY((SELECT ", "1", ") + 2)"},
		{"brackets alone", "SELECT ", "(", "1", ")"},
		{"rows", "SELECT ", "(a, (SELECT ", "1", "), 2)"},
		{"cases", "SELECT ", "CASE WHEN ((SELECT ", "1", ") > 1) THEN 1 END"},
	} {
		text, depth := "", 0
		for n := 1; n < 60; n++ {
			next := form.begin + strings.Repeat(form.open, n) + form.middle + strings.Repeat(form.close, n)
			if postgres.Readings(next) > postgres.MostReadings {
				break
			}
			text, depth = next, n
		}
		least := time.Hour
		for i := 0; i < 100 && (i < 3 || least > 100*time.Millisecond); i++ { // a loaded machine is slow at times
			start := time.Now()
			_, _ = parser.ParseToTree(text) // one form has an error
			least = min(least, time.Since(start))
		}
		t.Logf("%s: %d deep, %d tokens are read again, %v", form.why, depth, postgres.Readings(text), least)
		if depth < 3 || least > 100*time.Millisecond && !race.Enabled {
			t.Errorf("%s: %d deep and takes %v", form.why, depth, least)
		}
	}
}
