package enginetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// parcelsOf is a database whose hidden rows are the first values, and whose others are the same in each.
func parcelsOf(hidden ...string) string {
	script := "CREATE TABLE sizes(k INTEGER PRIMARY KEY); INSERT INTO sizes VALUES (0), (1), (2), (3), (4), (5), (6), " +
		"(7), (8), (9);" +
		"CREATE TABLE parcels(id INTEGER PRIMARY KEY, team INTEGER, bad INTEGER, n INTEGER, x REAL, s TEXT, j TEXT);"
	for i, values := range hidden {
		script += fmt.Sprintf("INSERT INTO parcels VALUES (%d, 2, 1, %s);", 1001+i, values)
	}
	script += "INSERT INTO parcels VALUES (5001, 1, 3, -9223372036854775808, 1, '', '{'), (5002, 1, 3, 5, 2, 'abc', " +
		"'[1]');" +
		"CREATE INDEX of_bad ON parcels(bad, n, s);" + attack.HiddenViews("abs(n)") +
		"CREATE TABLE letters(id INTEGER PRIMARY KEY, team INTEGER, bad INTEGER, n INTEGER, s TEXT); INSERT INTO letters " +
		"SELECT id, team, bad, n, s FROM parcels;"
	return script
}

// TestHiddenRows: what an engine tells a scope, of a statement of its own and of one that a model writes, is the same
// whatever the hidden rows are.
func TestHiddenRows(t *testing.T) {
	statements := attack.Hidden("sqlite")
	sql := ""
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: strategytest.Reply(req.Purpose, func() string { return "parcels" }, func() string {
			return sql
		}), StopReason: llm.StopEnd}, nil
	})
	policy := exec.Policy{Rows: map[string]string{"parcels": "team = :team", "letters": attack.HiddenRule},
		Shared: []string{"sizes"}}
	of := func(hidden ...string) *texttosql.Engine {
		return testutil.Value(texttosql.New(open(t, parcelsOf(hidden...)), model, texttosql.WithPolicy(policy),
			texttosql.WithClock(nil)))(t)
	}
	as := texttosql.WithScope(exec.Scope{Key: "red", Params: map[string]any{"team": 1}})
	tell := func(e *texttosql.Engine, ask bool) string {
		if ask {
			r, err := e.Ask(t.Context(), "Which parcels are bad?", as)
			if r == nil {
				return fmt.Sprint(err)
			}
			shown, merr := r.Trace.Comparable()
			return fmt.Sprintf("%s %v %v %v %s %v", r.SQL, r.Rows, r.Warnings, err, shown, merr)
		}
		table, err := e.Query(t.Context(), sql, as)
		return fmt.Sprint(table, err)
	}
	copied := of()
	others := map[string]*texttosql.Engine{
		"with hidden rows": of("-9223372036854775808, -1e308, '', '{'", "9223372036854775807, 1e308, 'abc', '[1'",
			"0, 0, '%', '('"),
		"with others in their place": of("5, 5, 'x', '[]'", "6, 6, hex(zeroblob(90000)), 'y'",
			"-9223372036854775808, 0, NULL, NULL"),
	}
	answered := 0
	for i, text := range statements {
		sql = strings.ReplaceAll(text, "{V}", "abs(n)")
		for _, ask := range []bool{false, true} {
			if ask && i%4 > 0 {
				continue
			}
			want := tell(copied, ask)
			for name, e := range others {
				if got := tell(e, ask); got != want {
					t.Errorf("%s:\n\t%s\n%s:\n\t%s", sql, want, name, got)
				}
			}
			if strings.HasSuffix(want, "<nil>") {
				answered++
			}
		}
	}
	if t.Logf("%d answers", answered); answered < 150 {
		t.Error("too few answers")
	}
}
