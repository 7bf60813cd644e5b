package mysql_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec/mysql"
	"github.com/texttosql/texttosql/sqltext"
)

// FuzzCheck: the parser and the walk come back without a panic, and whatever the parser makes of a text, no call of a
// forbidden function and no INTO, as the tokens tell them, gets through.
func FuzzCheck(f *testing.F) {
	for _, sql := range []string{
		"SELECT sleep(1)", "SELECT a FROM t INTO OUTFILE '/tmp/x'", "SELECT `sleep` (1)", "SELECT {x sleep(1)}", "SELECT 1 FROM t PROCEDURE ANALYSE(sleep(1))",
		"SELECT a, (SELECT get_lock('x', 1)) FROM t ORDER BY load_file('x')", "SELECT sum(a) OVER (ORDER BY sleep(1)) FROM t WINDOW w AS (PARTITION BY sleep(2))",
		"WITH c AS (SELECT 1) SELECT * FROM c JOIN (SELECT 2) d USING (x) LIMIT 1", "SELECT CASE WHEN 1 THEN 'a' ELSE \"sleep(1)\" END -- sleep(1)",
		"SELECT _utf8mb4'sleep(' COLLATE utf8mb4_bin, N'x', x'4d', b'1', 0x4d, 1e5, .5", "SELECT GROUP_CONCAT(DISTINCT a ORDER BY sleep(1) SEPARATOR 'x')",
		"SELECT * FROM JSON_TABLE(load_file('x'), '$' COLUMNS (a INT PATH '$')) j", "SELECT a FROM t LIMIT 1 OFFSET sleep(1)", "SELECT CAST(sleep(1) AS INT), rank",
	} {
		f.Add(sql)
	}
	forbidden := map[string]bool{"sleep": true, "get_lock": true, "load_file": true, "benchmark": true, "extractvalue": true, "user": true, "version": true,
		"analyse": true}
	f.Fuzz(func(t *testing.T, text string) {
		d := mysql.Dialect{}.Language().Text
		s, err := d.Check(text)
		if err != nil || mysql.Parse(s.SQL()) != nil {
			return
		}
		last := ""
		for token := range s.Tokens() {
			switch token.Kind {
			case sqltext.Space, sqltext.Comment:
				continue
			case sqltext.Word, sqltext.QuotedName:
				last = strings.ToLower(d.Value(token))
				if token.Kind == sqltext.Word && last == "into" {
					t.Errorf("INTO passes: %q", text)
				}
				continue
			}
			if token.Text == "(" && forbidden[last] {
				t.Errorf("%s passes: %q", last, text)
			}
			last = ""
		}
	})
}
