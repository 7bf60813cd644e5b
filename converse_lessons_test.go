package texttosql_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// TestLessonsOfSession: a session teaches what a correction said, later sessions are shown it, and one that began before
// goes on with what it was shown first. A question without memory neither shows nor teaches.
func TestLessonsOfSession(t *testing.T) {
	const lesson = "motherland"
	model, store, lessons := &provider{}, &session.Memory{}, &memory.Lessons{}
	db := open(t, shop)
	e := need.Value(texttosql.New(db, llm.Named("m", model), texttosql.WithStrategy(strategy.Direct{}), texttosql.WithLessons(lessons)))(t)
	question := "Whose " + lesson + " is the USA?"
	model.down = &llm.Error{Class: llm.ClassPermanent, Message: "out of service"}
	before := converse(t, e, store, "")
	var stopped *texttosql.InterruptedError
	if _, err := before.Ask(t.Context(), question); !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	model.down = nil

	for i, opts := range [][]texttosql.AskOption{{texttosql.WithoutMemory()}, nil} {
		s := converse(t, e, store, "")
		need.Value(s.Ask(t.Context(), question, opts...))(t)
		need.Value(s.Correct(t.Context(), lesson+" means customers.country"))(t)
		if learned := len(s.Record().Learned) > 0 && strings.Contains(string(s.Record().Learned), "new"); learned != (i == 1) {
			t.Errorf("session %d: learned %s", i, s.Record().Learned)
		}
	}
	after := converse(t, e, store, "")
	need.Value(after.Ask(t.Context(), question))(t)
	shown := model.texts[len(model.texts)-1]
	need.Value(converse(t, e, store, before.Record().ID).Resume(t.Context()))(t)
	resumed := model.texts[len(model.texts)-1]
	if !strings.Contains(shown, "customers.country") || strings.Contains(resumed, "customers.country") {
		t.Errorf("a new session is shown\n%s\nand the one that began before\n%s", shown, resumed)
	}
}
