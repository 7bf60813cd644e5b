package sqltext_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/sqlshape"
	"github.com/texttosql/texttosql/sqltext"
)

func TestRewrite(t *testing.T) {
	tail := sqlshape.Rewrite{NoOrder: true, NoLimit: true}
	for _, tt := range []struct {
		sql  string
		r    sqlshape.Rewrite
		want string // "": no change
		why  string
	}{
		{"SELECT a FROM t ORDER BY a LIMIT 5", tail, "SELECT a FROM t", "the tail goes"},
		{"SELECT a FROM t ORDER BY a LIMIT 5 OFFSET 2", sqlshape.Rewrite{NoLimit: true}, "SELECT a FROM t ORDER BY a",
			"OFFSET goes with LIMIT"},
		{"SELECT a FROM t", tail, "", "nothing to drop"},
		{"SELECT a FROM (SELECT a FROM t ORDER BY a LIMIT 5) AS x", tail, "", "an inner tail decides which rows there are"},
		{"SELECT 'ORDER BY a LIMIT 5' FROM t", tail, "", "a text is no clause"},
		{"SELECT a FROM t -- LIMIT 5", tail, "", "nor is a comment"},
		{"SELECT a FROM t UNION SELECT b FROM u ORDER BY 1 LIMIT 2", tail, "SELECT a FROM t UNION SELECT b FROM u",
			"the tail of a compound is that of the whole"},
		{"SELECT c, count(*) FROM t GROUP BY c HAVING count(*) > 1", sqlshape.Rewrite{NoGroup: true},
			"SELECT c, count(*) FROM t  HAVING count(*) > 1",
			"GROUP BY alone"},
		{"SELECT c, count(*) FROM t GROUP BY c", sqlshape.Rewrite{NoGroup: true, Items: []string{"count(*)"}},
			"SELECT count(*) FROM t", "both at once"},
		{"SELECT DISTINCT a, f(b, c) FROM t", sqlshape.Rewrite{Items: []string{"a"}}, "SELECT DISTINCT a FROM t",
			"DISTINCT stays"},
		{"WITH x AS (SELECT a, b FROM t) SELECT a, b FROM x", sqlshape.Rewrite{Items: []string{"b"}},
			"WITH x AS (SELECT a, b FROM t) SELECT b FROM x",
			"the list of the outer query"},
		{"SELECT a FROM t UNION SELECT b FROM u", sqlshape.Rewrite{Items: []string{"b"}}, "", "a compound has several lists"},
		{"VALUES (1)", sqlshape.Rewrite{Items: []string{"b"}}, "", "no SELECT"},
		{"", tail, "", "no statement"},
		{"SELECT a FROM t WHERE b = 'x y' AND c = 'X'", sqlshape.Rewrite{Texts: map[string]string{"X": "it's"}},
			"SELECT a FROM t WHERE b = 'x y' AND c = 'it''s'",
			"a text, quoted anew"},
		{"SELECT a FROM t WHERE b = 'X'", sqlshape.Rewrite{Texts: map[string]string{"X": `\`}}, "",
			"a backslash means more in some engines"},
		{"SELECT 'X', a FROM t", sqlshape.Rewrite{Items: []string{"a"}, Texts: map[string]string{"X": "Y"}},
			"SELECT a FROM t", "a text inside of what goes"},
	} {
		got, ok := sqltext.SQLite().Parse(tt.sql).Rewrite(tt.r)
		if want := strings.Join(strings.Fields(tt.want), " "); ok != (want != "") || ok &&
			strings.Join(strings.Fields(got), " ") != want {
			t.Errorf("%s: %q became %q, %v; want %q", tt.why, tt.sql, got, ok, tt.want)
		}
	}
}

// FuzzRewrite: whatever the text, nothing is added where something is to be dropped, and nothing changes without a
// wish.
func FuzzRewrite(f *testing.F) {
	f.Add("SELECT a, b FROM t GROUP BY a ORDER BY b LIMIT 5")
	f.Add("(SELECT a FROM t LIMIT 1) UNION SELECT 'x")
	f.Fuzz(func(t *testing.T, sql string) {
		s := sqltext.SQLite().Parse(sql)
		if got, ok := s.Rewrite(sqlshape.Rewrite{}); ok {
			t.Errorf("%q became %q", sql, got)
		}
		if got, ok := s.Rewrite(sqlshape.Rewrite{NoGroup: true, NoOrder: true, NoLimit: true}); ok && len(got) >= len(sql) {
			t.Errorf("%q became %q", sql, got)
		}
		s.Rewrite(sqlshape.Rewrite{Items: []string{"1"}, Texts: map[string]string{"x": "y"}})
	})
}

// A clause goes, whatever stands in texts, comments and nested queries.
func ExampleStatement_Rewrite() {
	statement := sqltext.SQLite().Parse("SELECT id, name FROM singer WHERE note <> 'LIMIT 3' ORDER BY id LIMIT 3")
	fmt.Println(statement.Rewrite(sqlshape.Rewrite{NoOrder: true, NoLimit: true}))
	fmt.Println(statement.Rewrite(sqlshape.Rewrite{Items: []string{"name"}}))
	// Output:
	// SELECT id, name FROM singer WHERE note <> 'LIMIT 3' true
	// SELECT name FROM singer WHERE note <> 'LIMIT 3' ORDER BY id LIMIT 3 true
}
