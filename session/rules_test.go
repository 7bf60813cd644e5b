package session_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
)

// TestHold: one call at a time works on a session of a folder, and what cannot be held is an error at once.
func TestHold(t *testing.T) {
	f := testutil.Value(session.OpenFiles(t.TempDir()))(t)
	id := session.NewID()
	release := testutil.Value(f.Lock(t.Context(), id))(t)
	if _, err := f.Lock(t.Context(), id); !errors.Is(err, session.ErrLocked) {
		t.Errorf("held twice: %v", err)
	}
	testutil.Value(f.Lock(t.Context(), session.NewID()))(t, "another session")()
	release()
	testutil.Value(f.Lock(t.Context(), id))(t, "after its release")()
	if _, err := f.Lock(t.Context(), "../x"); !errors.Is(err, session.ErrInvalidID) {
		t.Errorf("no id: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.Lock(ctx, id); !errors.Is(err, context.Canceled) {
		t.Errorf("a context that has ended: %v", err)
	}
}

// TestLongTerms: what is said to mean a column is a word or a few.
func TestLongTerms(t *testing.T) {
	for text, want := range map[string]string{
		"red big old net client income means payments.amount": "column 'red big old net client income' payments.amount",
		"red big old wet net client income means payments.amount": "natural red big old wet net client income means " +
			"payments.amount",
		"net client income is payments.amount":     "column 'net client income' payments.amount",
		"our net client income is payments.amount": "natural our net client income is payments.amount",
	} {
		golden.Equal(t, want, say(testutil.Value(session.Parse(text, erp()))(t)), text)
	}
}

// TestCorrectionTexts: a correction in words for a person.
func TestCorrectionTexts(t *testing.T) {
	orders, total := schema.TableName{Name: "orders"}, schema.ColumnName{Table: schema.TableName{Name: "orders"},
		Column: "total"}
	id := schema.ColumnName{Table: schema.TableName{Name: "customers"}, Column: "id"}
	for _, tt := range []struct {
		c    session.Correction
		want string
	}{
		{session.Correction{Kind: dialogue.CorrectTable, Tables: []schema.TableName{orders}, Text: "for now"},
			"read orders; for now"},
		{session.Correction{Kind: dialogue.CorrectTable, Rejected: []schema.TableName{orders}}, "do not read orders"},
		{session.Correction{Kind: dialogue.CorrectJoin, Join: &schema.Join{Left: total, Right: id}},
			"join by orders.total = customers.id"},
		{session.Correction{Kind: dialogue.CorrectColumn, Term: "sum", Column: &total}, "“sum” means orders.total"},
		{session.Correction{Kind: dialogue.CorrectFilter, Text: "of 2024"}, "filter: of 2024"},
		{session.Correction{Kind: dialogue.CorrectLogic, Text: "net of tax"}, "rule: net of tax"},
		{session.Correction{Kind: dialogue.CorrectText, Text: "as before"}, ""},
	} {
		golden.Equal(t, tt.want, tt.c.String(), string(tt.c.Kind))
	}
}

// TestChoicesOfMeanings: of words that nothing stands for, the choice of a column is a meaning of the word, and another
// choice a rule; a choice of an answer corrects nothing.
func TestChoicesOfMeanings(t *testing.T) {
	total := schema.ColumnName{Table: schema.TableName{Name: "orders"}, Column: "total"}
	q := &session.QuestionError{Kind: dialogue.KindMeaning, Message: "what is revenue?",
		Context: map[string]string{"term": "revenue"}, Options: []session.Option{
			{ID: "m1", Label: "orders.total", Column: &total}, {ID: "m2", Label: "what was paid"},
			{ID: "m3", Label: "this", SQL: "SELECT 1"},
		}}
	for id, want := range map[string]string{"m1": "column 'revenue' orders.total",
		"m2": "natural revenue means what was paid", "m3": "natural "} {
		golden.Equal(t, want, say(testutil.Value(q.Correction(id))(t)), id)
	}
	if c, err := q.Correction("m9"); !errors.Is(err, session.ErrInvalidCorrection) || c.Kind != "" ||
		!strings.Contains(err.Error(), "m1, m2, m3") {
		t.Errorf("%v, %v", c, err)
	}
	golden.Equal(t, "the question is not clear: what is revenue?; m1: orders.total; m2: what was paid; m3: this",
		q.Error(), "the text")
	golden.Equal(t, "the question is not clear: it asks about a meaning", q.Public(), "the public text")
}

// TestTextsOfErrors: what the errors of a conversation say and match.
func TestTextsOfErrors(t *testing.T) {
	for call, matches := range map[string]bool{"Choose": true, "Correct": true, "Apply": true, "Resume": false} {
		err := &session.StateError{Call: call, State: session.Failed, Hint: "ask again"}
		if errors.Is(err, session.ErrInvalidCorrection) != matches || errors.Is(err, session.ErrStale) {
			t.Errorf("%s matches: %v", call, !matches)
		}
		golden.Equal(t, "session: no "+call+" while the conversation is failed: ask again", err.Error(), call)
	}
	stopped := &session.InterruptedError{ID: "7", Err: context.Canceled}
	if !errors.Is(stopped, context.Canceled) ||
		stopped.Error() != "session: conversation 7 is interrupted and can be resumed: context canceled" {
		t.Error(stopped)
	}
	for resume, want := range map[session.State]string{
		"":                     "session: completed may not follow failed",
		dialogue.GeneratingSQL: "session: completed may not follow failed; resume the session in generating_sql",
	} {
		golden.Equal(t, want, (&session.TransitionError{From: session.Failed, To: session.Completed, Resume: resume}).Error(),
			"a transition")
	}
}

// TestLocksOfFiles: however many sessions a folder has, it has at most 256 locks of their files.
func TestLocksOfFiles(t *testing.T) {
	dir := t.TempDir()
	f := testutil.Value(session.OpenFiles(dir))(t)
	for i := range 20 {
		testutil.OK(t, f.Save(t.Context(), session.New(fmt.Sprintf("ab%030x", i), time.Now())))
	}
	locks := testutil.Value(filepath.Glob(filepath.Join(dir, "*.lock")))(t)
	if len(locks) != 1 || filepath.Base(locks[0]) != "ab.lock" {
		t.Errorf("%q", locks)
	}
}
