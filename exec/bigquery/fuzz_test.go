package bigquery_test

import (
	"strings"
	"testing"

	bq "github.com/texttosql/texttosql/exec/bigquery"
	"github.com/texttosql/texttosql/sqltext"
)

// FuzzRead: the parser and the walk come back without a panic, and whatever the parser makes of a text, no call of a
// forbidden function and no forbidden table, as the tokens tell them, gets through.
func FuzzRead(f *testing.F) {
	for _, test := range refusals {
		f.Add(test.sql)
	}
	for _, test := range harmless {
		f.Add(test.sql)
	}
	forbidden := map[string]bool{
		"session_user": true, "external_query": true, "error": true, "predict": true, "generate_text": true, "generate": true, "forecast": true,
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := bq.Dialect{}.Language().Text
		s, err := d.Check(text)
		if err != nil {
			return
		}
		tables, _, err := bq.Read(text)
		if err != nil {
			return
		}
		for _, name := range tables {
			if strings.EqualFold(name, "information_schema") || strings.HasSuffix(name, "*") {
				t.Errorf("the table %s passes: %q", name, text)
			}
		}
		last := ""
		for token := range s.Tokens() {
			switch token.Kind {
			case sqltext.Space, sqltext.Comment:
				continue
			case sqltext.Word, sqltext.QuotedName:
				last = strings.ToLower(d.Value(token))
				continue
			}
			if token.Text == "(" && forbidden[last] {
				t.Errorf("%s passes: %q", last, text)
			}
			last = ""
		}
	})
}
