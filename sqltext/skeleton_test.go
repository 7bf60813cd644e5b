package sqltext_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/sqltext"
)

func TestSkeleton(t *testing.T) {
	tests := []struct{ sql, want, why string }{
		{
			"SELECT a.name, count(*) FROM a JOIN b ON a.id = b.id WHERE x > 3 AND y = 'z' GROUP BY a.name",
			"select _ , count ( _ ) from _ where _ group by _",
			"names, joins and conditions are one",
		},
		{"select NAME from T", "select _ from _", "case"},
		{"SELECT T1.x AS y FROM t AS T1 JOIN u AS T2 ON T1.a = T2.b", "select _ from _", "aliases"},
		{"SELECT x FROM t WHERE y IN (SELECT z FROM u) ORDER BY x DESC LIMIT 3",
			"select _ from _ where _ in ( select _ from _ ) order by _ desc limit _", "nested"},
		{"SELECT 1; -- x", "select _", "comments and semicolons"},
		{"", "", "nothing"},
	}
	for _, tt := range tests {
		if got := strings.Join(sqltext.SQLite().Parse(tt.sql).Skeleton(), " "); got != tt.want {
			t.Errorf("%s\n got %s\nwant %s: %s", tt.sql, got, tt.want, tt.why)
		}
	}
}

func TestAlike(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
		why  string
	}{
		{"SELECT a", "SELECT b", 1, "names do not count"},
		{"SELECT a", "", 0, "nothing is shared with nothing"},
		{"", "", 0, "two empty ones"},
		{"SELECT a FROM t", "SELECT a", 0.5, "two of four tokens"},
		{"SELECT a WHERE b WHERE c", "SELECT a WHERE b", 2. / 3, "a token counts as often as both have it"},
	} {
		if got := sqltext.SQLite().Parse(tt.a).Alike(sqltext.SQLite().Parse(tt.b)); got != tt.want {
			t.Errorf("%q, %q: %v, want %v: %s", tt.a, tt.b, got, tt.want, tt.why)
		}
	}
}
