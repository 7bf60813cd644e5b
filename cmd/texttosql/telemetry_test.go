package main

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	metrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/testutil"
)

// receiver is a receiver of OTLP over HTTP.
type receiver struct {
	mu      sync.Mutex
	spans   map[string]string // the name of the parent by the name of a span, of the last that had it
	service string
	db      map[string]string // the conventional attributes of the last statement
	metrics map[string]bool
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	var t traces.ExportTraceServiceRequest
	var m metrics.ExportMetricsServiceRequest
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case req.URL.Path == "/v1/traces" && proto.Unmarshal(body, &t) == nil:
		names := map[string]string{}
		for _, resource := range t.ResourceSpans {
			for _, a := range resource.Resource.Attributes {
				if a.Key == "service.name" {
					r.service = a.Value.GetStringValue()
				}
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					names[string(s.SpanId)] = s.Name
				}
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					r.spans[s.Name] = names[string(s.ParentSpanId)]
					for _, a := range s.Attributes {
						if strings.HasPrefix(a.Key, "db.") {
							r.db[a.Key] = a.Value.GetStringValue()
						}
					}
				}
			}
		}
	case req.URL.Path == "/v1/metrics" && proto.Unmarshal(body, &m) == nil:
		for _, resource := range m.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, one := range scope.Metrics {
					r.metrics[one.Name] = true
				}
			}
		}
	default:
		http.Error(w, "bad", http.StatusBadRequest)
	}
}

// newReceiver starts a receiver, and returns env with its URL.
func newReceiver(t *testing.T, env map[string]string) (*receiver, map[string]string) {
	got := &receiver{spans: map[string]string{}, metrics: map[string]bool{}, db: map[string]string{}}
	server := httptest.NewServer(got)
	t.Cleanup(server.Close)
	return got, with(env, "OTEL_EXPORTER_OTLP_ENDPOINT", server.URL+"/")
}

// called calls a tool of serve-mcp, with its arguments, and ends the server.
func called(t *testing.T, env map[string]string, tool, arguments string) (reply string) {
	t.Helper()
	const call = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":""}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":%q,"arguments":%s}}
`
	in, write := io.Pipe()
	said, out := io.Pipe()
	p := &program{ctx: t.Context(), in: in, out: out, err: io.Discard, args: []string{"serve-mcp"},
		getenv: func(name string) string { return env[name] }}
	ended := make(chan int, 1)
	go func() { ended <- p.report(p.run()); out.Close() }()
	go fmt.Fprintf(write, call, tool, arguments)
	lines := bufio.NewScanner(said)
	for lines.Scan() && !strings.Contains(lines.Text(), `"id":2`) {
	}
	reply = lines.Text()
	write.Close()
	if code := <-ended; code != 0 {
		t.Fatal(code)
	}
	return reply
}

// TestTelemetry: talk, serve and serve-mcp send the spans and metrics of a question to a receiver that the environment
// names.
func TestTelemetry(t *testing.T) {
	for _, verb := range []string{"talk", "serve-mcp", "serve"} {
		t.Run(verb, func(t *testing.T) {
			got, env := newReceiver(t, asking(t, always("SELECT count(*) FROM customers")))
			env["TEXTTOSQL_DSN"] = shopFile(t)
			switch verb {
			case "talk":
				if code, _, told := try(t, env, "How many customers are there?\n", "talk", "--sessions", t.TempDir()); code != 0 {
					t.Fatal(code, told)
				}
			case "serve-mcp":
				called(t, env, "ask", `{"question":"How many customers are there?"}`)
			case "serve":
				watched(t, env)
			}
			got.mu.Lock()
			defer got.mu.Unlock()
			if got.spans["chat fake"] != "sample" && got.spans["chat fake"] != "repair" || got.spans["SELECT shop"] == "" ||
				got.service != "texttosql" {
				t.Errorf("service %q, spans %v", got.service, got.spans)
			}
			if parent, ok := got.spans["question"]; !ok || parent != "" {
				t.Errorf("the question is below %q", parent)
			}
			for _, name := range []string{"gen_ai.client.operation.duration", "gen_ai.client.token.usage",
				"db.client.operation.duration", "texttosql.confidence"} {
				if !got.metrics[name] {
					t.Errorf("no %s in %v", name, got.metrics)
				}
			}
		})
	}
}

// TestTelemetryWithoutModel: serve-mcp sends the statement of a tool too, with the name of the server that it runs on.
func TestTelemetryWithoutModel(t *testing.T) {
	for engine, dsn := range map[string]func(t *testing.T) string{
		"sqlite":  shopFile,
		"mariadb": func(t *testing.T) string { return fmt.Sprintf("mysql://root@127.0.0.1:%d/shop", mariaDBShop(t)) },
	} {
		t.Run(engine, func(t *testing.T) {
			got, env := newReceiver(t, map[string]string{"TEXTTOSQL_DSN": dsn(t)})
			if reply := called(t, env, "query", `{"sql":"SELECT 7 AS seven"}`); !strings.Contains(reply, `"rows":[[7]]`) {
				t.Fatal(reply)
			}
			got.mu.Lock()
			defer got.mu.Unlock()
			if parent, ok := got.spans["statement"]; !ok || parent != "" || got.spans["SELECT shop"] != "rows" {
				t.Errorf("spans %v", got.spans)
			}
			db := got.db
			if db["db.system.name"] != engine || db["db.namespace"] != "shop" || db["db.operation.name"] != "SELECT" ||
				!got.metrics["db.client.operation.duration"] {
				t.Errorf("%v, metrics %v", db, got.metrics)
			}
		})
	}
}

// mariaDBShop makes an empty database on MariaDB, and returns the port of the server.
func mariaDBShop(t *testing.T) int {
	t.Helper()
	port := my.Get(t).Port
	pool, err := sql.Open("mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/", port))
	if err == nil {
		_, err = pool.Exec("CREATE DATABASE shop")
		t.Cleanup(func() { pool.Exec("DROP DATABASE shop"); pool.Close() })
	}
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// watched asks a question of the page, and looks at what watches the server.
func watched(t *testing.T, env map[string]string) {
	t.Helper()
	const token = "a token of the tests"
	env["TEXTTOSQL_TOKEN"] = token
	ctx, stop := context.WithCancel(t.Context())
	said, out := io.Pipe()
	var log bytes.Buffer
	p := &program{ctx: ctx, out: out, err: &log, getenv: func(name string) string { return env[name] },
		args: []string{"serve", "--listen", "127.0.0.1:0", "--sessions", t.TempDir(), "--access-log", "-n", "2"}}
	ended := make(chan int, 1)
	go func() { ended <- p.report(p.run()); out.Close() }()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-ended)
	}
	address, _, _ := strings.Cut(strings.TrimPrefix(line, "the page is at "), ",")
	get := func(method, path, body, token string) (int, string) {
		req := testutil.Value(http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body)))(t)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Texttosql", "1")
		req.Header.Set("Authorization", "Bearer "+token)
		resp := testutil.Value(http.DefaultClient.Do(req))(t)
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text)
	}
	if code, text := get("POST", "/api/conversations?secret=1", `{"question": "How many customers are there?"}`,
		token); code >= 300 {
		t.Fatal(code, text)
	}
	if code, text := get("GET", "/healthz", "", "nobody"); code != 200 || text != "ok\n" {
		t.Errorf("/healthz: %d %s", code, text)
	}
	if code, _ := get("GET", "/metrics", "", "nobody"); code != 401 {
		t.Errorf("/metrics without the token: %d", code)
	}
	for t.Context().Err() == nil { // the question runs on
		if _, text := get("GET", "/metrics", "", token); strings.Contains(text, "texttosql_question_duration_seconds_count") {
			break
		}
	}
	code, text := get("GET", "/metrics", "", token)
	for _, name := range []string{"texttosql_questions_running", "texttosql_questions_waiting",
		"texttosql_answers_confirmed",
		`texttosql_outcome="answered"`} {
		if !strings.Contains(text, name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
	if code != 200 || !strings.Contains(text, `gen_ai_request_model="fake"`) || !strings.Contains(text, "go_goroutines") {
		t.Errorf("/metrics: %d\n%s", code, text)
	}
	stop()
	<-ended
	if text := log.String(); !strings.Contains(text, "method=POST path=/api/conversations status=20") ||
		strings.Contains(text, "secret") ||
		!strings.Contains(text, "path=/metrics status=401") {
		t.Errorf("%s", text)
	}
}

// TestMetricsOfScopes: the figures of all users are for who has the token of the server, and no token of one user.
func TestMetricsOfScopes(t *testing.T) {
	const ofServer, ofUser = "0123456789abcdef-server", "0123456789abcdef-ann"
	for _, tt := range []struct {
		name, scopes, token, shown string
		status                     int
	}{
		{"this machine alone", "", "", "", http.StatusOK},
		{"a token", "", ofServer, ofServer, http.StatusOK},
		{"a token, and none is shown", "", ofServer, "", http.StatusUnauthorized},
		{"users by token, and none is shown", "scopes.json", "", "", http.StatusUnauthorized},
		{"users by token, and one is shown", "scopes.json", "", ofUser, http.StatusUnauthorized},
		{"users and a token of the server", "scopes.json", ofServer, ofServer, http.StatusOK},
		{"users and a token of the server, and one of a user", "scopes.json", ofServer, ofUser, http.StatusUnauthorized},
	} {
		p := &program{ctx: t.Context(), err: io.Discard, getenv: func(string) string { return "" }}
		sent := testutil.Value(p.telemetry(true))(t)
		h := p.watched(sent, http.NotFoundHandler(), httpserver.Door{Token: tt.token, Hosts: []string{"example.com"}},
			setup.Serving{Scopes: tt.scopes}, func(context.Context) error { return nil })
		for path, want := range map[string]int{"/metrics": tt.status, "/healthz": http.StatusOK} {
			r := httptest.NewRequest("GET", "http://example.com"+path, nil)
			r.Header.Set("Authorization", "Bearer "+tt.shown)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != want || strings.Contains(w.Body.String(), "go_goroutines") != (want == 200 && path == "/metrics") {
				t.Errorf("%s, %s: %d %.100s", tt.name, path, w.Code, w.Body)
			}
		}
		sent.Close()
	}
}

// TestTelemetryUsage: an endpoint that is none is told before anything is asked, and a receiver that is away once.
func TestTelemetryUsage(t *testing.T) {
	env := with(asking(t, always("SELECT count(*) FROM customers")), "TEXTTOSQL_DSN", shopFile(t))
	if code, _, told := try(t, with(env, "OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318"), "", "talk", "--sessions",
		t.TempDir()); code != exitUsage ||
		!strings.Contains(told, "OTEL_EXPORTER_OTLP_ENDPOINT") {
		t.Errorf("%d %s", code, told)
	}
	if code, _, told := try(t, with(with(env, "OTEL_EXPORTER_OTLP_ENDPOINT", "nonsense"), "OTEL_SDK_DISABLED", "true"),
		"/exit\n", "talk", "--sessions", t.TempDir()); code != 0 {
		t.Errorf("%d %s", code, told)
	}
}
