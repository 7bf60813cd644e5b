package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

func TestTimeout(t *testing.T) {
	tests := []struct {
		why     string
		takes   time.Duration
		timeout time.Duration
		caller  func(context.Context) (context.Context, context.CancelFunc)
		want    error     // nil: success or the class
		class   llm.Class // of the error, if want is nil
		after   time.Duration
	}{
		{"in time", 2 * time.Second, 3 * time.Second, nil, nil, llm.ClassUnknown, 2 * time.Second},
		{"no time-out", time.Hour, 0, nil, nil, llm.ClassUnknown, time.Hour},
		{"too late", 5 * time.Second, 3 * time.Second, nil, nil, llm.ClassTimeout, 3 * time.Second},
		{"the caller's deadline stays itself", 5 * time.Second, 3 * time.Second, func(ctx context.Context) (context.Context,
			context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		}, context.DeadlineExceeded, llm.ClassUnknown, time.Second},
		{"so does its cancellation", 5 * time.Second, 3 * time.Second, func(ctx context.Context) (context.Context,
			context.CancelFunc) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(time.Second, cancel)
			return ctx, cancel
		}, context.Canceled, llm.ClassUnknown, time.Second},
		{"also with a cause", 5 * time.Second, 3 * time.Second, func(ctx context.Context) (context.Context,
			context.CancelFunc) {
			ctx, cancel := context.WithCancelCause(ctx)
			time.AfterFunc(time.Second, func() { cancel(errors.New("enough")) })
			return ctx, func() { cancel(nil) }
		}, context.Canceled, llm.ClassUnknown, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := llm.Chain(answering("x"), llm.Timeout(tt.timeout), llmtest.Latency{Fixed: tt.takes}.Middleware())
				ctx := t.Context()
				if tt.caller != nil {
					var cancel context.CancelFunc
					ctx, cancel = tt.caller(ctx)
					defer cancel()
				}
				start := time.Now()
				resp, err := m.Complete(ctx, ask("q"))
				switch {
				case tt.want != nil:
					if !errors.Is(err, tt.want) {
						t.Errorf("error = %v, want %v", err, tt.want)
					}
				case tt.class != llm.ClassUnknown:
					if llm.ClassOf(err) != tt.class || errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("error = %v, want one of class %v that is not the caller's deadline", err, tt.class)
					}
				case err != nil || resp.Text != "x":
					t.Errorf("got %+v, %v", resp, err)
				}
				if d := time.Since(start); d != tt.after {
					t.Errorf("took %v, want %v", d, tt.after)
				}
			})
		})
	}
}
