package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/anthropic"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// key is in no text.
const key = "secret-0123456789-key"

// serve returns a model of a server on loopback.
func serve(t *testing.T, handler http.HandlerFunc) llm.Model {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return anthropic.Model("m-1", option.WithBaseURL(server.URL), option.WithAPIKey(key))
}

func answer(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func message(text, stop, more string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(`{"id":"msg","type":"message","role":"assistant","model":"m-1-2026","content":[{"type":"thinking","thinking":"hm","signature":"s"},
		{"type":"text","text":%s}],"stop_reason":%q,"usage":{"input_tokens":11,"output_tokens":7%s}}`, content, stop, more)
}

func fault(kind, message string) string {
	text, _ := json.Marshal(message)
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%s},"request_id":"req_1"}`, kind, text)
}

func full() llm.Request {
	temperature, topP, limit, seed := 1.2, 0.9, 512, 7
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "Answer in SQL."}, {Role: llm.User, Text: "Schema."}, {Role: llm.Assistant, Text: "Yes."},
			{Role: llm.User, Text: "How many?"}},
		Temperature: &temperature, TopP: &topP, MaxTokens: &limit, Seed: &seed, Stop: []string{";"},
		Effort: llm.EffortMinimal, Schema: json.RawMessage(`{"type":"object"}`), CachePrefix: 2,
	}
}

const (
	errorsDoc   = "https://docs.claude.com/en/api/errors"
	messages    = "https://docs.claude.com/en/api/messages"
	stopReasons = "https://docs.claude.com/en/api/handling-stop-reasons"
)

// TestWire: what the service answers, as it documents it or as people report it, and what becomes of it.
func TestWire(t *testing.T) {
	for _, tt := range []struct {
		why, source  string
		status       int
		header, body string
		class        llm.Class
		wait         time.Duration
		parameter    string
		text         string // part of the error, or of the reply
	}{
		{"temperature and top_p", "https://github.com/BerriAI/litellm/issues/15097", 400, "",
			fault("invalid_request_error", "`temperature` and `top_p` cannot both be specified for this model. Please use only one."),
			llm.ClassPermanent, 0, "top_p", "cannot both"},
		{"temperature with thinking", "https://docs.claude.com/en/docs/build-with-claude/extended-thinking", 400, "",
			fault("invalid_request_error", "`temperature` may only be set to 1 when thinking is enabled."), llm.ClassPermanent, 0, "temperature", "only"},
		{"a temperature out of range", messages, 400, "", fault("invalid_request_error", "temperature: range: 0..1"),
			llm.ClassPermanent, 0, "temperature", "range"},
		{"stop texts of blanks", messages, 400, "",
			fault("invalid_request_error", "stop_sequences: each stop sequence must contain non-whitespace"), llm.ClassPermanent, 0, "stop", "whitespace"},
		{"effort", "https://github.com/Oaklight/llm-rosetta/pull/289", 400, "",
			fault("invalid_request_error", "This model does not support the effort parameter."), llm.ClassPermanent, 0, "effort", "effort"},
		{"schema", "https://docs.claude.com/en/docs/build-with-claude/structured-outputs", 400, "",
			fault("invalid_request_error", "output_config.format: Extra inputs are not permitted"), llm.ClassPermanent, 0, "schema", "format"},
		{"a limit over the model's", "https://github.com/OpenHands/OpenHands/issues/11090", 400, "", fault("invalid_request_error",
			"max_tokens: 1000000 > 64000, which is the maximum allowed number of output tokens for m-1"), llm.ClassPermanent, 0, "max_tokens", "64000"},
		{"a limit over the context", errorsDoc, 400, "", fault("invalid_request_error",
			"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again"),
			llm.ClassPermanent, 0, "max_tokens", "exceed"},
		{"a prompt that names a parameter", errorsDoc, 400, "", fault("invalid_request_error", "messages.0: the temperature of Lima"),
			llm.ClassPermanent, 0, "", "Lima"},
		{"credit", errorsDoc, 400, "", fault("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
			llm.ClassPermanent, 0, "", "credit"},
		{"too long", errorsDoc, 400, "", fault("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
			llm.ClassContextTooLong, 0, "", "210000"},
		{"wrong key", errorsDoc, 401, "", fault("authentication_error", "invalid x-api-key "+key),
			llm.ClassPermanent, 0, "", "does not know the key, set ANTHROPIC_API_KEY or option.WithAPIKey"},
		{"not permitted", errorsDoc, 403, "", fault("permission_error", "no permission"), llm.ClassPermanent, 0, "", "(ANTHROPIC_API_KEY"},
		{"no such model", errorsDoc, 404, "", fault("not_found_error", "model: m-1"), llm.ClassPermanent, 0, "", "there is no model m-1 for this key"},
		{"base URL with /v1", errorsDoc, 404, "", fault("not_found_error", "Not Found"), llm.ClassPermanent, 0, "", "ANTHROPIC_BASE_URL"},
		{"a page in place of the API", errorsDoc, 200, "Content-Type: text/html", "<html><title>Welcome</title>", llm.ClassUnknown, 0, "",
			"look at ANTHROPIC_BASE_URL"},
		{"time-out", errorsDoc, 408, "", fault("timeout_error", "late"), llm.ClassTimeout, 0, "", "late"},
		{"conflict", errorsDoc, 409, "", fault("conflict_error", "try again"), llm.ClassOverloaded, 0, "", "again"},
		{"too large", errorsDoc, 413, "", fault("request_too_large", "Request exceeds the maximum allowed number of bytes."),
			llm.ClassContextTooLong, 0, "", "exceeds"},
		{"rate limit", "https://docs.claude.com/en/api/rate-limits", 429, "Retry-After: 7", fault("rate_limit_error", "slow down"),
			llm.ClassRateLimit, 7 * time.Second, "", "slow down"},
		{"rate limit without a time", errorsDoc, 429, "", fault("rate_limit_error", "slow down"), llm.ClassRateLimit, 0, "", "slow down"},
		{"server error", errorsDoc, 500, "", fault("api_error", "oops"), llm.ClassOverloaded, 0, "", "oops"},
		{"unavailable", errorsDoc, 503, "", "upstream connect error", llm.ClassOverloaded, 0, "", "upstream"},
		{"late gateway", errorsDoc, 504, "", fault("timeout_error", "late"), llm.ClassTimeout, 0, "", "late"},
		{"overloaded", errorsDoc, 529, "", fault("overloaded_error", "Overloaded"), llm.ClassOverloaded, 0, "", "Overloaded"},
		{"refusal", stopReasons, 200, "", strings.Replace(message("", "refusal", ""), `"usage"`,
			`"stop_details":{"type":"refusal","category":"cyber","explanation":"not this"},"usage"`, 1), llm.ClassRefused, 0, "", "refusal: not this"},
		{"filtered by the output policy", errorsDoc, 400, "", fault("invalid_request_error", "Output blocked by content filtering policy"),
			llm.ClassPermanent, 0, "", "content filtering"},
		{"no block", messages, 200, "", `{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
			llm.ClassUnknown, 0, "", "empty"},
		{"blocks that are null", messages, 200, "", `{"content":[null],"stop_reason":"end_turn"}`, llm.ClassUnknown, 0, "", "empty"},
		{"all thought", stopReasons, 200, "", message("", "max_tokens", ""), llm.ClassNoRoom, 0, "", "512 tokens were used up"},
		{"10 MB", messages, 200, "", message(strings.Repeat("x", 10<<20), "end_turn", ""), llm.ClassPermanent, 0, "", "over 8 MiB"},
		{"no JSON", messages, 200, "", `{"content": [}`, llm.ClassUnknown, 0, "", "no JSON"},
		{"cut by its limit", stopReasons, 200, "", message("SELECT count(", "max_tokens", ""), "", 0, "", "SELECT count("},
		{"cut by its context", stopReasons, 200, "", message("SELECT", "model_context_window_exceeded", ""), "", 0, "", "SELECT"},
		{"invalid UTF-8", messages, 200, "", strings.Replace(message("SELECT X", "end_turn", ""), "X", "\xff'a'", 1), "", 0, "", "SELECT \uFFFD'a'"},
		{"two blocks of text", messages, 200, "", strings.Replace(message("```", "end_turn", ""), `{"type":"text"`,
			`{"type":"text","text":"a"},{"type":"text"`, 1), "", 0, "", "a\n```"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			calls := 0
			handler := answer(tt.status, tt.header, tt.body)
			resp, err := serve(t, func(w http.ResponseWriter, r *http.Request) { calls++; handler(w, r) }).Complete(t.Context(), full())
			if tt.class == "" && err == nil {
				if resp.Text != tt.text {
					t.Errorf("%q, want %q", resp.Text, tt.text)
				}
				return
			}
			var e *llm.Error
			if !errors.As(err, &e) {
				t.Fatalf("%+v, %v", resp, err)
			}
			if e.Class != tt.class || e.RetryAfter != tt.wait || e.Parameter != tt.parameter || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("%v (wait %v, parameter %q), want class %v, %v, %q and %q (%s)", err, e.RetryAfter, e.Parameter, tt.class, tt.wait, tt.parameter,
					tt.text, tt.source)
			}
			if tt.status != 200 && e.Status != tt.status || calls != 1 {
				t.Errorf("status %d, %d calls", e.Status, calls)
			}
			if all := fmt.Sprintf("%v %+v %v", err, e, errors.Unwrap(err)); strings.Contains(all, key) || strings.Contains(err.Error(), "\n") {
				t.Errorf("a key or a line break in %s", all)
			}
		})
	}
}

// TestRequest: what is sent, the marks of the prompt cache among it.
func TestRequest(t *testing.T) {
	var got map[string]any
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = nil
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != key {
			t.Errorf("%s %v: %v", r.URL.Path, r.Header, err)
		}
		answer(200, "", message("SELECT 1", "stop_sequence", `,"cache_read_input_tokens":5,"cache_creation_input_tokens":4,
			"output_tokens_details":{"thinking_tokens":3}`))(w, r)
	})
	two := full()
	two.CachePrefix = 1
	for _, tt := range []struct {
		why  string
		req  llm.Request
		want string
	}{
		{"everything", full(), `{"model":"m-1","max_tokens":512,"system":[{"type":"text","text":"Answer in SQL."}],"messages":[
			{"role":"user","content":[{"type":"text","text":"Schema.","cache_control":{"type":"ephemeral"}}]},
			{"role":"assistant","content":[{"type":"text","text":"Yes."}]},{"role":"user","content":[{"type":"text","text":"How many?"}]}],
			"temperature":1,"top_p":0.9,"stop_sequences":[";"],"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}}`},
		{"a mark in the system", llm.Request{Messages: two.Messages, CachePrefix: 1}, `{"model":"m-1","max_tokens":32768,
			"system":[{"type":"text","text":"Answer in SQL.","cache_control":{"type":"ephemeral"}}],"messages":[
			{"role":"user","content":[{"type":"text","text":"Schema."}]},{"role":"assistant","content":[{"type":"text","text":"Yes."}]},
			{"role":"user","content":[{"type":"text","text":"How many?"}]}]}`},
		{"all is marked, of nothing but a question", llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "a"}}, CachePrefix: 1},
			`{"model":"m-1","max_tokens":32768,"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}`},
	} {
		resp := need.Value(m.Complete(t.Context(), tt.req))(t)
		var want map[string]any
		need.OK(t, json.Unmarshal([]byte(tt.want), &want))
		golden.Equal(t, want, got, tt.why)
		golden.Equal(t, llm.Response{Text: "SELECT 1", StopReason: llm.StopEnd, Model: "m-1-2026", Usage: llm.Usage{Calls: 1,
			PromptTokens: 20, CompletionTokens: 7, CachedTokens: 5, CacheWriteTokens: 4, ReasoningTokens: 3, Known: true}}, resp, tt.why)
	}
}

// TestLimit: a request without a limit gets what the model takes at most, which is learnt once.
// Source: https://github.com/anthropics/claude-code/issues/11302
func TestLimit(t *testing.T) {
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Max int `json:"max_tokens"`
		}
		json.NewDecoder(r.Body).Decode(&body)
		if body.Max > 4096 {
			answer(400, "", fault("invalid_request_error", fmt.Sprintf("max_tokens: %d > 4096, which is the maximum allowed number of output tokens for m-1",
				body.Max)))(w, r)
			return
		}
		answer(200, "", message(fmt.Sprint(body.Max), "end_turn", ""))(w, r)
	})
	for call, calls := range []int{2, 1} {
		resp, err := m.Complete(t.Context(), llm.Request{Messages: full().Messages})
		if err != nil || resp.Text != "4096" || resp.Usage.Calls != calls {
			t.Errorf("call %d: %+v, %v", call, resp, err)
		}
	}
}

func TestConformance(t *testing.T) {
	llmtest.Conformance(t, func(t *testing.T, b llmtest.Behaviour) llm.Model {
		return serve(t, map[llmtest.Behaviour]http.HandlerFunc{
			llmtest.Answers: answer(200, "", message("SELECT count(*) FROM singer", "end_turn", "")),
			llmtest.Empties: answer(200, "", message("", "end_turn", "")),
			llmtest.Fails:   answer(400, "", fault("invalid_request_error", "bad request")),
			llmtest.Hangs:   func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		}[b])
	})
}

// TestKeys: no key, and the key of another provider.
func TestKeys(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	never := option.WithHTTPClient(&http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, errors.New("asked")
	})})
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	_, err := anthropic.Model("m", option.WithBaseURL("https://api.anthropic.com"), never).Complete(t.Context(), req)
	if llm.ClassOf(err) != llm.ClassPermanent || !strings.Contains(err.Error(), "set ANTHROPIC_API_KEY or option.WithAPIKey") {
		t.Error(err)
	}
	server := httptest.NewServer(answer(401, "", fault("authentication_error", "invalid x-api-key")))
	defer server.Close()
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	t.Setenv("ANTHROPIC_API_KEY", "sk-proj-0123456789")
	if _, err := anthropic.Model("m").Complete(t.Context(), req); !strings.Contains(fmt.Sprint(err), "does not know the key, set ANTHROPIC_API_KEY") {
		t.Errorf("the key of another provider: %v", err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestConnections: connections that break, that a server closes without a word, and the end of a context.
func TestConnections(t *testing.T) {
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	hijack := func(write string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err != nil {
				panic(err)
			}
			io.WriteString(conn, write)
			conn.Close()
		}
	}
	body := message("SELECT 1", "end_turn", "")
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	for why, write := range map[string]string{"before the reply": "", "in the head": "HTTP/1.1 200 OK\r\nConte", "in the reply": head + body[:20]} {
		var calls atomic.Int32
		_, err := serve(t, func(w http.ResponseWriter, r *http.Request) { calls.Add(1); hijack(write)(w, r) }).Complete(t.Context(), req)
		if llm.ClassOf(err) != llm.ClassOverloaded || strings.Contains(err.Error(), key) || calls.Load() != 1 {
			t.Errorf("cut %s: %v, %d calls", why, err, calls.Load())
		}
	}
	m := llm.Chain(serve(t, hijack(head+body)), llm.Retry{Base: time.Millisecond}.Middleware())
	for range 30 { // each connection looks as if it stayed open
		if resp, err := m.Complete(t.Context(), req); err != nil || resp.Text != "SELECT 1" {
			t.Fatalf("a server that closes kept connections: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, body[:1])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}).Complete(ctx, req)
	if err != context.Canceled {
		t.Errorf("a context that ends behind the first byte: %v", err)
	}
}
