// Package otel sends questions to OpenTelemetry while they run. It creates a span for the question and for each step,
// model call and statement, with the same parents. It records metrics of calls, tokens, statements and confidence.
//
//	recorder, err := otel.New(otel.Config{Provider: "openai", Namespace: "shop"})
//	engine, err := texttosql.New(db, model, texttosql.WithTelemetry(recorder))
//
// The context of a model call and of a statement holds its span, so the spans of an HTTP client or a driver become its
// children. Names follow the conventions: a model call is "chat MODEL", a statement "SELECT NAMESPACE". Names without a
// convention begin with "texttosql.". Private values, such as statements and prompts, are left out unless Config.Show
// has their kind.
//
// It is a module of its own, so that other programs do not depend on OpenTelemetry.
package otel

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	api "go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	genai "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/semconv/v1.41.0/genaiconv"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/dbconv"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/trace"
)

const scope = "github.com/texttosql/texttosql/otel"

// Config sets the providers, and facts that a trace does not have. The zero Config uses OpenTelemetry's global
// providers and shows nothing private.
type Config struct {
	Tracer oteltrace.TracerProvider // nil: the global one
	Meter  metric.MeterProvider     // nil: the global one
	// Show has the kinds of private values that spans may have: statements, prompts, replies, rows. The trace must hold
	// them too; see texttosql.WithTraceContent. Other kinds are left out. In their place a statement and a scope have
	// the start of their SHA-256.
	Show      trace.Sensitivity
	Provider  string // gen_ai.provider.name of models whose name does not begin with it, as "openai:gpt-5-mini" does
	Namespace string // db.namespace: the name of the database; "" leaves it out
	Server    string // server.address, with or without ":PORT"; "" leaves it out
	Version   string // the version of the program, for the scope; "" leaves it out
}

// recorder is what New returns.
type recorder struct {
	Config
	tracer   oteltrace.Tracer
	database []attribute.KeyValue
	running  sync.Map // *trace.Span of a root -> *question

	tokens                       genaiconv.ClientTokenUsage
	calls                        genaiconv.ClientOperationDuration
	queries                      dbconv.ClientOperationDuration
	candidates                   metric.Int64Histogram
	open                         metric.Int64UpDownCounter // the number of questions that run
	questions, money, confidence metric.Float64Histogram
}

// question holds the data of a trace until it ends.
type question struct {
	spans sync.Map // *trace.Span -> oteltrace.Span, because some steps start in the context of another one
}

// followed is the key of the *trace.Span whose OpenTelemetry span a context has, or one below it.
type followed struct{}

// New returns a recorder of traces and metrics, for texttosql.WithTelemetry. It is safe for concurrent use, also by
// several engines. It returns an error if a metric cannot be created.
func New(c Config) (texttosql.Telemetry, error) {
	if c.Tracer == nil {
		c.Tracer = api.GetTracerProvider()
	}
	if c.Meter == nil {
		c.Meter = api.GetMeterProvider()
	}
	r := &recorder{
		Config: c,
		tracer: c.Tracer.Tracer(scope, oteltrace.WithSchemaURL(semconv.SchemaURL),
			oteltrace.WithInstrumentationVersion(c.Version)),
	}
	if c.Namespace != "" {
		r.database = append(r.database, semconv.DBNamespace(c.Namespace))
	}
	if host, port, err := net.SplitHostPort(c.Server); err == nil {
		n, _ := strconv.Atoi(port)
		r.database = append(r.database, semconv.ServerAddress(host), semconv.ServerPort(n))
	} else if c.Server != "" {
		r.database = append(r.database, semconv.ServerAddress(c.Server))
	}
	meter := c.Meter.Meter(scope, metric.WithSchemaURL(semconv.SchemaURL), metric.WithInstrumentationVersion(c.Version))
	var errs [4]error
	r.tokens, errs[0] = genaiconv.NewClientTokenUsage(meter, metric.WithExplicitBucketBoundaries(tokenBounds...))
	r.calls, errs[1] = genaiconv.NewClientOperationDuration(meter, metric.WithExplicitBucketBoundaries(callBounds...))
	r.queries, errs[2] = dbconv.NewClientOperationDuration(meter, metric.WithExplicitBucketBoundaries(queryBounds...))
	r.candidates, errs[3] = meter.Int64Histogram(metricCandidates, metric.WithUnit("{statement}"),
		metric.WithDescription("candidate statements of a question, by what became of them"),
		metric.WithExplicitBucketBoundaries(countBounds...))
	err := errors.Join(errs[:]...)
	var oerr error
	r.open, oerr = meter.Int64UpDownCounter(metricRunning, metric.WithUnit("{question}"),
		metric.WithDescription("questions that are being answered"))
	err = errors.Join(err, oerr)
	real := func(name, unit, what string, bounds []float64) metric.Float64Histogram {
		h, herr := meter.Float64Histogram(name, metric.WithUnit(unit), metric.WithDescription(what),
			metric.WithExplicitBucketBoundaries(bounds...))
		err = errors.Join(err, herr)
		return h
	}
	r.questions = real(metricQuestions, "s", "how long a question took", questionBounds)
	r.money = real(metricMoney, "1", "money for the calls of a question, in the unit of its price table", moneyBounds)
	r.confidence = real(metricConfidence, "1", "confidence of an answer", shareBounds)
	return r, err
}

// Follow starts a span for s. The returned context has the span, and the returned function ends it.
func (r *recorder) Follow(ctx context.Context, s *trace.Span) (context.Context, func()) {
	q, _ := r.running.Load(s.Root())
	mine, _ := q.(*question)
	if s.Parent() == nil {
		mine = &question{}
		r.running.Store(s, mine)
		r.open.Add(ctx, 1)
	} else if mine != nil && ctx.Value(followed{}) != s.Parent() {
		if around, ok := mine.spans.Load(s.Parent()); ok {
			ctx = oteltrace.ContextWithSpan(ctx, around.(oteltrace.Span))
		}
	}
	kind, name := oteltrace.SpanKindInternal, s.Name()
	var what, of []attribute.KeyValue // what the span is about; of, its part that is of metrics
	switch {
	case isCall(s):
		provider, model := r.named(fmt.Sprint(value(s, "model")))
		kind, name = oteltrace.SpanKindClient, strings.TrimSpace("chat "+model)
		what = []attribute.KeyValue{genai.GenAIOperationNameChat, provider, genai.GenAIRequestModel(model)}
		of = what[1:]
	case name == querySpan:
		of = append([]attribute.KeyValue{system(fmt.Sprint(value(s, "engine"))), semconv.DBOperationName("SELECT")},
			r.database...)
		kind, name, what = oteltrace.SpanKindClient, strings.TrimSpace("SELECT "+r.Namespace), of
	}
	ctx, out := r.tracer.Start(ctx, name, oteltrace.WithTimestamp(s.Started()), oteltrace.WithSpanKind(kind),
		oteltrace.WithAttributes(what...))
	ctx = context.WithValue(ctx, followed{}, s)
	if mine == nil { // left over from a question that ended
		return ctx, func() { r.end(out, s) }
	}
	mine.spans.Store(s, out)
	if s.Parent() == nil {
		return ctx, nil // see Ended
	}
	return ctx, func() {
		switch {
		case isCall(s):
			r.call(ctx, out, s, of)
		case s.Name() == querySpan:
			of[0] = system(fmt.Sprint(value(s, "engine"))) // the server may have reported it since
			out.SetAttributes(of[0])
			r.query(ctx, s, of)
		}
		r.end(out, s)
	}
}

// Ended ends the span of a question with its outcome, and counts its cost. The outcome is "answered", "degraded" if
// samples were lost to a failing provider, or the class of the error (failure.Of).
func (r *recorder) Ended(res *texttosql.Result, err error) {
	q, ok := r.running.LoadAndDelete(res.Trace)
	if !ok {
		return
	}
	r.open.Add(context.Background(), -1)
	span, _ := q.(*question).spans.Load(res.Trace)
	out := span.(oteltrace.Span)
	ctx := oteltrace.ContextWithSpan(context.Background(), out)
	answered := "answered"
	if slices.ContainsFunc(res.Warnings, func(w trace.Warning) bool { return w.Code == "provider-failed" }) {
		answered = "degraded"
	}
	outcome := attribute.String(own+"outcome", cmp.Or(string(failure.Of(err).Class), answered))
	out.SetAttributes(outcome)
	if err != nil {
		out.SetAttributes(semconv.ErrorTypeKey.String(outcome.Value.AsString()))
	}
	r.questions.Record(ctx, res.Trace.Duration().Seconds(),
		metric.WithAttributes(outcome, attribute.String(own+"kind", res.Trace.Name())))
	if res.Usage.Money > 0 {
		r.money.Record(ctx, res.Usage.Money, metric.WithAttributes(outcome))
	}
	if res.SQL != "" {
		out.SetAttributes(attribute.Float64(own+"confidence", res.Confidence))
		r.confidence.Record(ctx, res.Confidence, metric.WithAttributes(outcome))
	}
	fates := map[string]int64{}
	for _, c := range res.Candidates {
		fates[fate(c.Rejected)]++
	}
	for name, n := range fates {
		r.candidates.Record(ctx, n, metric.WithAttributes(attribute.String(own+"fate", name)))
	}
	r.end(out, res.Trace)
}

// provider is an error of a model's provider, whose own words may hold parts of a key and the name of an account: a
// span has its class and status alone.
var provider = regexp.MustCompile(`(llm: [a-z ]+(?: \(status \d+\))?):[^\n]*`)

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

// isCall reports whether s is a call of a model.
func isCall(s *trace.Span) bool { return s.Name() == callSpan }

// value returns an attribute of s, or "".
func value(s *trace.Span, key string) any {
	if v, ok := s.Attr(key); ok {
		return v
	}
	return ""
}

// end gives out all that s has, and ends it when s did.
func (r *recorder) end(out oteltrace.Span, s *trace.Span) {
	at := s.Started().Add(s.Duration())
	defer out.End(oteltrace.WithTimestamp(at))
	if !out.IsRecording() {
		return
	}
	out.SetAttributes(r.attributes(s.Name(), s.Attrs())...)
	for _, e := range s.Events() {
		out.AddEvent(e.Name, oteltrace.WithTimestamp(s.Root().Started().Add(e.At)),
			oteltrace.WithAttributes(r.attributes("", e.Attrs)...))
	}
	if s.Parent() == nil {
		for _, w := range s.Warnings() {
			out.AddEvent("warning", oteltrace.WithTimestamp(at),
				oteltrace.WithAttributes(attribute.String(own+"warning.code", w.Code),
					attribute.String(own+"warning.message", w.Message)))
		}
	}
	switch failure := s.FailureShown(r.Show); {
	case s.IsCancelled():
		out.SetAttributes(attribute.Bool(own+"cancelled", true))
	case failure != "":
		out.SetStatus(codes.Error, provider.ReplaceAllString(failure, "$1"))
		if _, typed := s.Attr("error_class"); !typed && s.Parent() != nil {
			out.SetAttributes(semconv.ErrorTypeOther)
		}
	}
}

// query counts a statement.
func (r *recorder) query(ctx context.Context, s *trace.Span, of []attribute.KeyValue) {
	more := of[1:len(of):len(of)]
	if s.Failure() != "" {
		more = append(more, semconv.ErrorTypeOther)
	}
	r.queries.Record(ctx, s.Duration().Seconds(), dbconv.SystemNameAttr(of[0].Value.AsString()), more...)
}

// call adds what a call of a model has, and counts it.
func (r *recorder) call(ctx context.Context, out oteltrace.Span, s *trace.Span, of []attribute.KeyValue) {
	if slices.ContainsFunc(s.Children(), isCall) {
		return // a Trace wraps another one, whose span counts
	}
	used := s.Usage()
	if reason := fmt.Sprint(value(s, "stop_reason")); reason != "" {
		out.SetAttributes(genai.GenAIResponseFinishReasons(reason))
	}
	provider, more := genaiconv.ProviderNameAttr(of[0].Value.AsString()), of[1:len(of):len(of)]
	tokens := more
	if class := fmt.Sprint(value(s, "error_class")); class != "" {
		more = append(more, semconv.ErrorTypeKey.String(class))
	}
	r.calls.Record(ctx, s.Duration().Seconds(), genaiconv.OperationNameChat, provider, more...)
	if used.PromptTokens > 0 || used.CompletionTokens > 0 { // else nobody knows
		out.SetAttributes(genai.GenAIUsageInputTokens(used.PromptTokens), genai.GenAIUsageOutputTokens(used.CompletionTokens))
		r.tokens.Record(ctx, int64(used.PromptTokens), genaiconv.OperationNameChat, provider, genaiconv.TokenTypeInput,
			tokens...)
		r.tokens.Record(ctx, int64(used.CompletionTokens), genaiconv.OperationNameChat, provider, genaiconv.TokenTypeOutput,
			tokens...)
	}
}

// attributes returns the attributes of a span, or of an event (span ""), with the names of the conventions.
func (r *recorder) attributes(span string, attrs []trace.Attr) (all []attribute.KeyValue) {
	for _, a := range attrs {
		key, ok := conventional[a.Key]
		switch {
		case span == querySpan && a.Key == "engine", span == callSpan && (a.Key == "model" || a.Key == "stop_reason"):
			continue // it has a conventional attribute already
		case !ok, span != callSpan && span != querySpan: // no convention has an operation for a step
			key = attribute.Key(own + a.Key)
		}
		switch v := a.Value.(type) {
		case trace.Secret:
			switch s := v.Shown(r.Show); {
			case !s.Withheld:
				all = append(all, key.String(messages(key, s.Text)))
			case s.Sum != "" && s.Kind != trace.PrivatePrompts:
				all = append(all, attribute.String(own+a.Key+".sha256", s.Sum))
			}
		case string:
			if v != "" {
				all = append(all, key.String(v))
			}
		case bool:
			all = append(all, key.Bool(v))
		case int:
			all = append(all, key.Int(v))
		case int64:
			all = append(all, key.Int64(v))
		case float64:
			all = append(all, key.Float64(v))
		case time.Duration:
			all = append(all, key.Float64(v.Seconds()))
		case []string:
			all = append(all, key.StringSlice(v))
		default:
			all = append(all, key.String(fmt.Sprint(v)))
		}
	}
	return all
}

// role begins a message in the text of a prompt.
var role = regexp.MustCompile(`(?:\A|\n\n)\[(system|user|assistant)\]\n`)

// messages writes a prompt or a reply as the conventions want it, and any other text as it is.
func messages(key attribute.Key, text string) string {
	type part struct {
		Type    string `json:"type"`
		Content string `json:"content"`
	}
	type message struct {
		Role  string `json:"role"`
		Parts []part `json:"parts"`
	}
	var all []message
	add := func(role, text string) { all = append(all, message{role, []part{{"text", text}}}) }
	switch key {
	case genai.GenAIOutputMessagesKey:
		add("assistant", text)
	case genai.GenAIInputMessagesKey:
		begins := role.FindAllStringSubmatchIndex(text, -1)
		for i, at := range begins {
			end := len(text)
			if i+1 < len(begins) {
				end = begins[i+1][0]
			}
			add(text[at[2]:at[3]], text[at[1]:end])
		}
	default:
		return text
	}
	written, _ := json.Marshal(all) // of strings only
	return string(written)
}
