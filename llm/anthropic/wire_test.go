package anthropic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/anthropic"
	"github.com/texttosql/texttosql/llm/internal/wiretest"
)

const key = wiretest.Key

var answer = wiretest.Answer

// client is the client of this package.
var client = wiretest.Client{
	Model:   func(url string) llm.Model { return anthropic.Client{BaseURL: url, Key: key}.Model("m-1") },
	Reply:   func(text, stop string) string { return message(text, stop, "") },
	End:     "end_turn",
	Request: full(),
}

var serve = client.Serve

func message(text, stop, more string) string {
	content, _ := json.Marshal(text)
	return fmt.Sprintf(
		`{"id":"msg","type":"message","role":"assistant","model":"m-1-2026","content":[{"type":"thinking","thinking":"hm","signature":"s"},
		{"type":"text","text":%s}],"stop_reason":%q,"usage":{"input_tokens":11,"output_tokens":7%s}}`, content, stop, more)
}

func fault(kind, message string) string {
	text, _ := json.Marshal(message)
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%s},"request_id":"req_1"}`, kind, text)
}

func full() llm.Request {
	temperature, topP, limit, seed := 1.2, 0.9, 512, 7
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "Answer in SQL."}, {Role: llm.User, Text: "Schema."},
			{Role: llm.Assistant, Text: "Yes."},
			{Role: llm.User, Text: "How many?"}},
		Temperature: &temperature, TopP: &topP, MaxTokens: &limit, Seed: &seed, Stop: []string{";"},
		Effort: "minimal", Schema: json.RawMessage(`{"type":"object"}`), CachePrefix: 2,
	}
}

const (
	errorsDoc   = "https://docs.claude.com/en/api/errors"
	messages    = "https://docs.claude.com/en/api/messages"
	stopReasons = "https://docs.claude.com/en/api/handling-stop-reasons"
)

// TestWire: what the service answers, as it documents it or as people report it, and what becomes of it.
func TestWire(t *testing.T) {
	for _, w := range []struct {
		Why, Source  string
		Status       int
		Header, Body string
		Class        llm.Class
		Wait         time.Duration
		Parameter    string
		Text         string // a part of the error, or the reply
	}{
		{"temperature and top_p", "https://github.com/BerriAI/litellm/issues/15097", 400, "",
			fault("invalid_request_error", "`temperature` and `top_p` cannot both be specified for this model. "+
				"Please use only one."),
			llm.ClassPermanent, 0, "top_p", "cannot both"},
		{"temperature with thinking", "https://docs.claude.com/en/docs/build-with-claude/extended-thinking", 400, "",
			fault("invalid_request_error", "`temperature` may only be set to 1 when thinking is enabled."), llm.ClassPermanent,
			0, "temperature", "only"},
		{"a temperature out of range", messages, 400, "", fault("invalid_request_error", "temperature: range: 0..1"),
			llm.ClassPermanent, 0, "temperature", "range"},
		{"stop texts of blanks", messages, 400, "",
			fault("invalid_request_error", "stop_sequences: each stop sequence must contain non-whitespace"), llm.ClassPermanent,
			0, "stop", "whitespace"},
		{"effort", "https://github.com/Oaklight/llm-rosetta/pull/289", 400, "",
			fault("invalid_request_error", "This model does not support the effort parameter."), llm.ClassPermanent, 0, "effort",
			"effort"},
		{"schema", "https://docs.claude.com/en/docs/build-with-claude/structured-outputs", 400, "",
			fault("invalid_request_error", "output_config.format: Extra inputs are not permitted"), llm.ClassPermanent, 0,
			"schema", "format"},
		{"a limit over the model's", "https://github.com/OpenHands/OpenHands/issues/11090", 400, "",
			fault("invalid_request_error",
				"max_tokens: 1000000 > 64000, which is the maximum allowed number of output tokens for m-1"), llm.ClassPermanent, 0,
			"max_tokens", "64000"},
		{"a limit over the context", errorsDoc, 400, "", fault("invalid_request_error",
			"input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, "+
				"decrease input length or `max_tokens` and try again"),
			llm.ClassContextTooLong, 0, "", "exceed"},
		{"a prompt that names a parameter", errorsDoc, 400, "",
			fault("invalid_request_error", "messages.0: the temperature of Lima"),
			llm.ClassPermanent, 0, "", "Lima"},
		{"credit", errorsDoc, 400, "",
			fault("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
			llm.ClassPermanent, 0, "", "credit"},
		{"too long", errorsDoc, 400, "", fault("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
			llm.ClassContextTooLong, 0, "", "210000"},
		{"wrong key", errorsDoc, 401, "", fault("authentication_error", "invalid x-api-key "+key),
			llm.ClassPermanent, 0, "", "does not know the key, set ANTHROPIC_API_KEY"},
		{"not permitted", errorsDoc, 403, "", fault("permission_error", "no permission"), llm.ClassPermanent, 0, "",
			"(ANTHROPIC_API_KEY"},
		{"no such model", errorsDoc, 404, "", fault("not_found_error", "model: m-1"), llm.ClassPermanent, 0, "",
			"there is no model m-1 for this key"},
		{"base URL with /v1", errorsDoc, 404, "", fault("not_found_error", "Not Found"), llm.ClassPermanent, 0, "",
			"ANTHROPIC_BASE_URL"},
		{"a page in place of the API", errorsDoc, 200, "Content-Type: text/html", "<html><title>Welcome</title>",
			llm.ClassPermanent, 0, "",
			"look at ANTHROPIC_BASE_URL"},
		{"time-out", errorsDoc, 408, "", fault("timeout_error", "late"), llm.ClassTimeout, 0, "", "late"},
		{"conflict", errorsDoc, 409, "", fault("conflict_error", "try again"), llm.ClassOverloaded, 0, "", "again"},
		{"too large", errorsDoc, 413, "", fault("request_too_large", "Request exceeds the maximum allowed number of bytes."),
			llm.ClassContextTooLong, 0, "", "exceeds"},
		{"rate limit", "https://docs.claude.com/en/api/rate-limits", 429, "Retry-After: 7",
			fault("rate_limit_error", "slow down"),
			llm.ClassRateLimit, 7 * time.Second, "", "slow down"},
		{"rate limit without a time", errorsDoc, 429, "", fault("rate_limit_error", "slow down"), llm.ClassRateLimit, 0, "",
			"slow down"},
		{"server error", errorsDoc, 500, "", fault("api_error", "oops"), llm.ClassOverloaded, 0, "", "oops"},
		{"unavailable", errorsDoc, 503, "", "upstream connect error", llm.ClassOverloaded, 0, "", "upstream"},
		{"late gateway", errorsDoc, 504, "", fault("timeout_error", "late"), llm.ClassTimeout, 0, "", "late"},
		{"overloaded", errorsDoc, 529, "", fault("overloaded_error", "Overloaded"), llm.ClassOverloaded, 0, "", "Overloaded"},
		{"refusal", stopReasons, 200, "", strings.Replace(message("", "refusal", ""), `"usage"`,
			`"stop_details":{"type":"refusal","category":"cyber","explanation":"not this"},"usage"`, 1), llm.ClassRefused, 0, "",
			"refusal: not this"},
		{"filtered by the output policy", errorsDoc, 400, "",
			fault("invalid_request_error", "Output blocked by content filtering policy"),
			llm.ClassRefused, 0, "", "content filtering"},
		{"no block", messages, 200, "",
			`{"content":[],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}`,
			llm.ClassUnknown, 0, "", "empty"},
		{"blocks that are null", messages, 200, "", `{"content":[null],"stop_reason":"end_turn"}`, llm.ClassUnknown, 0, "",
			"empty"},
		{"all thought", stopReasons, 200, "", message("", "max_tokens", ""), llm.ClassOutOfTokens, 0, "",
			"512 tokens were used up"},
		{"10 MB", messages, 200, "", message(strings.Repeat("x", 10<<20), "end_turn", ""), llm.ClassPermanent, 0, "",
			"over 8 MiB"},
		{"no JSON", messages, 200, "", `{"content": [}`, llm.ClassUnknown, 0, "", "no JSON"},
		{"cut by its limit", stopReasons, 200, "", message("SELECT count(", "max_tokens", ""), "", 0, "", "SELECT count("},
		{"cut by its context", stopReasons, 200, "", message("SELECT", "model_context_window_exceeded", ""), "", 0, "",
			"SELECT"},
		{"invalid UTF-8", messages, 200, "", strings.Replace(message("SELECT X", "end_turn", ""), "X", "\xff'a'", 1), "", 0,
			"", "SELECT \uFFFD'a'"},
		{"two blocks of text", messages, 200, "", strings.Replace(message("```", "end_turn", ""), `{"type":"text"`,
			`{"type":"text","text":"a"},{"type":"text"`, 1), "", 0, "", "a\n```"},
	} {
		client.Wire(t, w)
	}
}

// TestRequest: what is sent, the marks of the prompt cache among it.
func TestRequest(t *testing.T) {
	var got map[string]any
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = nil
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.URL.Path != "/v1/messages" ||
			r.Header.Get("X-Api-Key") != key {
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
		{"everything", full(),
			`{"model":"m-1","max_tokens":512,"system":[{"type":"text","text":"Answer in SQL."}],"messages":[
			{"role":"user","content":[{"type":"text","text":"Schema.","cache_control":{"type":"ephemeral"}}]},
			{"role":"assistant","content":[{"type":"text","text":"Yes."}]},{"role":"user","content":[{"type":"text","text":"How many?"}]}],
			"temperature":1,"top_p":0.9,"stop_sequences":[";"],"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}}}`},
		{"a mark in the system", llm.Request{Messages: two.Messages, CachePrefix: 1}, `{"model":"m-1","max_tokens":32768,
			"system":[{"type":"text","text":"Answer in SQL.","cache_control":{"type":"ephemeral"}}],"messages":[
			{"role":"user","content":[{"type":"text","text":"Schema."}]},{"role":"assistant","content":[{"type":"text","text":"Yes."}]},
			{"role":"user","content":[{"type":"text","text":"How many?"}]}]}`},
		{"all is marked, of nothing but a question", llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "a"}},
			CachePrefix: 1},
			`{"model":"m-1","max_tokens":32768,"messages":[{"role":"user","content":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}]}]}`},
	} {
		resp := testutil.Value(m.Complete(t.Context(), tt.req))(t)
		var want map[string]any
		testutil.OK(t, json.Unmarshal([]byte(tt.want), &want))
		golden.Equal(t, want, got, tt.why)
		golden.Equal(t, llm.Response{Text: "SELECT 1", StopReason: llm.StopEnd, Model: "m-1-2026", Usage: llm.Usage{Calls: 1,
			PromptTokens: 20, CompletionTokens: 7, CachedTokens: 5, CacheWriteTokens: 4, ReasoningTokens: 3, Known: true}}, resp,
			tt.why)
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
			answer(400, "",
				fault("invalid_request_error",
					fmt.Sprintf("max_tokens: %d > 4096, which is the maximum allowed number of output tokens for m-1",
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
	client.Conformance(t, fault("invalid_request_error", "bad request"))
}

// TestKeys: no key, and the key of another provider.
func TestKeys(t *testing.T) {
	for _, name := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"} {
		t.Setenv(name, "")
	}
	never := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, errors.New("asked")
	})}
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	_, err := anthropic.Client{HTTP: never}.Model("m").Complete(t.Context(), req)
	if llm.ClassOf(err) != llm.ClassPermanent || !strings.Contains(err.Error(), "set ANTHROPIC_API_KEY") {
		t.Error(err)
	}
	server := httptest.NewServer(answer(401, "", fault("authentication_error", "invalid x-api-key")))
	defer server.Close()
	t.Setenv("ANTHROPIC_BASE_URL", server.URL)
	t.Setenv("ANTHROPIC_API_KEY", "sk-proj-0123456789")
	if _, err := anthropic.Model("m").Complete(t.Context(), req); !strings.Contains(fmt.Sprint(err),
		"does not know the key, set ANTHROPIC_API_KEY") {
		t.Errorf("the key of another provider: %v", err)
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestConnections(t *testing.T) { client.Connections(t) }

// TestKinds: trouble that people reported of this protocol, gateways included.
func TestKinds(t *testing.T) {
	stream := "event: message_start\ndata: " +
		"{\"type\":\"message_start\",\"message\":{\"model\":\"m-1-2026\",\"content\":[],\"usage\":" +
		"{\"input_tokens\":11,\"output_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: " +
		"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: " +
		"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"SELECT " +
		"2\"}}\n\n" +
		"event: ping\ndata: {\"type\":\"ping\"}\n\n" +
		"event: content_block_start\ndata: " +
		"{\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
		"event: content_block_delta\ndata: " +
		"{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"SELECT\"}}\n\n" +
		"event: content_block_delta\ndata: " +
		"{\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\" 1\"}}\n\n"
	end := "event: message_delta\ndata: " +
		"{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":7}}\n\n" +
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
	for _, tt := range []struct {
		why    string
		status int
		body   string
		text   string
		stop   string
		class  llm.Class
		says   string
	}{
		{"a stream that nobody asked for", 200, stream + end, "SELECT 1", llm.StopEnd, "", ""},
		{"a stream that is cut", 200, stream, "", "", llm.ClassOverloaded, "broke off"},
		{"an error in a stream", 200, stream + "event: error\ndata: " +
			"{\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
			"", "", llm.ClassOverloaded, "Overloaded"},
		{"an error in a success", 200, fault("rate_limit_error", "slow down"), "", "", llm.ClassRateLimit, "slow down"},
		{"a wrong key in a success", 200, fault("authentication_error", "invalid x-api-key"), "", "", llm.ClassPermanent,
			"set ANTHROPIC_API_KEY"},
		{"another service", 200, `{"status":"ok"}`, "", "", llm.ClassPermanent, "look at ANTHROPIC_BASE_URL"},
		{"nothing but thinking", 200, `{"content":[{"type":"thinking","thinking":"hm"}],"stop_reason":"end_turn"}`, "", "",
			llm.ClassUnknown,
			"nothing but reasoning"},
		{"a call that nobody offered", 200,
			`{"content":[{"type":"tool_use","id":"1","name":"run","input":{}}],"stop_reason":"tool_use"}`, "", "",
			llm.ClassUnknown, "the call of a tool"},
		{"a pause", 200, message("SELECT 1", "pause_turn", ""), "SELECT 1", llm.StopLength, "", ""},
		{"a word that nobody knows", 200, message("SELECT 1", "zork", ""), "SELECT 1", llm.StopLength, "", ""},
		{"no word", 200, message("SELECT 1", "", ""), "SELECT 1", "", "", ""},
		{"no money", 400, fault("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), "",
			"", llm.ClassPermanent,
			"look at the balance, the billing and the limits of the key (ANTHROPIC_API_KEY)"},
	} {
		resp, err := serve(t, answer(tt.status, "", tt.body)).Complete(t.Context(), full())
		if resp.Text != tt.text || resp.StopReason != tt.stop || llm.ClassOf(err) != tt.class ||
			(err == nil) != (tt.says == "") ||
			!strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %+v, %v", tt.why, resp, err)
		}
	}
	calls := 0
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), `"system"`) {
			answer(400, "", fault("invalid_request_error", "system: system prompts are not supported by this model"))(w, r)
			return
		}
		answer(200, "", message("SELECT 1", "end_turn", ""))(w, r)
	})
	for _, want := range []int{2, 3} {
		if resp, err := m.Complete(t.Context(), full()); err != nil || calls != want {
			t.Errorf("a gateway without messages of the system: %+v, %v, %d calls", resp, err, calls)
		}
	}
}
