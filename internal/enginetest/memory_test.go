package enginetest_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// TestIdleEngineKeepsLittle: an engine that has answered a question over a long
// table keeps what it found out about the table, and not the 10,000 rows that it
// looked at. It uses an llm.Func, because llmtest.Script keeps all prompts.
func TestIdleEngineKeepsLittle(t *testing.T) {
	db := open(t, `CREATE TABLE sales (id INTEGER PRIMARY KEY, customer TEXT, city TEXT, note TEXT, total REAL);
		WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
		INSERT INTO sales SELECT i, 'customer number ' || i, 'city ' || i % 500, printf('%.150c', 'x') || i, i * 1.5 FROM n;`)
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT count(*) FROM sales", StopReason: llm.StopEnd}, nil
	})
	ask := func() *texttosql.Engine {
		e := testutil.Value(texttosql.New(db, model))(t)
		testutil.Value(e.Ask(t.Context(), "How many sales are there?"))(t)
		return e
	}
	live := func() uint64 {
		var m runtime.MemStats
		for range 3 { // values of a sync.Pool survive the first two
			runtime.GC()
		}
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	ask() // what the first engine of a process allocates once
	before := live()
	engines := make([]*texttosql.Engine, 4)
	for i := range engines {
		engines[i] = ask()
	}
	after := live()
	const most = 768 << 10 // 5,000 stored texts of a column and their words are most of it
	each := (int64(after) - int64(before)) / int64(len(engines))
	t.Logf("%d bytes each", each)
	if each > most {
		t.Errorf("an idle engine keeps %d bytes, more than %d", each, most)
	}
	runtime.KeepAlive(engines)
}
