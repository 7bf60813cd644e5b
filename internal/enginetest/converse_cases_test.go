package enginetest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// TestFollowUpThatStandsAlone: a question that has nothing to do with the one before is answered without its filters,
// and without what the user said about its answer.
func TestFollowUpThatStandsAlone(t *testing.T) {
	const (
		inRoom   = "SELECT pupils.name FROM pupils JOIN marks USING (pupil_id) WHERE pupils.room = 7 AND marks.mark = 4"
		count    = "SELECT count(*) FROM marks"
		question = "How many marks were given in all?"
		said     = "only those who are still here"
	)
	for name, s := range everyPreset() {
		t.Run(name, func(t *testing.T) {
			m := &steady{choose: func(text string) string {
				if strings.Contains(text, question) {
					return count
				}
				return inRoom
			}}
			e := testutil.Value(texttosql.New(open(t, strategytest.SchoolSQL), llm.Named("m", m), texttosql.WithStrategy(s)))(t)
			talk := converse(t, e, &session.MemoryStore{}, "")
			if res, err := talk.Ask(t.Context(), "Who in room 7 has a 4?"); err != nil || res.SQL != inRoom {
				t.Fatal(res, err)
			}
			testutil.Value(talk.Correct(t.Context(), said))(t)
			before := len(m.asked)
			res, err := talk.Ask(t.Context(), question)
			if err != nil || res.SQL != count || cmp.Diff([][]any{{int64(2)}}, res.Rows.Rows) != "" {
				t.Fatalf("%+v, %v", res, err)
			}
			for _, req := range m.asked[before:] {
				text := strategytest.Written(req.Messages)
				if strings.Contains(text, said) {
					t.Errorf("%s: the correction of the question before is in the prompt:\n%s", req.Purpose, text)
				}
				own := !strings.HasSuffix(name, "published") // else the words are those of the publication
				if own && strings.Contains(text, "Who in room 7") && !strings.Contains(text, "it keeps none of their conditions") {
					t.Errorf("%s: nothing says what the question before is for:\n%s", req.Purpose, text)
				}
			}
		})
	}
}

// TestAdviceOfEveryPreset: what is known for SQL stands once in each prompt that leads to SQL, in none about tables,
// errors or answers, and in none of a published method.
func TestAdviceOfEveryPreset(t *testing.T) {
	const advice = "A mark of a pupil counts once."
	silent := []string{"decompose", "score", "judge", "repair",
		"table", "tables", "synthesis", "join"}
	for name, s := range everyPreset() {
		t.Run(name, func(t *testing.T) {
			m := &steady{statements: disagreeing}
			env := strategytest.EnvOf(t, strategytest.SchoolSQL, m)
			env.Lessons = &memory.RetrievedLessons{Lessons: []memory.Lesson{{ID: "g", Kind: "llm_guided",
				Scope: "sql_generation", Text: advice, Confidence: 0.95}}}
			if _, err := s.Generate(t.Context(), env, strategy.Task{Question: "Who has a 4?"}); err != nil &&
				!errors.Is(err, strategy.ErrNoCandidate) {
				t.Fatal(err)
			}
			for _, req := range m.asked {
				want := 1
				if slices.Contains(silent, req.Purpose) || strings.HasSuffix(name, "published") {
					want = 0
				}
				if n := strings.Count(strategytest.Written(req.Messages), advice); n != want {
					t.Errorf("%s: it stands there %d times, want %d", req.Purpose, n, want)
				}
			}
		})
	}
}

// TestEmptyDatabaseInSession: what cannot be asked fails before any call of a model.
func TestEmptyDatabaseInSession(t *testing.T) {
	m := &provider{}
	e := testutil.Value(texttosql.New(open(t, "SELECT 1"), m, texttosql.WithStrategy(threephase.Strategy{})))(t)
	s := converse(t, e, &session.MemoryStore{}, "")
	if _, err := s.Ask(t.Context(), "who?"); !errors.Is(err, texttosql.ErrNoTables) {
		t.Error(err)
	}
	rec := s.Record()
	if rec.State != session.Failed || rec.Failure == nil || len(rec.Failure.Recommendations) == 0 || len(m.calls) > 0 {
		t.Errorf("%s after %d calls: %+v", rec.State, len(m.calls), rec.Failure)
	}
	legal(t, rec)
}

// told is a store that tells of each record that it saved.
type told struct {
	session.Store
	of func(session.Record)
}

func (s told) Save(ctx context.Context, r session.Record) error {
	err := s.Store.Save(ctx, r)
	s.of(r)
	return err
}

// TestCancelledInEachState: a conversation goes on from any state in which it was cancelled, to the same answer, and
// nothing is paid for twice.
func TestCancelledInEachState(t *testing.T) {
	calls := 0
	for i, at := range []session.State{dialogue.Initializing, dialogue.SchemaLoading, dialogue.QueryUnderstanding,
		dialogue.InferringJoins,
		dialogue.GeneratingSQL, dialogue.ExecutingQuery} {
		t.Run(string(at), func(t *testing.T) {
			m := &steady{statements: []string{using}}
			e := testutil.Value(texttosql.New(open(t, strategytest.SchoolSQL), llm.Named("m", m),
				texttosql.WithStrategy(threephase.Strategy{})))(t)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var once sync.Once
			store := told{&session.MemoryStore{}, func(r session.Record) {
				if r.State == at {
					once.Do(cancel)
				}
			}}
			s := converse(t, e, store, "")
			_, err := s.Ask(ctx, "Who has a 4?")
			var stopped *session.InterruptedError
			if i > 0 {
				rec := s.Record()
				if !errors.As(err, &stopped) || !errors.Is(err, context.Canceled) || rec.State != session.Interrupted ||
					rec.ResumeState != at {
					t.Fatalf("it is %s, to go on in %s: %v", rec.State, rec.ResumeState, err)
				}
				res, err := converse(t, e, store, rec.ID).Resume(t.Context())
				if err != nil || res.SQL != using {
					t.Errorf("%+v, %v", res, err)
				}
				if m.calls != calls {
					t.Errorf("%d calls, %d without", m.calls, calls)
				}
				return
			}
			if err != nil { // no record is saved in this state
				t.Fatal(err)
			}
			calls = m.calls
		})
	}
}

// TestAskBelowInSession: the options of a vote that is not clear, and what comes of them.
func TestAskBelowInSession(t *testing.T) {
	const everyone, nobody = "SELECT name FROM customers", "SELECT name FROM customers WHERE id > 9"
	engineOf := func(below float64, calls *int, replies ...string) *texttosql.Engine {
		var mu sync.Mutex
		m := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			*calls++
			return llm.Response{Text: replies[req.Sample%len(replies)], StopReason: llm.StopEnd}, nil
		})
		e := testutil.Value(texttosql.New(open(t, shop), llm.Named("m", m), texttosql.WithSamples(4),
			texttosql.WithClarifyBelow(below), texttosql.WithStrategy(strategy.SelfConsistency{})))(t)
		return e
	}
	for _, tt := range []struct {
		why     string
		below   float64
		replies []string
		options []string // nil: an answer
	}{
		{"half of the samples agree", 0.6, []string{everyone, usa, usa, nobody}, []string{usa, everyone, nobody}},
		{"half is enough", 0.5, []string{everyone, usa, usa, nobody}, nil},
		{"there is one result", 1, []string{usa, usa + " ", "SELECT name FROM customers WHERE country = 'USA' AND id > 0",
			usa}, nil},
		{"nobody is to be asked", 0, []string{everyone, usa, nobody, usa}, nil},
	} {
		calls := 0
		vote := testutil.Value(engineOf(0, &calls, tt.replies...).Ask(t.Context(), "Who is there?"))(t)
		for chosen := range max(1, len(tt.options)) { // a conversation for each option: it is asked the same each time
			calls = 0
			e := engineOf(tt.below, &calls, tt.replies...)
			s := converse(t, e, &session.MemoryStore{}, "")
			res, err := s.Ask(t.Context(), "Who is there?")
			var q *session.QuestionError
			if errors.As(err, &q) != (tt.options != nil) || q == nil && err != nil {
				t.Fatalf("%s: %v", tt.why, err)
			}
			if q == nil {
				if res.SQL != vote.SQL {
					t.Errorf("%s: %q, the vote says %q", tt.why, res.SQL, vote.SQL)
				}
				continue
			}
			var ids, options []string
			for _, o := range q.Options {
				ids, options = append(ids, o.ID), append(options, o.SQL)
			}
			if diff := cmp.Diff([]string{"r1", "r2", "r3"}, ids) + cmp.Diff(tt.options, options); diff != "" {
				t.Errorf("%s: %s", tt.why, diff)
			}
			before := calls
			res, err = s.Choose(t.Context(), q.Options[chosen].ID)
			if err != nil || res.SQL != tt.options[chosen] || res.Confidence != 1 || res.Level != "chosen" || calls != before {
				t.Errorf("%s: %+v, %v after %d calls", tt.why, res, err, calls-before)
			}
			if chosen == 0 && res.SQL != vote.SQL {
				t.Errorf("%s: the first option is %q, the vote says %q", tt.why, res.SQL, vote.SQL)
			}
		}
	}
}

// TestChoiceIsKept: what a user chose between tables that exist is shown for a similar question of another session, and
// changes no prompt of another one.
func TestChoiceIsKept(t *testing.T) {
	lessons := &memory.Lessons{}
	ask := func(question string, choose bool, opts ...texttosql.AskOption) (prompts []string) {
		m := &twins{steady: steady{statements: []string{"SELECT name FROM pupils"}}}
		e, err := texttosql.New(open(t, strategytest.SchoolSQL), llm.Named("m", m),
			texttosql.WithStrategy(threephase.Strategy{Tables: linker.PerTable{Workers: 1}}),
			texttosql.WithMemory(memory.Options{Lessons: lessons}))
		if err != nil {
			t.Fatal(err)
		}
		s := converse(t, e, &session.MemoryStore{}, "")
		_, err = s.Ask(t.Context(), question, opts...)
		var q *session.QuestionError
		if !errors.As(err, &q) || q.Kind != dialogue.KindTable {
			t.Fatal(err)
		}
		if choose {
			i := slices.IndexFunc(q.Options, func(o session.Option) bool { return o.Table.Name == "pupils" })
			testutil.Value(s.Choose(t.Context(), q.Options[i].ID))(t)
		}
		for _, req := range m.asked {
			prompts = append(prompts, req.Purpose+strategytest.Written(req.Messages))
		}
		return prompts
	}
	const first, like, other = "Which pupils were in room 7 last year?", "Which pupils were in room 8 last year?",
		"Give the best mark of all time."
	ask(first, true)
	if list, err := lessons.All(); err != nil || len(list) != 1 || list[0].Kind != "choice" {
		t.Fatalf("learned %+v, %v", list, err)
	}
	if text := strings.Join(ask(like, false), "\n"); !strings.Contains(text, "the user chose") {
		t.Errorf("not shown for a similar question:\n%s", text)
	}
	if diff := cmp.Diff(ask(other, false, texttosql.WithMemory(memory.Options{Off: true})),
		ask(other, false)); diff != "" {
		t.Errorf("an unrelated question is asked in another way:\n%s", diff)
	}
}

// twins is a model that takes two tables for the same thing.
type twins struct{ steady }

func (m *twins) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	resp, err := m.steady.Complete(ctx, req)
	switch req.Purpose {
	case "tables":
		resp.Text = `{"final_tables": ["pupils", "pupils_old"], "removed_tables": ["marks"], "reasoning": ""}`
	case "synthesis":
		resp.Text = `{"joins_needed": false}`
	}
	return resp, err
}
