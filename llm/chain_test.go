package llm_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// ask is a request with one user message.
func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}, Purpose: "generate"}
}

// drawn is ask for a draw.
func drawn(text string, draw int) llm.Request {
	req := ask(text)
	req.Draw = draw
	return req
}

// answering is a model that answers every draw with the given text.
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
	if _, err := m.Complete(t.Context(), ask("q")); err != nil {
		t.Fatal(err)
	}
	if want := []string{"outer", "inner"}; !slices.Equal(order, want) {
		t.Errorf("order = %q, want %q", order, want)
	}
	if got := llm.NameOf(m); got != "m" {
		t.Errorf("NameOf = %q, want m", got)
	}
}

// TestChainOfNothing: who asks for a model finds out before the first call.
func TestChainOfNothing(t *testing.T) {
	if m := llm.Chain(nil, llm.Cache{}.Middleware(), llm.Trace()); m != nil {
		t.Errorf("got %v", m)
	}
}

func TestNamesPassEveryMiddleware(t *testing.T) {
	stack := map[string]llm.Middleware{
		"record":  llm.Record(func(llm.Exchange) error { return nil }),
		"cache":   llm.Cache{}.Middleware(),
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

func TestRecord(t *testing.T) {
	fault := &llm.Error{Class: llm.ClassRefused, Message: "no"}
	script := &llmtest.Script{Rules: []llmtest.Rule{{Replies: []llmtest.Reply{{Text: "a"}, {Err: fault}}}}}
	var seen []llm.Exchange
	m := llm.Chain(llm.Named("m", script), llm.Record(func(x llm.Exchange) error {
		seen = append(seen, x)
		return nil
	}))

	resp, err := m.Complete(t.Context(), drawn("q", 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Complete(t.Context(), drawn("q", 1)); !errors.Is(err, fault) {
		t.Errorf("error = %v, want the model's own", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Complete(gone, drawn("q", 0)); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}

	want := []llm.Exchange{
		{Model: "m", Request: drawn("q", 0), Response: resp},
		{Model: "m", Request: drawn("q", 1), Err: fault},
	}
	if diff := cmp.Diff(want, seen, cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })); diff != "" {
		t.Errorf("recorded calls (-want +got):\n%s", diff)
	}
}

func TestRecordFailing(t *testing.T) {
	full := errors.New("disk full")
	m := llm.Chain(answering("a"), llm.Record(func(llm.Exchange) error { return full }))
	resp, err := m.Complete(t.Context(), ask("q"))
	if !errors.Is(err, full) || llm.ClassOf(err) != llm.ClassPermanent {
		t.Errorf("error = %v, want a permanent one that wraps %v", err, full)
	}
	if resp.Text != "a" {
		t.Errorf("the reply that was paid for is lost: %+v", resp)
	}
}
