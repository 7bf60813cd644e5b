package llm

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/trace"
)

// SpanName is the name of the spans of [Trace] and of the hits of [Cache].
const SpanName = "model call"

// Trace adds one span an attempt to the trace in ctx, in the slot of the draw,
// and holds the model to the contract of [Model]. Without a span in ctx it does
// the latter alone.
//
// A span has the attributes purpose, draw, attempt (from the second on), model,
// request (the first 16 digits of [Request.Hash]), temperature, max_tokens and
// seed where set, and prompt and reply, which are private: without leave, their
// lengths and the prompt's hash are there instead. When it ends, it has
// stop_reason and answered_by, or error_class and status. Its usage is that of
// [Measure], with its price if a [Budget] has one. A span whose context ended
// counts as cancelled. Where a Trace stands further in as well, as in a model
// that brings its own, the usage is that of the inner spans alone.
//
// The contract: once ctx has ended, what comes out is ctx.Err(), whatever the
// model said; any other error is an [*Error] ([AsError]), so that its text is
// scrubbed, and no end of a context; an empty reply is an error, of ClassRefused
// if a filter made it so.
func Trace() Middleware {
	return func(next Model) Model {
		name := NameOf(next)
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			if ctx.Err() != nil {
				return Response{}, ctx.Err()
			}
			if trace.From(ctx) == nil {
				resp, err := next.Complete(ctx, req)
				return held(ctx, resp, err)
			}
			within, span := trace.StartAt(ctx, req.Draw, SpanName, callAttrs(ctx, name, req)...)
			defer span.End()
			resp, err := next.Complete(within, req)
			if resp, err = held(ctx, resp, err); err != nil {
				failSpan(ctx, span, err)
				return resp, err
			}
			resp.Usage = ticketOf(ctx).priced(Measure(req, resp), resp.Model)
			if !tracedWithin(span) {
				span.AddUsage(resp.Usage)
			}
			span.Set("reply", trace.Reply(resp.Text))
			span.Set("stop_reason", string(resp.StopReason))
			if resp.Model != "" && resp.Model != name {
				span.Set("answered_by", resp.Model)
			}
			return resp, nil
		})
	}
}

// held is the outcome of a call as the contract has it.
func held(ctx context.Context, resp Response, err error) (Response, error) {
	switch {
	case ctx.Err() != nil:
		return Response{}, ctx.Err()
	case err != nil && errors.Is(err, ErrBudget): // ours, not the model's
		return Response{}, err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		// The model gave up by itself. That must not pass for the caller's end.
		own := *AsError(err)
		own.Message, own.Err = own.text(), nil
		return Response{}, &own
	case err != nil:
		return Response{}, AsError(err)
	case resp.Text != "":
		return resp, nil
	case resp.StopReason == StopFilter:
		return Response{}, &Error{Class: ClassRefused, Message: "the provider held the reply back"}
	case resp.StopReason == StopLength:
		return Response{}, &Error{Message: "empty reply: the limit on tokens was used up before it began"}
	}
	return Response{}, &Error{Message: "empty reply"}
}

func callAttrs(ctx context.Context, model string, req Request) []trace.Attr {
	attrs := make([]trace.Attr, 0, 10)
	add := func(key string, value any) { attrs = append(attrs, trace.Attr{Key: key, Value: value}) }
	add("purpose", req.Purpose)
	add("draw", req.Draw)
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
	if req.MaxTokens != 0 {
		add("max_tokens", req.MaxTokens)
	}
	if req.Seed != 0 {
		add("seed", req.Seed)
	}
	add("prompt", trace.Prompt(promptText(req.Messages)))
	return attrs
}

func failSpan(ctx context.Context, span *trace.Span, err error) {
	if ctx.Err() != nil {
		if late, ok := context.Cause(ctx).(*Error); ok {
			err = late // the time-out of this attempt: ctx.Err() is the same as for the caller's deadline
		} else {
			span.Cancelled()
		}
	}
	if !tracedWithin(span) {
		span.AddUsage(costOf(err))
	}
	span.Set("error_class", ClassOf(err).String())
	if e, ok := err.(*Error); ok && e.Status != 0 {
		span.Set("status", e.Status)
	}
	span.Fail(err)
}

// tracedWithin reports whether span has spans of its attempts below it, which
// have told what they cost.
func tracedWithin(span *trace.Span) bool {
	is := func(s *trace.Span) bool { return s.Name() == SpanName }
	return slices.ContainsFunc(span.Children(), is) || slices.ContainsFunc(span.CancelledChildren(), is)
}

// promptText is the messages as one text for a person: "[role]" on a line of
// its own before each.
func promptText(messages []Message) string {
	var b strings.Builder
	for i, m := range messages {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString("[" + string(m.Role) + "]\n" + m.Text)
	}
	return b.String()
}
