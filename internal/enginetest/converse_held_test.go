package enginetest_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// TestHeld: an unknown table is a typed error that costs nothing, and what the text says of another table holds for the
// question: the next statement that reads it has no vote.
func TestHeld(t *testing.T) {
	model := &provider{}
	e := testutil.Value(texttosql.New(open(t, shop+twin), model, texttosql.WithStrategy(strategy.Direct{})))(t)
	talk := e.NewConversation(nil)
	testutil.Value(talk.Ask(t.Context(), "who lives in the USA?"))(t)
	calls := len(model.calls)
	_, err := talk.Correct(t.Context(), "use table purchases, not customers")
	var bad *session.CorrectionError
	if !errors.As(err, &bad) || bad.Name != "purchases" || bad.Held == nil ||
		!errors.Is(err, session.ErrInvalidCorrection) {
		t.Fatalf("%v", err)
	}
	if f := failure.Of(err); f.Class != failure.Input || !strings.Contains(f.Advice, "applies: do not read customers.") {
		t.Errorf("%+v", f)
	}
	rec := talk.Record()
	if rec.State != session.Completed || rec.Corrected() != 0 || len(model.calls) != calls {
		t.Errorf("%s, %d corrections, %d calls more", rec.State, rec.Corrected(), len(model.calls)-calls)
	}
	if res, err := talk.Resume(t.Context()); err != nil || res.SQL != usa { // the answer stands
		t.Errorf("%+v, %v", res, err)
	}
	_, err = talk.Correct(t.Context(), "only the old ones")
	last := model.texts[len(model.texts)-1]
	if !errors.Is(err, strategy.ErrNoCandidate) ||
		!strings.Contains(err.Error(), "do not read customers; the statement reads customers") {
		t.Errorf("the next correction: %v, asked with\n%s", err, last)
	}
	for _, text := range []string{err.Error(), talk.Record().Failure.Error, fmt.Sprint(talk.Record().Failure.Attempts)} {
		if strings.Contains(text, "MANDATORY") || strings.Contains(text, "DO NOT") {
			t.Errorf("words of a prompt: %s", text)
		}
	}
	// it was said of the question before
	if res, err := talk.Ask(t.Context(), "and in Norway?"); err != nil || res.SQL != usa {
		t.Errorf("%+v, %v", res, err)
	}
}

// TestSaidHoldsLater: what the user said of a word is evidence of later questions, beside their own.
func TestSaidHoldsLater(t *testing.T) {
	model := &provider{}
	talk := testutil.Value(texttosql.New(open(t, shop), model,
		texttosql.WithStrategy(strategy.Direct{})))(t).NewConversation(nil)
	testutil.Value(talk.Ask(t.Context(), "who?"))(t)
	testutil.Value(talk.Correct(t.Context(), "home means customers.country"))(t)
	last := func() string { return model.texts[len(model.texts)-1] }
	if strings.Contains(last(), "said before") {
		t.Errorf("of the question itself:\n%s", last())
	}
	testutil.Value(talk.Ask(t.Context(), "and in Norway?", texttosql.WithEvidence("of this year")))(t)
	if want := "of this year The user said before: COLUMN MAPPING: 'home' maps to 'customers.country'"; !strings.Contains(
		last(), want) {
		t.Errorf("%q is missing in\n%s", want, last())
	}
}

// TestChoices: a choice is accepted whatever was corrected, is not counted, and is not asked for again in a follow-up.
func TestChoices(t *testing.T) {
	model, store := &provider{}, &session.MemoryStore{}
	e := talking(t, model)
	talk := converse(t, e, store, "")
	asks := func(err error, kind string) {
		t.Helper()
		if q := (*session.QuestionError)(nil); !errors.As(err, &q) || q.Kind != kind {
			t.Fatalf("%v, want a question about a %s", err, kind)
		}
	}
	_, err := talk.Ask(t.Context(), "an unclear question")
	asks(err, dialogue.KindTable)
	for i := range dialogue.MaxCorrections {
		_, err = talk.Correct(t.Context(), fmt.Sprintf("word%d means customers.name", i))
		asks(err, dialogue.KindTable)
	}
	if _, err = talk.Correct(t.Context(), "word9 means customers.name"); !errors.Is(err, session.ErrMaxCorrections) {
		t.Errorf("a correction too many: %v", err)
	}
	_, err = talk.Choose(t.Context(), "t1")
	asks(err, dialogue.KindJoin)
	testutil.Value(talk.Choose(t.Context(), "j1"))(t)
	talk = converse(t, e, store, talk.Record().ID)
	_, err = talk.Ask(t.Context(), "another unclear question")
	asks(err, dialogue.KindJoin) // the table was chosen
	rec := talk.Record()
	if c := rec.Corrections(); len(c) != 1 || c[0].String() != "read customers; do not read people" ||
		rec.Corrected() != 0 {
		t.Errorf("%v", c)
	}
	testutil.Value(talk.Choose(t.Context(), "j2"))(t)
	for i := range dialogue.MaxCorrections { // those of the question before are not counted
		if _, err := talk.Correct(t.Context(), fmt.Sprintf("word%d means customers.name", i)); err != nil {
			t.Errorf("correction %d of the follow-up: %v", i, err)
		}
	}
	talk = converse(t, e, store, "")
	_, err = talk.Ask(t.Context(), "an unclear question")
	asks(err, dialogue.KindTable) // of another conversation
}

// TestSecondRequest: of two requests on one conversation the second one is told to wait, at every door to it, and pays
// nothing. Once the first is answered it goes on.
func TestSecondRequest(t *testing.T) {
	files, err := session.OpenFiles(filepath.Join(t.TempDir(), "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	pool := open(t, shop+twin)
	for name, tt := range map[string]struct {
		store   session.Store
		engines int
	}{
		"one engine, in memory":      {&session.MemoryStore{}, 1},
		"one engine, files":          {files, 1},
		"two engines over one store": {files, 2}, // as two processes
	} {
		t.Run(name, func(t *testing.T) {
			begun, going := make(chan bool), make(chan bool)
			var once sync.Once
			model := &provider{hook: func(int) { once.Do(func() { close(begun); <-going }) }}
			other := &provider{}
			engines := make([]*texttosql.Engine, tt.engines)
			for i := range engines {
				engines[i] = testutil.Value(texttosql.New(pool, llm.Named("m", []llm.Model{model, other}[i]),
					texttosql.WithStrategy(asker{})))(t)
			}
			first := engines[0].NewConversation(tt.store)
			ended := make(chan error, 1)
			go func() { _, err := first.Ask(t.Context(), "who?"); ended <- err }()
			<-begun
			second := testutil.Value(engines[tt.engines-1].OpenConversation(t.Context(), tt.store, first.Record().ID))(t)
			for _, s := range []*texttosql.Conversation{second, first} {
				if s == first && tt.engines == 2 {
					continue
				}
				for call, do := range map[string]func() (*texttosql.Result, error){
					"Ask":     func() (*texttosql.Result, error) { return s.Ask(t.Context(), "and who else?") },
					"Correct": func() (*texttosql.Result, error) { return s.Correct(t.Context(), "only the old ones") },
					"Choose":  func() (*texttosql.Result, error) { return s.Choose(t.Context(), "t1") },
					"Resume":  func() (*texttosql.Result, error) { return s.Resume(t.Context()) },
					"Restart": func() (*texttosql.Result, error) { return s.Restart(t.Context()) },
					"Confirm": func() (*texttosql.Result, error) { return nil, s.Confirm(t.Context(), "") },
				} {
					_, err := do()
					var state *session.StateError
					if !errors.Is(err, exec.ErrBusy) || !errors.As(err, &state) || state.Call != call ||
						!strings.Contains(err.Error(), "wait") ||
						errors.Is(err, session.ErrInvalidCorrection) {
						t.Errorf("%s: %v", call, err)
					}
					if f := failure.Of(err); f.Class != failure.Busy || !strings.Contains(f.Advice, "Wait") {
						t.Errorf("%s: %+v", call, f)
					}
				}
			}
			close(going)
			if err := <-ended; err != nil {
				t.Errorf("the first one: %v", err)
			}
			if _, err := second.Ask(t.Context(), "and who else?"); err != nil {
				t.Errorf("the second one, later: %v", err)
			}
			if all := model.since(0) + " " + other.since(0); strings.TrimSpace(all) != "tables tables generate tables tables "+
				"generate" {
				t.Errorf("the calls are %s", all)
			}
		})
	}
}

// TestExplainAgain: an answer that was resumed explains its votes as it did at first.
func TestExplainAgain(t *testing.T) {
	store := &session.MemoryStore{}
	e := engine(t, always(usa))
	talk := e.NewConversation(store)
	first := testutil.Value(talk.Ask(t.Context(), whoInUSA))(t)
	again := testutil.Value(converse(t, e, store, talk.Record().ID).Resume(t.Context()))(t)
	if diff := cmp.Diff(first.Ballot.Explain(), again.Ballot.Explain()); diff != "" || first.Ballot.Sampled == 0 {
		t.Errorf("(-first +again):\n%s", diff)
	}
	if diff := cmp.Diff(first.Ballot, again.Ballot); diff != "" || again.Confidence != first.Confidence {
		t.Errorf("the ballot (-first +again):\n%s", diff)
	}
}

// TestConfirmForgets: an answer that is confirmed without a store is shown to later questions, and the caller is told
// that it will be forgotten. A store that somebody gave, be it in memory, is a decision.
func TestConfirmForgets(t *testing.T) {
	for _, tt := range []struct {
		opt  texttosql.Option
		want error
	}{{nil, memory.ErrNotPersisted}, {texttosql.WithMemory(memory.Options{VerifiedAnswers: &memory.VerifiedAnswers{}}),
		nil}} {
		e := engine(t, always(usa), tt.opt)
		if err := e.Confirm(t.Context(), whoInUSA, usa); !errors.Is(err, tt.want) {
			t.Errorf("Engine.Confirm: %v, want %v", err, tt.want)
		}
		talk := e.NewConversation(nil)
		testutil.Value(talk.Ask(t.Context(), whoInUSA))(t)
		if err := talk.Confirm(t.Context(), ""); !errors.Is(err, tt.want) {
			t.Errorf("Conversation.Confirm: %v, want %v", err, tt.want)
		}
		turns := talk.Record().Turns
		if turns[len(turns)-1].Kind != dialogue.TurnConfirmation {
			t.Error("the confirmation is not on the record")
		}
	}
}

// unmade is a model whose client could not be made.
type unmade struct{ llm.Model }

func (unmade) Validate() error { return errors.New("OPENAI_API_KEY is not set") }

// TestNilModels: what New is told where a client could not be made.
func TestNilModels(t *testing.T) {
	for name, m := range map[string]llm.Model{"nil": nil, "with a name": llm.Named("m", nil),
		"a failed client": llm.Named("m", unmade{})} {
		_, err := texttosql.New(open(t, shop), m)
		var config *strategy.ConfigError
		if !errors.As(err, &config) || !strings.Contains(err.Error(), "OPENAI_API_KEY") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
