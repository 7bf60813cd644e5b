package otel_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "github.com/mattn/go-sqlite3"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/otel"
	"github.com/texttosql/texttosql/trace"
)

const secret = "s3cret-value"

// ask answers one question on a small database: of three samples one is a write, one has a wrong name and one counts.
func ask(t testing.TB, opts ...texttosql.Option) (*texttosql.Result, error) {
	t.Helper()
	pool, err := sql.Open("sqlite3", filepath.Join(t.TempDir(), "t.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	if _, err := pool.Exec("CREATE TABLE people(name TEXT); INSERT INTO people VALUES ('" + secret + "')"); err != nil {
		t.Fatal(err)
	}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text := []string{"DELETE FROM people", "SELECT nothing FROM people", "SELECT count(*) FROM people WHERE name = '" + secret + "'"}[req.Sample%3]
		return llm.Response{Text: text, Model: "m-1", StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, PromptTokens: 100, CompletionTokens: 7, Known: true}}, nil
	})
	engine, err := texttosql.New(pool, llm.Named("m", model), append(opts, texttosql.WithSamples(3))...)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Ask(t.Context(), "how many "+secret+"?")
}

// recorded gives one question to OpenTelemetry's own exporters in memory.
func recorded(t *testing.T, show trace.Private, ctx context.Context, res *texttosql.Result, err error) (tracetest.SpanStubs, metricdata.ResourceMetrics) {
	t.Helper()
	spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
	r, oerr := otel.New(otel.Config{
		Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)), Meter: metric.NewMeterProvider(metric.WithReader(reader)), Show: show,
	})
	if oerr != nil {
		t.Fatal(oerr)
	}
	r.Record(ctx, res, err)
	var metrics metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &metrics); err != nil {
		t.Fatal(err)
	}
	return spans.GetSpans(), metrics
}

// TestSpans: the spans are those of the trace, as it nests them, with its times and conventional names.
func TestSpans(t *testing.T) {
	res, err := ask(t)
	if err != nil {
		t.Fatal(err)
	}
	spans, _ := recorded(t, 0, t.Context(), res, err)
	id := map[string]tracetest.SpanStub{}
	for _, s := range spans {
		id[s.SpanContext.SpanID().String()] = s
	}
	var want, got []string
	for s := range res.Trace.All() {
		parent := ""
		if s.Parent() != nil {
			parent = s.Parent().Name()
		}
		want = append(want, fmt.Sprint(s.Name(), " in ", parent, " ", s.Started().UnixNano(), " ", s.Duration()))
	}
	calls := 0
	for _, s := range spans {
		name := s.Name
		if strings.HasPrefix(name, "chat") {
			name = "model call"
			calls++
			attrs := attribute.NewSet(s.Attributes...)
			for key, want := range map[attribute.Key]string{
				"gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": "100", "gen_ai.usage.output_tokens": "7", "gen_ai.response.finish_reasons": `["stop"]`,
			} {
				if v, _ := attrs.Value(key); v.String() != want {
					t.Errorf("%s = %s, want %s", key, v.String(), want)
				}
			}
		}
		parent := ""
		if p, ok := id[s.Parent.SpanID().String()]; ok {
			if parent = p.Name; strings.HasPrefix(parent, "chat") {
				parent = "model call"
			}
		}
		got = append(got, fmt.Sprint(name, " in ", parent, " ", s.StartTime.UnixNano(), " ", s.EndTime.Sub(s.StartTime)))
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" || calls != res.Usage.Calls {
		t.Errorf("%d calls; spans (-trace +OpenTelemetry):\n%s", calls, diff)
	}
}

// TestPrivate: nothing of the database, the question or the statements is in what is recorded unless it is asked for.
func TestPrivate(t *testing.T) {
	for _, tt := range []struct {
		keep, show trace.Private
		seen       []string // names of attributes with the secret
		why        string
	}{
		{0, 0, nil, "nothing is asked for"},
		{trace.PrivateSQL | trace.PrivatePrompts, 0, nil, "the trace may keep it and the exporter may not show it"},
		{0, trace.PrivateSQL, []string{"db.query.text"}, "a trace always holds statements"},
		{trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies, trace.PrivateSQL | trace.PrivatePrompts | trace.PrivateReplies,
			[]string{"db.query.text", "gen_ai.input.messages", "gen_ai.output.messages"}, "all is asked for"},
	} {
		res, err := ask(t, texttosql.WithReveal(tt.keep))
		if err != nil {
			t.Fatal(err)
		}
		spans, _ := recorded(t, tt.show, t.Context(), res, err)
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
		if diff := cmp.Diff(tt.seen, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.why, diff)
		}
	}
}

// TestMetrics counts calls, tokens, statements by what became of them, and the confidence.
func TestMetrics(t *testing.T) {
	res, err := ask(t)
	if err != nil {
		t.Fatal(err)
	}
	_, metrics := recorded(t, 0, t.Context(), res, err)
	got := map[string]string{}
	for _, scope := range metrics.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Histogram[int64]:
				for _, p := range data.DataPoints {
					got[fmt.Sprint(m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()))] = fmt.Sprint(p.Count, " ", p.Sum)
				}
			case metricdata.Histogram[float64]:
				for _, p := range data.DataPoints {
					got[fmt.Sprint(m.Name, p.Attributes.Encoded(attribute.DefaultEncoder()))] = fmt.Sprint(p.Count)
				}
			}
		}
	}
	var model string
	for s := range res.Trace.All() {
		if v, ok := s.Attr("model"); ok {
			model = fmt.Sprint(v)
		}
	}
	call := "gen_ai.operation.name=chat,gen_ai.request.model=" + model
	u := res.Usage
	want := map[string]string{
		"gen_ai.client.operation.duration" + call:                        fmt.Sprint(u.Calls),
		"gen_ai.client.token.usage" + call + ",gen_ai.token.type=input":  fmt.Sprint(u.Calls, " ", u.PromptTokens),
		"gen_ai.client.token.usage" + call + ",gen_ai.token.type=output": fmt.Sprint(u.Calls, " ", u.CompletionTokens),
		"texttosql.candidatestexttosql.fate=voted":                       "1 1",
		"texttosql.candidatestexttosql.fate=rejected":                    "1 2",
		"texttosql.confidencetexttosql.outcome=answered":                 "1",
		"texttosql.question.durationtexttosql.outcome=answered":          "1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestOutcomes: a question that failed is recorded with its status, and nothing panics without a result.
func TestOutcomes(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	res, err := ask(t)
	spans, _ := recorded(t, 0, ctx, res, err)
	if len(spans) == 0 {
		t.Error("a context that ended records nothing")
	}
	for _, tt := range []struct {
		err  error
		want string
	}{{texttosql.ErrAbstained, "unsure"}, {context.Canceled, "cancelled"}, {io.EOF, "other"}} {
		spans, _ := recorded(t, 0, t.Context(), res, tt.err)
		attrs := attribute.NewSet(spans[len(spans)-1].Attributes...)
		if got, _ := attrs.Value("texttosql.outcome"); got.String() != tt.want {
			t.Errorf("%v: %s", tt.err, got.String())
		}
	}
	root := trace.New("question")
	root.Fail(errors.New("the schema cannot be read"))
	root.Warn("careful", "a warning")
	root.End()
	spans, _ = recorded(t, 0, t.Context(), &texttosql.Result{Trace: root}, io.EOF)
	if s := spans[0]; s.Status.Code != codes.Error || !strings.Contains(s.Status.Description, "schema") || len(s.Events) != 1 {
		t.Errorf("%+v", s)
	}
	if spans, _ := recorded(t, 0, t.Context(), nil, io.EOF); len(spans) > 0 {
		t.Error("spans of nothing")
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
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(server.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	res, aerr := ask(t)
	if aerr != nil {
		t.Fatal(aerr)
	}
	r, err := otel.New(otel.Config{Tracer: provider})
	if err != nil {
		t.Fatal(err)
	}
	r.Record(t.Context(), res, aerr)
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	sent := 0
	for range res.Trace.All() {
		sent++
	}
	if received != sent || sent == 0 {
		t.Errorf("%d of %d spans arrived", received, sent)
	}
}
