package llm_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// TestContained: a model harms its own call only, whatever it does. Nobody waits for one that ignores its context.
func TestContained(t *testing.T) {
	deaf := func(d time.Duration) llm.Func {
		return func(context.Context, llm.Request) (llm.Response, error) {
			time.Sleep(d)
			return llm.Response{Text: "late"}, nil
		}
	}
	panics := func(v any) llm.Func { return func(context.Context, llm.Request) (llm.Response, error) { panic(v) } }
	exits := func(context.Context, llm.Request) (llm.Response, error) { runtime.Goexit(); return llm.Response{}, nil }
	tests := []struct {
		why   string
		model llm.Func
		mw    llm.Middleware
		want  error  // of the context; nil: see text
		text  string // of the error
		after time.Duration
		warns bool
	}{
		{"a panic", panics("key=abc"), llm.Trace(), nil, "llm: unknown: the model panicked: key=***", 0, false},
		{"a panic with an error", panics(errors.New("no")), llm.Trace(), nil, "llm: unknown: the model panicked: no", 0,
			false},
		{"Goexit", exits, llm.Trace(), nil, "llm: unknown: the model ended its goroutine", 0, false},
		{"deaf", deaf(time.Hour), llm.Trace(), context.DeadlineExceeded, "", 1100 * time.Millisecond, true},
		{"slow to stop", deaf(1050 * time.Millisecond), llm.Trace(), context.DeadlineExceeded, "", 1050 * time.Millisecond,
			false},
		{"deaf within a time-out", deaf(time.Hour), llm.Timeout(300 * time.Millisecond), nil,
			"llm: timeout: no reply within 300ms", 400 * time.Millisecond, true},
		{"a panic within a time-out", panics("no"), llm.Timeout(time.Second), nil, "llm: unknown: the model panicked: no", 0,
			false},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := trace.Tracer{}.New("question")
				ctx, cancel := context.WithTimeout(trace.NewContext(t.Context(), root), time.Second)
				defer cancel()
				start := time.Now()
				_, err := llm.Chain(llm.Named("m", tt.model), tt.mw).Complete(ctx, ask("q"))
				defer time.Sleep(2 * time.Hour) // the bubble waits for whom nobody waits for
				if took := time.Since(start); took != tt.after {
					t.Errorf("took %v, want %v", took, tt.after)
				}
				if tt.want != nil && !errors.Is(err, tt.want) || tt.want == nil && (err == nil || err.Error() != tt.text) {
					t.Errorf("error %v, want %v%s", err, tt.want, tt.text)
				}
				root.End()
				warned := false
				for _, w := range root.Warnings() {
					warned = warned || w.Code == "model-still-running" && strings.Contains(w.Message, `"m"`)
				}
				if warned != tt.warns {
					t.Errorf("warnings %v", root.Warnings())
				}
			})
		})
	}
}
