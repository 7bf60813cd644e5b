package otel_test

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	oteltrace "go.opentelemetry.io/otel/trace"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/otel"
	"github.com/texttosql/texttosql/trace"
)

const secret = "s3cret-value"

// ask answers one question on a small database: of three samples one is a write, one has a wrong name and one counts.
func ask(t testing.TB, opts ...texttosql.Option) (*texttosql.Result, error) {
	t.Helper()
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text := []string{"DELETE FROM people", "SELECT nothing FROM people", "SELECT count(*) FROM people WHERE name = '" +
			secret + "'"}[req.Sample%3]
		return llm.Response{Text: text, Model: "m-1", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 100,
			CompletionTokens: 7, Known: true}}, nil
	})
	engine := testutil.Value(texttosql.New(database(t), llm.Named("m", model),
		append(opts, texttosql.WithSamples(3))...))(t)
	return engine.Ask(t.Context(), "how many "+secret+"?")
}

func database(t testing.TB) *sql.DB {
	t.Helper()
	pool := testutil.Value(sql.Open("sqlite3", filepath.Join(t.TempDir(), "t.db")))(t)
	t.Cleanup(func() { pool.Close() })
	testutil.Value(pool.Exec("CREATE TABLE people(name TEXT); INSERT INTO people VALUES ('" + secret + "')"))(t)
	return pool
}

// recorded asks with a Recorder on OpenTelemetry's own exporters in memory.
func recorded(t *testing.T, c otel.Config, opts ...texttosql.Option) (*texttosql.Result, tracetest.SpanStubs,
	metricdata.ResourceMetrics) {
	t.Helper()
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	c.Tracer, c.Meter = sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
		metric.NewMeterProvider(metric.WithReader(reader))
	r := testutil.Value(otel.New(c))(t)
	res := testutil.Value(ask(t, append(opts, texttosql.WithTelemetry(r))...))(t)
	var metrics metricdata.ResourceMetrics
	testutil.OK(t, reader.Collect(t.Context(), &metrics))
	return res, spans.GetSpans(), metrics
}

// attr returns an attribute of a span as text, "" if it has none.
func attr(s tracetest.SpanStub, key attribute.Key) string {
	set := attribute.NewSet(s.Attributes...)
	v, ok := set.Value(key)
	if !ok {
		return ""
	}
	return v.String()
}

// TestSpans: the spans are those of the trace, as it nests them, with its times and conventional names.
func TestSpans(t *testing.T) {
	res, spans, _ := recorded(t, otel.Config{Provider: "anthropic", Namespace: "shop", Server: "db.example:5432",
		Version: "1.2.3"})
	id := map[string]tracetest.SpanStub{}
	for _, s := range spans {
		id[s.SpanContext.SpanID().String()] = s
	}
	names := map[string]string{"model call": "chat m", "exec.query": "SELECT shop"}
	named := func(s *trace.Span) string { return cmp.Or(names[s.Name()], s.Name()) }
	var want, got []string
	for s := range res.Trace.All() {
		parent := ""
		if s.Parent() != nil {
			parent = named(s.Parent())
		}
		want = append(want, fmt.Sprint(named(s), " in ", parent, " ", s.Started().UnixNano(), " ", s.Duration()))
	}
	for _, s := range spans {
		got = append(got, fmt.Sprint(s.Name, " in ", id[s.Parent.SpanID().String()].Name, " ", s.StartTime.UnixNano(), " ",
			s.EndTime.Sub(s.StartTime)))
		if scope := s.InstrumentationScope; scope.SchemaURL != "https://opentelemetry.io/schemas/1.43.0" ||
			scope.Version != "1.2.3" {
			t.Errorf("%s: %+v", s.Name, scope)
		}
		var attrs map[attribute.Key]string
		switch s.Name {
		case "chat m":
			attrs = map[attribute.Key]string{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "anthropic",
				"gen_ai.request.model":  "m",
				"gen_ai.response.model": "m-1", "gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "7",
				"gen_ai.response.finish_reasons": `["stop"]`, "gen_ai.input.messages": "", "gen_ai.output.messages": ""}
		case "SELECT shop":
			attrs = map[attribute.Key]string{"db.system.name": "sqlite", "db.operation.name": "SELECT", "db.namespace": "shop",
				"server.address": "db.example", "server.port": "5432", "db.query.text": ""}
			if len(attr(s, "texttosql.sql.sha256")) != 16 {
				t.Errorf("%v", s.Attributes)
			}
		case "question":
			attrs = map[attribute.Key]string{"texttosql.outcome": "answered", "texttosql.confidence": fmt.Sprint(res.Confidence)}
		}
		if client := strings.HasPrefix(s.Name, "chat") ||
			strings.HasPrefix(s.Name, "SELECT"); client != (s.SpanKind == oteltrace.SpanKindClient) {
			t.Errorf("%s is %v", s.Name, s.SpanKind)
		}
		for key, want := range attrs {
			if got := attr(s, key); got != want {
				t.Errorf("%s: %s = %q, want %q", s.Name, key, got, want)
			}
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("spans (-trace +OpenTelemetry):\n%s", diff)
	}
}

// TestProviders: the conventions' names of providers and models.
func TestProviders(t *testing.T) {
	for _, tt := range []struct{ name, provider, model, why string }{
		{"openai:gpt-5-mini", "openai", "gpt-5-mini", "as the command names it"},
		{"gemini:gemini-3-pro", "gcp.gemini", "gemini-3-pro", "the conventions have another name"},
		{"ollama:qwen2.5-coder:7b", "ollama", "qwen2.5-coder:7b", "a provider that the conventions do not know"},
		{"n", "own", "n", "that of the Config"},
	} {
		_, spans, _ := recorded(t, otel.Config{Provider: "own"}, texttosql.WithModels(llm.Named(tt.name, llm.Func(
			func(context.Context, llm.Request) (llm.Response, error) {
				return llm.Response{Text: "SELECT count(*) FROM people"}, nil
			}))))
		if !slices.ContainsFunc(spans, func(s tracetest.SpanStub) bool {
			return s.Name == "chat "+tt.model && attr(s, "gen_ai.provider.name") == tt.provider
		}) {
			t.Errorf("%s: no span of %s by %s: %s", tt.name, tt.model, tt.provider, tt.why)
		}
	}
}

// TestSystem: the conventions' names of engines, and of a server that says what it is while the statement runs.
func TestSystem(t *testing.T) {
	for _, tt := range []struct{ dialect, server, want string }{
		{"mysql", "", "mysql"}, {"mysql", "mariadb", "mariadb"}, {"postgres", "", "postgresql"},
		{"bigquery", "", "gcp.bigquery"}, {"sqlite", "", "sqlite"},
	} {
		spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
		r, err := otel.New(otel.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
			Meter: metric.NewMeterProvider(metric.WithReader(reader))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, _ := trace.Tracer{Follow: r.Follow}.Start(t.Context(), "statement")
		_, span := trace.Start(ctx, "exec.query", trace.Attr{Key: "engine", Value: tt.dialect})
		if tt.server != "" {
			span.Set("engine", tt.server)
		}
		span.End()
		var metrics metricdata.ResourceMetrics
		testutil.OK(t, reader.Collect(t.Context(), &metrics))
		counted := fmt.Sprint(metrics.ScopeMetrics[0].Metrics[0].Data)
		if got := attr(spans.GetSpans()[0], "db.system.name"); got != tt.want || !strings.Contains(counted, tt.want) {
			t.Errorf("%s, %q: %q, want %q; the metric: %s", tt.dialect, tt.server, got, tt.want, counted)
		}
	}
}

// TestLive: while a model works, the question and the steps around the call have begun, and what the model does stands
// below the call; what a driver does stands below its statement.
func TestLive(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	begun := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans), sdktrace.WithSpanProcessor(begun))
	r := testutil.Value(otel.New(otel.Config{Tracer: provider}))(t)
	var once sync.Once
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		once.Do(func() {
			var names []string
			for _, s := range begun.Started() {
				names = append(names, s.Name())
			}
			if len(spans.GetSpans()) >= len(names) || !slices.Contains(names, "question") || !slices.Contains(names, "sample") ||
				!slices.Contains(names, "chat m") {
				t.Errorf("while the first call runs, %q have begun", names)
			}
		})
		_, span := provider.Tracer("http").Start(ctx, "POST")
		span.End()
		return llm.Response{Text: "SELECT count(*) FROM people"}, nil
	})
	ctx, outer := provider.Tracer("service").Start(t.Context(), "GET /ask")
	engine := testutil.Value(texttosql.New(database(t), llm.Named("m", model), texttosql.WithTelemetry(r),
		texttosql.WithSamples(4)))(t)
	res := testutil.Value(engine.Ask(ctx, "how many?"))(t)
	testutil.Value(engine.Query(ctx, "SELECT name FROM people"))(t)
	outer.End()
	id := map[string]string{}
	for _, s := range spans.GetSpans() {
		id[s.SpanContext.SpanID().String()] = s.Name
		if s.SpanContext.TraceID() != outer.SpanContext().TraceID() {
			t.Errorf("%s is in a trace of its own", s.Name)
		}
	}
	parents := map[string]string{"POST": "chat m", "question": "GET /ask", "statement": "GET /ask"}
	posts := 0
	for _, s := range spans.GetSpans() {
		if want, ok := parents[s.Name]; ok && id[s.Parent.SpanID().String()] != want {
			t.Errorf("%s is in %q, want %s", s.Name, id[s.Parent.SpanID().String()], want)
		}
		if s.Name == "POST" {
			posts++
		}
	}
	if posts != res.Usage.Calls {
		t.Errorf("%d of %d calls", posts, res.Usage.Calls)
	}
}

// TestPrivate: nothing of the database, the question or the statements is in what is recorded unless it is asked for.
func TestPrivate(t *testing.T) {
	for _, tt := range []struct {
		keep, show trace.Sensitivity
		seen       []string // names of attributes with the secret
		why        string
	}{
		{0, 0, nil, "nothing is asked for"},
		{trace.PrivateSQL | trace.PrivatePrompts, 0, nil, "the trace may keep it and the exporter may not show it"},
		{0, trace.PrivateSQL, []string{"db.query.text"}, "a trace always holds statements"},
		{trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies,
			trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies,
			[]string{"db.query.text", "gen_ai.input.messages", "gen_ai.output.messages"}, "all is asked for"},
	} {
		_, spans, _ := recorded(t, otel.Config{Show: tt.show}, texttosql.WithTraceContent(tt.keep))
		seen := map[string]bool{}
		for _, s := range spans {
			all := slices.Clone(s.Attributes)
			for _, e := range s.Events {
				all = append(all, e.Attributes...)
			}
			for _, a := range append(all, attribute.String("name", s.Name), attribute.String("status", s.Status.Description)) {
				if strings.Contains(a.Value.String(), secret) {
					seen[string(a.Key)] = true
				}
			}
		}
		var got []string
		for key := range seen {
			if !strings.HasPrefix(key, "texttosql.") {
				got = append(got, key)
			} else if tt.show == 0 {
				t.Errorf("%s: in %s", tt.why, key)
			}
		}
		slices.Sort(got)
		if diff := gocmp.Diff(tt.seen, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestMetrics counts calls, tokens, statements by what became of them, and the confidence.
func TestMetrics(t *testing.T) {
	res, _, metrics := recorded(t, otel.Config{Provider: "openai", Namespace: "shop"})
	bounds := map[string][]float64{}
	got := map[string]string{}
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					bounds[m.Name] = p.Bounds
					got[fmt.Sprint(m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()))] = fmt.Sprint(p.Count, " ", p.Sum)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					bounds[m.Name] = p.Bounds
					got[fmt.Sprint(m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()))] = fmt.Sprint(p.Count)
				}
			}
		}
	}
	statements := 0
	for s := range res.Trace.All() {
		if s.Name() == "exec.query" {
			statements++
		}
	}
	call := "gen_ai.operation.name=chat,gen_ai.provider.name=openai,gen_ai.request.model=m"
	u := res.Usage
	want := map[string]string{
		"gen_ai.client.operation.duration" + call: fmt.Sprint(u.Calls),
		"gen_ai.client.token.usage" + call + ",gen_ai.token.type=input": fmt.Sprint(u.Calls,
			" ", u.PromptTokens),
		"gen_ai.client.token.usage" + call + ",gen_ai.token.type=output": fmt.Sprint(u.Calls,
			" ", u.CompletionTokens),
		"texttosql.candidatestexttosql.fate=voted":                                      "1 1",
		"texttosql.candidatestexttosql.fate=rejected":                                   "1 2",
		"texttosql.confidencetexttosql.outcome=answered":                                "1",
		"texttosql.question.durationtexttosql.kind=question,texttosql.outcome=answered": "1",
		"db.client.operation.durationdb.namespace=shop,db.operation.name=SELECT,db.system.name=sqlite": fmt.Sprint(
			statements),
	}
	for name, bound := range map[string]float64{ // one that the default boundaries do not have
		"gen_ai.client.operation.duration": 81.92, "gen_ai.client.token.usage": 67108864,
		"db.client.operation.duration": .001,
		"texttosql.question.duration":  300, "texttosql.confidence": .9, "texttosql.candidates": 64,
	} {
		if !slices.Contains(bounds[name], bound) {
			t.Errorf("%s: %v", name, bounds[name])
		}
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOutcomes: a question that failed has its class and its status, and a Recorder takes what it did not follow.
func TestOutcomes(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tt := range []struct {
		ctx   context.Context
		reply string
		want  string
		why   string
	}{
		{ended, "SELECT 1", "cancelled", "the caller went away"},
		{t.Context(), "DELETE FROM people", "refused", "nothing may run"},
	} {
		spans := tracetest.NewInMemoryExporter()
		r := testutil.Value(otel.New(otel.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))}))(t)
		model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: tt.reply}, nil
		})
		engine := testutil.Value(texttosql.New(database(t), model, texttosql.WithTelemetry(r)))(t)
		_, err := engine.Ask(tt.ctx, "how many?")
		all := spans.GetSpans()
		if root := all[len(all)-1]; attr(root, "texttosql.outcome") != tt.want || root.Status.Code != codes.Error {
			t.Errorf("%s: %v, %+v", tt.why, err, root)
		}
		r.Ended(&texttosql.Result{Trace: trace.Tracer{}.New("question")}, io.EOF)
	}
}

// TestDegraded: a question that lost samples to a failing provider is no plain success.
func TestDegraded(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	r := testutil.Value(otel.New(otel.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))}))(t)
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if req.Sample > 0 {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no quota"}
		}
		return llm.Response{Text: "SELECT 1"}, nil
	})
	engine := testutil.Value(texttosql.New(database(t), model, texttosql.WithTelemetry(r), texttosql.WithSamples(3)))(t)
	_, err := engine.Ask(t.Context(), "how many?")
	all := spans.GetSpans()
	if root := all[len(all)-1]; attr(root, "texttosql.outcome") != "degraded" {
		t.Errorf("%v, %+v", err, root)
	}
}

// TestOTLP sends the spans of a question over HTTP to a receiver and finds each there.
func TestOTLP(t *testing.T) {
	var mu sync.Mutex
	received := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var req collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &req)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range req.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				received += len(scope.Spans)
			}
		}
	}))
	defer server.Close()
	exporter := testutil.Value(otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL+"/v1/traces")))(t)
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	r := testutil.Value(otel.New(otel.Config{Tracer: provider}))(t)
	res := testutil.Value(ask(t, texttosql.WithTelemetry(r)))(t)
	testutil.OK(t, provider.Shutdown(t.Context()))
	sent := 0
	for range res.Trace.All() {
		sent++
	}
	if received != sent || sent == 0 {
		t.Errorf("%d of %d spans arrived", received, sent)
	}
}
