package sqltext_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/sqltext"
)

func TestRebracketed(t *testing.T) {
	for _, tt := range []struct{ sql, want, why string }{
		{"SELECT 1 FROM t WHERE a = 1 OR b = 2 AND c = 3", "SELECT 1 FROM t WHERE (a = 1 OR b = 2 ) AND c = 3", "OR first"},
		{"SELECT 1 FROM t WHERE c = 3 AND a = 1 OR b = 2", "SELECT 1 FROM t WHERE c = 3 AND (a = 1 OR b = 2) ", "AND first"},
		{"SELECT 1 FROM t WHERE a OR b OR c AND d ORDER BY 1", "SELECT 1 FROM t WHERE (a OR b OR c ) AND d ORDER BY 1",
			"two ORs"},
		{"SELECT 1 FROM t WHERE x AND (a OR b AND c)", "SELECT 1 FROM t WHERE x AND ((a OR b ) AND c)", "in brackets"},
		{"SELECT 1 FROM t JOIN u ON t.a = u.a OR t.b = u.b AND u.c",
			"SELECT 1 FROM t JOIN u ON (t.a = u.a OR t.b = u.b ) AND u.c", "in ON"},
		{"SELECT 1 FROM t GROUP BY a HAVING max(b) > 1 OR min(b) < 1 AND count(*) > 2",
			"SELECT 1 FROM t GROUP BY a HAVING (max(b) > 1 OR min(b) < 1 ) AND count(*) > 2", "in HAVING"},
		{"SELECT 1 FROM t WHERE a AND b OR c AND d", "", "meant"},
		{"SELECT 1 FROM t WHERE (a OR b) AND c", "", "bracketed"},
		{"SELECT 1 FROM t WHERE a OR (b AND c)", "", "bracketed, too"},
		{"SELECT 1 FROM t WHERE a BETWEEN 1 AND 2 OR b", "", "the AND of BETWEEN"},
		{"SELECT 1 FROM t WHERE a OR b", "", "no AND"},
	} {
		got, ok := sqltext.SQLite().Parse(tt.sql).Rebracketed()
		if ok != (tt.want != "") || ok && got != tt.want {
			t.Errorf("%s: %q, %v; want %q", tt.why, got, ok, tt.want)
		}
	}
}

func TestSelects(t *testing.T) {
	s := sqltext.SQLite().Parse(
		`WITH w AS (SELECT a FROM t) SELECT DISTINCT c.name, count(*) FROM c LEFT OUTER JOIN o ON o.c = c.id, (SELECT 1 AS one) x
		CROSS JOIN w WHERE o.x > 2 AND EXISTS (SELECT 1 FROM z WHERE z.c = c.id) GROUP BY c.name, 2 HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 3 OFFSET 1`)
	var got []string
	for _, x := range s.Selects() {
		got = append(got, fmt.Sprintf("%v %v %d items %q joined %q where %q group %q having %q order %q limit %q",
			x.Nested, x.Distinct, len(x.Items), x.From, x.Joined, x.Where, x.GroupBy, x.Having, x.OrderBy, x.Limit))
	}
	want := []string{
		`true false 1 items "t" joined ["FROM"] where "" group [] having "" order [] limit ""`,
		`false true 2 items "c LEFT OUTER JOIN o ON o.c = c.id, (SELECT 1 AS one) x\n\t\tCROSS JOIN w" joined ["FROM" "LEFT JOIN" "," "CROSS JOIN"] ` +
			`where "o.x > 2 AND EXISTS (SELECT 1 FROM z WHERE z.c = c.id)" group ["c.name" "2"] having "count(*) > 1" order ["2 DESC"] limit "LIMIT 3 OFFSET 1"`,
		`true false 1 items "" joined [] where "" group [] having "" order [] limit ""`,
		`true false 1 items "z" joined ["FROM"] where "z.c = c.id" group [] having "" order [] limit ""`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzSelects(f *testing.F) {
	f.Add("SELECT a FROM t WHERE a OR b AND c UNION SELECT 1")
	f.Add("WITH x AS (SELECT (SELECT 1) FROM t) SELECT * FROM (x JOIN y USING (a)) LIMIT 1, 2")
	f.Fuzz(func(t *testing.T, sql string) {
		s := sqltext.SQLite().Parse(sql)
		for _, x := range s.Selects() {
			if len(x.Tables) != len(x.Joined) || sql[x.Pos:x.Pos+len(x.Text)] != x.Text {
				t.Fatalf("%+v", x)
			}
		}
		s.Rebracketed()
	})
}

// What an author means by OR beside AND, who forgot the brackets.
func ExampleStatement_Rebracketed() {
	s := sqltext.SQLite().Parse("SELECT id FROM orders WHERE status = 'paid' OR status = 'open' AND amount > 15")
	fmt.Println(s.Rebracketed())
	// Output: SELECT id FROM orders WHERE (status = 'paid' OR status = 'open' ) AND amount > 15 true
}
