package enginetest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/strategy"
)

// TestDeniedColumnLooksAbsent: under a policy about columns nothing tells a denied column from one that is not there:
// error, advice, hint and the prompt of a repair are those of a copy of the database without the column.
func TestDeniedColumnLooksAbsent(t *testing.T) {
	const (
		staff   = "CREATE TABLE staff (id INTEGER PRIMARY KEY, secrecy TEXT);"
		with    = staff + "CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT, land TEXT, secrecy TEXT);"
		without = staff + "CREATE TABLE clients (id INTEGER PRIMARY KEY, name TEXT, land TEXT);"
	)
	told := func(script, sql string) string {
		t.Helper()
		model := always("```sql\n" + sql + "\n```")
		e := testutil.Value(texttosql.New(open(t, script), model,
			texttosql.WithPolicy(exec.Policy{DenyColumns: []string{"secrecy"}}),
			texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(2)))(t)
		_, err := e.Query(t.Context(), sql)
		_, checked := e.Check(t.Context(), sql)
		_, asked := e.Ask(t.Context(), "Who?")
		var prompts strings.Builder
		for _, req := range model.Requests() {
			fmt.Fprintln(&prompts, req.Purpose, req.Messages)
		}
		return fmt.Sprintf("%v\n%v\n%+v\n%v\n%s", err, checked, failure.Of(err), asked, prompts.String())
	}
	for _, tt := range []struct{ why, sql, want string }{
		{"alone", "SELECT secrecy FROM clients", "secrecy: no such column, or you may not read it"},
		{"with an alias", "SELECT c.secrecy FROM clients c", "secrecy: no such column, or you may not read it"},
		{"in capitals", "SELECT SECRECY FROM clients", "secrecy: no such column, or you may not read it"},
		{"in a condition", "SELECT id FROM clients WHERE secrecy = 'x'", "secrecy: no such column, or you may not read it"},
		{"in an order", "SELECT id FROM clients ORDER BY secrecy", "secrecy: no such column, or you may not read it"},
		{"in an aggregate", "SELECT max(secrecy) FROM clients", "secrecy: no such column, or you may not read it"},
		{"in a subquery", "SELECT id FROM clients WHERE id IN (SELECT c.id FROM clients c WHERE c.secrecy > '')",
			"secrecy: no such column, or you may not read it"},
		{"in a CTE", "WITH c AS (SELECT secrecy AS s FROM clients) SELECT s FROM c",
			"secrecy: no such column, or you may not read it"},
		{"as a key of a join", "SELECT c.id FROM clients c JOIN clients d USING (secrecy)",
			"secrecy: no such column, or you may not read it"},
		{"with another fault behind it", "SELECT secrecy, zzz FROM clients",
			"secrecy: no such column, or you may not read it"},
		{"an absent one has a hint", "SELECT nam FROM clients",
			"nam: no such column, or you may not read it. Did you mean name?"},
		{"an ambiguous one is there", "SELECT id FROM clients c JOIN clients d ON c.id = d.id", "ambiguous"},
		{"an absent table is no column", "SELECT id FROM cliens", "no such table: cliens. Did you mean clients?"},
		{"what may be read", "SELECT name FROM clients", "<nil>"},
	} {
		denied, absent := told(with, tt.sql), told(without, tt.sql)
		if diff := cmp.Diff(absent, denied); diff != "" {
			t.Errorf("%s (-absent +denied):\n%s", tt.why, diff)
		}
		if first, _, _ := strings.Cut(denied, "\n"); !strings.Contains(first, tt.want) {
			t.Errorf("%s: %s, want %q", tt.why, first, tt.want)
		}
	}
	// Without a policy about columns the error tells a secret name from an absent one, so that its owner learns to reveal
	// it.
	e := testutil.Value(texttosql.New(open(t, shop), always("x")))(t)
	for sql, want := range map[string]string{
		"SELECT password FROM customers": "exec: refused (column): customers.password may not be read",
		"SELECT countrx FROM customers":  "exec: invalid statement (schema): no such column: countrx. Did you mean country?",
	} {
		if _, err := e.Query(t.Context(), sql); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", sql, err, want)
		}
	}
}
