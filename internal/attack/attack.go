// Package attack has what the tests of several dialects need to attack them: the statements of the evaluation data, and
// forms of statements that grow quickly.
package attack

import (
	_ "embed" // of the statements
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/evaldata"
	"github.com/texttosql/texttosql/sqltext"
)

// Payloads returns the statements for one engine ("postgres"). Without the data it skips the test.
func Payloads(t testing.TB, engine string) (all []exectest.Payload) {
	t.Helper()
	for _, p := range evaldata.Payloads(t) {
		if p.Engine == engine {
			all = append(all, exectest.Payload{
				Name: p.ID, SQL: p.Text, Why: p.Why, Expect: p.Expect, Rows: p.Rows,
				Policy: exec.Policy{DenyColumns: p.Policy.DenyColumns, DenyTables: p.Policy.DenyTables},
			})
		}
	}
	return all
}

// Calls fails t where a statement calls one of some functions, in lower case, as its tokens tell it: a name before a
// bracket.
func Calls(t testing.TB, s *sqltext.Statement, forbidden ...string) {
	t.Helper()
	last := ""
	for token := range s.Tokens() {
		switch token.Kind {
		case sqltext.Space, sqltext.Comment:
			continue
		case sqltext.Word, sqltext.QuotedName:
			last = strings.ToLower(s.Dialect().Value(token))
			continue
		}
		if token.Text == "(" && slices.Contains(forbidden, last) {
			t.Errorf("%s passes: %q", last, s.SQL())
		}
		last = ""
	}
}

// Doubled is a statement of so many common table expressions that each name the one before twice, as form says: its %s
// is that name. as is "AS" or what else the engine has in its place.
func Doubled(form, as string, levels int) string {
	text := "WITH w0 AS (SELECT 1 AS c)"
	for i := range levels {
		text += fmt.Sprintf(", w%d %s (%s)", i+1, as, fmt.Sprintf(form, fmt.Sprint("w", i)))
	}
	return text + fmt.Sprintf(" SELECT count(*) FROM w%d", levels)
}

// Growing are statements that grow in three ways, of so many steps, by a name.
func Growing(as string, steps ...int) map[string]string {
	all := map[string]string{}
	for name, form := range map[string]string{
		"columns": "SELECT c + c AS c FROM %s", "joins": "SELECT x.c FROM %s AS x, %[1]s AS y",
		"unions": "SELECT c FROM %s UNION ALL SELECT c FROM %[1]s",
	} {
		for _, n := range steps {
			all[fmt.Sprintf("%s, %02d steps", name, n)] = Doubled(form, as, n)
		}
	}
	return all
}

// Joined is so many tables behind a first one.
func Joined(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf(", t AS x%d", i+1)
	}
	return text
}

//go:embed rows.txt
var rows string

// Rows returns the statements against rules about rows, for dialecttest.Rows.
func Rows() (all []string) {
	for line := range strings.Lines(rows) {
		if line = strings.TrimSuffix(line, "\n"); line != "" && !strings.HasPrefix(line, "# ") {
			all = append(all, line)
		}
	}
	return all
}
