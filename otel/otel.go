// Package otel gives what package trace has of a question to OpenTelemetry: its spans, and metrics of calls, tokens,
// statements and confidence.
//
//	recorder, err := otel.New(otel.Config{})
//	…
//	res, err := engine.Ask(ctx, question)
//	recorder.Record(ctx, res, err)
//
// It is a module of its own, so that nobody else depends on OpenTelemetry.
package otel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/trace"
)

const scope = "github.com/texttosql/texttosql/otel"

// Config says where to. The zero Config takes OpenTelemetry's global providers and shows nothing private.
type Config struct {
	Tracer oteltrace.TracerProvider // nil: the global one
	Meter  metric.MeterProvider     // nil: the global one
	// Show has the kinds of private values that spans may have: statements, prompts, replies, rows. The trace must hold
	// them too, which is what texttosql.WithReveal is for. Others show as their kind and length.
	Show trace.Private
}

// Recorder records questions. Safe for concurrent use.
type Recorder struct {
	tracer oteltrace.Tracer
	show   trace.Private

	tokens, candidates                  metric.Int64Histogram
	calls, questions, money, confidence metric.Float64Histogram
}

// New makes a Recorder. The error is that of a metric which cannot be made.
func New(c Config) (*Recorder, error) {
	if c.Tracer == nil {
		c.Tracer = api.GetTracerProvider()
	}
	if c.Meter == nil {
		c.Meter = api.GetMeterProvider()
	}
	r := &Recorder{tracer: c.Tracer.Tracer(scope), show: c.Show}
	meter := c.Meter.Meter(scope)
	var errs []error
	whole := func(name, unit, what string) metric.Int64Histogram {
		h, err := meter.Int64Histogram(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
		return h
	}
	real := func(name, unit, what string) metric.Float64Histogram {
		h, err := meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(what))
		errs = append(errs, err)
		return h
	}
	r.tokens = whole(metricTokens, "{token}", "tokens of a model call")
	r.candidates = whole(metricCandidates, "{statement}", "candidate statements of a question, by what became of them")
	r.calls = real(metricCalls, "s", "how long a model call took")
	r.questions = real(metricQuestions, "s", "how long a question took")
	r.money = real(metricMoney, "1", "money for the calls of a question, in the unit of its price table")
	r.confidence = real(metricConfidence, "1", "confidence of an answer")
	return r, errors.Join(errs...)
}

// Record gives the trace of one question to OpenTelemetry as spans below the one in ctx, with the times that they had,
// and counts what it cost. res and err are what Engine.Ask, Generate or a session returned; a nil res records nothing.
// The outcome of the question is "answered", or the class of its error (texttosql.Failure).
func (r *Recorder) Record(ctx context.Context, res *texttosql.Result, err error) {
	if res == nil {
		return
	}
	outcome := attribute.String(own+"outcome", cmp.Or(string(texttosql.Failure(err).Class), "answered"))
	if res.Trace != nil {
		r.span(ctx, res.Trace, outcome, attribute.Float64(own+"confidence", res.Confidence))
		r.questions.Record(ctx, res.Trace.Duration().Seconds(), metric.WithAttributes(outcome))
	}
	if res.Usage.Money > 0 {
		r.money.Record(ctx, res.Usage.Money, metric.WithAttributes(outcome))
	}
	if res.SQL != "" {
		r.confidence.Record(ctx, res.Confidence, metric.WithAttributes(outcome))
	}
	fates := map[string]int64{}
	for _, c := range res.Candidates {
		fates[fate(c.Rejected)]++
	}
	for name, n := range fates {
		r.candidates.Record(ctx, n, metric.WithAttributes(attribute.String(own+"fate", name)))
	}
}

var refused = regexp.MustCompile(`exec: refused \(([a-z-]+)\)`)

// fate is "voted", "rejected", or "refused: REASON" for a statement that the guard refused.
func fate(rejected string) string {
	if m := refused.FindStringSubmatch(rejected); m != nil {
		return "refused: " + m[1]
	}
	if rejected != "" {
		return "rejected"
	}
	return "voted"
}

// span writes s and all below it.
func (r *Recorder) span(ctx context.Context, s *trace.Span, more ...attribute.KeyValue) {
	kind, name := oteltrace.SpanKindInternal, s.Name()
	isCall, model := name == callSpan && len(s.Children()) == 0, ""
	if isCall {
		if v, ok := s.Attr("model"); ok {
			model = fmt.Sprint(v)
		}
		kind, name = oteltrace.SpanKindClient, strings.TrimSpace("chat "+model)
	}
	end := s.Started().Add(s.Duration())
	ctx, out := r.tracer.Start(ctx, name, oteltrace.WithTimestamp(s.Started()), oteltrace.WithSpanKind(kind), oteltrace.WithAttributes(more...))
	defer out.End(oteltrace.WithTimestamp(end))
	for _, a := range s.Attrs() {
		out.SetAttributes(r.attribute(a))
	}
	if isCall {
		r.call(ctx, out, s, model)
	}
	for _, e := range s.Events() {
		var attrs []attribute.KeyValue
		for _, a := range e.Attrs {
			attrs = append(attrs, r.attribute(a))
		}
		out.AddEvent(e.Name, oteltrace.WithTimestamp(s.Root().Started().Add(e.At)), oteltrace.WithAttributes(attrs...))
	}
	for _, w := range s.Warnings() {
		out.AddEvent("warning", oteltrace.WithTimestamp(end),
			oteltrace.WithAttributes(attribute.String(own+"warning.code", w.Code), attribute.String(own+"warning.message", w.Message)))
	}
	switch failure := s.Failure(); {
	case s.IsCancelled():
		out.SetAttributes(attribute.Bool(own+"cancelled", true))
	case failure != "":
		out.SetStatus(codes.Error, failure)
	}
	for _, child := range s.Children() {
		r.span(ctx, child)
	}
	for _, child := range s.CancelledChildren() {
		r.span(ctx, child)
	}
}

// call adds what a call of a model has, and counts it.
func (r *Recorder) call(ctx context.Context, out oteltrace.Span, s *trace.Span, model string) {
	used := s.Usage()
	out.SetAttributes(attribute.String(genOperation, "chat"), attribute.Int(genPromptUsed, used.PromptTokens), attribute.Int(genReplyUsed, used.CompletionTokens))
	if reason, ok := s.Attr("stop_reason"); ok {
		out.SetAttributes(attribute.StringSlice(genFinish, []string{fmt.Sprint(reason)}))
	}
	of := []attribute.KeyValue{attribute.String(genOperation, "chat"), attribute.String(genModel, model)}
	if class, ok := s.Attr("error_class"); ok {
		of = append(of, attribute.String(errorType, fmt.Sprint(class)))
	}
	r.calls.Record(ctx, s.Duration().Seconds(), metric.WithAttributes(of...))
	for kind, n := range map[string]int{"input": used.PromptTokens, "output": used.CompletionTokens} {
		r.tokens.Record(ctx, int64(n), metric.WithAttributes(append(of[:len(of):len(of)], attribute.String(genTokenType, kind))...))
	}
}

// attribute is a under the name that a convention has for it.
func (r *Recorder) attribute(a trace.Attr) attribute.KeyValue {
	key, ok := conventional[a.Key]
	if !ok {
		key = own + a.Key
	}
	switch v := a.Value.(type) {
	case trace.Secret:
		return attribute.String(key, v.Shown(r.show).String())
	case string:
		return attribute.String(key, v)
	case bool:
		return attribute.Bool(key, v)
	case int:
		return attribute.Int(key, v)
	case int64:
		return attribute.Int64(key, v)
	case float64:
		return attribute.Float64(key, v)
	case time.Duration:
		return attribute.Float64(key, v.Seconds())
	case []string:
		return attribute.StringSlice(key, v)
	default:
		return attribute.String(key, fmt.Sprint(v))
	}
}
