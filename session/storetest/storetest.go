// Package storetest tests stores of sessions against the contract of session.Store.
package storetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/trace"
)

// Conformance tests a store against the contract of session.Store:
//
//   - a record is loaded as it was saved, with the next revision, and shares no memory with the caller's record;
//   - if a revision is saved several times at once, one save succeeds and the others return session.ErrConflict;
//   - invalid ids, missing sessions and records that are too large return the errors of the contract;
//   - a journal stores whole lines in their order, also from parallel writers, and is deleted with its session;
//   - lists are sorted, filtered and limited;
//   - a call whose context has ended changes nothing.
//
// newStore makes an empty store and cleans it up with t.Cleanup. Run it with -race. It cannot test whether stored
// data survives a crash.
func Conformance(t *testing.T, newStore func(t *testing.T) session.Store) {
	t.Helper()
	for _, part := range parts() {
		t.Run(part.name, func(t *testing.T) {
			if err := part.check(t.Context(), newStore(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// part is one rule of the contract. Its check returns an error, so that it can be tested with stores that break the
// rule.
type part struct {
	name  string
	check func(context.Context, session.Store) error
}

func parts() []part {
	return []part{
		{"round_trip", checkRoundTrip},
		{"copies", checkCopies},
		{"not_found", checkNotFound},
		{"ids", checkIDs},
		{"conflict", checkConflict},
		{"parallel_saves", checkParallelSaves},
		{"refused_records", checkRefused},
		{"journal", checkJournal},
		{"parallel_lines", checkParallelLines},
		{"list", checkList},
		{"delete", checkDelete},
		{"cancelled", checkCancelled},
	}
}

// day is when all sessions of the tests begin.
var day = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

// record returns a record that was not saved and has a value in every member.
func record() session.Record {
	r := session.New(session.NewID(), day)
	r.Schema, r.Config = "fingerprint", "hash"
	a := schema.ColumnName{Table: schema.TableName{Schema: "main", Name: `a "b"`}, Column: "x"}
	b := schema.ColumnName{Table: schema.TableName{Name: "b"}, Column: "y\u2028<&>"}
	for _, s := range []session.State{dialogue.SchemaLoading, dialogue.QueryUnderstanding, session.Interrupted} {
		if err := r.Move(s, day.Add(time.Second), "why"); err != nil {
			panic(err)
		}
	}
	r.Turns = []session.Turn{
		{
			Kind: dialogue.TurnQuestion, At: day, Text: "How many?\n🙂", Evidence: "e", Samples: 3,
			Attempts: []session.Attempt{{SQL: "SELECT 1"}},
			Answer: &session.Answer{
				SQL: "SELECT 1 < 2", Confidence: .25, Tables: []schema.TableName{a.Table},
				Joins: []schema.Join{{Left: a, Right: b}}, Notes: []string{"n"},
			},
		},
		{Kind: dialogue.TurnChoice, At: day, Option: "j1", Correction: &session.Correction{Kind: dialogue.CorrectJoin,
			Join: &schema.Join{Left: a, Right: b}}},
	}
	r.Pending = &session.QuestionError{
		Kind: dialogue.KindTable, Message: "Which?", Context: map[string]string{"user_query": "q"},
		Options: []session.Option{{ID: "t1", Label: "a", Table: &a.Table, Confidence: .5},
			{ID: "t2", Label: "b", Table: &b.Table}},
	}
	r.Failure = &session.Failure{Question: "q", Error: "e",
		Attempts: []session.Attempt{{SQL: "SELECT", Error: "incomplete"}}}
	r.Lessons, r.Learned = json.RawMessage(`{"a":1}`), json.RawMessage(`[]`)
	r.Usage = trace.Usage{Calls: 2, PromptTokens: 3, CompletionTokens: 4, Money: .5, Known: true}
	return r
}

// same returns an error if the store has not the record r.
func same(ctx context.Context, s session.Store, r session.Record) error {
	got, err := s.Load(ctx, r.ID)
	if err != nil {
		return fmt.Errorf("load: %w", err)
	}
	if !reflect.DeepEqual(text(got), text(r)) {
		return fmt.Errorf("load gives\n%s\nof\n%s", text(got), text(r))
	}
	return nil
}

func text(r session.Record) string {
	b, err := json.MarshalIndent(r, "", "\t")
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// saved saves a new record and returns it as it is stored.
func saved(ctx context.Context, s session.Store) (session.Record, error) {
	r := record()
	if err := s.Save(ctx, r); err != nil {
		return r, fmt.Errorf("save of a new record: %w", err)
	}
	r.Revision++
	return r, nil
}

func checkRoundTrip(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err == nil {
		err = same(ctx, s, r)
	}
	if err != nil {
		return err
	}
	if err := r.Move(dialogue.QueryUnderstanding, day.Add(time.Hour), "again"); err != nil {
		return err
	}
	r.Pending, r.Failure, r.Turns = nil, nil, r.Turns[:1]
	for range 20 { // more than a store appends
		if err := s.Save(ctx, r); err != nil {
			return fmt.Errorf("save of the loaded revision: %w", err)
		}
		r.Revision++
		if err := same(ctx, s, r); err != nil {
			return err
		}
		r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnStatement, At: day, Text: strings.Repeat("x", 2000)})
	}
	return nil
}

func checkCopies(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	before := r.Clone()
	r.Turns[0].Text, r.Pending.Context["user_query"], r.Lessons[0] = "other", "other", ' '
	if err := same(ctx, s, before); err != nil {
		return fmt.Errorf("the caller changed its record after Save: %w", err)
	}
	got, err := s.Load(ctx, r.ID)
	if err != nil {
		return err
	}
	got.Turns[0].Text, got.Pending.Message, got.Transitions[0].Reason = "other", "other", "other"
	if err := same(ctx, s, before); err != nil {
		return fmt.Errorf("the caller changed the record that Load gave: %w", err)
	}
	return nil
}

// calls are all calls about one session.
func calls(ctx context.Context, s session.Store, id string) map[string]error {
	_, load := s.Load(ctx, id)
	_, journal := s.Journal(ctx, id)
	return map[string]error{"Load": load, "Journal": journal, "Delete": s.Delete(ctx, id)}
}

func checkNotFound(ctx context.Context, s session.Store) error {
	for name, err := range calls(ctx, s, session.NewID()) {
		if !errors.Is(err, session.ErrNotFound) {
			return fmt.Errorf("%s of a session that is not there: %w, want session.ErrNotFound", name, orNil(err))
		}
	}
	return nil
}

func checkIDs(ctx context.Context, s session.Store) error {
	zeros := strings.Repeat("0", 33)
	for _, id := range []string{"", "../x", "x", strings.Repeat("A", 32), zeros, "../" + zeros[:29], zeros[:31] + "\x00"} {
		all := calls(ctx, s, id)
		r := record()
		r.ID = id
		all["Save"] = s.Save(ctx, r)
		for name, err := range all {
			if !errors.Is(err, session.ErrInvalidID) {
				return fmt.Errorf("%s with id %q: %w, want session.ErrInvalidID", name, id, orNil(err))
			}
		}
	}
	return nil
}

func checkConflict(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	for _, revision := range []int64{0, 2, -1} {
		other := r.Clone()
		other.Revision, other.Schema = revision, "other"
		if err := s.Save(ctx, other); !errors.Is(err, session.ErrConflict) {
			return fmt.Errorf("save of revision %d over 1: %w, want session.ErrConflict", revision, orNil(err))
		}
	}
	missing := record()
	missing.Revision = 3
	if err := s.Save(ctx, missing); !errors.Is(err, session.ErrConflict) {
		return fmt.Errorf("save of revision 3 of a session that is not there: %w, want session.ErrConflict", orNil(err))
	}
	if _, err := s.Load(ctx, missing.ID); !errors.Is(err, session.ErrNotFound) {
		return fmt.Errorf("load after a refused save: %w, want session.ErrNotFound", orNil(err))
	}
	return same(ctx, s, r)
}

const writers = 8

// atOnce calls do from many goroutines and returns their errors.
func atOnce(do func(i int) error) []error {
	errs := make([]error, writers)
	var group sync.WaitGroup
	for i := range errs {
		group.Go(func() { errs[i] = do(i) })
	}
	group.Wait()
	return errs
}

func checkParallelSaves(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	for range 5 {
		won := -1
		for i, err := range atOnce(func(i int) error {
			mine := r.Clone()
			mine.Schema = fmt.Sprint("of writer ", i)
			return s.Save(ctx, mine)
		}) {
			switch {
			case err == nil && won >= 0:
				return errors.New("two saves of one revision won")
			case err == nil:
				won = i
			case !errors.Is(err, session.ErrConflict):
				return fmt.Errorf("a save that lost: %w, want session.ErrConflict", err)
			}
		}
		if won < 0 {
			return errors.New("no save of a revision won")
		}
		r.Revision++
		r.Schema = fmt.Sprint("of writer ", won)
		if err := same(ctx, s, r); err != nil {
			return err
		}
	}
	return nil
}

func checkRefused(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	for why, spoil := range map[string]func(*session.Record){
		"2 MB":             func(r *session.Record) { r.Turns[0].Text = strings.Repeat("x", 2<<20) },
		"an unknown state": func(r *session.Record) { r.State = "other" },
		"a later version":  func(r *session.Record) { r.Version++ },
		"broken JSON":      func(r *session.Record) { r.Lessons = json.RawMessage("{") },
	} {
		bad := r.Clone()
		spoil(&bad)
		var refused *session.RecordError
		if err := s.Save(ctx, bad); !errors.As(err, &refused) || refused.ID != r.ID {
			return fmt.Errorf("save of a record with %s: %w, want a *session.RecordError", why, orNil(err))
		}
	}
	return same(ctx, s, r)
}

func checkJournal(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	want := ""
	for i := range 3 { // a new owner each time
		j, err := s.Journal(ctx, r.ID)
		if err != nil {
			return fmt.Errorf("journal: %w", err)
		}
		long := strings.Repeat("é", 5000)
		for _, line := range []string{fmt.Sprintf(`{"n":%d}`, i), fmt.Sprintf("{\"n\":%q}\n", long)} {
			given := []byte(line)
			if err := j.Append(given); err != nil {
				return fmt.Errorf("append: %w", err)
			}
			clear(given) // the store must have copied it
			want += strings.TrimSuffix(line, "\n") + "\n"
		}
		for _, line := range []string{"", "\n", "a\nb", "a\n\n"} {
			if err := j.Append([]byte(line)); err == nil {
				return fmt.Errorf("append of %q, which is not one line, has no error", line)
			}
		}
		if err := reads(j, want); err != nil {
			return err
		}
		if err := j.Close(); err != nil {
			return fmt.Errorf("close: %w", err)
		}
	}
	return same(ctx, s, r)
}

// reads returns an error if a journal does not hold want.
func reads(j session.Journal, want string) error {
	got, err := j.Read()
	if err != nil {
		return fmt.Errorf("read: %w", err)
	}
	if string(got) != want {
		return fmt.Errorf("read gives %d bytes %.80q, want %d bytes %.80q", len(got), got, len(want), want)
	}
	return nil
}

func checkParallelLines(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	const lines = 10
	err = errors.Join(atOnce(func(i int) error {
		j, err := s.Journal(ctx, r.ID)
		if err != nil {
			return err
		}
		for n := range lines {
			if err := j.Append(fmt.Appendf(nil, "%d %d %s", i, n, strings.Repeat("x", 100*i))); err != nil {
				return err
			}
			if _, err := j.Read(); err != nil {
				return err
			}
		}
		return j.Close()
	})...)
	if err != nil {
		return err
	}
	j, err := s.Journal(ctx, r.ID)
	if err != nil {
		return err
	}
	defer j.Close()
	all, err := j.Read()
	if err != nil {
		return err
	}
	next := [writers]int{}
	for line := range bytes.Lines(all) {
		var i, n int
		if _, err := fmt.Sscanf(string(line), "%d %d", &i, &n); err != nil || i < 0 || i >= writers || n != next[i] ||
			string(line) != fmt.Sprintf("%d %d %s\n", i, n, strings.Repeat("x", 100*i)) {
			return fmt.Errorf("a line of parallel writers is %.60q", line)
		}
		next[i]++
	}
	for i, n := range next {
		if n != lines {
			return fmt.Errorf("%d of %d lines of writer %d are there", n, lines, i)
		}
	}
	return nil
}

func checkList(ctx context.Context, s session.Store) error {
	var all []session.Record
	for i := range 12 {
		r := session.New(session.NewID(), day)
		r.Turns = []session.Turn{{Kind: dialogue.TurnQuestion, Text: fmt.Sprint("question ", i)}}
		if i%2 == 1 {
			r.State = session.Completed
		}
		r.Scope = []string{"", "acme", "", "globex"}[i/3]   // the last are the newest
		r.Updated = day.Add(time.Duration(i/2) * time.Hour) // two of each time
		if err := s.Save(ctx, r); err != nil {
			return err
		}
		all = append(all, r)
	}
	done := []session.State{session.Completed}
	for _, f := range []session.Filter{
		{Every: true}, {Every: true, Limit: 3}, {Every: true, Limit: -1}, {}, {Limit: 3}, {Limit: -1},
		{Scope: "acme", Limit: 2}, {Scope: "acme", Limit: -1, States: done}, {Scope: "Acme"}, {Scope: "acme", Every: true},
		{States: done}, {States: done, Limit: 2}, {States: []session.State{session.Failed}},
	} {
		var want []session.Summary
		for _, r := range all {
			want = append(want, r.Summary())
		}
		want = f.Apply(want)
		got, err := s.List(ctx, f)
		if err != nil {
			return fmt.Errorf("list: %w", err)
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			return fmt.Errorf("list with %+v gives\n%+v\nwant\n%+v", f, got, want)
		}
	}
	return nil
}

func checkDelete(ctx context.Context, s session.Store) error {
	gone, err := saved(ctx, s)
	if err != nil {
		return err
	}
	stays, err := saved(ctx, s)
	if err != nil {
		return err
	}
	j, err := s.Journal(ctx, gone.ID)
	if err == nil {
		err = j.Append([]byte("line"))
	}
	if err == nil {
		err = s.Delete(ctx, gone.ID)
	}
	if err != nil {
		return err
	}
	if err := j.Append([]byte("line")); !errors.Is(err, session.ErrNotFound) {
		return fmt.Errorf("append to the journal of a deleted session: %w, want session.ErrNotFound", orNil(err))
	}
	for name, err := range calls(ctx, s, gone.ID) {
		if !errors.Is(err, session.ErrNotFound) {
			return fmt.Errorf("%s of a deleted session: %w, want session.ErrNotFound", name, orNil(err))
		}
	}
	if err := s.Save(ctx, gone); !errors.Is(err, session.ErrConflict) {
		return fmt.Errorf("save of a deleted session: %w, want session.ErrConflict", orNil(err))
	}
	gone.Revision = 0
	if err := s.Save(ctx, gone); err != nil {
		return fmt.Errorf("save of a new session with the id of a deleted one: %w", err)
	}
	if j, err = s.Journal(ctx, gone.ID); err != nil {
		return err
	}
	defer j.Close()
	if err := reads(j, ""); err != nil {
		return fmt.Errorf("the journal of a deleted session is that of the next one: %w", err)
	}
	return same(ctx, s, stays)
}

func checkCancelled(ctx context.Context, s session.Store) error {
	r, err := saved(ctx, s)
	if err != nil {
		return err
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	all := calls(ended, s, r.ID)
	all["Save"] = s.Save(ended, r)
	_, all["List"] = s.List(ended, session.Filter{})
	for name, err := range all {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("%s after its context ended: %w, want context.Canceled", name, orNil(err))
		}
	}
	return same(ctx, s, r)
}

// orNil makes a nil error printable.
func orNil(err error) error {
	if err == nil {
		return errors.New("no error")
	}
	return err
}
