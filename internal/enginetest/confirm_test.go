package enginetest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy/petsql"
)

// TestConfirm: what a person confirmed is shown with the next question, also by
// another engine on the same store.
func TestConfirm(t *testing.T) {
	var prompts []string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		var all string
		for _, m := range req.Messages {
			all += m.Text + "\n"
		}
		prompts = append(prompts, all)
		return llm.Response{Text: "SELECT count(*) FROM customers", StopReason: llm.StopEnd}, nil
	})
	var store memory.VerifiedAnswers
	e := engine(t, model, texttosql.WithStrategy(petsql.Strategy{}),
		texttosql.WithMemory(memory.Options{VerifiedAnswers: &store}))
	other := engine(t, model, texttosql.WithStrategy(petsql.Strategy{}),
		texttosql.WithMemory(memory.Options{VerifiedAnswers: &store}))
	testutil.OK(t, e.Confirm(t.Context(), "How many orders are there?", "SELECT count(*) FROM orders;"))
	for _, e := range []*texttosql.Engine{e, other} {
		prompts = nil
		testutil.Value(e.Ask(t.Context(), "How many customers are there?"))(t)
		if !strings.Contains(prompts[0], "### How many orders are there?\nSELECT count(*) FROM orders\n") {
			t.Errorf("not shown in\n%s", prompts[0])
		}
	}
	for _, bad := range []struct{ question, sql string }{
		{"", "SELECT 1"}, {"x", "DELETE FROM customers"}, {"x", "SELECT nothing FROM customers"}, {"x", ""},
	} {
		if err := e.Confirm(t.Context(), bad.question, bad.sql); err == nil {
			t.Errorf("%q with %q is no error", bad.question, bad.sql)
		}
	}
}

// TestConfirmedComeFirst: of pairs that fit a question alike, and of two answers to one, the confirmed one is shown.
func TestConfirmedComeFirst(t *testing.T) {
	var prompt string
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		prompt = req.Messages[len(req.Messages)-1].Text
		return llm.Response{Text: "SELECT count(*) FROM customers", StopReason: llm.StopEnd}, nil
	})
	for _, configured := range []string{"How many orders are there?", "how many  ORDERS are there",
		"How many orders are there now?"} {
		e := engine(t, model, texttosql.WithStrategy(petsql.Strategy{Prompter: petsql.REp{Exemplars: memory.Similar{K: 1}}}),
			texttosql.WithMemory(memory.Options{Exemplars: []memory.Exemplar{{Question: configured, SQL: "SELECT 0"}},
				VerifiedAnswers: &memory.VerifiedAnswers{}}))
		confirmed := strings.Replace(configured, "now", "yet", 1)
		testutil.OK(t, e.Confirm(t.Context(), confirmed, "SELECT count(*) FROM orders"))
		testutil.Value(e.Ask(t.Context(), "How many customers are there?"))(t)
		if !strings.Contains(prompt, "SELECT count(*) FROM orders\n") || strings.Contains(prompt, "SELECT 0\n") {
			t.Errorf("%q is shown, not the confirmed one:\n%s", configured, prompt)
		}
	}
}

// TestConfirmedAnswersWeighEmptyOnes: how often confirmed answers have no value says how sure an answer without any is.
func TestConfirmedAnswersWeighEmptyOnes(t *testing.T) {
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT name FROM customers WHERE id < 0", StopReason: llm.StopEnd}, nil
	})
	confidence := func(sql string) float64 {
		e := engine(t, model, texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}}))
		for i := range 30 {
			if sql == "" {
				break
			}
			testutil.OK(t, e.Confirm(t.Context(), fmt.Sprintf("Question %d?", i), sql))
		}
		r := testutil.Value(e.Ask(t.Context(), "Which customers have no number?"))(t)
		return r.Confidence
	}
	rare, usual, common := confidence(usa), confidence(""), confidence("SELECT name FROM customers WHERE id < 0")
	if !(rare < usual && usual < common) {
		t.Errorf("confidence %.3f where confirmed answers have rows, %.3f without any, %.3f where they have none; "+
			"want each above the one before",
			rare, usual, common)
	}
}

// TestConfirmSaysWho: an answer names who confirmed it and when, by the engine's clock; without both it names neither.
func TestConfirmSaysWho(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		why, user string
		clock     func() time.Time
		want      string
	}{
		{"both", "ann", func() time.Time { return at }, "verified by ann, 2026-03-04"},
		{"nobody", "", func() time.Time { return at }, "verified, 2026-03-04"},
		{"no clock", "ann", nil, "verified by ann"},
	} {
		model, calls := counted("SELECT COUNT(*) FROM orders")
		e := testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithClock(test.clock),
			texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}})))(t)
		testutil.OK(t, e.Confirm(t.Context(), "How many customers are there?", "SELECT COUNT(*) FROM customers",
			texttosql.WithUser(test.user)))
		res := testutil.Value(e.Ask(t.Context(), "How many customers are there?"))(t)
		if calls.Load() != 0 || len(res.Grounds) != 1 || res.Grounds[0].String() != test.want {
			t.Errorf("%s: %v, %d calls, want %s", test.why, res.Grounds, calls.Load(), test.want)
		}
	}
	e := testutil.Value(texttosql.New(open(t, shop), texttosql.NoModel))(t)
	if _, err := e.Query(t.Context(), "SELECT 1", texttosql.WithUser("ann")); err == nil {
		t.Error("Query heeds who asks")
	}
}
