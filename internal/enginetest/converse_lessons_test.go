package enginetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// TestLessonsOfSession: a session teaches what a correction said, later sessions are shown it, and one that began
// before goes on with what it was shown first. A question without memory neither shows nor teaches.
func TestLessonsOfSession(t *testing.T) {
	const lesson = "motherland"
	model, store, lessons := &provider{}, &session.MemoryStore{}, &memory.Lessons{}
	db := open(t, shop)
	e := testutil.Value(texttosql.New(db, llm.Named("m", model), texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithMemory(memory.Options{Lessons: lessons})))(t)
	question := "Whose " + lesson + " is the USA?"
	model.down = &llm.Error{Class: llm.ClassPermanent, Message: "out of service"}
	before := converse(t, e, store, "")
	var stopped *session.InterruptedError
	if _, err := before.Ask(t.Context(), question); !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	model.down = nil

	for i, opts := range [][]texttosql.AskOption{{texttosql.WithMemory(memory.Options{Off: true})}, nil} {
		s := converse(t, e, store, "")
		testutil.Value(s.Ask(t.Context(), question, opts...))(t)
		testutil.Value(s.Correct(t.Context(), lesson+" means customers.country"))(t)
		if learned := len(s.Record().Learned) > 0 &&
			strings.Contains(string(s.Record().Learned), "new"); learned != (i == 1) {
			t.Errorf("session %d: learned %s", i, s.Record().Learned)
		}
	}
	after := converse(t, e, store, "")
	testutil.Value(after.Ask(t.Context(), question))(t)
	shown := model.texts[len(model.texts)-1]
	testutil.Value(converse(t, e, store, before.Record().ID).Resume(t.Context()))(t)
	resumed := model.texts[len(model.texts)-1]
	const advice = `"motherland" is the column "customers.country"`
	if !strings.Contains(shown, advice) || strings.Contains(resumed, advice) {
		t.Errorf("a new session is shown\n%s\nand the one that began before\n%s", shown, resumed)
	}
}

// TestAdviceGainsTrust: a lesson that is shown as advice alone, since no schema is declared, gains trust with each
// question whose answer reads what it says.
func TestAdviceGainsTrust(t *testing.T) {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text := "SELECT name FROM customer WHERE country = 'USA'" // customers
		if req.Purpose == "repair" || strings.Contains(req.Messages[len(req.Messages)-1].Text,
			`"customer" is the table "customers"`) {
			text = usa
		}
		return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
	})
	lessons := &memory.Lessons{}
	e := testutil.Value(texttosql.New(open(t, shop), llm.Named("m", model),
		texttosql.WithStrategy(strategy.Pipeline{Refine: &strategy.Refine{}}),
		texttosql.WithMemory(memory.Options{Lessons: lessons})))(t)
	for i, want := range []float64{.80, .82, .84} {
		res := testutil.Value(converse(t, e, &session.MemoryStore{}, "").Ask(t.Context(), whoInUSA))(t)
		all := testutil.Value(lessons.All())(t)
		if len(all) != 1 || all[0].From != "customer" || all[0].To != "customers" || all[0].Confidence != want ||
			all[0].Retrieved != i || all[0].Applied != i || all[0].Successful != i || len(res.Steps) != 2-min(i, 1) {
			t.Errorf("conversation %d: %+v after %d steps; want a confidence of %.2f", i+1, all, len(res.Steps), want)
		}
	}
}
