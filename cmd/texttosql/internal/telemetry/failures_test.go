package telemetry

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	_ "github.com/mattn/go-sqlite3"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// TestFailures: a question that fails leaves one line with class, status and trace, and neither the line nor a span has
// the words of the provider or the question. The trace is the one that the request came with.
func TestFailures(t *testing.T) {
	refused := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Status: 401,
			Message: "organization org-SECRET has no key sk-abc"}
	})
	db := testutil.Value(sql.Open("sqlite3", "file:failures?mode=memory&cache=shared"))(t)
	defer db.Close()
	testutil.Value(db.Exec("CREATE TABLE t (a)"))(t)

	spans := tracetest.NewSpanRecorder()
	sent := &Telemetry{traces: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))}
	var told bytes.Buffer
	option := testutil.Value(sent.Option("", slog.New(slog.NewTextHandler(&told, nil))))(t)
	e := testutil.Value(texttosql.New(db, refused, option))(t)
	page := sent.Watched(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if _, err := e.Ask(httpserver.WithConversation(r.Context(), "talk-7"), "How many hidden figures?"); err == nil {
			t.Error("no error")
		}
	}), nil, nil, nil)
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Header.Set("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	page.ServeHTTP(httptest.NewRecorder(), r)

	line := told.String()
	for _, want := range []string{"level=ERROR", `msg="question failed"`, "class=key", "status=401", "conversation=talk-7",
		"trace=4bf92f3577b34da6a3ce929d0e0e4736", "hint=", "calls="} {
		if !strings.Contains(line, want) {
			t.Errorf("no %s in %s", want, line)
		}
	}
	texts := line
	for _, s := range spans.Ended() {
		texts += s.Name() + s.Status().Description
		for _, a := range s.Attributes() {
			texts += a.Value.String()
		}
		for _, e := range s.Events() {
			for _, a := range e.Attributes {
				texts += a.Value.String()
			}
		}
	}
	for _, never := range []string{"SECRET", "sk-abc", "hidden"} {
		if strings.Contains(texts, never) {
			t.Errorf("%q is told: %s", never, texts)
		}
	}
	if strings.Count(line, "\n") != 1 || len(spans.Ended()) == 0 {
		t.Errorf("%d spans, %q", len(spans.Ended()), line)
	}
}
