package texttosql_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestCorrectionAsText: prose that names a table in no form is shown to the model with a warning, and uses up none of the
// corrections; prose about no table is a clarification, and does.
func TestCorrectionAsText(t *testing.T) {
	for _, tt := range []struct {
		text   string
		warned bool
		why    string
	}{
		{"customers looks wrong", true, "a table in no form"},
		{"customers.country might be better", true, "a column in no form"},
		{"only those of this year", false, "nothing of the schema is named"},
		{"use the customers table", false, "a form"},
	} {
		p := &provider{}
		s := converse(t, talking(t, p), &session.Memory{}, "")
		need.Value(s.Ask(t.Context(), "who?"))(t)
		for range 2 { // the warning is of this answer, and of each one
			res := need.Value(s.Correct(t.Context(), tt.text))(t, tt.why)
			warned := slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool {
				return w.Code == "correction-as-text" && strings.Contains(w.Message, "use table X")
			})
			if warned != tt.warned {
				t.Errorf("%s: %v", tt.why, res.Warnings)
			}
		}
		want := 2
		if tt.warned {
			want = 0
		}
		if rec := s.Record(); rec.Corrected() != want || len(rec.Corrections()) == 0 {
			t.Errorf("%s: %d corrections are counted, want %d; in force: %v", tt.why, rec.Corrected(), want, rec.Corrections())
		}
	}
}

// TestMaxCorrections: a conversation may take fewer corrections, or more.
func TestMaxCorrections(t *testing.T) {
	for most, want := range map[int]int{0: session.MaxCorrections, 1: 1, 5: 5, -1: 0} {
		s := converse(t, talking(t, &provider{}), &session.Memory{}, "")
		s.MaxCorrections = most
		need.Value(s.Ask(t.Context(), "who?"))(t)
		var err error
		n := 0
		for ; n < 7 && err == nil; n++ {
			var res *texttosql.Result
			if res, err = s.Correct(t.Context(), "use the customers table"); err == nil && res == nil {
				t.Fatal("no result")
			}
		}
		if n-1 != want || !errors.Is(err, session.ErrMaxCorrections) {
			t.Errorf("MaxCorrections %d: %d were taken, %v; want %d", most, n-1, err, want)
		}
	}
}

// TestRestartForgets: a restart drops the answer of the question before it is asked again, and leaves a session of
// another owner alone.
func TestRestartForgets(t *testing.T) {
	p, store := &provider{}, &session.Memory{}
	e := talking(t, p)
	s := converse(t, e, store, "")
	need.Value(s.Ask(t.Context(), "who?"))(t)
	p.down = &llm.Error{Class: llm.ClassPermanent, Message: "out of service"}
	var stopped *texttosql.InterruptedError
	if _, err := s.Restart(t.Context()); err != nil && !errors.As(err, &stopped) {
		t.Fatal(err)
	}
	if rec := s.Record(); rec.State == session.Interrupted && rec.Turns[rec.Turn()].Answer != nil {
		t.Errorf("the old answer is kept: %+v", rec.Turns)
	}
	p.down = nil
	mine := converse(t, e, store, "")
	need.Value(mine.Ask(t.Context(), "who?"))(t)
	theirs := converse(t, e, store, mine.Record().ID)
	need.Value(theirs.Correct(t.Context(), "use the customers table"))(t)
	want := theirs.Record()
	if _, err := mine.Restart(t.Context()); !errors.Is(err, session.ErrConflict) {
		t.Errorf("the session was taken over: %v", err)
	}
	if kept := need.Value(store.Load(t.Context(), want.ID))(t); kept.Revision != want.Revision || len(kept.Turns) != len(want.Turns) {
		t.Errorf("a conflict wrote: revision %d, was %d", kept.Revision, want.Revision)
	}
}

// TestBallotsAreBounded: a record keeps the vote of a question, and none that is larger than 64 KiB.
func TestBallotsAreBounded(t *testing.T) {
	for n, kept := range map[int]bool{10: true, 70_000: false} {
		s := converse(t, engine(t, always(usa), texttosql.WithStrategy(strategy.Func(
			func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) {
				return &strategy.Outcome{SQL: usa, Confidence: 1, Ballot: vote.Ballot{Sampled: 1, Clusters: []vote.Cluster{{SQL: usa, Key: strings.Repeat("x", n)}}}}, nil
			}))), &session.Memory{}, "")
		need.Value(s.Ask(t.Context(), "who?"))(t)
		rec := s.Record()
		if ballot := rec.Turns[rec.Last()].Answer.Ballot; (len(ballot) > 0) != kept {
			t.Errorf("a key of %d bytes: %d bytes of the vote are kept", n, len(ballot))
		}
	}
}
