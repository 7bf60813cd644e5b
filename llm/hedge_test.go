package llm_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// TestHedge: the first call takes the time and has the error of first, the second of second.
func TestHedge(t *testing.T) {
	type call struct {
		takes time.Duration
		err   error
		panic bool
	}
	down := &llm.Error{Class: llm.ClassOverloaded, Message: "down"}
	tests := []struct {
		why           string
		first, second call
		budget        llm.Budget
		text          string // of the reply
		err           string
		took          time.Duration
		usage         llm.Usage // of the account
		hedged        bool
	}{
		{why: "quick enough", first: call{takes: time.Second}, text: "1", took: time.Second, usage: llm.Usage{Calls: 1, PromptTokens: 1, CompletionTokens: 1}},
		{why: "slow: the second is first", first: call{takes: time.Hour}, second: call{takes: time.Second}, text: "2", took: 4 * time.Second, hedged: true,
			usage: llm.Usage{Calls: 2, PromptTokens: 2, CompletionTokens: 1, Partial: true}},
		{why: "slow, and the second slower", first: call{takes: 5 * time.Second}, second: call{takes: time.Hour}, text: "1", took: 5 * time.Second, hedged: true,
			usage: llm.Usage{Calls: 2, PromptTokens: 2, CompletionTokens: 1, Partial: true}},
		{why: "an error in time is that of Retry", first: call{takes: time.Second, err: down}, err: "down", took: time.Second,
			usage: llm.Usage{Calls: 1, Known: true}},
		{why: "the first fails late", first: call{takes: 5 * time.Second, err: down}, second: call{takes: 4 * time.Second}, text: "2", took: 7 * time.Second,
			hedged: true,
			usage:  llm.Usage{Calls: 2, PromptTokens: 1, CompletionTokens: 1}},
		{why: "both fail", first: call{takes: 5 * time.Second, err: down}, second: call{panic: true}, err: "panicked", took: 5 * time.Second, hedged: true,
			usage: llm.Usage{Calls: 2, Partial: true}},
		{why: "the last call of the budget", first: call{takes: 5 * time.Second}, budget: llm.Budget{Calls: 1}, text: "1", took: 5 * time.Second,
			usage: llm.Usage{Calls: 1, PromptTokens: 1, CompletionTokens: 1}},
		{why: "the caller's deadline", first: call{takes: time.Hour}, second: call{takes: time.Hour},
			err: context.DeadlineExceeded.Error(), took: time.Minute, hedged: true,
			usage: llm.Usage{Calls: 2, Partial: true}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int32
				model := llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
					c, text := tt.first, "1"
					if n.Add(1) == 2 {
						c, text = tt.second, "2"
					}
					if c.panic {
						panic("a bug")
					}
					select {
					case <-time.After(c.takes):
						return llm.Response{Text: text}, c.err
					case <-ctx.Done():
						return llm.Response{}, ctx.Err()
					}
				})
				root := trace.New("question")
				ctx, cancel := context.WithTimeout(trace.Into(t.Context(), root), time.Minute)
				defer cancel()
				account := tt.budget.Start()
				before, start := runtime.NumGoroutine(), time.Now()
				resp, err := llm.Chain(model, account.Middleware(), llm.Trace(), llm.Hedge{After: 3 * time.Second}.Middleware()).Complete(ctx, ask("q"))
				if resp.Text != tt.text || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %q, %v", resp.Text, err)
				}
				if errors.Is(err, context.Canceled) {
					t.Error("the end of the call that was given up is told as the caller's")
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				golden.Equal(t, tt.usage, account.Usage(), "account")
				golden.Equal(t, tt.usage, root.Usage(), "trace")
				if events := slices.Concat(root.Children(), root.CancelledChildren())[0].Events(); (len(events) > 0) != tt.hedged {
					t.Errorf("events %v", events)
				}
				synctest.Wait()
				if after := runtime.NumGoroutine(); after > before {
					t.Errorf("%d goroutines before, %d after", before, after)
				}
			})
		})
	}
}
