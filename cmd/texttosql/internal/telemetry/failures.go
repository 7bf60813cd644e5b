package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"

	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// Failures writes one line for each question that failed: its class, the status of the provider, what it cost, whose it
// was, its conversation and its trace. No line has the question, a statement or the words of a provider. Next follows
// questions too; nil: nobody does.
type Failures struct {
	Next texttosql.Telemetry
	Log  *slog.Logger

	asked sync.Map // *trace.Span of a root -> where it was asked, a []slog.Attr
}

// Follow lets Next follow a span, and notes the trace of a question.
func (f *Failures) Follow(ctx context.Context, s *trace.Span) (work context.Context, ended func()) {
	work = ctx
	if f.Next != nil {
		work, ended = f.Next.Follow(ctx, s)
	}
	if s.Parent() != nil {
		return work, ended
	}
	var where []slog.Attr
	if id := httpserver.Conversation(ctx); id != "" {
		where = append(where, slog.String("conversation", id))
	}
	if id := oteltrace.SpanContextFromContext(work).TraceID(); id.IsValid() {
		where = append(where, slog.String("trace", id.String()))
	}
	if len(where) > 0 {
		f.asked.Store(s, where)
	}
	return work, ended
}

// Ended writes the line.
func (f *Failures) Ended(r *texttosql.Result, err error) {
	if f.Next != nil {
		f.Next.Ended(r, err)
	}
	where, _ := f.asked.LoadAndDelete(r.Trace)
	if r.Trace.Name() == "statement" {
		return // who wrote the statement is told
	}
	told := failure.Of(err)
	switch told.Class {
	case "", failure.Unclear, failure.Cancelled:
		return
	}

	attrs := []slog.Attr{slog.String("class", string(told.Class))}
	if status := statusOf(err); status != 0 {
		attrs = append(attrs, slog.Int("status", status))
	}
	attrs = append(attrs, slog.Int("calls", r.Usage.Calls))
	if key, _ := r.Trace.Attr("scope"); key != nil {
		if secret, ok := key.(trace.Secret); ok {
			attrs = append(attrs, slog.String("scope", secret.Shown(0).Sum))
		}
	}
	if known, ok := where.([]slog.Attr); ok {
		attrs = append(attrs, known...)
	}
	if told.Advice != "" {
		attrs = append(attrs, slog.String("hint", told.Advice))
	}
	level := slog.LevelWarn
	if told.HTTPStatus >= http.StatusInternalServerError {
		level = slog.LevelError
	}
	f.Log.LogAttrs(context.Background(), level, "question failed", attrs...)
}

// statusOf is the HTTP status that a provider answered with; 0: it is not a provider's error.
func statusOf(err error) int {
	var none *strategy.NoCandidateError
	if errors.As(err, &none) && len(none.Failed) > 0 {
		err = none.Failed[0]
	}
	var provider *llm.Error
	if errors.As(err, &provider) {
		return provider.Status
	}
	return 0
}
