package enginetest_test

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// TestTwentyScopesAtOnce: five hundred questions of twenty tenants at once on one engine, a hundred for a method of two
// rounds, and a fifth of both under the race detector; each answer and each prompt has the rows of its tenant, and the
// canary of no other.
func TestTwentyScopesAtOnce(t *testing.T) {
	const tenants = 20
	db := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "shop.db")))(t)
	defer db.Close()
	script := "CREATE TABLE tenants (id INTEGER PRIMARY KEY, title TEXT);" +
		"CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant INTEGER REFERENCES tenants (id), item TEXT, price REAL);"
	for i := range tenants {
		script += fmt.Sprintf("INSERT INTO tenants VALUES (%d, 'CANARY-%02d title');", i, i)
		for j := range 5 {
			script += fmt.Sprintf("INSERT INTO orders (tenant, item, price) VALUES (%d, 'CANARY-%02d item %d', %d);", i, i, j,
				100*i+j)
		}
	}
	testutil.Value(db.Exec(script))(t)
	foreign := func(text string, own int) string {
		for i := range tenants {
			if canary := fmt.Sprintf("CANARY-%02d", i); i != own && strings.Contains(text, canary) {
				return canary
			}
		}
		return ""
	}
	// A question names its tenant, so that the model can tell whose prompt it reads.
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		var all string
		for _, m := range req.Messages {
			all += m.Text + "\n"
		}
		var own int
		if at := strings.LastIndex(all, "tenant number "); at < 0 {
			t.Errorf("no tenant in\n%s", all)
		} else if _, err := fmt.Sscanf(all[at:], "tenant number %d", &own); err != nil {
			t.Error(err)
		}
		if canary := foreign(all, own); canary != "" {
			t.Errorf("the prompt of tenant %d has %s:\n%s", own, canary, all)
		}
		return llm.Response{Text: "SELECT t.title, o.item FROM orders o JOIN tenants t ON t.id = o.tenant ORDER BY o.id",
			StopReason: llm.StopEnd}, nil
	})
	for _, tt := range []struct {
		name      string
		strategy  strategy.Strategy
		questions int
	}{{"Consensus", strategy.Consensus{Samples: 2}, 500}, {"PETSQL", petsql.Strategy{}, 100}} {
		name := tt.name
		if race.Enabled {
			tt.questions /= 5
		}
		e := testutil.Value(texttosql.New(db, model, texttosql.WithStrategy(tt.strategy),
			texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}}),
			texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"orders": "tenant = :tenant",
				"tenants": "id = :tenant"}})))(t)
		var all sync.WaitGroup
		for q := range tt.questions {
			all.Go(func() {
				own := q % tenants
				scope := texttosql.WithScope(exec.Scope{Key: fmt.Sprint("tenant ", own), Params: map[string]any{"tenant": own}})
				text := fmt.Sprintf("Items of CANARY-%02d, question %d of tenant number %d ?", own, q, own)
				r, err := e.Ask(t.Context(), text, scope)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				if len(r.Rows.Rows) != 5 {
					t.Errorf("%s: tenant %d has %d rows", name, own, len(r.Rows.Rows))
				}
				if canary := foreign(fmt.Sprint(r.Rows.Rows, r.Warnings), own); canary != "" {
					t.Errorf("%s: the answer of tenant %d has %s", name, own, canary)
				}
				if q < 2*tenants {
					if err := e.Confirm(t.Context(), text, r.SQL, scope); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	}
}

// TestBatchesOfScopes: batches of twenty tenants at once on one engine, whose model remembers replies for all of them:
// each has its own rows in prompts and answers, and a repeated batch is answered from what the cache has.
func TestBatchesOfScopes(t *testing.T) {
	const tenants = 20
	script := "CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant INTEGER, item TEXT);"
	for i := range tenants {
		script += fmt.Sprintf("INSERT INTO orders (tenant, item) VALUES (%d, 'CANARY-%02d lamp'), (%[1]d, "+
			"'CANARY-%02[1]d desk');", i, i)
	}
	var calls atomic.Int32
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		calls.Add(1)
		all := fmt.Sprint(req.Messages)
		if own := strings.Index(all, "CANARY-"); own < 0 || strings.Count(all, "CANARY-") != strings.Count(all,
			all[own:own+len("CANARY-00")]) {
			t.Errorf("a prompt has no tenant's rows, or those of two:\n%s", all)
		}
		return llm.Response{Text: "SELECT item FROM orders WHERE item LIKE '%lamp' OR item LIKE '%desk'",
			StopReason: llm.StopEnd}, nil
	})
	e := testutil.Value(texttosql.New(open(t, script), llm.Chain(llm.Named("m", model), remembering()),
		texttosql.WithStrategy(strategy.Consensus{Samples: 2}),
		texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"orders": "tenant = :tenant"}})))(t)
	batch := func() {
		var all sync.WaitGroup
		for own := range tenants {
			all.Go(func() {
				scope := texttosql.WithScope(exec.Scope{Key: fmt.Sprint("tenant ", own), Params: map[string]any{"tenant": own}})
				questions := slices.Values([]texttosql.Question{{Text: "Which items?"}, {Text: "Which lamps and desks?"}})
				canary := fmt.Sprintf("CANARY-%02d", own)
				for r, err := range e.AskAll(t.Context(), questions, 0, scope) {
					if err != nil || len(r.Result.Rows.Rows) != 2 || strings.Count(fmt.Sprint(r.Result.Rows.Rows), canary) != 2 {
						t.Errorf("tenant %d: %+v, %v", own, r.Result, err)
					}
				}
			})
		}
		all.Wait()
	}
	batch()
	first := calls.Load()
	batch()
	if again := calls.Load() - first; again != 0 || first != 2*2*tenants {
		t.Errorf("%d calls, and %d for the same questions again", first, again)
	}
}
