// Telemetry sends the spans and metrics of a question to a collector of OpenTelemetry:
//
//	docker compose -f examples/telemetry/compose.yaml up -d       # Jaeger, which takes OTLP: http://localhost:16686
//	OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 go run ./examples/telemetry
//
// Without the variable it prints the spans. The command needs no program: texttosql serve reads the same variable.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	_ "github.com/mattn/go-sqlite3"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/otel"
)

func main() {
	log.SetFlags(0)
	var exporter sdktrace.SpanExporter = printer{os.Stdout}
	if os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" {
		var err error
		if exporter, err = otlptracehttp.New(context.Background()); err != nil {
			log.Fatal(err)
		}
	}
	if err := run(context.Background(), exporter); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, exporter sdktrace.SpanExporter) (err error) {
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter))
	defer func() { err = errors.Join(err, provider.Shutdown(ctx)) }() // sends what is left
	recorder, err := otel.New(otel.Config{Tracer: provider, Provider: "openai", Namespace: "shop"})
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	if _, err := db.ExecContext(ctx,
		"CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (1), (2)"); err != nil {
		return err
	}
	// in its place: openai.Model("gpt-5-mini")
	model := llm.Named("gpt-5-mini", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT count(*) FROM orders", Usage: llm.Usage{Calls: 1, PromptTokens: 210,
			CompletionTokens: 9, Known: true}}, nil
	}))
	engine, err := texttosql.New(db, model, texttosql.WithTelemetry(recorder), texttosql.WithSamples(3))
	if err != nil {
		return err
	}
	_, err = engine.Ask(ctx, "How many orders are there?")
	return err
}

// printer prints spans in place of a collector.
type printer struct{ io.Writer }

// ExportSpans prints the spans and their attributes.
func (p printer) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	for _, s := range spans {
		fmt.Fprintln(p, s.Name())
		for _, a := range s.Attributes() {
			fmt.Fprintf(p, "  %s=%s\n", a.Key, a.Value.String())
		}
	}
	return nil
}

// Shutdown does nothing.
func (printer) Shutdown(context.Context) error { return nil }
