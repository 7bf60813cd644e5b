package enginetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// known is what people know of shop: net revenue leaves out what customers outside of the USA ordered.
var known = knowledge.Model{
	Tables: []knowledge.Table{{Name: "customers", Keys: [][]string{{"id"}}}, {Name: "orders", Keys: [][]string{{"id"}}}},
	Relationships: []knowledge.Relationship{
		{From: "orders", To: "customers", On: [][2]string{{"customer_id", "id"}}},
	},
	Metrics: []knowledge.Metric{
		{Name: "revenue", Expr: "SUM(orders.total)", Where: "orders.total > 15",
			Subject: knowledge.Subject{Synonyms: []string{"turnover"}}},
		{Name: "logins", Expr: "COUNT(DISTINCT customers.password)"},
		{Name: "secrets_per_order", Expr: "{logins} / COUNT(orders.*)"},
	},
	Terms: []knowledge.Term{
		{Words: []string{"Americans"}, Expr: "customers.country = 'USA'"},
		{Words: []string{"key"}, Expr: "customers.password = 'x'"},
	},
	Instructions: []string{"Amounts are in dollars."},
}

// byPurpose answers metric requests and statements apart, each by its sample, and keeps what was asked.
func byPurpose(metric, statement func(sample int) string) (llm.Model, func() []llm.Request) {
	var mu sync.Mutex
	var asked []llm.Request
	model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r)
		if r.Purpose == "metric" {
			return llm.Response{Text: metric(r.Sample), StopReason: llm.StopEnd}, nil
		}
		return llm.Response{Text: statement(r.Sample), StopReason: llm.StopEnd}, nil
	})
	return model, func() []llm.Request { mu.Lock(); defer mu.Unlock(); return asked }
}

func fixed(text string) func(int) string { return func(int) string { return text } }

const everyTotal = "SELECT SUM(total) FROM orders"

// TestKnowledgeVote: every second sample is a metric request; both kinds stand in one ballot, ties go to the request,
// and the result says on what it stands.
func TestKnowledgeVote(t *testing.T) {
	for _, test := range []struct {
		why               string
		metric, statement func(int) string
		strategy          strategy.Strategy
		samples           int
		sql               string // what the winner has
		grounds           []knowledge.Provenance
		requests          int // of the calls
		note              string
	}{
		{"a tie goes to the request", fixed(`{"metrics": ["revenue"]}`), fixed(everyTotal),
			strategy.Consensus{}, 4,
			"CASE WHEN", []knowledge.Provenance{{Kind: "metric", Name: "revenue"}}, 2, ""},
		{"self-consistency, too", fixed(`Here: {"metrics": ["REVENUE"], "group_by": []}`), fixed(everyTotal),
			strategy.SelfConsistency{}, 2,
			"CASE WHEN", []knowledge.Provenance{{Kind: "metric", Name: "revenue"}}, 1, ""},
		{"one greedy sample is a statement", fixed(`{"metrics": ["revenue"]}`), fixed(everyTotal), strategy.Direct{}, 1,
			everyTotal, nil, 0,
			"without its condition orders.total > 15"},
		{"no metric answers: the later samples are statements", fixed(`{"metrics": []}`),
			fixed("SELECT COUNT(*) FROM orders"),
			strategy.Consensus{}, 12, "COUNT(*)", nil, 0, "found none that answers the question"},
		{"a refused request has no vote", fixed(`{"metrics": ["revenue"], "group_by": ["moon.x"]}`),
			fixed("SELECT COUNT(*) FROM orders"),
			strategy.Consensus{}, 4, "COUNT(*)", nil, 2, ""},
		{"no request at all", fixed(`I would group by country.`), fixed("SELECT COUNT(*) FROM orders"),
			strategy.Consensus{}, 4,
			"COUNT(*)", nil, 2, ""},
	} {
		model, asked := byPurpose(test.metric, test.statement)
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(test.strategy),
			texttosql.WithKnowledge(known), texttosql.WithSamples(test.samples)))(t)
		res, err := engine.Ask(t.Context(), "What is the turnover?")
		if err != nil || !strings.Contains(res.SQL, test.sql) {
			t.Errorf("%s: %v, %+v", test.why, err, res)
			continue
		}
		golden.Equal(t, test.grounds, res.Grounds, test.why)
		requests, first := 0, 99
		for _, r := range asked() {
			if r.Purpose == "metric" {
				requests, first = requests+1, min(first, r.Sample)
			}
		}
		if test.requests > 0 && (requests != test.requests || first != 0) {
			t.Errorf("%s: %d requests, the first is sample %d", test.why, requests, first)
		}
		if !strings.Contains(strings.Join(res.Notes, "\n"), test.note) {
			t.Errorf("%s: %q", test.why, res.Notes)
		}
	}
}

// TestKnowledgeNone: replies that say that no metric answers are neither votes nor abstentions: the confidence is that
// of the statements alone.
func TestKnowledgeNone(t *testing.T) {
	confidence := func(opts ...texttosql.Option) *texttosql.Result {
		model, asked := byPurpose(fixed("{}"), fixed("SELECT COUNT(*) FROM orders"))
		opts = append(opts,
			texttosql.WithStrategy(strategy.Pipeline{Sampler: strategy.Sampler{Samples: 4, Requests: 2, Temperature: 0.7}}))
		res := testutil.Value(testutil.Value(texttosql.New(open(t, shop), model, opts...))(t).Ask(t.Context(),
			"How many orders?"))(t)
		if len(asked()) != 4 {
			t.Errorf("%d calls", len(asked()))
		}
		return res
	}
	with, two := confidence(texttosql.WithKnowledge(known)), 0.75 // (2 votes + 1) ÷ (2 + 2)
	if with.Confidence != two || len(with.Candidates) != 2 || with.Ballot.Sampled != 2 || with.Ballot.Against != 0 {
		t.Errorf("%+v", with)
	}
	if without := confidence(); len(without.Candidates) != 4 {
		t.Errorf("without knowledge every sample is a statement: %+v", without)
	}
}

// TestKnowledgePolicy: a metric over a denied column is not shown, not compiled and not named; nor is a term.
func TestKnowledgePolicy(t *testing.T) {
	for _, denied := range []bool{false, true} {
		model, asked := byPurpose(fixed(`{"metrics": ["secrets_per_order"]}`), fixed("SELECT COUNT(*) FROM orders"))
		policy := exec.Policy{Reveal: []string{"customers.password"}}
		if denied {
			policy = exec.Policy{DenyColumns: []string{"customers.password"}}
		}
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithKnowledge(known),
			texttosql.WithPolicy(policy), texttosql.WithSamples(4)))(t)
		res := testutil.Value(engine.Ask(t.Context(), "How many logins with which key per order, secrets per order?"))(t)
		var said bytes.Buffer
		for _, r := range asked() {
			for _, m := range r.Messages {
				fmt.Fprintln(&said, m.Text)
			}
		}
		text := testutil.Value(json.Marshal(res))(t)
		for _, name := range []string{"logins", "customers.password", "secrets_per_order"} {
			question := strings.Contains(strings.ReplaceAll(said.String(),
				"How many logins with which key per order, secrets per order?", ""), name)
			if question == denied {
				t.Errorf("denied %t: a prompt names %s: %t", denied, name, question)
			}
		}
		if compiled := bytes.Contains(text, []byte("COUNT(DISTINCT")); compiled == denied {
			t.Errorf("denied %t: compiled %t", denied, compiled)
		}
	}
}

// TestKnowledgePrompts: prompts for statements show what the question touches, and instructions always; the
// configuration of a conversation includes the model.
func TestKnowledgePrompts(t *testing.T) {
	for _, test := range []struct{ question, has, hasNot string }{
		{"What is the turnover of Americans?", "metric revenue = SUM(orders.total) where orders.total > 15; " +
			"also called turnover", "logins"},
		{"What is the turnover of Americans?", `"Americans" means customers.country = 'USA'`, `"key"`},
		{"How many orders?", "Amounts are in dollars.", "revenue"},
	} {
		model, asked := byPurpose(fixed("{}"), fixed(everyTotal))
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(strategy.Direct{}),
			texttosql.WithKnowledge(known)))(t)
		res := testutil.Value(engine.Ask(t.Context(), test.question))(t)
		prompt := asked()[0].Messages[1].Text
		if !strings.Contains(prompt, test.has) || strings.Contains(prompt, test.hasNot) {
			t.Errorf("%s:\n%s", test.question, prompt)
		}
		if term := len(res.Grounds) == 1; term {
			t.Errorf("the statement does not use the term: %v", res.Grounds)
		}
	}
	model, _ := byPurpose(fixed("{}"),
		fixed("SELECT SUM(total) FROM orders JOIN customers ON customers.id = customer_id WHERE country = 'USA'"))
	engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithKnowledge(known)))(t)
	res := testutil.Value(engine.Ask(t.Context(), "What did Americans pay?"))(t)
	golden.Equal(t, []knowledge.Provenance{{Kind: "term", Name: "Americans"}}, res.Grounds)
	var page bytes.Buffer
	testutil.OK(t, res.WritePage(&page, nil, false))
	if !strings.Contains(page.String(), "by term Americans") {
		t.Error("the page does not say on what the answer stands")
	}
}
