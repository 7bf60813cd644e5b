package otel_test

import (
	"context"
	"database/sql"
	"fmt"

	_ "github.com/mattn/go-sqlite3"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/otel"
	"github.com/texttosql/texttosql/strategy"
)

func Example() {
	spans := tracetest.NewInMemoryExporter() // in its place: otlptracehttp.New
	recorder, err := otel.New(otel.Config{Tracer: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)),
		Provider: "openai", Namespace: "shop"})
	if err != nil {
		panic(err)
	}
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		panic(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE orders(id)"); err != nil {
		panic(err)
	}
	model := llm.Named("gpt-5-mini", llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT count(*) FROM orders"}, nil
	}))
	engine, err := texttosql.New(db, model, texttosql.WithStrategy(strategy.Direct{}), texttosql.WithTelemetry(recorder))
	if err != nil {
		panic(err)
	}
	if _, err := engine.Ask(context.Background(), "How many orders?"); err != nil {
		panic(err)
	}
	for _, s := range spans.GetSpans() {
		fmt.Println(s.Name, s.SpanKind)
	}
	// Output:
	// schema internal
	// profile internal
	// chat gpt-5-mini client
	// SELECT shop client
	// check internal
	// sample internal
	// vote internal
	// statements internal
	// SELECT shop client
	// rows internal
	// question internal
}
