package enginetest_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// hangs is a store of answers whose calls hang while hold is full.
type hangs struct{ hold chan struct{} }

func (h hangs) String() string { return "a store that hangs" }

func (h hangs) Append([]byte) error { return nil }

func (h hangs) Read(int64) ([]byte, error) {
	h.hold <- struct{}{}
	<-h.hold
	return nil, nil
}

// shelfThatHangs is a store of lessons that does.
type shelfThatHangs struct {
	hangs
	brittle
}

func (s *shelfThatHangs) String() string { return s.hangs.String() }

func (s *shelfThatHangs) Read(have string) ([]byte, string, error) {
	s.hangs.Read(0)
	return s.brittle.Read(have)
}

func (s *shelfThatHangs) Change(change func([]byte) ([]byte, error)) error {
	s.hangs.Read(0)
	return s.brittle.Change(change)
}

// TestStoreOfMemoryHangs: a question leaves a store that hangs when its context ends, and what needs no store does not
// wait for it. The calls that go on are few, and end with the store.
func TestStoreOfMemoryHangs(t *testing.T) {
	before := runtime.NumGoroutine()
	ofAnswers, ofLessons := make(chan struct{}, 1), make(chan struct{}, 1)
	answers := testutil.Value(memory.VerifiedAnswersOn(hangs{ofAnswers}))(t)
	lessons := testutil.Value(memory.LessonsOn(&shelfThatHangs{hangs: hangs{ofLessons}}))(t)
	options := memory.Options{VerifiedAnswers: answers, Lessons: lessons}
	e := engine(t, always(usa), texttosql.WithMemory(options))
	none := testutil.Value(texttosql.New(open(t, shop), texttosql.NoModel, texttosql.WithMemory(options)))(t)
	testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
	warm := runtime.NumGoroutine()
	ask := func(e *texttosql.Engine) func(context.Context) error {
		return func(ctx context.Context) error { _, err := e.Ask(ctx, whoInUSA); return err }
	}
	for _, tt := range []struct {
		name  string
		store chan struct{}
		call  func(context.Context) error
		waits bool
	}{
		{"a question, without answers", ofAnswers, ask(e), true},
		{"a question, without lessons", ofLessons, ask(e), true},
		{"a question that no model could answer", ofAnswers, ask(none), true},
		{"a confirmation", ofAnswers, func(ctx context.Context) error { return e.Confirm(ctx, whoInUSA, usa) }, true},
		{"a statement needs neither", ofAnswers, func(ctx context.Context) error {
			_, err := e.Query(ctx, usa)
			return err
		}, false},
		{"a question that remembers nothing", ofAnswers, func(ctx context.Context) error {
			_, err := e.Ask(ctx, whoInUSA, texttosql.WithMemory(memory.Options{Off: true}))
			return err
		}, false},
	} {
		tt.store <- struct{}{}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if !tt.waits {
			cancel()
			ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
		}
		var group sync.WaitGroup
		start := time.Now()
		for range 100 {
			group.Go(func() {
				if err := tt.call(ctx); errors.Is(err, context.DeadlineExceeded) != tt.waits || !tt.waits && err != nil {
					t.Errorf("%s: %v", tt.name, err)
				}
			})
			if !tt.waits {
				break
			}
		}
		group.Wait()
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: took %v", tt.name, took)
		}
		if n := runtime.NumGoroutine() - warm; n > 64 {
			t.Errorf("%s: %d goroutines wait for the store", tt.name, n)
		}
		cancel()
		<-tt.store
		testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
	}
	settled(t, before+8) // of pools
}

// TestLessonsOfAConversationHang: what a conversation learns, or takes back, has 5 s. The answer is there.
func TestLessonsOfAConversationHang(t *testing.T) {
	for _, tt := range []struct {
		name           string
		hangs, answers int // the call of the model within which the store begins to hang, and the one that ends it
	}{
		{"nothing hangs", 0, 0},
		{"what a question teaches", 1, 0},
		{"what a correction takes back", 0, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			hold := make(chan struct{}, 1)
			lessons := testutil.Value(memory.LessonsOn(&shelfThatHangs{hangs: hangs{hold}}))(t)
			calls := 0
			model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				switch calls++; calls {
				case tt.hangs:
					hold <- struct{}{}
				case tt.answers:
					<-hold
				}
				return llm.Response{Text: usa, StopReason: llm.StopEnd}, nil
			})
			talk := engine(t, model, texttosql.WithStrategy(strategy.Direct{}),
				texttosql.WithMemory(memory.Options{Lessons: lessons})).NewConversation(&session.MemoryStore{})
			start := time.Now()
			r := testutil.Value(talk.Ask(t.Context(), whoInUSA))(t)
			if tt.answers > 0 {
				hold <- struct{}{}
				r = testutil.Value(talk.Correct(t.Context(), "home means customers.country"))(t)
			}
			lost := slices.ContainsFunc(r.Warnings, func(w trace.Warning) bool { return w.Code == "lessons-not-kept" })
			took := time.Since(start)
			if len(r.Rows.Rows) != 2 || lost != (tt.hangs > 0) || (took > 4*time.Second) != (tt.hangs+tt.answers > 0) ||
				took > 6*time.Second {
				t.Errorf("%s: %v, %v after %v", tt.name, r.Rows.Rows, r.Warnings, took)
			}
			if tt.hangs > 0 {
				<-hold
			}
		})
	}
}
