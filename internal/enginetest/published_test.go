package enginetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// TestPublishedPrompts: what a model is sent downstream of an Engine. The engine has a clock, the question speaks of
// time and the database writes days as texts: ours says so, and a published prompt has what its source has.
func TestPublishedPrompts(t *testing.T) {
	const days = `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, since TEXT);
INSERT INTO customers VALUES (1, 'Ada', '2026-10-03'), (2, 'Bo', '2026-09-01');`
	const sql = "SELECT count(*) FROM customers WHERE since >= '2026-10-01'"
	replies := map[string]string{
		"maker.scope": "Tables: customers", "maker.filter": "customers.since >= '2026-10-01'",
		"agent.step": "Thought: count\nAction: query[" + sql + "]",
	}
	for name, s := range map[string]strategy.Strategy{
		"plan": planvote.Plain{}.Published(), "augmented": planvote.Augmented{}.Published(),
		"maker":  maker.Strategy{}.Published(),
		"petsql": petsql.Strategy{}.Published(), "react": agent.ReAct{}.Published(),
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var sent []string
			model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				mu.Lock()
				defer mu.Unlock()
				text := "=== " + req.Purpose + "\n"
				for _, m := range req.Messages {
					text += "--- " + m.Role + "\n" + m.Text + "\n"
				}
				if !slices.Contains(sent, text) {
					sent = append(sent, text)
				}
				reply, known := replies[req.Purpose]
				if !known {
					reply = sql
				}
				return llm.Response{Text: reply}, nil
			})
			e := testutil.Value(texttosql.New(open(t, days), model, texttosql.WithStrategy(s),
				texttosql.WithClock(clockAt(friday).now), texttosql.WithSeed(1)))(t)
			r := testutil.Value(e.Ask(t.Context(), "How many customers came since last month?"))(t)
			if r.SQL != sql {
				t.Errorf("the answer is %q", r.SQL)
			}
			golden.Check(t, "published-"+name+".txt", strings.Join(sent, ""))
		})
	}
}
