package llm_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/trace"
)

// What each middleware adds to a call of a model that takes no time, with a
// prompt of 8 kB.
func BenchmarkMiddleware(b *testing.B) {
	account := func() llm.Middleware {
		return llm.Budget{Calls: 1 << 30, Tokens: 1 << 60, Timeout: time.Hour}.Start().Middleware()
	}
	stacks := []struct {
		name  string
		chain []llm.Middleware
		trace bool
	}{
		{"none", nil, false},
		{"budget", []llm.Middleware{account()}, false},
		{"retry", []llm.Middleware{llm.Retry{}.Middleware()}, false},
		{"limit", []llm.Middleware{llm.Limit{Concurrency: 8}.Middleware()}, false},
		{"timeout", []llm.Middleware{llm.Timeout(time.Minute)}, false},
		{"trace_off", []llm.Middleware{llm.Trace()}, false},
		{"trace_on", []llm.Middleware{llm.Trace()}, true},
		{"all", []llm.Middleware{
			account(), llm.Retry{}.Middleware(), llm.Limit{Concurrency: 8}.Middleware(), llm.Timeout(time.Minute), llm.Trace(),
		}, true},
	}
	usage := llm.Usage{Calls: 1, PromptTokens: 2000, CompletionTokens: 8, Known: true}
	reply := llm.Response{Text: "SELECT count(*) FROM singer", StopReason: llm.StopEnd, Usage: usage}
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) { return reply, nil })
	req := ask(strings.Repeat("CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT);\n", 140))
	for _, s := range stacks {
		b.Run(s.name, func(b *testing.B) {
			m := llm.Chain(model, s.chain...)
			ctx := context.Background()
			root := trace.Tracer{}.New("ask")
			if s.trace {
				ctx = trace.NewContext(ctx, root)
			}
			b.ReportAllocs()
			req := req
			for b.Loop() {
				if s.trace && req.Sample%1024 == 0 { // a trace of an answer, not of a million calls
					ctx = trace.NewContext(context.Background(), trace.Tracer{}.New("ask"))
				}
				req.Sample++
				if _, err := m.Complete(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkHash(b *testing.B) {
	req := ask(strings.Repeat("CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT);\n", 140))
	b.SetBytes(int64(len(req.Messages[0].Text)))
	b.ReportAllocs()
	for b.Loop() {
		req.Hash()
	}
}
