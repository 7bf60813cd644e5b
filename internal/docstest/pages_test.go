package docstest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/texttosqltest"
)

// Example_testingFake is the fake engine of docs/testing.md.
func Example_testingFake() {
	fake := &texttosqltest.Fake{Answers: map[string]texttosqltest.Answer{
		"How many orders are open?": {SQL: "SELECT count(*) FROM orders WHERE status = 'open'", Confidence: 0.9},
	}}
	answer, err := fake.Ask(ctx, "How many orders are open?")
	fmt.Println(answer.SQL, answer.Confidence, err)
	// Output: SELECT count(*) FROM orders WHERE status = 'open' 0.9 <nil>
}

// TestTestingPage runs the scripted model and the recording of docs/testing.md.
func TestTestingPage(t *testing.T) {
	db, file := open(t, shop), filepath.Join(t.TempDir(), "run.jsonl")
	want := [][]any{{"Ada"}, {"Cyd"}}

	record := func() (*texttosql.Result, error) {
		model := &llmtest.Script{Rules: []llmtest.Rule{
			{Purpose: "generate", Contains: "in the USA", Repeat: true,
				Replies: llmtest.Texts("SELECT name FROM customers WHERE country = 'USA'")},
		}}
		recorder, err := replay.Append(file)
		if err != nil {
			return nil, err
		}
		defer recorder.Close()
		engine, err := texttosql.New(db, llm.Chain(model, recorder.Record))
		if err != nil {
			return nil, err
		}
		return engine.Ask(ctx, "Which customers are in the USA?")
	}
	replayed := func() (*texttosql.Result, error) {
		player, err := replay.Open(file)
		if err != nil {
			return nil, err
		}
		engine, err := texttosql.New(db, player, texttosql.WithClock(player.Now)) // prompts name the day
		if err != nil {
			return nil, err
		}
		return engine.Ask(ctx, "Which customers are in the USA?")
	}
	for i, ask := range []func() (*texttosql.Result, error){record, replayed} {
		answer := testutil.Value(ask())(t)
		if diff := cmp.Diff(want, answer.Rows.Rows); diff != "" {
			t.Errorf("run %d: %s", i, diff)
		}
	}
}

// TestTenantsPage runs the steps of docs/tenants.md: each tenant reads its own rows, and a question without a scope is
// rejected.
func TestTenantsPage(t *testing.T) {
	db := open(t, `CREATE TABLE customers (id INTEGER PRIMARY KEY, tenant_id INTEGER, name TEXT);
CREATE TABLE orders (id INTEGER PRIMARY KEY, tenant_id INTEGER, customer_id INTEGER REFERENCES customers(id));
CREATE TABLE countries (code TEXT PRIMARY KEY);
INSERT INTO orders VALUES (1, 42, 1), (2, 42, 1), (3, 7, 2);`)
	engine, err := tenantEngine(ctx, db, always("SELECT count(*) FROM orders"))
	testutil.OK(t, err)

	for tenant, want := range map[int]int64{42: 2, 7: 1, 8: 0} {
		answer := testutil.Value(askFor(ctx, engine, tenant, "How many orders are there?"))(t)
		if diff := cmp.Diff([][]any{{want}}, answer.Rows.Rows); diff != "" {
			t.Errorf("tenant %d: %s", tenant, diff)
		}
	}
	if _, err := engine.Ask(ctx, "How many orders are there?"); !errors.Is(err, exec.ErrNoScope) {
		t.Errorf("without a scope: %v", err)
	}
}

func tenantEngine(ctx context.Context, db *sql.DB, model llm.Model) (*texttosql.Engine, error) {
	policy := exec.Policy{
		Rows: map[string]string{
			"orders":    "tenant_id = :tenant",
			"customers": "tenant_id = :tenant",
		},
		Shared: []string{"countries"},
	}
	engine, err := texttosql.New(db, model, texttosql.WithPolicy(policy))
	if err != nil {
		return nil, err
	}
	return engine, engine.Ready(ctx) // names a rule that cannot work
}

// tenant is the tenant of the signed-in user, never a value of the request.
func askFor(ctx context.Context, engine *texttosql.Engine, tenant int, question string) (*texttosql.Result, error) {
	scope := texttosql.NewScope(map[string]any{"tenant": tenant})
	return engine.Ask(ctx, question, texttosql.WithScope(scope))
}

func Example_tenantsConversation() {
	var engine *texttosql.Engine
	var sessions session.Store
	var scope exec.Scope
	own, err := engine.For(texttosql.WithScope(scope)) // this engine cannot leave the scope
	talk := own.NewConversation(sessions)
	answer, err := talk.Ask(ctx, "Which customers never ordered?")
	_, _ = answer, err
}

func Example_outages() {
	var db *sql.DB
	var model llm.Model
	engine, err := texttosql.New(db, model, texttosql.WithRetry(llm.Retry{GiveUp: 5 * time.Second}))
	answer, err := engine.Ask(ctx, "Which customers never ordered?")
	switch failure.Of(err).Class {
	case failure.Rate, failure.Provider: // ask again later
	case failure.Key: // an operator must change the key or the account
	}
	_ = answer
}
