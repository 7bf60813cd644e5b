package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

// TestRun: the spans are printed, or sent.
func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), printer{&out}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"chat gpt-5-mini", "SELECT shop", "\nquestion\n", "  db.system.name=sqlite\n"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, &out)
		}
	}
	var sent atomic.Int64
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent.Add(r.ContentLength)
	}))
	defer collector.Close()
	exporter, err := otlptracehttp.New(t.Context(), otlptracehttp.WithEndpointURL(collector.URL+"/v1/traces"))
	if err != nil {
		t.Fatal(err)
	}
	if err := run(t.Context(), exporter); err != nil || sent.Load() == 0 {
		t.Error(sent.Load(), err)
	}
}
