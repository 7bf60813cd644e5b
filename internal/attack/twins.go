package attack

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/internal/dbtest"
)

// Twins runs statements on a table t with a rule, with a text of a hidden row in place of %s and with one of no row:
// what is told must be the same.
func Twins(t *testing.T, e exectest.Engine, script, rule string, statements ...string) {
	t.Helper()
	pool := sql.OpenDB(e.Open(t, script).User)
	defer pool.Close()
	view, err := dbtest.ReadyDB(t, pool, e.Dialect, exec.Config{Policy: exec.Policy{Rows: map[string]string{"t": rule}}}).
		For(&exec.Scope{Key: "x", Params: map[string]any{"v": 1}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range statements {
		tell := func(key string) string {
			table, err := view.Query(t.Context(), strings.ReplaceAll(text, "%s", key))
			return fmt.Sprint(table, err)
		}
		if hidden, absent := tell("hidden"), tell("absent"); hidden != absent {
			t.Errorf("%s: %s\nand where no row has the text\n%s", text, hidden, absent)
		}
	}
}
