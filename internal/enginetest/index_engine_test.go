package enginetest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/exec"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
)

// TestHistoryLinks: of a schema that no prompt has room for, solved questions say which table a word means.
func TestHistoryLinks(t *testing.T) {
	var script strings.Builder
	for _, area := range strings.Fields("sales stock rental finance payroll tax asset budget") {
		for _, thing := range strings.Fields("report history detail summary region status account") {
			fmt.Fprintf(&script, "CREATE TABLE %s_%s (id INTEGER", area, thing)
			for i := range 40 {
				fmt.Fprintf(&script, ", some_measure_%s_%d REAL", thing, i)
			}
			script.WriteString(");\n")
		}
	}
	db := open(t, script.String())
	var tables []string
	for rows := testutil.Value(db.Query("SELECT name FROM sqlite_schema WHERE type = 'table'"))(t); rows.Next(); {
		var name string
		testutil.OK(t, rows.Scan(&name))
		tables = append(tables, name)
	}
	const churn = "SELECT count(*) FROM asset_status"
	solved := memory.Exemplar{Question: "What is our churn?", SQL: churn}
	none, under, forgetful := texttosql.WithSamples(0), texttosql.WithScope,
		texttosql.WithMemory(memory.Options{Off: true})
	for _, tt := range []struct {
		why         string
		pairs       []memory.Exemplar
		confirmed   []memory.Exemplar // while the engine works; a Scope is the one it is confirmed under
		as          texttosql.AskOption
		want, after bool // before something is confirmed and after it
	}{
		{"no word leads to the table", nil, nil, none, false, false},
		{"a solved question does", []memory.Exemplar{solved}, nil, none, true, true},
		{"a past statement with a title does", []memory.Exemplar{{Question: "churn 2024", SQL: churn, Past: true}}, nil, none,
			true, true},
		{"so does one whose literals say it", []memory.Exemplar{{SQL: churn + " WHERE id = 'churn'", Past: true}}, nil, none,
			true, true},
		{"of another scope none does", []memory.Exemplar{{Question: "churn", SQL: churn, Past: true, Scope: "acme"}}, nil,
			none, false, false},
		{"of its own scope it does", []memory.Exemplar{{Question: "churn", SQL: churn, Past: true, Scope: "acme"}}, nil,
			under(acme), true, true},
		{"under a scope, what is nobody's does", []memory.Exemplar{solved}, nil, under(acme), true, true},
		{"what is confirmed does at once", nil, []memory.Exemplar{solved}, none, false, true},
		{"the answer that replaced another one does not", nil,
			[]memory.Exemplar{solved, {Question: "What is our churn?", SQL: "SELECT 1"}}, none, false, false},
		{"what is confirmed under a scope does there", nil, []memory.Exemplar{{Question: "churn", SQL: churn, Scope: "acme"}},
			under(acme), false, true},
		{"and not under another", nil, []memory.Exemplar{{Question: "churn", SQL: churn, Scope: "acme"}}, under(globex),
			false, false},
		{"nor without one", nil, []memory.Exemplar{{Question: "churn", SQL: churn, Scope: "acme"}}, none, false, false},
		{"what is confirmed without one does not under one", nil, []memory.Exemplar{solved}, under(acme), false, false},
		{"a question without memory sees nothing of it", nil, []memory.Exemplar{solved}, forgetful, false, false},
		{"but what was configured", []memory.Exemplar{solved}, nil, forgetful, true, true},
	} {
		var shown atomic.Bool
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			for _, m := range req.Messages {
				if strings.Contains(m.Text, "TABLE asset_status") {
					shown.Store(true)
				}
			}
			return llm.Response{Text: "```sql\nSELECT 1\n```"}, nil
		})
		options := []texttosql.Option{texttosql.WithStrategy(strategy.Direct{}),
			texttosql.WithMemory(memory.Options{Exemplars: tt.pairs, VerifiedAnswers: &memory.VerifiedAnswers{}})}
		alone := testutil.Value(texttosql.New(db, model, options...))(t)
		ruled := testutil.Value(texttosql.New(db, model,
			append(options, texttosql.WithPolicy(exec.Policy{Shared: tables}))...))(t)
		engine := ruled // with scopes; alone is that of a program without them
		if _, err := ruled.For(tt.as); err != nil {
			engine = alone
		}
		ask := func(want bool) {
			shown.Store(false)
			if _, err := engine.Ask(t.Context(), "churn of the payroll history", tt.as); err != nil {
				t.Errorf("%s: %v", tt.why, err)
			}
			if shown.Load() != want {
				t.Errorf("%s: asset_status in a prompt: %v, want %v", tt.why, !want, want)
			}
		}
		ask(tt.want)
		var others sync.WaitGroup // questions while somebody confirms: for the race detector
		others.Go(func() { engine.Ask(t.Context(), "churn of the payroll history", tt.as) })
		for _, p := range tt.confirmed {
			if p.Scope != "" {
				testutil.OK(t, ruled.Confirm(t.Context(), p.Question, p.SQL, under(exec.Scope{Key: p.Scope})))
			} else {
				testutil.OK(t, alone.Confirm(t.Context(), p.Question, p.SQL))
			}
		}
		others.Wait()
		ask(tt.after)
	}
}
