package sqlite_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// TestLoad: what would take SQLite minutes and gigabytes is refused before SQLite sees it, and what sorts, or calls a function
// that is slow on long values, gets shorter ones. The error says so.
func TestLoad(t *testing.T) {
	pool, _ := open(t, fixture+`
		CREATE VIEW twice AS SELECT x.a+x.a+y.a AS a FROM t x JOIN t y ON x.a = y.a;
		CREATE VIEW four AS SELECT a+a AS a FROM twice;
		CREATE VIEW cut AS SELECT replace(b, b, b) AS b FROM t;
		CREATE VIEW itself AS SELECT * FROM itself;`)
	before := settingsOf(t, pool)
	db := newDB(t, pool, exec.Config{})
	nested := func(n int, form, query string) string {
		for range n {
			query = fmt.Sprintf(form, query)
		}
		return query
	}
	value := func(n int) string { return fmt.Sprintf("printf('%%.*c', %d, 'x')", n) }
	joined := func(n int, of string) string { return "SELECT 1 FROM " + of + strings.Repeat(", "+of, n-1) }
	const fine = ""
	for _, test := range []struct{ why, sql, want string }{
		{"subqueries", nested(12, "SELECT a+a AS a FROM (%s)", "SELECT a FROM t"), "would add 32651 tokens; at most 10000"},
		{"few of them", nested(8, "SELECT a+a AS a FROM (%s)", "SELECT a FROM t"), fine},
		{"views", nested(9, "SELECT a+a AS a FROM (%s)", "SELECT a FROM four"), "tokens; at most 10000"},
		{"a view that names itself", "SELECT * FROM itself", "circularly defined"},
		{"stores", "SELECT 1 FROM t WHERE " + strings.Repeat("a IN (SELECT a FROM t) OR ", 49) + "a = 1", "49 subqueries, views, joins and DISTINCTs"},
		{"views that join", joined(40, "twice"), "59 subqueries"},
		{"tables", joined(40, "t") + " WHERE 1 = 0", fine},
		{"a long value", "SELECT length(" + value(900_000) + ")", fine},
		{"sorted", "SELECT length(" + value(200_000) + ") FROM t ORDER BY a", "100000 bytes, as it sorts or groups"},
		{"grouped", "SELECT max(" + value(200_000) + ") FROM t GROUP BY a", "100000 bytes, as it sorts or groups"},
		{"a window", "SELECT sum(1) OVER (PARTITION BY a), length(" + value(200_000) + ") FROM t", "100000 bytes, as it sorts or groups"},
		{"a union", "SELECT a FROM t UNION SELECT length(" + value(200_000) + ")", "50000 bytes, as it sorts or groups"},
		{"a sorted value of 99 kB", "SELECT length(" + value(99_000) + ") FROM t ORDER BY a", fine},
		{"trim", "SELECT trim(" + value(9_000) + ", b) FROM t", "3333 bytes, as it calls trim"},
		{"trim in quotes", "SELECT \"trim\"(" + value(9_000) + ", b||'') FROM t", "3333 bytes, as it calls trim"},
		{"trim of blanks", "SELECT length(trim(" + value(9_000) + ")) FROM t", fine},
		{"trim of a literal", "SELECT length(trim(" + value(9_000) + ", 'ab')) FROM t", fine},
		{"replace", "SELECT replace(" + value(90_000) + ", b, 'x') FROM t", "50000 bytes, as it calls trim, replace"},
		{"replace of a literal", "SELECT length(replace(" + value(90_000) + ", 'a', b)) FROM t", fine},
		{"of a long literal", "SELECT instr(" + value(90_000) + ", '" + strings.Repeat("a", 200) + "') FROM t", "50000 bytes, as it calls trim, replace"},
		{"in a view", "SELECT b, length(" + value(90_000) + ") FROM cut", "50000 bytes, as it calls trim, replace"},
		{"json_patch", "SELECT json_patch(" + value(9_000) + ", b) FROM t", "3333 bytes, as it calls trim"},
		{"names of columns", "SELECT x.*" + strings.Repeat(", x.*", 60) + " FROM (SELECT '" + strings.Repeat("n", 90_000) + "' FROM t) x", "tokens; at most 10000"},
	} {
		for name, err := range map[string]error{
			"query":   second(db.Query(t.Context(), test.sql)),
			"analyze": second(db.Analyze(t.Context(), test.sql)),
			"explain": second(db.Explain(t.Context(), test.sql)),
		} {
			var limit *exec.LimitError
			if runs := strings.Contains(test.want, "bytes"); name != "query" && runs {
				continue
			} else if runs && !errors.As(err, &limit) {
				t.Errorf("%s: %v is no limit", test.why, err)
			}
			if (err == nil) != (test.want == fine) || !strings.Contains(fmt.Sprint(err), test.want) {
				t.Errorf("%s, %s: %v, want %q", test.why, name, err, test.want)
			}
		}
	}
	for range 3 {
		if got := settingsOf(t, pool); got != before {
			t.Errorf("settings of a connection: %+v, before %+v", got, before)
		}
	}
}

func second[T any](_ T, err error) error { return err }
