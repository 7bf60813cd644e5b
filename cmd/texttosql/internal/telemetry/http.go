package telemetry

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"go.opentelemetry.io/otel/propagation"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
)

// Watched puts around a handler what watches it: /healthz for everybody, which says "ok" once ready does, /metrics
// behind guard, and a line a request in log, without its query and its body, and with what was noted of it
// (httpserver.Note); nil: no line.
func (t *Telemetry) Watched(next http.Handler, guard func(http.Handler) http.Handler, ready func(context.Context) error,
	log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	if t.page != nil {
		mux.Handle("GET /metrics", guard(t.page))
	}
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
		defer cancel()
		if err := ready(ctx); err != nil {
			http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n")
	})
	// a question stands below the span of the proxy
	traced := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		mux.ServeHTTP(w, r.WithContext(ctx))
	})
	if log == nil {
		return traced
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, reply := time.Now(), &counted{ResponseWriter: w, status: http.StatusOK}
		ctx, noted := httpserver.Noted(r.Context())
		r = r.WithContext(ctx)
		defer func() {
			line := []any{"method", r.Method, "path", r.URL.Path, "status", reply.status, "bytes", reply.bytes,
				"took", time.Since(start).Round(time.Microsecond), "from", r.RemoteAddr}
			if id := conversation.FindString(r.URL.Path); id != "" {
				line = append(line, "conversation", id)
			}
			line = append(line, noted()...)
			about := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
			if id := oteltrace.SpanContextFromContext(about).TraceID(); id.IsValid() {
				line = append(line, "trace", id.String())
			}
			log.Info("request", line...)
		}()
		traced.ServeHTTP(reply, r)
	})
}

// conversation is the id of one in a path of the page.
var conversation = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

// counted counts what is written. Streams find the ResponseWriter below it by http.ResponseController.
type counted struct {
	http.ResponseWriter
	status, bytes int
}

func (c *counted) WriteHeader(status int) {
	c.status = status
	c.ResponseWriter.WriteHeader(status)
}

func (c *counted) Write(b []byte) (int, error) {
	n, err := c.ResponseWriter.Write(b)
	c.bytes += n
	return n, err
}

// Unwrap is for http.ResponseController.
func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Flush is for those who ask the writer itself.
func (c *counted) Flush() { http.NewResponseController(c.ResponseWriter).Flush() }
