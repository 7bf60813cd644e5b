package enginetest_test

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// counting is SQLite that counts its holds.
func counting(holds *atomic.Int64) exec.Dialect {
	return exectest.Change(sqlite.Dialect{}, exectest.Changes{
		Open: func(_ context.Context, _ *sql.Conn, open func() (exec.GuardedConn, error)) (exec.GuardedConn, error) {
			holds.Add(1)
			return open()
		},
	})
}

// TestWorkForOneStatement: a warm question with one distinct statement costs a look or two at the schema, one
// examination and one reading of the winner's rows, each a hold.
func TestWorkForOneStatement(t *testing.T) {
	const plain, quoted = "SELECT name FROM customers WHERE country = 'USA'",
		`SELECT "name" FROM customers WHERE country = "USA" ORDER BY 1`
	for _, tt := range []struct {
		why      string
		strategy strategy.Strategy
		reply    string
		holds    int64
	}{
		{"the default strategy", strategy.Consensus{}, "```sql\n" + plain + ";\n```", 4},
		{"a bare reply", strategy.Consensus{}, plain, 4},
		{"names in quotes and an order", strategy.Consensus{}, "```sql\n" + quoted + "\n```", 4},
		{"prose around it", strategy.Consensus{}, "This lists them:\n\n" + plain + ";\n\nIt reads customers.", 4},
		{"one sample", strategy.Direct{}, "```sql\n" + plain + "\n```", 3},
		{"votes alone", strategy.SelfConsistency{}, plain, 3},
		{"two rounds", petsql.Strategy{}, plain, 3},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var holds atomic.Int64
			model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: tt.reply, StopReason: llm.StopEnd}, nil
			})
			e := engine(t, model, texttosql.WithStrategy(tt.strategy), texttosql.WithDialect(counting(&holds)))
			for range 2 { // the first question reads schema and sample values
				holds.Store(0)
				if r, err := e.Ask(t.Context(), "Which customers live in the USA?"); err != nil || len(r.Rows.Rows) == 0 {
					t.Fatal(r, err)
				}
			}
			if holds.Load() > tt.holds {
				t.Errorf("%d holds, want at most %d", holds.Load(), tt.holds)
			}
		})
	}
}
