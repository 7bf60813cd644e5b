package enginetest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/threephase"
)

// steady is a model whose reply is a function of the request: what asks for SQL gets one of its statements.
type steady struct {
	statements []string
	choose     func(text string) string // the statement for all messages, instead of one of statements

	mu    sync.Mutex
	calls int
	asked []llm.Request
	hook  func(call int)
}

func (m *steady) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.hook != nil {
		m.hook(m.calls + 1)
	}
	if ctx.Err() != nil {
		return llm.Response{}, ctx.Err()
	}
	m.calls++
	m.asked = append(m.asked, req)
	last := req.Messages[len(req.Messages)-1].Text
	sum := fnv.New32()
	fmt.Fprint(sum, last, req.Sample)
	sql := ""
	if m.choose != nil {
		sql = m.choose(strategytest.Written(req.Messages))
	} else {
		sql = m.statements[int(sum.Sum32()>>8)%len(m.statements)]
	}
	text := strategytest.Reply(req.Purpose, func() string { return bothTables }, func() string { return sql })
	return llm.Response{Text: text, StopReason: llm.StopEnd, Usage: llm.Estimate(req, text)}, nil
}

// everyPreset is presets, and the one that is made for conversations.
func everyPreset() map[string]strategy.Strategy {
	all := presets()
	all["threephase"] = threephase.Strategy{}
	return all
}

// course is what came of a conversation.
type course struct {
	record  session.Record
	results []string // as JSON with rows, a turn each
	usages  []llm.Usage
	traces  []string
	journal []byte
}

// converseAbout asks a question, corrects the answer and asks a follow-up. What is interrupted is resumed in a new
// session of a new engine until it is not. canceller gets what ends the context of the present call.
func converseAbout(t *testing.T, s strategy.Strategy, m llm.Model, workers int,
	canceller func(context.CancelFunc)) (c course) {
	t.Helper()
	db, store, id := open(t, strategytest.SchoolSQL), &session.MemoryStore{}, ""
	for _, turn := range []func(context.Context, *texttosql.Conversation) (*texttosql.Result, error){
		func(ctx context.Context, s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Ask(ctx, "Who has a 4?")
		},
		func(ctx context.Context, s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Correct(ctx, "select pupils not pupils_old")
		},
		func(ctx context.Context, s *texttosql.Conversation) (*texttosql.Result, error) {
			return s.Ask(ctx, "And who of them is in room 7?")
		},
	} {
		for {
			e, err := texttosql.New(db, llm.Named("m", m), texttosql.WithStrategy(s),
				texttosql.WithBudget(llm.Budget{InFlight: workers}), texttosql.WithSeed(7))
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			canceller(cancel)
			talk := converse(t, e, store, id)
			res, err := turn(ctx, talk)
			cancel()
			c.record = talk.Record()
			id = c.record.ID
			if stopped := (*session.InterruptedError)(nil); errors.As(err, &stopped) {
				if c.record.State != session.Interrupted || !errors.Is(err, context.Canceled) {
					t.Errorf("it is %s after %v", c.record.State, err)
				}
				turn = func(ctx context.Context, s *texttosql.Conversation) (*texttosql.Result, error) { return s.Resume(ctx) }
				continue
			}
			if err != nil && !errors.Is(err, strategy.ErrNoCandidate) {
				t.Fatal(err)
			}
			page := testutil.Value(res.Trace.Comparable())(t)
			c.usages = append(c.usages, res.Usage)
			res.Trace, res.Usage = nil, llm.Usage{} // a resumed result counts what was paid since
			text := testutil.Value(res.MarshalWithRows())(t)
			c.results, c.traces = append(c.results, string(text)), append(c.traces, string(page))
			break
		}
	}
	legal(t, c.record)
	log, err := store.Journal(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	c.journal = testutil.Value(log.Read())(t)
	return c
}

// disagreeing are statements of which some fail.
var disagreeing = []string{using, natural, "SELECT name FROM pupils WHERE room = 7", ofOld, "SELECT nme FROM pupils",
	using}

// TestEveryPresetReplays: the replies of a conversation make its results, traces and record again, byte for byte, times
// and ids aside, however many of them are on their way at once.
func TestEveryPresetReplays(t *testing.T) {
	for name, s := range everyPreset() {
		t.Run(name, func(t *testing.T) {
			first := converseAbout(t, s, &steady{statements: disagreeing}, 1, func(context.CancelFunc) {})
			for _, workers := range []int{1, 8} {
				if race.Enabled && workers == 1 {
					continue
				}
				player := testutil.Value(replay.NewPlayer(bytes.NewReader(first.journal)))(t)
				again := converseAbout(t, s, player, workers, func(context.CancelFunc) {})
				if diff := cmp.Diff(first.results, again.results); diff != "" {
					t.Errorf("results:\n%s", diff)
				}
				if diff := cmp.Diff(first.usages, again.usages); diff != "" {
					t.Errorf("usage:\n%s", diff)
				}
				if diff := cmp.Diff(first.traces, again.traces); diff != "" {
					t.Errorf("traces:\n%s", diff)
				}
				if diff := cmp.Diff(timeless(t, first.record), timeless(t, again.record)); diff != "" {
					t.Errorf("records:\n%s", diff)
				}
			}
		})
	}
}

// TestEveryPresetResumes: a conversation that is cancelled in the middle of any question ends as the one that was not,
// and pays again for no reply but those on their way.
func TestEveryPresetResumes(t *testing.T) {
	for name, s := range everyPreset() {
		t.Run(name, func(t *testing.T) {
			whole := &steady{statements: disagreeing}
			want := converseAbout(t, s, whole, 4, func(context.CancelFunc) {})
			if len(want.record.Turns) != 3 || whole.calls < 2 {
				t.Fatalf("%d turns, %d calls", len(want.record.Turns), whole.calls)
			}
			for at := 1; at <= whole.calls; at += max(1, whole.calls/2) {
				if race.Enabled && at == 1 {
					continue
				}
				m, cancel := &steady{statements: disagreeing}, context.CancelFunc(nil)
				stopped := false
				m.hook = func(call int) {
					if call == at && !stopped {
						stopped = true
						cancel()
					}
				}
				got := converseAbout(t, s, m, 4, func(c context.CancelFunc) { cancel = c })
				// A reply that arrives while the context ends is not kept: at most four are on their way.
				if again := m.calls - whole.calls; !stopped || again < 0 || again > 4 {
					t.Errorf("cancelled at call %d: %d calls, %d without", at, m.calls, whole.calls)
				}
				if diff := cmp.Diff(want.results, got.results); diff != "" {
					t.Errorf("cancelled at call %d:\n%s", at, diff)
				}
				want.record.Transitions, got.record.Transitions = nil, nil // they say that it was interrupted
				if diff := cmp.Diff(timeless(t, want.record), timeless(t, got.record)); diff != "" {
					t.Errorf("cancelled at call %d:\n%s", at, diff)
				}
			}
		})
	}
}
