package llm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/trace"
)

// spanName is the name of the spans of Trace and of the hits of Cache.
const spanName = "model call"

// Trace adds one span for each attempt to the trace in ctx, and enforces the contract of [Model]. The index of the
// sample is the slot of the span. Without a span in ctx it only enforces the contract.
//
// A span has the attributes purpose, sample, attempt (from the second on), model, request (the first 16 digits of
// [Request.Hash]), temperature, top_p, max_tokens, seed, effort, prompt and reply. Prompt and reply are private: by
// default the span holds their lengths and the prompt's hash. At its end it gets stop_reason and answered_by, or
// error_class and status. Its usage is the usage of the reply, or an estimate ([Estimate]) if the provider reports
// none, with the price of a
// [Budget]. A span whose context ended is cancelled. If the provider reports that it read less than half of the
// prompt, the span has the warning "prompt-cut". If there is a second Trace inside, only the inner spans have a
// usage.
//
// The contract: once ctx has ended, the error is ctx.Err(). Any other error is an [*Error] ([AsError]), so its text is
// scrubbed and it does not match the error of a context. An empty reply is an error, of ClassRefused if a filter caused
// it. A panic of the model is an error of its call. A model that ignores the end of ctx is left running 100 ms later,
// with the warning "model-still-running".
func Trace() Middleware {
	return func(next Model) Model { return traced{inner{next}} }
}

type traced struct{ inner }

func (t traced) Complete(ctx context.Context, req Request) (Response, error) {
	if ctx.Err() != nil {
		return Response{}, ctx.Err()
	}
	if trace.FromContext(ctx) == nil {
		resp, err := contained(ctx, t.next, req)
		return held(ctx, resp, err)
	}
	name := t.Name()
	within, span := trace.FromContext(ctx).StartAt(ctx, req.Sample, spanName, callAttrs(ctx, name, req)...)
	defer span.End()
	resp, err := contained(within, t.next, req)
	if resp, err = held(ctx, resp, err); err != nil {
		failSpan(ctx, span, err)
		return resp, err
	}

	resp.Usage = ticketOf(ctx).priced(measure(req, resp), resp.Model)
	warnIfCut(within, req, resp.Usage)
	if !tracedWithin(span) {
		span.AddUsage(resp.Usage)
	}
	span.Set("reply", trace.PrivateReplies.Secret(resp.Text))
	span.Set("stop_reason", resp.StopReason)
	if resp.Model != "" && resp.Model != name {
		span.Set("answered_by", resp.Model)
	}
	return resp, nil
}

// leastCut is the shortest prompt in tokens that a server leaves of a longer one.
const leastCut = 100

// warnIfCut warns where a server read less than half of the tokens that were sent, as one does that cuts a prompt over
// its context without a word.
func warnIfCut(ctx context.Context, req Request, u Usage) {
	read, sent := u.PromptTokens+u.CachedTokens, Estimate(req, "").PromptTokens
	if u.PromptTokens >= leastCut && 2*read < sent {
		trace.FromContext(ctx).Warn("prompt-cut",
			fmt.Sprintf("the model's server read %d of about %d tokens of the prompt, so it answers without "+
				"a part of the rules or the schema, and costs more than is told; give it a larger context (Ollama: num_ctx, "+
				"OLLAMA_CONTEXT_LENGTH)", read, sent))
	}
}

// held returns the outcome of a call in the form that the contract of Model asks for.
func held(ctx context.Context, resp Response, err error) (Response, error) {
	switch {
	case ctx.Err() != nil:
		return Response{}, ctx.Err()
	case err != nil && errors.Is(err, ErrBudget): // an error of this package, not of the model
		return Response{}, err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// The model gave up by itself. It must not look as if the caller's context had ended.
		gaveUp := *AsError(err)
		gaveUp.Message, gaveUp.Err = gaveUp.text(), nil
		return Response{}, &gaveUp
	case err != nil:
		return Response{}, AsError(err)
	case resp.Text != "":
		return resp, nil
	case resp.StopReason == StopFilter:
		return Response{}, &Error{Class: ClassRefused, Message: "the provider held the reply back"}
	case resp.StopReason == StopLength:
		return Response{}, &Error{Class: ClassOutOfTokens, Usage: resp.Usage,
			Message: "empty reply: the limit on tokens was used up before it began"}
	}
	return Response{}, &Error{Message: "empty reply"}
}

func callAttrs(ctx context.Context, model string, req Request) []trace.Attr {
	attrs := make([]trace.Attr, 0, 10)
	add := func(key string, value any) { attrs = append(attrs, trace.Attr{Key: key, Value: value}) }
	add("purpose", req.Purpose)
	add("sample", req.Sample)
	if n := attemptOf(ctx); n > 1 {
		add("attempt", n)
	}
	if model != "" {
		add("model", model)
	}
	add("request", req.Hash()[:16])
	if req.Temperature != nil {
		add("temperature", *req.Temperature)
	}
	if req.TopP != nil {
		add("top_p", *req.TopP)
	}
	if req.MaxTokens != nil {
		add("max_tokens", *req.MaxTokens)
	}
	if req.Seed != nil {
		add("seed", *req.Seed)
	}
	if req.Effort != "" {
		add("effort", req.Effort)
	}
	add("prompt", trace.PrivatePrompts.Secret(promptText(req.Messages)))
	return attrs
}

func failSpan(ctx context.Context, span *trace.Span, err error) {
	if ctx.Err() != nil {
		if late, ok := context.Cause(ctx).(*Error); ok {
			err = late // the time-out of this attempt; ctx.Err() cannot tell it from the caller's deadline
		} else {
			span.Cancelled()
		}
	}
	if !tracedWithin(span) {
		span.AddUsage(ticketOf(ctx).priced(costOf(err), ""))
	}
	span.Set("error_class", ClassOf(err).String())
	if e, ok := err.(*Error); ok && e.Status != 0 {
		span.Set("status", e.Status)
	}
	span.Fail(err)
}

// tracedWithin reports whether span has model calls below it, which carry the usage.
func tracedWithin(span *trace.Span) bool {
	is := func(s *trace.Span) bool { return s.Name() == spanName }
	return slices.ContainsFunc(span.Children(), is) || slices.ContainsFunc(span.CancelledChildren(), is)
}

// promptText returns the messages as one text, each after a line "[role]".
func promptText(messages []Message) string {
	var b strings.Builder
	size := 0
	for _, m := range messages {
		size += len("\n\n[]\n") + len(m.Role) + len(m.Text)
	}
	b.Grow(size)
	for i, m := range messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[")
		b.WriteString(m.Role)
		b.WriteString("]\n")
		b.WriteString(m.Text)
	}
	return b.String()
}
