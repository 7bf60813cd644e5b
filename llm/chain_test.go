package llm_test

import (
	"context"
	"io"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/llm/replay"
)

// ask is a request with one user message.
func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}, Purpose: "generate"}
}

// sampled is ask for a sample.
func sampled(text string, sample int) llm.Request {
	req := ask(text)
	req.Sample = sample
	return req
}

// answering is a model that answers every sample with the given text.
func answering(text string) *llmtest.Script {
	return &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(text), Repeat: true}}}
}

func TestChainOrderAndName(t *testing.T) {
	var order []string
	tag := func(name string) llm.Middleware {
		return func(next llm.Model) llm.Model {
			return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
				order = append(order, name)
				return next.Complete(ctx, req)
			})
		}
	}
	m := llm.Chain(llm.Named("m", answering("x")), tag("outer"), nil, tag("inner"))
	testutil.Value(m.Complete(t.Context(), ask("q")))(t)
	if want := []string{"outer", "inner"}; !slices.Equal(order, want) {
		t.Errorf("order = %q, want %q", order, want)
	}
	if got := llm.NameOf(m); got != "m" {
		t.Errorf("NameOf = %q, want m", got)
	}
}

// TestChainOfNothing: who asks for a model finds out before the first call.
func TestChainOfNothing(t *testing.T) {
	if m := llm.Chain(nil, llm.Retry{}.Middleware(), llm.Trace()); m != nil {
		t.Errorf("got %v", m)
	}
}

func TestNamesPassEveryMiddleware(t *testing.T) {
	stack := map[string]llm.Middleware{
		"record":  replay.NewRecorder(io.Discard).Record,
		"budget":  llm.Budget{}.Start().Middleware(),
		"retry":   llm.Retry{}.Middleware(),
		"limit":   llm.Limit{Concurrency: 1}.Middleware(),
		"nolimit": llm.Limit{}.Middleware(),
		"timeout": llm.Timeout(1),
		"notime":  llm.Timeout(0),
		"trace":   llm.Trace(),
		"latency": llmtest.Latency{}.Middleware(),
	}
	for name, mw := range stack {
		if got := llm.NameOf(mw(llm.Named("m", answering("x")))); got != "m" {
			t.Errorf("%s: NameOf = %q, want m", name, got)
		}
	}
	if got := llm.NameOf(answering("x")); got != "" {
		t.Errorf("NameOf of a model without a name = %q", got)
	}
	if got := llm.NameOf(llm.Named("outer", llm.Named("inner", answering("x")))); got != "outer" {
		t.Errorf("NameOf = %q, want the outer name", got)
	}
}
