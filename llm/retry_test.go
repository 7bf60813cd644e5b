package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// attempts is a model that answers its calls one after the other.
func attempts(outcomes ...llmtest.Reply) *llmtest.Script {
	var s llmtest.Script
	for _, o := range outcomes {
		s.Rules = append(s.Rules, llmtest.Rule{Replies: []llmtest.Reply{o}, Repeat: true, Times: 1})
	}
	return &s
}

func failed(class llm.Class, after time.Duration) llmtest.Reply {
	return llmtest.Reply{Err: &llm.Error{Class: class, RetryAfter: after, Message: "scripted"}}
}

func fixed(x float64) func() float64 { return func() float64 { return x } }

// patient is how a conversation retries.
func patient(x float64) llm.Retry {
	return llm.Retry{Attempts: 5, Base: 2 * time.Second, Max: time.Minute, GiveUp: time.Hour, Rand: fixed(x)}
}

func TestRetry(t *testing.T) {
	ok := llmtest.Reply{Text: "x"}
	limited, overloaded, late := failed(llm.ClassRateLimit, 0), failed(llm.ClassOverloaded, 0), failed(llm.ClassTimeout, 0)
	unknown := llmtest.Reply{Err: io.ErrUnexpectedEOF}
	connection := func(op string) llmtest.Reply {
		return llmtest.Reply{Err: &llm.Error{Class: llm.ClassOverloaded,
			Err: &net.OpError{Op: op, Err: errors.New("refused")}}}
	}
	absent, broken := connection("dial"), connection("read")
	most := math.Nextafter(1, 0)
	tests := []struct {
		why      string
		retry    llm.Retry
		outcomes []llmtest.Reply
		attempts int
		class    llm.Class // of the error; "ok" for none
		took     time.Duration
	}{
		{"nothing to repeat", llm.Retry{}, []llmtest.Reply{ok}, 1, "ok", 0},
		{"the waits double, at least half of each", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{limited, overloaded, late, ok},
			4, "ok",
			250*time.Millisecond + 500*time.Millisecond + time.Second},
		{"and at most all of each", llm.Retry{Rand: fixed(most)}, []llmtest.Reply{limited, limited, ok}, 3, "ok",
			1500 * time.Millisecond},
		{"15 s by default, with the last attempt at their end", llm.Retry{Rand: fixed(0)}, many(limited, 6, overloaded, ok),
			7, llm.ClassOverloaded,
			15 * time.Second},
		{"an outage that ends as they do", llm.Retry{Rand: fixed(0)}, many(limited, 6, ok), 7, "ok", 15 * time.Second},
		{"the last attempts do not come at the same moment", llm.Retry{Rand: fixed(most)}, many(limited, 5, ok), 6, "ok",
			15250 * time.Millisecond},
		{"as long as set", llm.Retry{GiveUp: 3 * time.Second, Rand: fixed(0)}, many(late, 4, late, ok), 5, llm.ClassTimeout,
			3 * time.Second},
		{"longer, where set", llm.Retry{GiveUp: time.Minute, Rand: fixed(0)}, many(limited, 8, ok), 9, "ok", time.Minute},
		{"a server that is not there for 3 s", llm.Retry{Rand: fixed(0)}, many(absent, 4, absent, ok), 5, llm.ClassOverloaded,
			3 * time.Second},
		{"or less, where set", llm.Retry{GiveUp: time.Second, Rand: fixed(0)}, many(absent, 3, absent, ok), 4,
			llm.ClassOverloaded, time.Second},
		{"but a connection that breaks is a server", llm.Retry{Rand: fixed(0)}, many(broken, 6, ok), 7, "ok",
			15 * time.Second},
		{"the wait the provider names may be longer", llm.Retry{Rand: fixed(0)},
			[]llmtest.Reply{failed(llm.ClassRateLimit, 20*time.Second), ok}, 2, "ok",
			20 * time.Second},
		{"and is the last one then", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{failed(llm.ClassRateLimit, 20*time.Second),
			limited, ok}, 2, llm.ClassRateLimit,
			20 * time.Second},
		{"as many as set", llm.Retry{Attempts: 2, Rand: fixed(0)}, []llmtest.Reply{late, late, ok}, 2, llm.ClassTimeout,
			250 * time.Millisecond},
		{"none", llm.Retry{Attempts: 1}, []llmtest.Reply{limited, ok}, 1, llm.ClassRateLimit, 0},
		{"none, negative", llm.Retry{Attempts: -1}, []llmtest.Reply{limited, ok}, 1, llm.ClassRateLimit, 0},
		{"Max bounds the wait", llm.Retry{Attempts: 3, Base: time.Second, Max: time.Second, Rand: fixed(0)},
			[]llmtest.Reply{limited, limited, ok}, 3, "ok",
			time.Second},
		{"unknown once", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{unknown, ok}, 2, "ok", 250 * time.Millisecond},
		{"not twice", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{unknown, unknown, ok}, 2, llm.ClassUnknown,
			250 * time.Millisecond},
		{"not even with another between", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{unknown, limited, unknown, ok}, 3,
			llm.ClassUnknown, 750 * time.Millisecond},
		{"permanent", llm.Retry{}, []llmtest.Reply{failed(llm.ClassPermanent, 0), ok}, 1, llm.ClassPermanent, 0},
		{"permanent, whatever wait it names", llm.Retry{}, []llmtest.Reply{failed(llm.ClassPermanent, time.Second), ok}, 1,
			llm.ClassPermanent, 0},
		{"refused", llm.Retry{}, []llmtest.Reply{failed(llm.ClassRefused, 0), ok}, 1, llm.ClassRefused, 0},
		{"too long", llm.Retry{}, []llmtest.Reply{failed(llm.ClassContextTooLong, 0), ok}, 1, llm.ClassContextTooLong, 0},
		{"cancelled by somebody else", llm.Retry{}, []llmtest.Reply{failed(llm.ClassCancelled, 0), ok}, 1,
			llm.ClassCancelled, 0},
		{"a spent budget", llm.Retry{}, []llmtest.Reply{{Err: &llm.BudgetError{}}, ok}, 1, llm.ClassPermanent, 0},
		{"the wait the provider names", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{failed(llm.ClassRateLimit, 7*time.Second),
			ok}, 2, "ok", 7 * time.Second},
		{"with up to Base more", llm.Retry{Rand: fixed(.5)}, []llmtest.Reply{failed(llm.ClassRateLimit, 7*time.Second), ok},
			2, "ok", 7250 * time.Millisecond},
		{"a wait of Max is waited for", llm.Retry{Rand: fixed(0)}, []llmtest.Reply{failed(llm.ClassRateLimit, time.Minute),
			ok}, 2, "ok", time.Minute},
		{"a wait over Max is not waited for", llm.Retry{}, []llmtest.Reply{failed(llm.ClassRateLimit, 2*time.Minute), ok}, 1,
			llm.ClassRateLimit, 0},
		{"five attempts from 2 s: waits of at least 1, 2, 4, 8 s", patient(0), []llmtest.Reply{limited, overloaded, late,
			limited, limited, ok}, 5,
			llm.ClassRateLimit, 15 * time.Second},
		{"and of at most 2, 4, 8, 16 s", patient(most), []llmtest.Reply{limited, overloaded, late, limited, ok}, 5, "ok",
			30 * time.Second},
		{"a status goes by its class, not by digits in a text", patient(0),
			[]llmtest.Reply{{Err: &llm.Error{Class: llm.ClassPermanent, Status: 400, Message: "no such table: t500"}}, ok}, 1,
			llm.ClassPermanent, 0},
		{"many attempts do not overflow", llm.Retry{Base: time.Minute, Max: time.Minute, GiveUp: time.Hour, Rand: fixed(0)},
			many(limited, 39, ok), 40, "ok",
			39 * 30 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := attempts(tt.outcomes...)
				m := llm.Chain(script, tt.retry.Middleware())
				start := time.Now()
				resp, err := m.Complete(t.Context(), ask("q"))
				// The jitter of the row "at most all" ends a nanosecond short of it.
				if took := time.Since(start).Round(time.Millisecond); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				if n := len(script.Requests()); n != tt.attempts {
					t.Errorf("%d attempts, want %d", n, tt.attempts)
				}
				if tt.class == "ok" {
					if err != nil || resp.Text != "x" || resp.Usage.Calls != tt.attempts {
						t.Errorf("got %+v, %v, want a reply with %d calls", resp, err, tt.attempts)
					}
					return
				}
				if err == nil || llm.ClassOf(err) != tt.class {
					t.Errorf("error = %v, want one of class %v", err, tt.class)
				}
				if tt.attempts > 1 && !strings.Contains(fmt.Sprint(err), "(attempt ") {
					t.Errorf("error %q does not say how many attempts there were", err)
				}
			})
		})
	}
}

func many(o llmtest.Reply, n int, last ...llmtest.Reply) []llmtest.Reply {
	return append(slices.Repeat([]llmtest.Reply{o}, n), last...)
}

func TestRetryUsage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reply := llmtest.Reply{Text: "x", Usage: llm.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 2, Known: true}}
		tests := []struct {
			why   string
			first llmtest.Reply
			want  llm.Usage
		}{
			{"turned away: nothing was worked", failed(llm.ClassRateLimit, 0),
				llm.Usage{Calls: 2, PromptTokens: 10, CompletionTokens: 2, Known: true}},
			{"given up on: it may have been", failed(llm.ClassTimeout, 0),
				llm.Usage{Calls: 2, PromptTokens: 10, CompletionTokens: 2, Partial: true}},
		}
		for _, tt := range tests {
			resp := testutil.Value(llm.Chain(attempts(tt.first, reply), llm.Retry{}.Middleware()).Complete(t.Context(),
				ask("q")))(t)
			golden.Equal(t, tt.want, resp.Usage, tt.why)
		}
	})
}

func TestRetryStopsWithContext(t *testing.T) {
	t.Run("cancelled while waiting", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			script := attempts(failed(llm.ClassRateLimit, 30*time.Second), llmtest.Reply{Text: "x"})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			start := time.Now()
			_, err := llm.Chain(script, llm.Retry{}.Middleware()).Complete(ctx, ask("q"))
			if err != context.Canceled || time.Since(start) != time.Second {
				t.Errorf("error = %v after %v, want context.Canceled after 1s", err, time.Since(start))
			}
			if n := len(script.Requests()); n != 1 {
				t.Errorf("%d attempts, want 1", n)
			}
		})
	})
	t.Run("no wait past the deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			start := time.Now()
			_, err := llm.Chain(attempts(failed(llm.ClassRateLimit, 30*time.Second)), llm.Retry{}.Middleware()).Complete(ctx,
				ask("q"))
			if llm.ClassOf(err) != llm.ClassRateLimit || time.Since(start) != 0 {
				t.Errorf("error = %v after %v, want the rate limit at once", err, time.Since(start))
			}
		})
	})
	t.Run("a model that hides the cancellation", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		m := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			calls++
			cancel()
			return llm.Response{}, errors.New("network error: failed to reach API server")
		})
		_, err := llm.Chain(m, llm.Retry{}.Middleware()).Complete(ctx, ask("q"))
		if err != context.Canceled || calls != 1 {
			t.Errorf("error = %v after %d calls, want context.Canceled after 1", err, calls)
		}
	})
	t.Run("ended before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		script := answering("x")
		if _, err := llm.Chain(script, llm.Retry{}.Middleware()).Complete(ctx, ask("q")); err != context.Canceled {
			t.Errorf("error = %v", err)
		}
		if n := len(script.Requests()); n != 0 {
			t.Errorf("%d calls were made", n)
		}
	})
}

// TestRetryOfAQuestion: the calls of an account know together how long a model has failed.
func TestRetryOfAQuestion(t *testing.T) {
	type call struct {
		at    time.Duration
		fails bool // each attempt does
		ends  time.Duration
		sent  bool
	}
	for _, tt := range []struct {
		why   string
		calls []call
	}{
		{"calls at the same time end at the same time", []call{{0, true, 15 * time.Second, true},
			{0, true, 15 * time.Second, true}}},
		{"a later call ends with them", []call{{0, true, 15 * time.Second, true}, {9 * time.Second, true, 15 * time.Second,
			true}}},
		{"one behind the end is not sent", []call{
			{0, true, 15 * time.Second, true}, {16 * time.Second, true, 16 * time.Second, false},
		}},
		{"a reply begins the time anew", []call{{0, true, 24 * time.Second, true}, {9 * time.Second, false, 9 * time.Second,
			true}}},
		{"a reply before the first failure does not",
			[]call{{0, false, 0, true}, {time.Second, true, 16 * time.Second, true}}},
		{"a model that has replied is not down because a single call fails", []call{{0, false, 0, true},
			{time.Second, true, 16 * time.Second, true}, {17 * time.Second, false, 17 * time.Second, true}}},
		{"a second call tells", []call{{0, false, 0, true}, {time.Second, true, 16 * time.Second, true},
			{17 * time.Second, true, 17 * time.Second, true}, {18 * time.Second, true, 18 * time.Second, false}}},
		{"or one beside the first", []call{{0, false, 0, true}, {time.Second, true, 16 * time.Second, true},
			{9 * time.Second, true, 16 * time.Second, true}, {17 * time.Second, true, 17 * time.Second, false}}},
		{"until the model replies", []call{{0, false, 0, true}, {time.Second, true, 16 * time.Second, true},
			{17 * time.Second, false, 17 * time.Second, true}, {18 * time.Second, true, 33 * time.Second, true},
			{34 * time.Second, false, 34 * time.Second, true}}},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := make([]atomic.Int64, len(tt.calls))
			model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
				asked[req.Sample].Add(1)
				if tt.calls[req.Sample].fails {
					return llm.Response{}, llm.StatusError(503, 0, nil)
				}
				return llm.Response{Text: "x"}, nil
			})
			account := llm.Budget{}.Start()
			m := llm.Chain(model, account.Middleware(), llm.Retry{Rand: fixed(0)}.Middleware())
			var wg sync.WaitGroup
			start := time.Now()
			for i, c := range tt.calls {
				wg.Go(func() {
					time.Sleep(c.at)
					_, err := m.Complete(t.Context(), llm.Request{Sample: i})
					took, sent := time.Since(start), asked[i].Load() > 0
					if took != c.ends || sent != c.sent || (err != nil) != c.fails {
						t.Errorf("%s: call %d ended after %v, with %d attempts: %v", tt.why, i, took, asked[i].Load(), err)
					}
				})
			}
			wg.Wait()
			made := 0
			for i := range asked {
				made += int(asked[i].Load())
			}
			if u := account.Usage(); u.Calls != made {
				t.Errorf("%s: the account counts %d calls of %d", tt.why, u.Calls, made)
			}
		})
	}
}
