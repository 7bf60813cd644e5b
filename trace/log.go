package trace

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
)

// Log logs an ended span and an event at debug level and a warning at warn level. The messages are fixed and everything
// else is in attributes, so that a handler quotes untrusted text. Secrets are logged only if show has their kind,
// even if [Tracer.Keep] has it, because more people read logs than traces. ctx is passed to the logger. The record
// has the attributes of, such as an id, before its own. Safe for concurrent use.
func (n Notice) Log(ctx context.Context, l *slog.Logger, show Sensitivity, of ...slog.Attr) {
	switch n.Kind {
	case "ended":
		if l.Enabled(ctx, slog.LevelDebug) {
			l.LogAttrs(ctx, slog.LevelDebug, "span ended", slices.Concat(of, n.Span.logAttrs(show))...)
		}
	case "happened":
		l.LogAttrs(ctx, slog.LevelDebug, "event", slices.Concat(of, []slog.Attr{slog.String("span", n.Span.Name()),
			slog.String("name", n.Event.Name), logGroup(n.Event.Attrs, show)})...)
	case "warned":
		l.LogAttrs(ctx, slog.LevelWarn, "warning", slices.Concat(of, []slog.Attr{slog.String("span", n.Span.Name()),
			slog.String("code", n.Warning.Code), slog.String("message", n.Warning.Message)})...)
	}
}

// LogValue implements slog.LogValuer. It logs s without the spans below it, but with their usage, and without secrets.
func (s *Span) LogValue() slog.Value {
	if s == nil || s.tree == nil {
		return slog.Value{}
	}
	return slog.GroupValue(s.logAttrs(0)...)
}

func (s *Span) logAttrs(show Sensitivity) []slog.Attr {
	out := []slog.Attr{slog.String("name", s.Name()), slog.Duration("took", s.Duration())}
	if failure := s.failed(); failure.text != "" {
		out = append(out, slog.Bool("failed", true), slog.String("failure", failure.shown(show)))
	}
	if s.IsCancelled() {
		out = append(out, slog.Bool("cancelled", true))
	}
	if u := s.Usage(); u != (Usage{}) {
		out = append(out, slog.Any("usage", u))
	}
	if attrs := s.Attrs(); len(attrs) > 0 {
		out = append(out, logGroup(attrs, show))
	}
	return out
}

// LogValue implements slog.LogValuer.
func (u Usage) LogValue() slog.Value {
	out := []slog.Attr{slog.Int("calls", u.Calls), slog.Int("prompt_tokens", u.PromptTokens),
		slog.Int("completion_tokens", u.CompletionTokens), slog.Bool("known", u.Known)}
	if u.Money != 0 {
		out = append(out, slog.Float64("money", u.Money))
	}
	if u.Partial {
		out = append(out, slog.Bool("partial", true))
	}
	return slog.GroupValue(out...)
}

func logGroup(attrs []Attr, show Sensitivity) slog.Attr {
	out := make([]slog.Attr, 0, len(attrs))
	for _, a := range attrs {
		out = append(out, slog.Attr{Key: a.Key, Value: logValue(shown(a.Value, show))})
	}
	return slog.Attr{Key: "attrs", Value: slog.GroupValue(out...)}
}

func logValue(v any) slog.Value {
	switch v := v.(type) {
	case Secret:
		return slog.StringValue(v.String())
	case json.RawMessage:
		return slog.StringValue(string(v))
	default:
		return slog.AnyValue(v)
	}
}

// String returns the name of s, its duration and the number of spans under it. So a printed struct with a trace stays
// short.
func (s *Span) String() string {
	if s == nil || s.tree == nil {
		return "no trace"
	}
	return fmt.Sprintf("%s (%s, %d spans below)", s.name, durationText(s.Duration()), len(slices.Collect(s.All()))-1)
}
