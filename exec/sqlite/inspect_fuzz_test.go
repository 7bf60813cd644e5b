package sqlite

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/texttosql/texttosql/schema"
)

func FuzzDescribe(f *testing.F) {
	for _, text := range []string{
		"CREATE TABLE t (a INT -- first\n, b /* second */ INT)", "CREATE TABLE t (-- x\n", "/*", "--", ")", "(,,--\n,", "(/**/a/**/(--\n)))--",
	} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, view bool) {
		table := schema.Table{Kind: schema.BaseTable, Definition: text, Columns: []schema.Column{{Name: "a"}, {Name: "b"}}}
		if view {
			table.Kind = schema.View
		}
		describe(&table)
		for _, d := range []string{table.Description, table.Columns[0].Description, table.Columns[1].Description} {
			if strings.ContainsAny(d, "\n\r\t") || utf8.ValidString(text) && !utf8.ValidString(d) {
				t.Errorf("description %q of %q", d, text)
			}
		}
	})
}
