package enginetest_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
)

// troubled is a store that calls a function before each save, which may end the context or fail.
type troubled struct {
	session.Store
	mu     sync.Mutex
	before func() error
}

func (s *troubled) Save(ctx context.Context, r session.Record) error {
	s.mu.Lock()
	before := s.before
	s.mu.Unlock()
	if before != nil {
		if err := before(); err != nil {
			return err
		}
	}
	return s.Store.Save(ctx, r)
}

// TestRandomConversations: whatever is called, in whatever order, and whatever fails in between, every transition is
// legal, no accepted correction is lost, and the record in the store is the one that the session has.
func TestRandomConversations(t *testing.T) {
	sequences := 150
	if testing.Short() || race.Enabled {
		sequences = 30
	}
	e, down := (*texttosql.Engine)(nil), &llm.Error{Class: llm.ClassPermanent, Message: "out of service"}
	model := &provider{}
	e = talking(t, model)
	for seed := range sequences {
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		store := &troubled{Store: &session.MemoryStore{}}
		s := converse(t, e, store, "")
		var log []string
		var corrections []string // as the record had them, of the whole session
		for range 12 {
			ctx, cancel := context.WithCancel(t.Context())
			trouble := random.IntN(8)
			n := random.IntN(6)
			model.mu.Lock()
			model.down, model.hook = nil, nil
			switch trouble {
			case 0:
				model.down = down
			case 1:
				calls := len(model.calls)
				model.hook = func(now int) {
					if now > calls+n/2 {
						cancel()
					}
				}
			}
			model.mu.Unlock()
			saves := 0
			store.mu.Lock()
			store.before = func() error {
				switch saves++; {
				case trouble == 2 && saves > n:
					cancel()
				case trouble == 3 && saves == n+1:
					return errors.New("no space left on device")
				}
				return nil
			}
			store.mu.Unlock()
			questions := []string{"who?", "unclear", "answers that disagree", "impossible"}
			options := []string{"t1", "t2", "j1", "j2", "r1", "r2"}
			calls := []struct {
				name string
				do   func() (*texttosql.Result, error)
			}{
				{"ask", func() (*texttosql.Result, error) { return s.Ask(ctx, questions[random.IntN(len(questions))]) }},
				{"choose", func() (*texttosql.Result, error) {
					if q := s.Record().Pending; q != nil {
						return s.Choose(ctx, q.Options[random.IntN(len(q.Options))].ID)
					}
					return s.Choose(ctx, options[random.IntN(len(options))])
				}},
				{"correct", func() (*texttosql.Result, error) {
					return s.Correct(ctx, []string{"only number 9", "home means customers.country",
						"use table customers"}[random.IntN(3)])
				}},
				{"resume", func() (*texttosql.Result, error) { return s.Resume(ctx) }},
				{"restart", func() (*texttosql.Result, error) { return s.Restart(ctx) }},
				{"confirm", func() (*texttosql.Result, error) { return nil, s.Confirm(ctx, "who lives in the USA?") }},
				{"reopen", func() (*texttosql.Result, error) {
					if again, err := e.OpenConversation(t.Context(), store, s.Record().ID); err == nil {
						s = again
					}
					return nil, nil
				}},
			}
			call := calls[random.IntN(len(calls))]
			before := s.Record()
			_, err := call.do()
			cancel()
			rec := s.Record()
			log = append(log, fmt.Sprintf("%s (trouble %d, %d): %v; %s", call.name, trouble, n, err, rec.State))
			legal(t, rec)
			now := correctedIn(rec)
			if !slices.Equal(now[:min(len(now), len(corrections))], corrections) {
				t.Errorf("corrections were %q, are %q", corrections, now)
			}
			if n := rec.Corrected(); n > dialogue.MaxCorrections {
				t.Errorf("%d corrections", n)
			}
			if errors.Is(err, session.ErrInvalidCorrection) || errors.Is(err, session.ErrMaxCorrections) {
				if diff := cmp.Diff(before, rec); diff != "" {
					t.Errorf("refused, and changed:\n%s", diff)
				}
			}
			corrections = now
			if stored, lerr := store.Load(t.Context(), rec.ID); lerr == nil {
				if diff := cmp.Diff(timeless(t, stored), timeless(t, rec)); diff != "" {
					t.Errorf("stored -, held +:\n%s", diff)
				}
			}
			switch {
			case err == nil, !rec.State.Active(), rec.State == dialogue.Initializing:
			case trouble == 3, before.State.Active(): // the disk is full: what could not be saved is as it was
			default:
				t.Errorf("a call ended, and the session runs: %s", rec.State)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%q", seed, log)
		}
	}
}

// correctedIn lists the choices and corrections of a session.
func correctedIn(rec session.Record) (all []string) {
	for _, turn := range rec.Turns {
		if turn.Kind == dialogue.TurnChoice || turn.Kind == dialogue.TurnCorrection {
			all = append(all, turn.Option+turn.Text)
		}
	}
	return all
}
