package duckdb_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/duckdb"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/sqltext"
)

// FuzzGuard: whatever DuckDB makes of a text, the guard comes back, no call of a forbidden function gets through, as the
// tokens tell it, and no denied column is read, as DuckDB's own plan tells it. The file stays what it was.
func FuzzGuard(f *testing.F) {
	for _, s := range append(refusals, harmless...) {
		for i, text := range s.list {
			if len(text) < 200 && i < 12 {
				f.Add(text)
			}
		}
	}
	file := makeFile(f, exectest.Fixture)
	pool, bare := openPath(f, file, small), openPath(f, file, small)
	db := onPool(f, pool, exec.Config{Policy: denied})
	before, err := contents(file)
	if err != nil {
		f.Fatal(err)
	}
	forbidden := map[string]bool{
		"getenv": true, "read_text": true, "read_csv": true, "glob": true, "query": true, "nextval": true, "sleep_ms": true, "write_log": true,
		"getvariable": true, "setseed": true, "current_setting": true, "duckdb_settings": true, "version": true,
	}
	d := duckdb.Dialect{}.Language().Text
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := db.Analyze(t.Context(), text); err != nil {
			return
		}
		s, err := d.Check(text)
		if err != nil {
			t.Fatalf("%q: the text check refuses it: %v", text, err)
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
		for table, columns := range planned(t, bare, s.SQL()) {
			for _, c := range columns {
				if table == "users" && strings.HasPrefix(c, "password") {
					t.Errorf("the plan reads %s.%s: %q", table, c, text)
				}
			}
		}
		if after, err := contents(file); err != nil || after != before {
			t.Errorf("%q changed the file: %v", text, err)
		}
	})
}

var denied = exec.Policy{DenyColumns: []string{"password"}}
