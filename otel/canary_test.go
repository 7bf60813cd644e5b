package otel_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/otel"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
	"github.com/texttosql/texttosql/trace"
)

// canary stands in every name and value of the scope, the policy, the database and the options.
const canary = "canary"

// canaryPolicy has a canary in each of its fields. Settings are refused on SQLite.
var canaryPolicy = exec.Policy{
	AllowTables: []string{"canary_sales", "canary_shops", "canary_denied", "canary_part"},
	DenyTables:  []string{"canary_denied"},
	DenyColumns: []string{"canary_sales.canary_cost"}, AllowFunctions: []string{"canary_function"},
	Reveal: []string{"canary_sales.canary_token"},
	Rows:   map[string]string{"canary_sales": "canary_shop = :canary_param AND canary_shop <> 'canary rule'"},
	Shared: []string{"canary_shops"},
	Fence:  "always",
}

// TestNoCanary: spans, metrics and the log of an operator have nothing that the scope, the policy, the database or the
// options say, whatever the method, and whether a statement is answered, refused or wrong.
func TestNoCanary(t *testing.T) {
	statements := []string{
		"SELECT canary_shop FROM canary_sales WHERE canary_shop = 'canary'", "SELECT canary_cost FROM canary_sales",
		"SELECT * FROM canary_denied",
		"SELECT canary_function(1)", "SELECT canary_nothing FROM canary_sales", "DELETE FROM canary_sales",
		"SELECT rowid FROM canary_part", "canary, no statement",
	}
	model := llm.Named("m", llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: statements[req.Sample%len(statements)], StopReason: llm.StopEnd}, nil
	}))
	strategies := []strategy.Strategy{
		strategy.Consensus{}, planvote.Plain{}, maker.Strategy{}, petsql.Strategy{}, qasql.Strategy{}, threephase.Strategy{},
		agent.ReAct{},
		strategy.Pipeline{Linker: linker.MapReduce{Model: model}}, strategy.Pipeline{Linker: linker.PerTable{Model: model}},
	}
	for _, s := range strategies {
		spans, reader := tracetest.NewInMemoryExporter(), metric.NewManualReader()
		recorder := testutil.Value(otel.New(otel.Config{
			Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
			Meter:  metric.NewMeterProvider(metric.WithReader(reader)),
		}))(t)
		var logged bytes.Buffer
		pool := database(t)
		testutil.Value(
			pool.Exec(`CREATE TABLE canary_sales(canary_shop TEXT, canary_cost INT, canary_token TEXT, canary_password TEXT);
			CREATE TABLE canary_shops(canary_name TEXT); CREATE TABLE canary_denied(canary_x INT); CREATE TABLE canary_part(canary_x INT);
			INSERT INTO canary_sales VALUES ('canary one', 1, 'canary', 'canary'), ('canary two', 2, 'canary', 'canary');`))(t)
		e := testutil.Value(texttosql.New(pool, model, texttosql.WithTelemetry(recorder), texttosql.WithStrategy(s),
			texttosql.WithPolicy(canaryPolicy),
			texttosql.WithInstructions(canary),
			texttosql.WithMemory(memory.Options{Exemplars: []memory.Exemplar{{Question: canary,
				SQL: "SELECT canary_shop FROM canary_sales"}}}),
			texttosql.WithDescriptions(schema.Descriptions{"canary_sales": {Text: canary}, "canary_gone": {Text: canary}}),
			texttosql.WithBudget(llm.Budget{InFlight: 1}),
			texttosql.WithLogger(slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug})))))(t)
		scope := texttosql.WithScope(exec.Scope{Key: "canary@red.example",
			Params: map[string]any{"canary_param": "canary one"}})
		_, _ = e.Ask(t.Context(), "How many canary sales?", scope, texttosql.WithEvidence(canary))
		for _, sql := range statements {
			_, _ = e.Query(t.Context(), sql, scope)
		}
		var metrics metricdata.ResourceMetrics
		testutil.OK(t, reader.Collect(t.Context(), &metrics))
		exported := spans.GetSpans()
		if len(exported) < 10 {
			t.Errorf("%T: %d spans", s, len(exported))
		}
		keys := map[string]bool{}
		for _, span := range exported {
			text := fmt.Sprintf("%s %v %v %v", span.Name, span.Attributes, span.Status, span.Events)
			if strings.Contains(text, canary) {
				t.Errorf("%T: a span has a canary: %s", s, text)
			}
			if key := attr(span, "texttosql.scope.sha256"); key != "" {
				keys[key] = true
			}
		}
		if len(keys) != 1 {
			t.Errorf("%T: the questions of one scope have the hashes %v", s, keys)
		}
		if text := fmt.Sprintf("%+v", metrics); strings.Contains(text, canary) {
			t.Errorf("%T: a metric has a canary: %s", s, text)
		}
		for line := range strings.Lines(logged.String()) {
			if strings.Contains(line, canary) && !strings.Contains(line, "msg=\"texttosql: operator\"") {
				t.Errorf("%T: the log has a canary: %s", s, line)
			}
		}
	}
}

// TestScopeShown: the clear key is exported where the caller asks for it, of the trace and of the exporter.
func TestScopeShown(t *testing.T) {
	for show, want := range map[trace.Sensitivity]bool{0: false, trace.PrivateSQL: false, trace.PrivateScopes: true} {
		spans := tracetest.NewInMemoryExporter()
		recorder := testutil.Value(otel.New(otel.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
			Show: show}))(t)
		e := testutil.Value(texttosql.New(database(t), texttosql.NoModel, texttosql.WithTelemetry(recorder),
			texttosql.WithTraceContent(show), texttosql.WithPolicy(exec.Policy{Shared: []string{"people"}})))(t)
		testutil.Value(e.Query(t.Context(), "SELECT 1", texttosql.WithScope(exec.Scope{Key: "canary"})))(t)
		if got := strings.Contains(fmt.Sprint(spans.GetSpans()), canary); got != want {
			t.Errorf("with %d shown, the key is exported: %v", show, got)
		}
	}
}
