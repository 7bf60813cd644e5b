package mysql_test

import (
	"fmt"
	"testing"

	"github.com/texttosql/texttosql/exec/mysql"
)

// TestLexing: whatever character stands where comments, strings, names and numbers begin or end, the parser sees as many
// columns as the server, so neither takes for a comment what is code to the other.
func TestLexing(t *testing.T) {
	pool, _ := open(t, "", "")
	compared := 0
	for _, form := range []string{
		"SELECT 1 --%s, 2\n, 3", "SELECT 1%s, 2 , 3", "SELECT 1 #%s, 2\n, 3", "SELECT 1 /*%s*/, 2 /* */, 3",
		"SELECT 1 /* /*%s*/, 2 -- */ \n, 3", "SELECT 'a\\%s', 2, '", "SELECT 'a%s, 2, 3'", "SELECT 1 AS `a%s`, 2",
		"SELECT 1 -%s-, 2\n, 3", "SELECT _latin1'%s', 2", "SELECT x'41'%s, 2", "SELECT 1e%s, 2",
		"SELECT 0x4%s, 2", "SELECT .1%s, 2", "SELECT 1 a%s, 2", "SELECT N'%s', 2",
		"SELECT 'a'%s'b', 2", "SELECT \"%s\", 2", "SELECT 1 --%s 1, 2", "SELECT 1 /%s* , 2 */, 3",
		"SELECT 1 *%s/ 2, 3", "SELECT 1 %s, 2 -- '\n, 3 -- '",
	} {
		for c := rune(0); c < 0x2100; c++ {
			if c == 0x101 {
				c = 0x2000 // blanks, dashes and quotes of Unicode
			}
			s, err := mysql.Dialect{}.Language().Text.Check(fmt.Sprintf(form, string(c)))
			if err != nil {
				continue
			}
			fields, err := mysql.Fields(s.SQL())
			if err != nil {
				continue
			}
			rows, err := pool.Query(s.SQL())
			if err != nil {
				continue
			}
			columns, err := rows.Columns()
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
			if compared++; err != nil || len(columns) != fields {
				t.Errorf("%q: the server sees %d columns, the parser %d, %v", s.SQL(), len(columns), fields, err)
			}
		}
	}
	if compared < 1000 {
		t.Errorf("only %d texts compared", compared)
	}
}
