package enginetest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/knowledge"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/trace"
)

// countedCustomers has one metric.
var countedCustomers = knowledge.Model{
	Tables:  []knowledge.Table{{Name: "customers"}},
	Metrics: []knowledge.Metric{{Name: "customers", Expr: "COUNT(customers.id)"}},
}

// TestLevels: each way to an answer has its level and its closing line, which a Result that was read back has too.
func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		why, question, statement string
		opts                     []texttosql.Option
		level, closing           string
	}{
		{"equal samples", "Which customers live in the USA?", usa, nil, "agreed", "All 7 samples agree."},
		{"too few of them", "Which customers live in the USA?", usa, []texttosql.Option{texttosql.WithSamples(2)},
			"check", "Check this: only 2 samples were compared, and all agree."},
		{"one statement", "Which customers live in the USA?", usa,
			[]texttosql.Option{texttosql.WithStrategy(strategy.Direct{})},
			"single", "One statement; not voted on."},
		{"another value of the column", "Which customers live in Norway?", usa, nil,
			"check", `Check this: the question says Norway, the statement USA.`},
		{"a verified question", "Which customers are in Norway?", usa, []texttosql.Option{texttosql.WithKnowledge(byCountry)},
			"verified", "Verified by the sales team on 2 March 2026."},
		{"one statement with another value", "Which customers live in Norway?", usa,
			[]texttosql.Option{texttosql.WithStrategy(strategy.Direct{})},
			"check", "Check this: the question says Norway, the statement USA. One statement; not voted on."},
		{"a metric", "How many customers are there?", `{"metrics": ["customers"]}`,
			[]texttosql.Option{texttosql.WithKnowledge(countedCustomers)},
			"check", "By the metric customers. Check this: 5 of 9 samples agree; 4 gave no usable statement."},
		{"a question about the schema", "Which tables are there?", usa, nil, "schema",
			"Read from the schema, without a model."},
		{"a wish", "Delete all customers in the USA", usa, nil, "agreed",
			"Nothing was changed: this program only reads. All 7 samples agree."},
		{"a wish without rows", "Delete all customers in the USA", usa, []texttosql.Option{texttosql.WithoutExecution()},
			"agreed",
			"Nothing was changed: this program only reads. All 9 samples agree."},
		{"a doubted wish", "Delete the customers who live in Norway", usa, nil, "check",
			"Nothing was changed: this program only reads. Check this: the question says Norway, the statement USA."},
		{"a wish without a vote", "Delete all customers in the USA", usa,
			[]texttosql.Option{texttosql.WithStrategy(strategy.Direct{})}, "single",
			"Nothing was changed: this program only reads. One statement; not voted on."},
		{"a question about a change", "Which customers were deleted in the USA?", usa, nil, "agreed", "All 7 samples agree."},
	} {
		res, err := engine(t, always(tt.statement), tt.opts...).Ask(t.Context(), tt.question)
		if err != nil || string(res.Level) != tt.level || res.Closing() != tt.closing {
			t.Errorf("%s: %s %q, want %s %q: %v", tt.why, res.Level, res.Closing(), tt.level, tt.closing, err)
		}
		var read texttosql.Result
		testutil.OK(t, json.Unmarshal(testutil.Value(json.Marshal(res))(t), &read))
		if read.Level != res.Level || read.Closing() != res.Closing() {
			t.Errorf("%s: read back it is %s %q", tt.why, read.Level, read.Closing())
		}
	}
}

// TestLevelOfAChoice: a reading that a person picked keeps its level when the conversation asks again.
func TestLevelOfAChoice(t *testing.T) {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		statement := []string{usa, "SELECT count(*) FROM customers"}[req.Sample%2]
		return llm.Response{Text: statement, StopReason: llm.StopEnd}, nil
	})
	e := engine(t, model, texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(4),
		texttosql.WithClarifyBelow(0.6))
	talk := e.NewConversation(&session.MemoryStore{})
	_, err := talk.Ask(t.Context(), "Which customers live in the USA?")
	var asked *session.QuestionError
	if !errors.As(err, &asked) {
		t.Fatalf("no question to the user: %v", err)
	}
	res := testutil.Value(talk.Choose(t.Context(), "r1"))(t)
	stored := talk.Record().Turns[len(talk.Record().Turns)-1].Answer
	want := []string{"chosen", "You chose this reading.", "chosen", "You chose this reading."}
	if diff := cmp.Diff(want, []string{string(res.Level), res.Closing(), stored.Level, stored.Closing}); diff != "" {
		t.Error(diff)
	}
	if res = testutil.Value(talk.Resume(t.Context()))(t); res.Level != "chosen" {
		t.Errorf("read again it is %s", res.Level)
	}
}

// TestLevelOfAResumedAnswer: an answer that is read again has the level with which it was found.
func TestLevelOfAResumedAnswer(t *testing.T) {
	for _, tt := range []struct {
		why, question string
		opts          []texttosql.Option
		level         string
		closing       string
	}{
		{"a vote", "Which customers live in the USA?", nil, "agreed", "All 7 samples agree."},
		{"a doubted one", "Which customers live in Norway?", nil, "check",
			"Check this: the question says Norway, the statement USA."},
		{"a verified question", "Which customers are in Norway?", []texttosql.Option{texttosql.WithKnowledge(byCountry)},
			"verified", "Verified."},
		{"a question about the schema", "Which tables are there?", nil, "schema", "Read from the schema, without a model."},
	} {
		store := &session.MemoryStore{}
		e := engine(t, always(usa), tt.opts...)
		talk := e.NewConversation(store)
		testutil.Value(talk.Ask(t.Context(), tt.question))(t)
		again := testutil.Value(e.OpenConversation(t.Context(), store, talk.Record().ID))(t)
		res := testutil.Value(again.Resume(t.Context()))(t)
		if string(res.Level) != tt.level || res.Closing() != tt.closing {
			t.Errorf("%s: %s %q, want %s %q", tt.why, res.Level, res.Closing(), tt.level, tt.closing)
		}
	}
}

// TestRejectedIsLogged: a question that is rejected before it starts is logged and traced like any other.
func TestRejectedIsLogged(t *testing.T) {
	for _, tt := range []struct {
		why, question string
		opts          []texttosql.Option
		class         string
	}{
		{"no word", " ", nil, "input"},
		{"no scope", "How many orders are there?", []texttosql.Option{
			texttosql.WithPolicy(exec.Policy{Rows: map[string]string{"orders": "customer_id = :id"}})}, "refused"},
	} {
		var logged bytes.Buffer
		opts := append(tt.opts, texttosql.WithLogger(slog.New(slog.NewTextHandler(&logged, nil))))
		e := testutil.Value(texttosql.New(open(t, shop), always(usa), opts...))(t)
		res, err := e.Ask(t.Context(), tt.question)
		if err == nil || res.Trace == nil || !strings.Contains(logged.String(), "outcome="+tt.class) {
			t.Errorf("%s: %v, traced: %v, logged:\n%s", tt.why, err, res.Trace != nil, logged.String())
		}
	}
}

// TestFewSamples: Ready tells an operator of a number of samples that cannot reach the level agreed.
func TestFewSamples(t *testing.T) {
	for _, tt := range []struct {
		why  string
		opts []texttosql.Option
		want string
	}{
		{"the default", nil, ""},
		{"five can", []texttosql.Option{texttosql.WithSamples(5)}, ""},
		{"four cannot", []texttosql.Option{texttosql.WithSamples(4)},
			"4 samples cannot reach the level agreed, which takes 5 equal ones"},
		{"nor can four of the strategy", []texttosql.Option{texttosql.WithStrategy(strategy.SelfConsistency{Samples: 4})},
			"4 samples cannot reach the level agreed, which takes 5 equal ones"},
		{"of a strategy that counts otherwise nothing is claimed", []texttosql.Option{
			texttosql.WithStrategy(maker.Strategy{}), texttosql.WithSamples(4)}, ""},
	} {
		root := trace.Tracer{}.New("ready")
		testutil.OK(t, engine(t, always(usa), tt.opts...).Ready(trace.NewContext(t.Context(), root)))
		var got string
		for _, w := range root.Warnings() {
			if w.Code == "few-samples" {
				got = w.Message
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.why, got, tt.want)
		}
	}
}

// TestMinConfidenceAfterContradiction: nine equal votes for another year are not enough, and the error says why.
func TestMinConfidenceAfterContradiction(t *testing.T) {
	e := engine(t, always(usa), texttosql.WithStrategy(strategy.Consensus{MinConfidence: 0.8}))
	if _, err := e.Ask(t.Context(), "Which customers live in the USA?"); err != nil {
		t.Errorf("without a contradiction: %v", err)
	}
	res, err := e.Ask(t.Context(), "Which customers live in Norway?")
	want := `The confidence of the answer is 0.54, and at least 0.80 is required. Check this: the question says Norway, the statement USA.`
	if got := failure.Of(err); !errors.As(err, new(*strategy.AbstainedError)) || res.Rows != nil || got.Message != want {
		t.Errorf("%v, %q", err, got.Message)
	}
}
