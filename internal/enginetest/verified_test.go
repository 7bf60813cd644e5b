package enginetest_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/vote"
)

// byCountry is a statement that a person verified, with one parameter.
var byCountry = knowledge.Model{VerifiedQueries: []knowledge.VerifiedQuery{{
	Name: "customers of a country", Question: "Which customers are in USA?",
	SQL:        "SELECT name FROM customers WHERE country = :country",
	Params:     []knowledge.Param{{Name: "country", Column: "customers.country", Default: "USA"}},
	VerifiedBy: "the sales team", VerifiedAt: "2026-03-02",
}}}

// counted is a model that counts its calls.
func counted(reply string) (llm.Model, *atomic.Int32) {
	calls := new(atomic.Int32)
	return llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		calls.Add(1)
		return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
	}), calls
}

// TestVerified: a verified question is answered without a call where every parameter has a stored value, whatever its
// case, blanks and last mark; every other question goes to the model.
func TestVerified(t *testing.T) {
	const asks = "SELECT COUNT(*) FROM orders"
	confirmed := &memory.VerifiedAnswers{}
	testutil.OK(t, confirmed.Add(memory.Exemplar{Question: "What did Ada order?",
		SQL: "SELECT total FROM orders JOIN customers ON customers.id = customer_id WHERE name = 'Ada'"}))
	testutil.OK(t,
		confirmed.Add(memory.Exemplar{Question: "Which orders are over 15?", SQL: "SELECT id FROM orders WHERE total > 15"}))
	usa := map[string]string{"country": "USA"}
	for _, test := range []struct {
		why, question, sql string // "": the model is asked
		params             map[string]string
		options            []texttosql.AskOption
	}{
		{"the question itself", "Which customers are in USA?", "country = 'USA'", usa, nil},
		{"case, blanks, the last mark", "  which CUSTOMERS are  in usa", "country = 'USA'", usa, nil},
		{"another stored value", "Which customers are in Norway?", "country = 'Norway'",
			map[string]string{"country": "Norway"}, nil},
		{"a value that is not stored", "Which customers are in the sun?", "", nil, nil},
		{"a value in other letters", "Which customers are in norway?", "", nil, nil},
		{"what would be SQL is a value that is not stored", "Which customers are in USA' OR 1=1 --?", "", nil, nil},
		{"never by likeness", "Which customers live in the USA?", "", nil, nil},
		{"one word more", "Which customers are not in the USA?", "", nil, nil},
		{"evidence may change what words mean", "Which customers are in USA?", "", nil,
			[]texttosql.AskOption{texttosql.WithEvidence("customers are suppliers")}},
		{"a confirmed answer", "what did Ada order", "name = 'Ada'", map[string]string{"p1": "Ada"}, nil},
		{"its constant is a parameter", "What did Bo order?", "name = 'Bo'", map[string]string{"p1": "Bo"}, nil},
		{"of one that is stored alone", "What did Eve order?", "", nil, nil},
		{"a bound of a range is none", "Which orders are over 20?", "", nil, nil},
		{"but the question itself is", "Which orders are over 15?", "total > 15", map[string]string{}, nil},
		{"without memory", "What did Ada order?", "", nil,
			[]texttosql.AskOption{texttosql.WithMemory(memory.Options{Off: true})}},
	} {
		model, calls := counted(asks)
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithSamples(1),
			texttosql.WithKnowledge(byCountry), texttosql.WithMemory(memory.Options{VerifiedAnswers: confirmed})))(t)
		res := testutil.Value(engine.Ask(t.Context(), test.question, test.options...))(t, test.why)
		if (test.sql == "") != (calls.Load() > 0) || test.sql != "" && !strings.Contains(res.SQL, test.sql) {
			t.Errorf("%s: %d calls, %s", test.why, calls.Load(), res.SQL)
			continue
		}
		if test.sql == "" {
			continue
		}
		if len(res.Grounds) != 1 || res.Grounds[0].Kind != "verified" || res.Rows == nil || res.Confidence != 1 {
			t.Errorf("%s: %+v", test.why, res)
			continue
		}
		golden.Equal(t, test.params, res.Grounds[0].Params)
	}
}

// TestVerifiedWalls: a verified statement passes the guard and the policy of who asks, and is nobody's answer where it
// may not run.
func TestVerifiedWalls(t *testing.T) {
	for _, test := range []struct {
		why    string
		policy exec.Policy
		sql    string
		hits   bool
	}{
		{"a denied column", exec.Policy{DenyColumns: []string{"customers.country"}},
			"SELECT name FROM customers WHERE country = :country", false},
		{"a denied table", exec.Policy{DenyTables: []string{"customers"}},
			"SELECT name FROM customers WHERE country = :country", false},
		{"a statement that writes", exec.Policy{}, "DELETE FROM customers WHERE country = :country", false},
		{"a table that is gone", exec.Policy{}, "SELECT name FROM gone WHERE country = :country", false},
		{"all is well", exec.Policy{}, "SELECT name FROM customers WHERE country = :country", true},
	} {
		model, calls := counted("SELECT COUNT(*) FROM orders")
		m := knowledge.Model{VerifiedQueries: []knowledge.VerifiedQuery{byCountry.VerifiedQueries[0]}}
		m.VerifiedQueries[0].SQL = test.sql
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithSamples(1), texttosql.WithKnowledge(m),
			texttosql.WithPolicy(test.policy)))(t)
		testutil.Value(engine.Ask(t.Context(), "Which customers are in USA?"))(t, test.why)
		if (calls.Load() == 0) != test.hits {
			t.Errorf("%s: %d calls", test.why, calls.Load())
		}
	}
}

// TestVerifiedScope: who asks in a scope gets confirmed answers of that scope alone, and values of others are not
// stored.
func TestVerifiedScope(t *testing.T) {
	policy := exec.Policy{Rows: map[string]string{"customers": "country = :country"}, Shared: []string{"orders"}}
	for _, test := range []struct {
		country string
		hits    bool
	}{{"Norway", true}, {"USA", false}} {
		model, calls := counted("SELECT COUNT(*) FROM orders")
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithSamples(1),
			texttosql.WithKnowledge(byCountry), texttosql.WithPolicy(policy)))(t)
		scope := exec.Scope{Key: test.country, Params: map[string]any{"country": test.country}}
		res := testutil.Value(engine.Ask(t.Context(), "Which customers are in Norway?", texttosql.WithScope(scope)))(t)
		if (calls.Load() == 0) != test.hits {
			t.Errorf("%s: %d calls, %s", test.country, calls.Load(), res.SQL)
		}
	}
}

// TestConfirmedBy: an answer with the shape of a verified neighbour says so, and is surer than without it.
func TestConfirmedBy(t *testing.T) {
	ask := func(reply string, options ...texttosql.Option) *texttosql.Result {
		model, _ := counted(reply)
		engine := testutil.Value(texttosql.New(open(t, shop), model, append(options, texttosql.WithSamples(2))...))(t)
		return testutil.Value(engine.Ask(t.Context(), "Which people live in Norway?"))(t)
	}
	const shape = "SELECT name FROM customers WHERE country = 'Norway'"
	plain, same, other := ask(shape), ask(shape, texttosql.WithKnowledge(byCountry)),
		ask(shape+" OR id < 0", texttosql.WithKnowledge(byCountry))
	golden.Equal(t, []knowledge.Provenance{{Kind: "confirmed-by", Name: "customers of a country", Owner: "the sales team",
		On: "2026-03-02"}}, same.Grounds)
	if same.Confidence <= plain.Confidence || same.Confidence >= 1 || other.Grounds != nil ||
		other.Confidence != plain.Confidence {
		t.Errorf("confidence %.2f with, %.2f without, %.2f of another shape", same.Confidence, plain.Confidence,
			other.Confidence)
	}
	const abroad = "SELECT name FROM customers WHERE country = 'USA'"
	wrong, doubted := ask(abroad), ask(abroad, texttosql.WithKnowledge(byCountry))
	if doubted.Level != vote.LevelCheck || doubted.Grounds != nil || doubted.Confidence != wrong.Confidence {
		t.Errorf("an answer about another country: %s, %v, confidence %.2f, %.2f without", doubted.Level, doubted.Grounds,
			doubted.Confidence, wrong.Confidence)
	}
}
