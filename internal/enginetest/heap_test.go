package enginetest_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/strategy"
)

// watched is a strategy that notes the snapshot of the last question.
type watched struct {
	strategy.Strategy
	last **snapshot.Snapshot
}

func (w watched) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	*w.last = env.Snapshot
	return w.Strategy.Generate(ctx, env, t)
}

// countParts counts the parts in the store of a snapshot, without marks on statements: those go with their statements.
func countParts(s *snapshot.Snapshot) (n int) {
	store := reflect.ValueOf(s).Elem().FieldByName("store").Elem()
	mu := (*sync.Mutex)(store.FieldByName("mu").Addr().UnsafePointer()) // the collector drops parts beside the test
	mu.Lock()
	defer mu.Unlock()
	for _, place := range store.FieldByName("parts").MapKeys() {
		if !strings.HasPrefix(place.FieldByName("of").Elem().Type().String(), "weak.Pointer") {
			n++
		}
	}
	return n
}

// TestHeapIsFlat: what the engine stores of a database does not grow with the questions. A part that was made for one
// question is never found again.
func TestHeapIsFlat(t *testing.T) {
	for _, tt := range []struct {
		why       string
		strategy  strategy.Strategy
		tables    int
		columns   int // of a table
		questions int // a tenth of them under the race detector
	}{
		{"the whole schema is shown", strategy.Direct{}, 5, 1, 100},
		{"a linker chooses tables for each question", strategy.Pipeline{Linker: linker.Lexical{Tables: 2}}, 12, 1, 2000},
		{"the schema is over the budget of a prompt", strategy.Direct{}, 30, 60, 30},
		{"the chosen tables are over the budget, too", strategy.Direct{}, 30, 150, 10},
	} {
		var script strings.Builder
		for i := range tt.tables {
			fmt.Fprintf(&script, "CREATE TABLE t%d_%s (id INTEGER PRIMARY KEY", i, subject(i))
			for j := range tt.columns {
				fmt.Fprintf(&script, ", %s_number_%d INTEGER", subject(i+j), j)
			}
			script.WriteString(");\n")
		}
		if race.Enabled {
			tt.questions = max(10, tt.questions/10)
		}
		var last *snapshot.Snapshot
		e := testutil.Value(texttosql.New(open(t, script.String()), always("```sql\nSELECT 1 AS one;\n```"),
			texttosql.WithStrategy(watched{tt.strategy, &last})))(t)
		round := func() int {
			for i := range tt.questions {
				question := fmt.Sprintf("How many %s and %s of number %d?", subject(i), subject(i/tt.tables+7*i), i)
				if _, err := e.Generate(t.Context(), question); err != nil {
					t.Fatalf("%s: %v", tt.why, err)
				}
			}
			return countParts(last)
		}
		start := time.Now()
		once := round()
		if twice := round(); twice > once {
			t.Errorf("%s: %d parts became %d when the same %d questions came again", tt.why, once, twice, tt.questions)
		}
		t.Log(tt.why, once, time.Since(start))
	}
}

// subject is a word for each number.
func subject(i int) string {
	return string([]byte{'b' + byte(i%19), 'o' + byte(i/19%5), 'm' + byte(i/95%5), 'e', 'r', 's'})
}
