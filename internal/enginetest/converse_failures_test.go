package enginetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// TestSessionRefuses: each refusal has its type, asks no model and leaves the record as it was.
func TestSessionRefuses(t *testing.T) {
	ask := func(q string) func(*texttosql.Conversation) (*texttosql.Result, error) {
		return func(s *texttosql.Conversation) (*texttosql.Result, error) { return s.Ask(context.Background(), q) }
	}
	confirm := func(text string) func(*texttosql.Conversation) (*texttosql.Result, error) {
		return func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return &texttosql.Result{}, s.Confirm(context.Background(), text)
		}
	}
	correct := func(text string) func(*texttosql.Conversation) (*texttosql.Result, error) {
		return func(s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Correct(context.Background(), text)
		}
	}
	state := new(session.StateError)
	tests := []struct {
		why    string
		before []string // questions, and "!" for a provider that is down
		do     func(*texttosql.Conversation) (*texttosql.Result, error)
		is     error // nil: a *StateError
	}{
		{"an empty question", nil, ask(" \n"), strategy.ErrEmptyQuestion},
		{"nothing to resume", nil, resume, nil},
		{"nothing to restart", nil, restart, nil},
		{"nothing to choose from", nil, choose("t1"), session.ErrInvalidCorrection},
		{"nothing to correct", nil, correct("use orders"), session.ErrInvalidCorrection},
		{"nothing to confirm", nil, confirm(""), nil},
		{"an answer has no options", []string{"who?"}, choose("t1"), session.ErrInvalidCorrection},
		{"an unknown option", []string{"unclear"}, choose("j1"), session.ErrInvalidCorrection},
		{"an empty correction", []string{"who?"}, correct(" "), session.ErrInvalidCorrection},
		{"a question is pending, nothing is answered", []string{"unclear"}, confirm("who?"), nil},
		{"the words of a follow-up", []string{"who?", "and now?"}, confirm(" "), session.ErrNotStandalone},
		{"an interrupted session has nothing to correct", []string{"!", "who?"}, correct("use orders"),
			session.ErrInvalidCorrection},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			model := &provider{}
			s := converse(t, talking(t, model), &session.MemoryStore{}, "")
			for _, q := range tt.before {
				if q == "!" {
					model.down = &llm.Error{Class: llm.ClassPermanent, Message: "out of service"}
					continue
				}
				s.Ask(t.Context(), q)
			}
			calls, before := len(model.calls), s.Record()
			res, err := tt.do(s)
			if res == nil {
				t.Error("no Result beside the error")
			}
			if tt.is != nil && !errors.Is(err, tt.is) || tt.is == nil && !errors.As(err, &state) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(before, s.Record()); diff != "" {
				t.Errorf("the record changed (-before +after):\n%s", diff)
			}
			if live := model.since(calls); live != "" {
				t.Errorf("calls %q", live)
			}
		})
	}
}

// TestConverseRefuses says what cannot be opened.
func TestConverseRefuses(t *testing.T) {
	e := talking(t, &provider{})
	config := new(strategy.ConfigError)
	if _, err := e.OpenConversation(t.Context(), nil, session.NewID()); !errors.As(err, &config) {
		t.Errorf("without a store: %v", err)
	}
	for id, want := range map[string]error{session.NewID(): session.ErrNotFound, "../x": session.ErrInvalidID} {
		if _, err := e.OpenConversation(t.Context(), &session.MemoryStore{}, id); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", id, err, want)
		}
	}
}

// TestStale: another schema or configuration is not asked on in silence.
func TestStale(t *testing.T) {
	for _, why := range []string{"schema", "strategy"} {
		t.Run(why, func(t *testing.T) {
			model, store, db := &provider{}, &session.MemoryStore{}, open(t, shop+twin)
			newEngine := func(s strategy.Strategy) *texttosql.Engine {
				e := testutil.Value(texttosql.New(db, llm.Named("m", model), texttosql.WithStrategy(s)))(t)
				return e
			}
			e := newEngine(asker{})
			s := converse(t, e, store, "")
			s.Ask(t.Context(), "unclear")
			if why == "schema" {
				testutil.Value(db.Exec("ALTER TABLE orders ADD COLUMN later TEXT"))(t)
			} else {
				e = newEngine(strategy.Func(asker{}.Generate))
			}
			s = converse(t, e, store, s.Record().ID)
			before := s.Record()
			if _, err := s.Choose(t.Context(), "t2"); !errors.Is(err, session.ErrStale) {
				t.Errorf("Choose: %v", err)
			}
			if _, err := s.Correct(t.Context(), "by name"); !errors.Is(err, session.ErrStale) {
				t.Errorf("Correct: %v", err)
			}
			if diff := cmp.Diff(before, s.Record()); diff != "" {
				t.Errorf("the record changed:\n%s", diff)
			}
			var q *session.QuestionError
			if _, err := s.Restart(t.Context()); !errors.As(err, &q) {
				t.Errorf("Restart: %v", err)
			}
			if live := model.since(2); live != "" {
				t.Errorf("requests that did not change were paid for again: %q", live)
			}
			if _, err := s.Choose(t.Context(), "t2"); !errors.As(err, &q) || q.Kind != dialogue.KindJoin {
				t.Errorf("after Restart: %v", err)
			}
			legal(t, s.Record())
		})
	}
}

// TestBudgetOfSession: what was replayed is charged as it was, so the same budget ends at the same call, and a larger
// one goes on. A call that the time ended is no reply, and is made again.
func TestBudgetOfSession(t *testing.T) {
	const two = "tables tables"
	for _, tt := range []struct {
		why   string
		small llm.Budget
		hangs bool
		calls [3]string // of all runs so far
	}{
		{"calls", llm.Budget{Calls: 2}, false, [3]string{two, two, two + " generate"}},
		{"tokens", llm.Budget{Tokens: 22}, false, [3]string{two, two, two + " generate"}},
		{"time", llm.Budget{Timeout: 2 * time.Second}, true, [3]string{"tables", two, two + " tables tables generate"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			model, store, db := &provider{hangs: tt.hangs}, &session.MemoryStore{}, open(t, shop)
			id := ""
			for run := range 3 {
				b := tt.small
				if run == 2 {
					b, model.hangs = llm.Budget{Calls: 3}, false
				}
				e, err := texttosql.New(db, model, texttosql.WithStrategy(asker{}), texttosql.WithBudget(b))
				if err != nil {
					t.Fatal(err)
				}
				s := converse(t, e, store, id)
				if id == "" {
					_, err = s.Ask(t.Context(), "who?")
				} else {
					_, err = s.Resume(t.Context())
				}
				id = s.Record().ID
				var stopped *session.InterruptedError
				if run < 2 && (!errors.Is(err, texttosql.ErrBudget) || !errors.As(err, &stopped) || stopped.ID != id) || run == 2 &&
					err != nil {
					t.Errorf("run %d: %v", run, err)
				}
				if got := model.since(0); got != tt.calls[run] {
					t.Errorf("run %d: calls %q, want %q", run, got, tt.calls[run])
				}
				legal(t, s.Record())
			}
		})
	}
}

// TestTakenOver: a session that another process went on with is lost to the one before.
func TestTakenOver(t *testing.T) {
	model, store := &provider{}, &session.MemoryStore{}
	e := talking(t, model)
	first := converse(t, e, store, "")
	taken := false
	model.hook = func(n int) {
		if n != 2 || taken {
			return
		}
		taken = true
		rec, err := store.Load(t.Context(), first.Record().ID)
		if err == nil {
			err = store.Save(t.Context(), rec) // as Resume of another process begins
		}
		if err != nil {
			t.Error(err)
		}
	}
	if _, err := first.Ask(t.Context(), "who?"); !errors.Is(err, session.ErrConflict) {
		t.Errorf("the first owner: %v", err)
	}
	if live := model.since(0); live != "tables tables" {
		t.Errorf("it went on: %q", live)
	}
	if _, err := first.Resume(t.Context()); !errors.Is(err, session.ErrConflict) {
		t.Errorf("the first owner, again: %v", err)
	}
	second := converse(t, e, store, first.Record().ID)
	if _, err := second.Resume(t.Context()); err != nil {
		t.Error(err)
	}
	if live := model.since(0); live != "tables tables generate" {
		t.Errorf("paid for twice: %q", live)
	}
	legal(t, second.Record())
}

// TestFailureOfSession: a question without an answer has its reasons in the record, and can be corrected.
func TestFailureOfSession(t *testing.T) {
	s := converse(t, talking(t, &provider{}), &session.MemoryStore{}, "")
	if _, err := s.Ask(t.Context(), "impossible"); !errors.Is(err, strategy.ErrNoCandidate) {
		t.Fatal(err)
	}
	f := s.Record().Failure
	if f == nil || f.Question != "impossible" || f.Error == "" || len(f.Recommendations) == 0 {
		t.Errorf("failure = %+v", f)
	}
	if _, err := s.Correct(t.Context(), "home means customers.country"); !errors.Is(err, strategy.ErrNoCandidate) {
		t.Error(err)
	}
	if f = s.Record().Failure; f == nil || f.Corrections != 1 {
		t.Errorf("failure = %+v", f)
	}
	for _, text := range []string{"land means customers.country", "or another", "place means customers.country"} {
		if _, err := s.Correct(t.Context(), text); !errors.Is(err, strategy.ErrNoCandidate) {
			t.Error(err)
		}
	}
	if f = s.Record().Failure; f == nil || !strings.Contains(f.Recommendations[len(f.Recommendations)-1], "by hand") {
		t.Errorf("no correction is left: %+v", f)
	}
	if _, err := s.Ask(t.Context(), "who?"); err != nil || s.Record().Failure != nil {
		t.Errorf("%v, %+v: the failure is a thing of the past", err, s.Record().Failure)
	}
	legal(t, s.Record())
}
