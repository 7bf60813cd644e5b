package trace_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// names are the names of s and all below it in tree order, indented.
func names(s *trace.Span) string {
	var b strings.Builder
	for s := range s.All() {
		depth := 0
		for p := s.Parent(); p != nil; p = p.Parent() {
			depth++
		}
		fmt.Fprintf(&b, "%s%s\n", strings.Repeat(" ", depth), s.Name())
	}
	return b.String()
}

func TestStart_order(t *testing.T) {
	tests := []struct {
		name string
		why  string
		run  func(ctx context.Context)
		want []string
	}{
		{"sequence", "sequential work stands as it was done", func(ctx context.Context) {
			for _, name := range []string{"schema", "link", "vote"} {
				trace.Start(ctx, name)
			}
		}, []string{"schema", "link", "vote"}},
		{"slots", "parallel work stands by slot, whatever started first", func(ctx context.Context) {
			for _, slot := range []int{2, 0, 1} {
				trace.FromContext(ctx).StartAt(ctx, slot, fmt.Sprint(slot))
			}
		}, []string{"0", "1", "2"}},
		{"same slot", "two of one slot stand as they were started", func(ctx context.Context) {
			trace.FromContext(ctx).StartAt(ctx, 0, "first")
			trace.FromContext(ctx).StartAt(ctx, 0, "second")
		}, []string{"first", "second"}},
		{"mixed", "Start comes after all slots before it and before all after it", func(ctx context.Context) {
			trace.FromContext(ctx).StartAt(ctx, 9, "wave 1 sample 9")
			trace.FromContext(ctx).StartAt(ctx, 8, "wave 1 sample 8")
			trace.Start(ctx, "count")
			trace.FromContext(ctx).StartAt(ctx, 1, "wave 2 sample 1")
			trace.FromContext(ctx).StartAt(ctx, 0, "wave 2 sample 0")
			trace.Start(ctx, "vote")
		}, []string{"wave 1 sample 8", "wave 1 sample 9", "count", "wave 2 sample 0", "wave 2 sample 1", "vote"}},
		{"moved", "SetSlot moves a span among those beside it", func(ctx context.Context) {
			_, a := trace.FromContext(ctx).StartAt(ctx, 2, "a")
			trace.FromContext(ctx).StartAt(ctx, 1, "b")
			a.SetSlot(0)
		}, []string{"a", "b"}},
		{"moved, not across", "SetSlot does not move a span past a call of Start, nor one of Start",
			func(ctx context.Context) {
				_, a := trace.FromContext(ctx).StartAt(ctx, 0, "a")
				_, b := trace.Start(ctx, "b")
				trace.FromContext(ctx).StartAt(ctx, 0, "c")
				a.SetSlot(9)
				b.SetSlot(9)
				trace.FromContext(ctx).SetSlot(9)
			}, []string{"a", "b", "c"}},
		{"negative slot", "any int is a slot", func(ctx context.Context) {
			trace.FromContext(ctx).StartAt(ctx, 0, "0")
			trace.FromContext(ctx).StartAt(ctx, math.MinInt, "min")
			trace.FromContext(ctx).StartAt(ctx, math.MaxInt, "max")
		}, []string{"min", "0", "max"}},
		{"cancelled", "what was given up is not among the others", func(ctx context.Context) {
			_, s := trace.FromContext(ctx).StartAt(ctx, 0, "given up")
			s.Cancelled()
			trace.FromContext(ctx).StartAt(ctx, 1, "kept")
		}, []string{"kept"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := trace.Tracer{}.New("root")
			tt.run(trace.NewContext(context.Background(), root))
			var got []string
			for _, c := range root.Children() {
				got = append(got, c.Name())
			}
			golden.Equal(t, tt.want, got, tt.why)
		})
	}
}

// The tree of 100 goroutines is the same bytes every time.
func TestStartAt_concurrent(t *testing.T) {
	run := func() string {
		root := trace.Tracer{}.New("root")
		ctx := trace.NewContext(context.Background(), root)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				ctx, sample := trace.FromContext(ctx).StartAt(ctx, i, "sample", trace.Attr{Key: "sample", Value: i})
				defer sample.End()
				for j := range 3 {
					_, call := trace.Start(ctx, "llm")
					call.Set("attempt", j)
					call.Event("sent")
					call.AddUsage(trace.Usage{Calls: 1, PromptTokens: i, CompletionTokens: j, Money: 0.1 * float64(i), Known: true})
					call.Warn("slow", fmt.Sprint(i))
					call.Fail(errors.New("overloaded"))
					call.End()
				}
				// Readers beside writers must see something whole.
				_ = root.Usage()
				_ = root.Warnings()
				if _, err := root.JSON(0); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		root.End()
		b := testutil.Value(root.Comparable())(t)
		return string(b) + fmt.Sprint(root.Warnings(), root.Usage())
	}
	first := run()
	for range 4 {
		if diff := cmp.Diff(first, run()); diff != "" {
			t.Fatalf("two runs differ (-first +second)\n%s", diff)
		}
	}
}

func TestSpan_nilAndZero(t *testing.T) {
	for name, s := range map[string]*trace.Span{"nil": nil, "zero": {}} {
		t.Run(name, func(t *testing.T) {
			s.Set("k", 1)
			s.Event("e")
			s.Warn("w", "m")
			s.AddUsage(trace.Usage{Calls: 1})
			s.Cancelled()
			s.SetSlot(1)
			s.Fail(errors.New("x"))
			s.End()
			if s.Usage() != (trace.Usage{}) || s.Warnings() != nil || s.Duration() != 0 || s.Name() != "" ||
				s.Parent() != nil || !s.Started().IsZero() || s.Failure() != "" || s.IsCancelled() ||
				s.Attrs() != nil || s.Events() != nil || s.Children() != nil || s.CancelledChildren() != nil {
				t.Error("a span that is none gives something")
			}
			if _, ok := s.Attr("k"); ok {
				t.Error("a span that is none has an attribute")
			}
			for range s.All() {
				t.Error("a span that is none has spans")
			}
			if b, err := s.JSON(0); string(b) != "null" || err != nil {
				t.Errorf("JSON = %s, %v", b, err)
			}
			if s.String() != "no trace" {
				t.Errorf("String = %q", s)
			}
			ctx := trace.NewContext(context.Background(), s)
			got, child := trace.Start(ctx, "child")
			if child != nil || got != ctx {
				t.Error("Start below no span made one")
			}
			if _, child := trace.FromContext(ctx).StartAt(ctx, 1, "child"); child != nil {
				t.Error("StartAt below no span made one")
			}
		})
	}
	if s := trace.FromContext(context.Background()); s != nil {
		t.Errorf("From(background) = %v", s)
	}
}

func TestSpan_usage(t *testing.T) {
	known := trace.Usage{Calls: 1, PromptTokens: 10, CompletionTokens: 2, Money: 0.5, Known: true}
	guess := trace.Usage{Calls: 1, PromptTokens: 7}
	cut := trace.Usage{Calls: 1, Known: true, Partial: true}
	tests := []struct {
		name      string
		why       string
		own       []trace.Usage
		children  []trace.Usage
		cancelled []trace.Usage
		want      trace.Usage
	}{
		{"none", "no call costs nothing", nil, nil, nil, trace.Usage{}},
		{"own", "several calls of one span add up", []trace.Usage{known, known}, nil, nil,
			trace.Usage{Calls: 2, PromptTokens: 20, CompletionTokens: 4, Money: 1, Known: true}},
		{"children", "a stage costs what its calls cost", nil, []trace.Usage{known, known}, nil,
			trace.Usage{Calls: 2, PromptTokens: 20, CompletionTokens: 4, Money: 1, Known: true}},
		{"stage without calls", "a span without calls does not make it unknown", nil, []trace.Usage{{}, known, {}}, nil,
			known},
		{"unknown", "one unknown call makes the sum unknown", []trace.Usage{known}, []trace.Usage{guess}, nil,
			trace.Usage{Calls: 2, PromptTokens: 17, CompletionTokens: 2, Money: 0.5}},
		{"cancelled", "what was given up cost all the same", nil, []trace.Usage{known}, []trace.Usage{cut},
			trace.Usage{Calls: 2, PromptTokens: 10, CompletionTokens: 2, Money: 0.5, Known: true, Partial: true}},
		{"money is no number", "one bad price does not spoil the sum, and says so",
			[]trace.Usage{known, {Calls: 1, PromptTokens: 1, Money: math.NaN(), Known: true},
				{Calls: 1, Money: math.Inf(1), Known: true}}, nil, nil,
			trace.Usage{Calls: 3, PromptTokens: 11, CompletionTokens: 2, Money: 0.5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := trace.Tracer{}.New("root")
			ctx := trace.NewContext(context.Background(), root)
			for _, u := range tt.own {
				root.AddUsage(u)
			}
			for _, u := range tt.children {
				_, s := trace.Start(ctx, "child")
				s.AddUsage(u)
			}
			for _, u := range tt.cancelled {
				_, s := trace.Start(ctx, "child")
				s.AddUsage(u)
				s.Cancelled()
			}
			golden.Equal(t, tt.want, root.Usage(), tt.why)
		})
	}
}

func TestUsage_Add(t *testing.T) {
	known, guess := trace.Usage{Calls: 1, Known: true}, trace.Usage{Calls: 1}
	tests := []struct {
		why     string
		u, v    trace.Usage
		known   bool
		partial bool
	}{
		{"nothing", trace.Usage{}, trace.Usage{}, false, false},
		{"the zero usage changes nothing", trace.Usage{}, known, true, false},
		{"on either side", known, trace.Usage{}, true, false},
		{"both known", known, known, true, false},
		{"one unknown", known, guess, false, false},
		{"both unknown", guess, guess, false, false},
		{"one partial", known, trace.Usage{Calls: 1, Known: true, Partial: true}, true, true},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			got := tt.u.Add(tt.v)
			if got.Known != tt.known || got.Partial != tt.partial || got != tt.v.Add(tt.u) {
				t.Errorf("Add = %+v, and %+v the other way", got, tt.v.Add(tt.u))
			}
		})
	}
}

// TestSpan_Warn: a warning about an error holds no credential and no whole body.
func TestSpan_Warn(t *testing.T) {
	s := trace.Tracer{}.New("x")
	s.Warn("failed", "the embedder failed: Post \"https://x.ai/v1?key=hunter2\": "+strings.Repeat("body ", 1000))
	got := s.Warnings()[0].Message
	if !strings.HasPrefix(got, "the embedder failed: Post \"https://x.ai/v1?key=***") || len(got) > 1010 ||
		!strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestSpan_Warnings(t *testing.T) {
	root := trace.Tracer{}.New("root")
	ctx := trace.NewContext(context.Background(), root)
	_, b := trace.FromContext(ctx).StartAt(ctx, 1, "b")
	_, a := trace.FromContext(ctx).StartAt(ctx, 0, "a")
	_, c := trace.FromContext(ctx).StartAt(ctx, 2, "c")
	b.Warn("two", "second")
	b.Warn("one", "first")
	a.Warn("one", "first")
	a.Warn("one", "another text")
	c.Warn("late", "given up")
	c.Cancelled()
	root.Warn("zero", "of the root")
	want := []trace.Warning{{Code: "zero", Message: "of the root"}, {Code: "one", Message: "first"},
		{Code: "one", Message: "another text"},
		{Code: "two", Message: "second"}}
	golden.Equal(t, want, root.Warnings(), "tree order, each once, none of cancelled work")
}

func TestSpan_times(t *testing.T) {
	c := newClock()
	root := trace.Tracer{Now: c.read}.New("root")
	c.add(time.Second)
	_, s := trace.Start(trace.NewContext(context.Background(), root), "child")
	c.add(2 * time.Second)
	s.Event("half")
	if got := s.Duration(); got != 2*time.Second {
		t.Errorf("a running span has gone for %v, want 2s", got)
	}
	c.add(time.Second)
	s.End()
	c.add(time.Hour)
	s.End()
	if got := s.Duration(); got != 3*time.Second {
		t.Errorf("a second End counts: %v, want 3s", got)
	}
	if got := s.Started(); !got.Equal(newClock().now.Add(time.Second)) {
		t.Errorf("Started = %v", got)
	}
	if got := s.Events()[0].At; got != 3*time.Second {
		t.Errorf("the event is at %v after the root started, want 3s", got)
	}
}

func TestSpan_Fail(t *testing.T) {
	s := trace.Tracer{}.New("s")
	s.Fail(nil)
	if s.Failure() != "" {
		t.Error("nil is a failure")
	}
	s.Fail(errors.New("opening: dsn postgres://me:hunter2@host/db?password=hunter2"))
	s.Fail(errors.New("second"))
	if want := "opening: dsn postgres://me:***@host/db?password=***"; s.Failure() != want {
		t.Errorf("Failure = %q, want %q", s.Failure(), want)
	}
	long := trace.Tracer{}.New("long")
	long.Fail(errors.New(strings.Repeat("é", 5000) + "\xff"))
	if got := long.Failure(); len(got) > 1010 || !strings.HasSuffix(got, "é…") {
		t.Errorf("Failure is %d bytes, ends in %q", len(got), got[len(got)-8:])
	}
	empty := trace.Tracer{}.New("empty")
	empty.Fail(errors.New(""))
	if empty.Failure() == "" {
		t.Error("an error without a text is no failure")
	}
}

func TestSpan_All_stops(t *testing.T) {
	root := trace.Tracer{}.New("root")
	ctx := trace.NewContext(context.Background(), root)
	trace.Start(ctx, "a")
	trace.Start(ctx, "b")
	seen := 0
	for s := range root.All() {
		s.Set("seen", true) // the loop may use the spans
		if seen++; seen == 2 {
			break
		}
	}
	if seen != 2 || names(root) != "root\n a\n b\n" {
		t.Errorf("seen %d of\n%s", seen, names(root))
	}
}

// Each root gets a thousand children, as a long answer may: with all spans of
// the benchmark below one root, the garbage collector would be measured.
func BenchmarkSpan(b *testing.B) {
	bench := func(name string, work func(ctx context.Context)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			var ctx context.Context
			n := 0
			for b.Loop() {
				if n%1000 == 0 {
					ctx = trace.NewContext(context.Background(), trace.Tracer{}.New("root"))
				}
				n++
				work(ctx)
			}
		})
	}
	bench("start and end", func(ctx context.Context) {
		_, s := trace.Start(ctx, "llm")
		s.End()
	})
	bench("as a model call", func(ctx context.Context) {
		_, s := trace.FromContext(ctx).StartAt(ctx, 3, "llm", trace.Attr{Key: "purpose", Value: "generate"},
			trace.Attr{Key: "sample", Value: 3})
		s.AddUsage(trace.Usage{Calls: 1, PromptTokens: 512, CompletionTokens: 48, Known: true})
		s.End()
	})
	bench("without a trace", func(context.Context) {
		_, s := trace.Start(context.Background(), "llm")
		s.Set("sample", 3)
		s.End()
	})
	b.Run("one trace, 100 goroutines", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			ctx := trace.NewContext(context.Background(), trace.Tracer{}.New("root"))
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					for range 10 {
						_, s := trace.FromContext(ctx).StartAt(ctx, i, "llm")
						s.End()
					}
				})
			}
			wg.Wait()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "ns/span")
	})
}

// TestFollow: each span is followed once, with the context of the work around it, and its end is told after it.
func TestFollow(t *testing.T) {
	type at struct{}
	var told []string
	tracer := trace.Tracer{Follow: func(ctx context.Context, s *trace.Span) (context.Context, func()) {
		around, _ := ctx.Value(at{}).(string)
		told = append(told, s.Name()+" in "+around)
		if trace.FromContext(ctx) != s {
			t.Errorf("%s: another span is in the context", s.Name())
		}
		if s.Name() == "quiet" {
			return ctx, nil
		}
		return context.WithValue(ctx, at{}, s.Name()), func() {
			told = append(told, fmt.Sprint(s.Name(), " ended after ", s.Duration() >= 0))
		}
	}}
	ctx, root := tracer.Start(context.WithValue(t.Context(), at{}, "service"), "question")
	within, step := trace.FromContext(ctx).StartAt(ctx, 1, "step")
	_, quiet := trace.Start(within, "quiet")
	quiet.End()
	step.End()
	step.End()
	root.End()
	want := []string{"question in service", "step in question", "quiet in step", "step ended after true",
		"question ended after true"}
	if !slices.Equal(told, want) {
		t.Errorf("%q, want %q", told, want)
	}
}
