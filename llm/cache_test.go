package llm_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/trace"
)

// numbering is a model that answers with the number of the call.
func numbering() llm.Model {
	var mu sync.Mutex
	n := 0
	return llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return llm.Response{Text: fmt.Sprint(n), StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 3, CompletionTokens: 1, Known: true}}, nil
	})
}

func text(t *testing.T, m llm.Model, req llm.Request) string {
	t.Helper()
	resp := need.Value(m.Complete(t.Context(), req))(t)
	return resp.Text
}

func TestCacheKey(t *testing.T) {
	warm, cold := 0.8, 0.0
	base := sampled("q", 1)
	base.Temperature = &warm
	change := func(f func(*llm.Request)) llm.Request {
		r := base
		f(&r)
		return r
	}
	tests := []struct {
		why string
		req llm.Request
		hit bool
	}{
		{"the same", base, true},
		{"another pointer to the same temperature", change(func(r *llm.Request) { x := 0.8; r.Temperature = &x }), true},
		{"another purpose, which is not sent", change(func(r *llm.Request) { r.Purpose = "repair" }), true},
		{"another sample: three samples must not come back equal", change(func(r *llm.Request) { r.Sample = 2 }), false},
		{"another text", change(func(r *llm.Request) { r.Messages = ask("p").Messages }), false},
		{"another temperature", change(func(r *llm.Request) { r.Temperature = &cold }), false},
		{"the default temperature", change(func(r *llm.Request) { r.Temperature = nil }), false},
		{"another limit", change(func(r *llm.Request) { r.MaxTokens = new(9) }), false},
		{"another seed", change(func(r *llm.Request) { r.Seed = new(9) }), false},
		{"another top_p", change(func(r *llm.Request) { r.TopP = new(0.9) }), false},
		{"other stops", change(func(r *llm.Request) { r.Stop = []string{";"} }), false},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			m := llm.Chain(numbering(), llm.Cache{}.Middleware())
			text(t, m, base)
			if got := text(t, m, tt.req); (got == "1") != tt.hit {
				t.Errorf("reply %q, want a hit: %v", got, tt.hit)
			}
		})
	}

	t.Run("another model", func(t *testing.T) {
		cache := llm.Cache{}.Middleware()
		a, b := cache(llm.Named("a", answering("from a"))), cache(llm.Named("b", answering("from b")))
		if got := text(t, a, base) + ", " + text(t, b, base) + ", " + text(t, a, base); got != "from a, from b, from a" {
			t.Error(got)
		}
	})
}

func TestCacheForgetsTheLeastRecentlyUsed(t *testing.T) {
	m := llm.Chain(numbering(), llm.Cache{Entries: 2}.Middleware())
	var got []string
	for _, q := range []string{"a", "b", "a", "c", "a", "b"} { // c pushes b out, not a
		got = append(got, text(t, m, ask(q)))
	}
	if want := []string{"1", "2", "1", "3", "1", "4"}; !cmp.Equal(got, want) {
		t.Errorf("replies = %q, want %q", got, want)
	}
}

func TestCacheBounds(t *testing.T) {
	calls := func(c llm.Cache, size int, questions ...string) int {
		script := answering(strings.Repeat("x", size))
		m := llm.Chain(script, c.Middleware())
		for _, q := range questions {
			text(t, m, ask(q))
		}
		return len(script.Requests())
	}
	tests := []struct {
		why   string
		cache llm.Cache
		size  int
		ask   []string
		want  int
	}{
		{"both fit", llm.Cache{Bytes: 20}, 10, []string{"a", "b", "a", "b"}, 2},
		{"one must go", llm.Cache{Bytes: 19}, 10, []string{"a", "b", "a", "b"}, 4},
		{"a reply as long as the bound fits", llm.Cache{Bytes: 10}, 10, []string{"a", "a"}, 1},
		{"a reply over the bound stays out, and pushes nothing out", llm.Cache{Bytes: 9}, 10, []string{"a", "a"}, 2},
		{"no entries: no cache", llm.Cache{Entries: -1}, 10, []string{"a", "a"}, 2},
		{"no bytes: no cache", llm.Cache{Bytes: -1}, 10, []string{"a", "a"}, 2},
	}
	for _, tt := range tests {
		if got := calls(tt.cache, tt.size, tt.ask...); got != tt.want {
			t.Errorf("%s: %d calls, want %d", tt.why, got, tt.want)
		}
	}
}

func TestCacheKeepsNoError(t *testing.T) {
	m := llm.Chain(attempts(failed(llm.ClassOverloaded, 0), llmtest.Reply{Text: "x"}), llm.Cache{}.Middleware())
	if _, err := m.Complete(t.Context(), ask("q")); err == nil {
		t.Fatal("no error")
	}
	if got := text(t, m, ask("q")); got != "x" {
		t.Errorf("reply %q", got)
	}
}

func TestCacheHitIsVisible(t *testing.T) {
	root := trace.New("ask")
	ctx := trace.Into(t.Context(), root)
	account := llm.Budget{}.Start()
	m := llm.Chain(numbering(), llm.Cache{}.Middleware(), account.Middleware(), llm.Trace())
	for range 2 {
		need.Value(m.Complete(ctx, ask("q")))(t)
	}
	resp := need.Value(m.Complete(ctx, ask("q")))(t)
	if want := (llm.Usage{Known: true}); resp.Usage != want {
		t.Errorf("usage of a hit = %+v, want %+v", resp.Usage, want)
	}
	want := llm.Usage{Calls: 1, PromptTokens: 3, CompletionTokens: 1, Known: true}
	if root.Usage() != want || account.Usage() != want {
		t.Errorf("trace has %+v, account %+v, want %+v", root.Usage(), account.Usage(), want)
	}
	cached := 0
	for _, span := range root.Children() {
		if hit, _ := span.Attr("cached"); hit == true {
			cached++
		}
	}
	if cached != 2 {
		t.Errorf("%d spans of hits, want 2", cached)
	}
}

// TestCacheWithinTrace: a hit of a cache that the user brings, inside of the
// engine's own Trace, is one call and not two.
func TestCacheWithinTrace(t *testing.T) {
	root := trace.New("ask")
	ctx := trace.Into(t.Context(), root)
	m := llm.Chain(numbering(), llm.Trace(), llm.Cache{}.Middleware())
	for range 2 {
		need.Value(m.Complete(ctx, ask("q")))(t)
	}
	spans := root.Children()
	if len(spans) != 2 || len(spans[1].Children()) != 0 {
		t.Fatalf("%d spans, want 2 without children", len(spans))
	}
	for i, want := range []any{nil, true} {
		if hit, _ := spans[i].Attr("cached"); hit != want {
			t.Errorf("call %d: cached = %v, want %v", i, hit, want)
		}
	}
}

func TestCacheEndedContext(t *testing.T) {
	m := llm.Chain(numbering(), llm.Cache{}.Middleware())
	text(t, m, ask("q"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Complete(ctx, ask("q")); err != context.Canceled {
		t.Errorf("error = %v, want context.Canceled also for a hit", err)
	}
}

func TestCacheParallel(t *testing.T) {
	m := llm.Chain(numbering(), llm.Cache{Entries: 8}.Middleware())
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			for j := range 50 {
				if _, err := m.Complete(t.Context(), sampled("q", (i+j)%12)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
