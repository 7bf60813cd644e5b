package trace_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/trace"
)

func TestTracer_Observe(t *testing.T) {
	var got []string
	root := trace.Tracer{Observe: func(n trace.Notice) {
		line := fmt.Sprint(n.Kind, " ", n.Span.Name())
		switch n.Kind {
		case "happened":
			line += " " + n.Event.Name
		case "warned":
			line += " " + n.Warning.Code
		}
		_ = n.Span.Usage() // an observer may read
		got = append(got, line)
	}}.New("ask")
	_, s := trace.Start(trace.NewContext(context.Background(), root), "llm")
	s.Set("quiet", true)
	s.Event("retry")
	s.Warn("slow", "It took long.")
	s.End()
	s.End()
	root.End()
	want := []string{"started ask", "started llm", "happened llm retry", "warned llm slow", "ended llm", "ended ask"}
	golden.Equal(t, want, got)
}

// Calls of the observer never overlap, and a span's start follows its parent's.
func TestTracer_Observe_concurrent(t *testing.T) {
	var inside atomic.Int32
	started := map[*trace.Span]bool{nil: true}
	ended := 0
	root := trace.Tracer{Observe: func(n trace.Notice) {
		if inside.Add(1) != 1 {
			t.Error("two calls at once")
		}
		defer inside.Add(-1)
		switch n.Kind {
		case "started":
			if !started[n.Span.Parent()] {
				t.Error("a span before its parent")
			}
			started[n.Span] = true
		case "ended":
			ended++
		}
	}}.New("ask")
	ctx := trace.NewContext(context.Background(), root)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			ctx, sample := trace.FromContext(ctx).StartAt(ctx, i, "sample")
			_, call := trace.Start(ctx, "llm")
			call.End()
			sample.End()
		})
	}
	wg.Wait()
	root.End()
	if len(started) != 1+201 || ended != 201 {
		t.Errorf("%d started, %d ended, want 201", len(started)-1, ended)
	}
}
