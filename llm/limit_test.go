package llm_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// gauge counts calls in flight and notes when each started.
type gauge struct {
	now, top atomic.Int64
	mu       sync.Mutex
	starts   []time.Duration
	samples  []int
	zero     time.Time
}

func (g *gauge) middleware() llm.Middleware {
	g.zero = time.Now()
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			g.mu.Lock()
			g.starts = append(g.starts, time.Since(g.zero))
			g.samples = append(g.samples, req.Sample)
			g.mu.Unlock()
			g.top.Store(max(g.top.Load(), g.now.Add(1)))
			defer g.now.Add(-1)
			return next.Complete(ctx, req)
		})
	}
}

// ofSamples makes n calls in parallel, arriving one after the other, and returns
// their errors.
func ofSamples(ctx context.Context, m llm.Model, n int) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { _, errs[i] = m.Complete(ctx, sampled("q", i)) })
		synctest.Wait()
	}
	wg.Wait()
	return errs
}

func TestLimitConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		limit := llm.Limit{Concurrency: 3}.Middleware()
		m := llm.Chain(answering("x"), limit, g.middleware(), llmtest.Latency{Fixed: time.Second}.Middleware())
		start := time.Now()
		testutil.OK(t, errors.Join(ofSamples(t.Context(), m, 12)...))
		if top := g.top.Load(); top != 3 {
			t.Errorf("%d calls at once, want 3", top)
		}
		if d := time.Since(start); d != 4*time.Second {
			t.Errorf("12 calls of 1s, 3 at once, took %v", d)
		}
		if !slices.IsSortedFunc(g.samples, func(a, b int) int { return a/3 - b/3 }) {
			t.Errorf("samples started in the order %v, want that of arrival", g.samples)
		}
	})
}

func TestLimitPerMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gauge
		m := llm.Chain(answering("x"), llm.Limit{PerMinute: 4}.Middleware(), g.middleware())
		for i := range 2 { // two bursts, so that a window begins in the middle
			testutil.OK(t, errors.Join(ofSamples(t.Context(), m, 5)...))
			time.Sleep(time.Duration(i+1) * 10 * time.Second)
		}
		for i := 4; i < len(g.starts); i++ {
			if d := g.starts[i] - g.starts[i-4]; d < time.Minute {
				t.Errorf("starts %d and %d are %v apart: %v", i-4, i, d, g.starts)
			}
		}
		// No slower than it must be: 4 at 0, the fifth at 60s; then 3 at 70s, the
		// others at 120s and 130s.
		s := time.Second
		want := []time.Duration{0, 0, 0, 0, 60 * s, 70 * s, 70 * s, 70 * s, 120 * s, 130 * s}
		if !slices.Equal(g.starts, want) {
			t.Errorf("starts = %v, want %v", g.starts, want)
		}
	})
}

// TestLimitOfAnyNumber: a limit that is meant to be none costs nothing.
func TestLimitOfAnyNumber(t *testing.T) {
	m := llm.Chain(answering("x"), llm.Limit{Concurrency: math.MaxInt, PerMinute: math.MaxInt}.Middleware())
	if _, err := m.Complete(t.Context(), ask("q")); err != nil {
		t.Error(err)
	}
}

func TestLimitSharedByModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := llm.Limit{Concurrency: 1}.Middleware()
		slow := llmtest.Latency{Fixed: time.Second}.Middleware()
		a, b := llm.Chain(answering("a"), limit, slow), llm.Chain(answering("b"), limit, slow)
		start := time.Now()
		var wg sync.WaitGroup
		for _, m := range []llm.Model{a, b} {
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), ask("q")); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if d := time.Since(start); d != 2*time.Second {
			t.Errorf("two models of one limit took %v, want 2s", d)
		}
	})
}

func TestLimitCancellation(t *testing.T) {
	for _, limit := range []llm.Limit{{Concurrency: 1}, {PerMinute: 1}, {Concurrency: 1, PerMinute: 1}} {
		synctest.Test(t, func(t *testing.T) {
			script := answering("x")
			m := llm.Chain(script, limit.Middleware(), llmtest.Latency{Fixed: 30 * time.Second}.Middleware())
			var wg sync.WaitGroup
			wg.Go(func() {
				if _, err := m.Complete(t.Context(), ask("first")); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()

			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			for _, err := range ofSamples(ctx, m, 5) {
				if err != context.Canceled {
					t.Errorf("%+v: error = %v, want context.Canceled", limit, err)
				}
			}
			if d := time.Since(start); d != time.Second {
				t.Errorf("%+v: the queue emptied %v after it began, want 1s", limit, d)
			}
			wg.Wait()
			// Those who left hold no place and no start.
			start = time.Now()
			if _, err := m.Complete(t.Context(), ask("last")); err != nil {
				t.Error(err)
			}
			want := 30 * time.Second
			if limit.PerMinute > 0 {
				want = 60 * time.Second // the rest of the first one's minute, and its own latency
			}
			if d := time.Since(start); d != want {
				t.Errorf("%+v: the last call took %v, want %v", limit, d, want)
			}
			if n := len(script.Requests()); n != 2 {
				t.Errorf("%+v: %d calls were made, want 2", limit, n)
			}
		})
	}
}

func TestLimitFreesPlaceOnError(t *testing.T) {
	m := llm.Chain(attempts(failed(llm.ClassPermanent, 0), llmtest.Reply{Text: "x"}),
		llm.Limit{Concurrency: 1}.Middleware())
	if _, err := m.Complete(t.Context(), ask("q")); err == nil {
		t.Fatal("no error")
	}
	if _, err := m.Complete(t.Context(), ask("q")); err != nil {
		t.Error(err)
	}
}

// TestLimitPermit: a permit is taken last and given back once, also by a call that fails or panics.
func TestLimitPermit(t *testing.T) {
	refused := errors.New("no place")
	for _, tt := range []struct {
		why    string
		permit error
		model  func() (llm.Response, error)
		taken  int64 // permits that were given back
		err    error
	}{
		{"a reply", nil, func() (llm.Response, error) { return llm.Response{Text: "x"}, nil }, 1, nil},
		{"a call that fails", nil, func() (llm.Response, error) { return llm.Response{}, context.DeadlineExceeded }, 1,
			context.DeadlineExceeded},
		{"a model that panics", nil, func() (llm.Response, error) { panic("model") }, 1, nil},
		{"no permit", refused, nil, 0, refused},
	} {
		var released atomic.Int64
		limit := llm.Limit{Permit: func(context.Context) (func(), error) {
			return func() { released.Add(1) }, tt.permit
		}}
		calls := 0
		m := limit.Middleware()(llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			calls++
			return tt.model()
		}))
		func() {
			defer func() { _ = recover() }()
			if _, err := m.Complete(t.Context(), sampled("q", 0)); !errors.Is(err, tt.err) {
				t.Errorf("%s: %v", tt.why, err)
			}
		}()
		if released.Load() != tt.taken || calls != int(tt.taken) {
			t.Errorf("%s: %d calls, %d permits given back", tt.why, calls, released.Load())
		}
	}
}
