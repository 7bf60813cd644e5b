package enginetest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// TestCorrectionAsText: prose is shown to the model with a warning, and does not use up a correction, whatever it
// names.
func TestCorrectionAsText(t *testing.T) {
	for _, tt := range []struct {
		text   string
		warned bool
		why    string
	}{
		{"customers looks wrong", true, "a table in no form"},
		{"customers.country might be better", true, "a column in no form"},
		{"only those of this year", true, "nothing of the schema is named"},
		{"not customers, orders", true, "which of them is refused is not clear"},
		{"use the customers table", false, "a form"},
	} {
		p := &provider{}
		s := converse(t, talking(t, p), &session.MemoryStore{}, "")
		testutil.Value(s.Ask(t.Context(), "who?"))(t)
		for range 2 { // the warning is of this answer, and of each one
			res := testutil.Value(s.Correct(t.Context(), tt.text))(t, tt.why)
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

// TestUnchanged: a correction after which the statement stands as it stood is in doubt, one that changes it is not.
func TestUnchanged(t *testing.T) {
	for _, tt := range []struct {
		why, again string
		unchanged  bool
	}{
		{"the model repeats itself", "SELECT name FROM customers WHERE id > 0", true},
		{"in other letters and blanks", "select name from customers  where id > 0", true},
		{"it changes the statement", "SELECT name FROM customers WHERE id > 1", false},
	} {
		replies := []string{"SELECT name FROM customers WHERE id > 0", tt.again}
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			reply := replies[0]
			if strings.Contains(strategytest.Written(req.Messages), "it looks wrong") {
				reply = replies[1]
			}
			return llm.Response{Text: strategy.CodeBlock(reply)}, nil
		})
		s := converse(t, testutil.Value(texttosql.New(open(t, shop), model, texttosql.WithSamples(5)))(t),
			&session.MemoryStore{}, "")
		first := testutil.Value(s.Ask(t.Context(), "Which customers are there?"))(t)
		res := testutil.Value(s.Correct(t.Context(), "it looks wrong"))(t, tt.why)
		unchanged := strings.HasPrefix(res.Closing(), "Check this: the statement is the same as before the correction")
		if unchanged != tt.unchanged || (res.Confidence < first.Confidence) != tt.unchanged {
			t.Errorf("%s: %s %.2f, before %s %.2f", tt.why, res.Closing(), res.Confidence, first.Closing(), first.Confidence)
		}
		if follow := testutil.Value(s.Ask(t.Context(), "Which customers are there?"))(t,
			tt.why); strings.Contains(follow.Closing(), "correction") {
			t.Errorf("%s: another question: %s", tt.why, follow.Closing())
		}
	}
}

// TestMaxCorrections: a conversation may take fewer corrections, or more.
func TestMaxCorrections(t *testing.T) {
	for most, want := range map[int]int{0: dialogue.MaxCorrections, 1: 1, 5: 5, -1: 0} {
		s := converse(t, talking(t, &provider{}), &session.MemoryStore{}, "")
		s.MaxCorrections = most
		testutil.Value(s.Ask(t.Context(), "who?"))(t)
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

// TestRestartForgets: a restart drops every answer to the question before it is asked again.
func TestRestartForgets(t *testing.T) {
	s := converse(t, talking(t, &provider{}), &session.MemoryStore{}, "")
	testutil.Value(s.Ask(t.Context(), "who?"))(t)
	testutil.Value(s.Correct(t.Context(), "use the customers table"))(t)
	testutil.Value(s.Restart(t.Context()))(t)
	if rec := s.Record(); rec.Turns[0].Answer != nil || rec.Turns[1].Answer == nil {
		t.Errorf("answers of the turns: %+v, %+v; want that of the last one alone", rec.Turns[0].Answer, rec.Turns[1].Answer)
	}
}

// savesCounted is a store that counts what could not be saved, because another owner saved before.
type savesCounted struct {
	session.Store
	conflicts int
}

func (c *savesCounted) Save(ctx context.Context, r session.Record) error {
	err := c.Store.Save(ctx, r)
	if errors.Is(err, session.ErrConflict) {
		c.conflicts++
	}
	return err
}

// TestConflictWritesNothing: a run that finds its session in the hands of another owner ends, and tries no further
// save.
func TestConflictWritesNothing(t *testing.T) {
	store := &savesCounted{Store: &session.MemoryStore{}}
	p := &provider{}
	s := converse(t, talking(t, p), store, "")
	p.hook = func(n int) {
		if n > 1 {
			return
		}
		rec := testutil.Value(store.Store.Load(context.Background(), s.Record().ID))(t)
		testutil.OK(t, store.Store.Save(context.Background(), rec)) // somebody takes it over
	}
	if _, err := s.Ask(t.Context(), "about customers and orders"); !errors.Is(err, session.ErrConflict) ||
		store.conflicts != 1 {
		t.Errorf("%v after %d saves that failed; want one", err, store.conflicts)
	}
}

// TestBallotsAreBounded: a record keeps the vote of a question, and none that is larger than 64 KiB.
func TestBallotsAreBounded(t *testing.T) {
	for n, kept := range map[int]bool{10: true, 70_000: false} {
		s := converse(t, engine(t, always(usa), texttosql.WithStrategy(strategy.Func(
			func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) {
				return &strategy.Outcome{SQL: usa, Confidence: 1,
					Ballot: vote.Ballot{Sampled: 1, Clusters: []vote.Cluster{{SQL: usa, Key: strings.Repeat("x", n)}}}}, nil
			}))), &session.MemoryStore{}, "")
		testutil.Value(s.Ask(t.Context(), "who?"))(t)
		rec := s.Record()
		if ballot := rec.Turns[rec.Last()].Answer.Ballot; (len(ballot) > 0) != kept {
			t.Errorf("a key of %d bytes: %d bytes of the vote are kept", n, len(ballot))
		}
	}
}

// TestBallotOfTheLastQuestion: a record keeps the vote of its last question alone.
func TestBallotOfTheLastQuestion(t *testing.T) {
	s := converse(t, engine(t, always(usa)), &session.MemoryStore{}, "")
	testutil.Value(s.Ask(t.Context(), whoInUSA))(t)
	testutil.Value(s.Ask(t.Context(), "And who else?"))(t)
	for i, turn := range s.Record().Turns {
		if kept := turn.Answer != nil && len(turn.Answer.Ballot) > 0; kept != (i == 1) || i == 0 && turn.Answer == nil {
			t.Errorf("turn %d: the vote is kept: %v", i, kept)
		}
	}
}

// TestRowsBesideAChoice: a pending question that is told again shows five rows of each answer, and no record holds
// them. Where nothing may run, nothing does.
func TestRowsBesideAChoice(t *testing.T) {
	const many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60) SELECT i FROM n"
	asking := texttosql.WithStrategy(strategy.Func(func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome,
		error) {
		return &strategy.Outcome{}, &session.QuestionError{Kind: dialogue.KindResult, Message: "Which answer?",
			Options: []session.Option{
				{ID: "r1", Label: "numbers", SQL: many}, {ID: "r2", Label: "none"},
			}}
	}))
	for want, opts := range map[int][]texttosql.Option{5: {asking}, 0: {asking, texttosql.WithoutExecution()}} {
		s := converse(t, engine(t, always(usa), opts...), &session.MemoryStore{}, "")
		if _, err := s.Ask(t.Context(), "who?"); err == nil {
			t.Fatal("nothing was asked")
		}
		_, err := s.Resume(t.Context())
		var asked *session.QuestionError
		if !errors.As(err, &asked) || asked.Options[1].Rows != nil {
			t.Fatalf("%v, %+v", err, asked)
		}
		if rows := asked.Options[0].Rows; (rows != nil) != (want > 0) || rows != nil && len(rows.Rows) != want {
			t.Errorf("%+v; want %d rows", rows, want)
		}
		if rows := s.Record().Pending.Options[0].Rows; rows != nil {
			t.Errorf("the record holds %d rows", len(rows.Rows))
		}
	}
}
