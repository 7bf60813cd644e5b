package enginetest_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// weather are statements of a model that is asked for what the data does not have.
var weather = []string{
	"SELECT AVG(humidity) FROM weather", "I cannot answer this with the given tables.",
	"SELECT AVG(total) FROM orders WHERE total > 30",
	"SELECT country FROM customers WHERE country = 'Humidity'",
}

// TestRefuseBelow: a question that the data cannot answer is refused, with what it has nothing about, what there is
// instead and the guess; one that it can is not, and without the option none is.
func TestRefuseBelow(t *testing.T) {
	for _, test := range []struct {
		why, question string
		replies       []string
		below         float64
		refused       bool
		unmet         []string
	}{
		{"nothing stands for humidity", "What was the average humidity by customer?", weather, 0.2, true,
			[]string{"humidity"}},
		{"off by default", "What was the average humidity by customer?", weather, 0, false, []string{"humidity"}},
		{"no statement at all", "What was the average humidity by customer?", weather[1:2], 0.2, true, []string{"humidity"}},
		{"all is there", "What is the total of the orders by country?",
			[]string{"SELECT country, SUM(total) FROM orders JOIN customers ON customers.id = customer_id GROUP BY country"},
			0.2, false, nil},
		{"a value that is stored", "How many customers are in the USA?",
			[]string{"SELECT COUNT(*) FROM customers WHERE country = 'USA'"}, 0.2, false, nil},
		{"another language is not judged by its words", "Wie hoch war die Luftfeuchtigkeit?",
			[]string{"SELECT AVG(total) FROM orders"}, 0.2, false, nil},
	} {
		model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(test.replies...), Repeat: true}}}
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithSamples(4),
			texttosql.WithRefuseBelow(test.below)))(t)
		res, err := engine.Ask(t.Context(), test.question)
		refused := (*texttosql.UnanswerableError)(nil)
		if errors.As(err, &refused) != test.refused || errors.As(err, new(*texttosql.UnanswerableError)) != test.refused {
			t.Errorf("%s: %v, %+v", test.why, err, res.Answerable)
			continue
		}
		golden.Equal(t, test.unmet, res.Answerable.Unmet)
		if !test.refused {
			continue
		}
		said := failure.Of(err)
		if said.HTTPStatus != 422 || said.Message != "The data has nothing about humidity." ||
			!strings.Contains(said.Advice, "customers.country") {
			t.Errorf("%s: %+v", test.why, said)
		}
		if refused.Guess != res || refused.Guess.Rows != nil {
			t.Errorf("%s: the guess is %+v", test.why, refused.Guess)
		}
	}
	if _, err := texttosql.New(open(t, shop), always("SELECT 1"), texttosql.WithRefuseBelow(1.5)); err == nil {
		t.Error("a share over 1 is taken")
	}
}

// TestRefuseBelowDenied: what there is instead has no column that the policy denies.
func TestRefuseBelowDenied(t *testing.T) {
	for _, denied := range []bool{false, true} {
		policy := exec.Policy{}
		if denied {
			policy.DenyColumns = []string{"customers.country"}
		}
		model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT AVG(total) FROM orders",
			"SELECT name FROM customers"), Repeat: true}}}
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithSamples(4), texttosql.WithRefuseBelow(1),
			texttosql.WithPolicy(policy)))(t)
		_, err := engine.Ask(t.Context(), "What is the humidity by country of the customers?")
		refused := (*texttosql.UnanswerableError)(nil)
		if !errors.As(err, &refused) || slices.Contains(refused.Nearest, "customers.country") == denied {
			t.Errorf("denied %t: %v", denied, err)
		}
	}
}

// TestRefuseBelowAsks: a conversation asks back, with what there is instead as options and the guess behind them. A
// choice is a correction, and the question is asked again under it; the guess is taken as it is.
func TestRefuseBelowAsks(t *testing.T) {
	for _, test := range []struct {
		choice, sql string
		calls       bool // whether a model is asked again
	}{
		{"m1", "SELECT SUM(total) FROM orders", true},
		{"r1", "SELECT country FROM customers WHERE country = 'Humidity'", false},
	} {
		var meant atomic.Int32
		model := llm.Func(func(_ context.Context, r llm.Request) (llm.Response, error) {
			said := r.Messages[len(r.Messages)-1].Text
			if strings.Contains(said, "COLUMN MAPPING: 'humidity' maps to") {
				meant.Add(1)
				return llm.Response{Text: "SELECT SUM(total) FROM orders"}, nil
			}
			return llm.Response{Text: weather[r.Sample%4]}, nil
		})
		engine := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithStrategy(strategy.SelfConsistency{}),
			texttosql.WithSamples(4), texttosql.WithRefuseBelow(0.2)))(t)
		talk := engine.NewConversation(&session.MemoryStore{})
		_, err := talk.Ask(t.Context(), "What was the humidity of the orders by customer?")
		back := (*session.QuestionError)(nil)
		if !errors.As(err, &back) || back.Kind != dialogue.KindMeaning || len(back.Options) < 3 ||
			back.Options[0].Column == nil {
			t.Fatalf("%v", err)
		}
		if last := back.Options[len(back.Options)-1]; last.ID != "r1" {
			t.Errorf("the guess is no option: %+v", last)
		}
		res, err := talk.Choose(t.Context(), test.choice)
		if err != nil || test.calls && res.SQL != test.sql || (meant.Load() > 0) != test.calls {
			t.Errorf("%s: %v %s, asked again %t", test.choice, err, res.SQL, meant.Load() > 0)
		}
	}
}

// TestAnswerableJSON: the score is in the JSON of a result, with what is unmet.
func TestAnswerableJSON(t *testing.T) {
	engine := testutil.Value(texttosql.New(open(t, shop), always("SELECT COUNT(*) FROM orders"),
		texttosql.WithSamples(2)))(t)
	res := testutil.Value(engine.Ask(t.Context(), "How many orders have rain?"))(t)
	var back texttosql.Result
	testutil.OK(t, json.Unmarshal(testutil.Value(json.Marshal(res))(t), &back))
	golden.Equal(t, res.Answerable.Score, back.Answerable.Score)
	golden.Equal(t, []string{"rain"}, back.Answerable.Unmet)
	golden.Equal(t, res.Answerable.Nearest(), back.Answerable.Nearest())
}
