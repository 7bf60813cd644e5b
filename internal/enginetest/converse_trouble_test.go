package enginetest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// outage is a provider that is down for some requests.
type outage struct {
	steady
	down func(llm.Request) bool
}

func (m *outage) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	if m.down != nil && m.down(req) {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 401, Message: "no credit"}
	}
	return m.steady.Complete(ctx, req)
}

// TestProviderDownInTheMiddle: a conversation whose provider fails is interrupted with the provider's error, and goes
// on without paying again for what it has.
func TestProviderDownInTheMiddle(t *testing.T) {
	for _, tt := range []struct {
		why   string
		down  func(llm.Request) bool
		calls int // that were answered before
	}{
		{"at once", func(llm.Request) bool { return true }, 0},
		{"when the statement is to be written", func(r llm.Request) bool { return r.Purpose == "generate" }, 5},
		{"for each table", func(r llm.Request) bool { return r.Purpose == "table" }, 0},
	} {
		m := &outage{steady: steady{statements: []string{using}}, down: tt.down}
		e := testutil.Value(texttosql.New(open(t, strategytest.SchoolSQL), llm.Named("m", m),
			texttosql.WithStrategy(threephase.Strategy{})))(t)
		store := &session.MemoryStore{}
		s := converse(t, e, store, "")
		_, err := s.Ask(t.Context(), "Who has a 4?")
		var stopped *session.InterruptedError
		var provider *llm.Error
		if !errors.As(err, &stopped) || !errors.As(err, &provider) || provider.Status != 401 || m.calls != tt.calls {
			t.Errorf("%s: %v after %d calls", tt.why, err, m.calls)
		}
		m.down = nil
		res, err := converse(t, e, store, s.Record().ID).Resume(t.Context())
		if err != nil || res.SQL != using || m.calls != 6 { // three tables, all together, the synthesis, the statement
			t.Errorf("%s: resumed, %v after %d calls", tt.why, err, m.calls)
		}
	}
}

// hung is a store that does not save any more once it was told.
type hung struct {
	session.Store
	now bool
}

func (s *hung) Save(ctx context.Context, r session.Record) error {
	if s.now {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.Store.Save(ctx, r)
}

// TestSavingGivesUp: a cancelled conversation ends within five seconds, also if it cannot be saved.
func TestSavingGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		store := &hung{Store: &session.MemoryStore{}}
		m := &steady{statements: []string{using}}
		m.hook = func(int) { store.now = true; cancel() }
		e := testutil.Value(texttosql.New(open(t, strategytest.SchoolSQL), m, texttosql.WithStrategy(asker{})))(t)
		s := converse(t, e, store, "")
		start := time.Now()
		_, err := s.Ask(ctx, "Who has a 4?")
		if took := time.Since(start); took > 5*time.Second || !errors.Is(err, context.Canceled) ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}
