package enginetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/attack"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestOrder: what Engine.Query and Engine.Stream tell a scope has the same order whatever rows are hidden.
func TestOrder(t *testing.T) {
	policy := exec.Policy{Rows: attack.OrderRules()}
	as := texttosql.WithScope(exec.Scope{Key: "red", Params: map[string]any{"team": 1}})
	states := attack.HiddenStates()
	tell := func(state attack.HiddenState) (told []string) {
		pool := open(t, attack.OrderScript("sqlite")+state.Rows+"ANALYZE")
		e := testutil.Value(texttosql.New(pool, texttosql.NoModel, texttosql.WithPolicy(policy), texttosql.WithClock(nil)))(t)
		for i, s := range attack.OrderStatements("sqlite") {
			if i%3 > 0 {
				continue
			}
			told = append(told, tellEngine(t.Context(), e, s.SQL, i%2 == 0, as))
		}
		return told
	}
	without, with := tell(states[0]), tell(states[len(states)-1])
	for i, text := range attack.OrderStatements("sqlite") {
		if i%3 == 0 && without[i/3] != with[i/3] {
			t.Errorf("%s\n(%s)\n\t%.200s\nwith many hidden rows\n\t%.200s", text.SQL, text.Why, without[i/3], with[i/3])
		}
	}
}

// tellEngine is what an engine tells of a statement, as a list or as a stream.
func tellEngine(ctx context.Context, e *texttosql.Engine, text string, streams bool, as texttosql.AskOption) string {
	if !streams {
		table, err := e.Query(ctx, text, as)
		return fmt.Sprint(table, err)
	}
	s, err := e.Stream(ctx, text, as)
	if err != nil {
		return err.Error()
	}
	told := ""
	for row, err := range s.Rows() {
		told += fmt.Sprint(row, err)
	}
	return told
}
