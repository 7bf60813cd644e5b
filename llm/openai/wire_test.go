package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wiretest"
	"github.com/texttosql/texttosql/llm/openai"
	"github.com/texttosql/texttosql/memory"
)

var _ memory.Embedder = openai.Embedder("m")

const key = wiretest.Key

var answer = wiretest.Answer

// client is the client of this package.
var client = wiretest.Client{
	Model:   func(url string) llm.Model { return openai.Client{BaseURL: url + "/v1", Key: key}.Model("m-1") },
	Reply:   func(text, stop string) string { return completion(text, stop, "") },
	End:     "stop",
	Request: full(),
}

var serve = client.Serve

func completion(content, finish, more string) string {
	text, _ := json.Marshal(content)
	return fmt.Sprintf(
		`{"id":"c","object":"chat.completion","model":"m-1-2026","choices":[{"index":0,"message":{"role":"assistant","content":%s,
		"refusal":null},"finish_reason":%q}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18%s}}`, text, finish, more)
}

func fault(message, kind, param, code string) string {
	quoted := func(s string) string {
		if s == "" {
			return "null"
		}
		text, _ := json.Marshal(s)
		return string(text)
	}
	return fmt.Sprintf(`{"error":{"message":%s,"type":%s,"param":%s,"code":%s}}`, quoted(message), quoted(kind),
		quoted(param), quoted(code))
}

func full() llm.Request {
	temperature, topP, limit, seed := 0.2, 0.9, 512, 7
	return llm.Request{
		Messages:    []llm.Message{{Role: llm.System, Text: "Answer in SQL."}, {Role: llm.User, Text: "How many?"}},
		Temperature: &temperature, TopP: &topP, MaxTokens: &limit, Seed: &seed, Stop: []string{";"},
		Effort: "low", Schema: json.RawMessage(`{"type":"object"}`), CachePrefix: 1,
	}
}

const (
	codes     = "https://platform.openai.com/docs/guides/error-codes"
	chat      = "https://platform.openai.com/docs/api-reference/chat/create"
	reasoning = "https://platform.openai.com/docs/guides/reasoning"
	ratelimit = "https://platform.openai.com/docs/guides/rate-limits"
)

// TestWire: what servers answer, as they document it or as people report it, and what becomes of it.
func TestWire(t *testing.T) {
	page := "<html><head><title>Welcome</title></head></html>"
	for _, w := range []struct {
		Why, Source  string
		Status       int
		Header, Body string
		Class        llm.Class
		Wait         time.Duration
		Parameter    string
		Text         string // a part of the error, or the reply
	}{
		{"temperature of a reasoning model", "https://github.com/johny-b/llmcomp/issues/69", 400, "",
			fault("Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is "+
				"supported.",
				"invalid_request_error", "temperature", "unsupported_value"), llm.ClassPermanent, 0, "temperature",
			"Only the default"},
		{"top_p", "https://github.com/pollinations/pollinations/issues/4310", 400, "",
			fault("Unsupported parameter: 'top_p' is not supported with this model.", "invalid_request_error", "top_p",
				"unsupported_parameter"),
			llm.ClassPermanent, 0, "top_p", "'top_p'"},
		{"stop", "https://github.com/griptape-ai/griptape/issues/1915", 400, "",
			fault("Unsupported parameter: 'stop' is not supported with this model.", "invalid_request_error", "stop",
				"unsupported_parameter"),
			llm.ClassPermanent, 0, "stop", "'stop'"},
		{"seed, by a gateway without the field", codes, 400, "", fault("Unknown parameter: 'seed'.", "invalid_request_error",
			"", ""),
			llm.ClassPermanent, 0, "seed", "'seed'"},
		{"n is never sent, so nothing is dropped for it", codes, 400, "",
			fault("Unsupported value: 'n' does not support 2 with this model.", "invalid_request_error", "n",
				"unsupported_value"),
			llm.ClassPermanent, 0, "", "'n'"},
		{"effort of a model that does not reason", reasoning, 400, "",
			fault("Unrecognized request argument supplied: reasoning_effort", "invalid_request_error", "", ""),
			llm.ClassPermanent, 0, "effort", ""},
		{"a schema that strict mode refuses", "https://platform.openai.com/docs/guides/structured-outputs", 400, "",
			fault("Invalid schema for response_format 'reply': 'additionalProperties' is required to be supplied and to be "+
				"false.",
				"invalid_request_error", "response_format", ""), llm.ClassPermanent, 0, "schema", "Invalid schema"},
		{"a limit over the model's", "https://github.com/we0-dev/we0/issues/56", 400, "",
			fault("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", "invalid_request_error", "",
				"invalid_request_error"),
			llm.ClassPermanent, 0, "max_tokens", "valid range"},
		{"a prompt that names a parameter", codes, 400, "", fault("messages: the temperature of Lima does not stop to rise",
			"", "messages", ""),
			llm.ClassPermanent, 0, "", "Lima"},
		{"too long", codes, 400, "", fault("This model's maximum context length is 8192 tokens.", "invalid_request_error",
			"messages", "context_length_exceeded"), llm.ClassContextTooLong, 0, "", "8192"},
		{"wrong key", codes, 401, "", fault("Incorrect API key provided: "+key, "invalid_request_error", "",
			"invalid_api_key"),
			llm.ClassPermanent, 0, "", "does not know the key, set OPENAI_API_KEY to a valid one"},
		{"out of region", codes, 403, "", fault("Country, region, or territory not supported", "", "",
			"unsupported_country_region_territory"),
			llm.ClassPermanent, 0, "", "the key (OPENAI_API_KEY"},
		{"no such model", codes, 404, "", fault("The model `m-1` does not exist or you do not have access to it.",
			"invalid_request_error", "",
			"model_not_found"), llm.ClassPermanent, 0, "", "there is no model m-1 for this key, name another"},
		{"no such model, Ollama", "https://github.com/ollama/ollama/blob/main/docs/openai.md", 404, "",
			fault(`model "m-1" not found, try pulling it first`, "api_error", "", ""), llm.ClassPermanent, 0, "",
			"there is no model m-1"},
		{"base URL without /v1", codes, 404, "", fault("Invalid URL (POST /chat/completions)", "invalid_request_error", "",
			""),
			llm.ClassPermanent, 0, "", "OPENAI_BASE_URL (most end in /v1)"},
		{"base URL without /v1, Ollama", "https://github.com/ollama/ollama/blob/main/docs/openai.md", 404, "",
			"404 page not found",
			llm.ClassPermanent, 0, "", "has nothing at http://127.0.0.1"},
		{"a page in place of the API", codes, 200, "Content-Type: text/html", page, llm.ClassPermanent, 0, "",
			"look at OPENAI_BASE_URL"},
		{"time-out", codes, 408, "", fault("Request timed out.", "", "", ""), llm.ClassTimeout, 0, "", "timed out"},
		{"conflict", codes, 409, "", fault("The resource was updated by another request.", "", "", ""), llm.ClassOverloaded,
			0, "", "another"},
		{"too large", codes, 413, "", fault("Request too large.", "", "", ""), llm.ClassContextTooLong, 0, "", "too large"},
		{"rate limit", ratelimit, 429, "Retry-After: 7", fault("Rate limit reached", "requests", "", "rate_limit_exceeded"),
			llm.ClassRateLimit, 7 * time.Second, "", "reached"},
		{"rate limit in milliseconds", ratelimit, 429, "Retry-After-Ms: 1500", fault("Rate limit reached", "tokens", "",
			"rate_limit_exceeded"),
			llm.ClassRateLimit, 1500 * time.Millisecond, "", "reached"},
		{"rate limit without a time", ratelimit, 429, "", fault("Rate limit reached", "", "", ""), llm.ClassRateLimit, 0, "",
			"reached"},
		{"quota", codes, 429, "", fault("You exceeded your current quota.", "insufficient_quota", "", "insufficient_quota"),
			llm.ClassPermanent, 0, "", "quota"},
		{"server error", codes, 500, "", fault("The server had an error.", "server_error", "", ""), llm.ClassOverloaded, 0,
			"", "error"},
		{"overloaded", codes, 503, "Retry-After: 3", fault("The engine is currently overloaded.", "", "", ""),
			llm.ClassOverloaded, 3 * time.Second, "", ""},
		{"overloaded, a gateway of Anthropic's models", "https://docs.claude.com/en/api/errors", 529, "",
			fault("Overloaded", "", "", ""),
			llm.ClassOverloaded, 0, "", "Overloaded"},
		{"filtered prompt", "https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter", 400, "",
			fault("The response was filtered due to the prompt triggering the content management policy.", "", "prompt",
				"content_filter"),
			llm.ClassRefused, 0, "", "policy"},
		{"filtered reply", chat, 200, "", completion("SELECT", "content_filter", ""), llm.ClassRefused, 0, "",
			"content_filter"},
		{"refusal", "https://platform.openai.com/docs/guides/structured-outputs#refusals", 200, "",
			strings.Replace(completion("", "stop", ""), `"refusal":null`, `"refusal":"I cannot help"`, 1), llm.ClassRefused, 0,
			"", "I cannot help"},
		{"no choice", chat, 200, "", `{"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":0}}`, llm.ClassUnknown, 0,
			"", "empty"},
		{"a choice that is null", chat, 200, "", `{"choices":[null]}`, llm.ClassUnknown, 0, "", "empty"},
		{"an error in a success", "https://openrouter.ai/docs/api-reference/errors", 200, "",
			`{"error":{"message":"upstream is gone","code":502}}`,
			llm.ClassOverloaded, 0, "", "upstream is gone"},
		{"all reasoned away", reasoning, 200, "",
			completion("", "length", `,"completion_tokens_details":{"reasoning_tokens":7}`),
			llm.ClassOutOfTokens, 0, "", "512 tokens were used up"},
		{"10 MB", chat, 200, "", completion(strings.Repeat("x", 10<<20), "stop", ""), llm.ClassPermanent, 0, "",
			"over 8 MiB"},
		{"no JSON", chat, 200, "", `{"choices": [}`, llm.ClassUnknown, 0, "", "no JSON"},
		{"cut by its limit", chat, 200, "", completion("SELECT count(", "length", ""), "", 0, "", "SELECT count("},
		{"invalid UTF-8", chat, 200, "", strings.Replace(completion("SELECT X", "stop", ""), "X", "\xff'a'", 1),
			"", 0, "", "SELECT \uFFFD'a'"},
		{"no content type", chat, 200, "Content-Type: text/plain", completion("SELECT 1", "stop", ""), "", 0, "", "SELECT 1"},
	} {
		client.Wire(t, w)
	}
}

// TestRequest: what is sent.
func TestRequest(t *testing.T) {
	var got map[string]any
	var header http.Header
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got, header = nil, r.Header
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.URL.Path != "/v1/chat/completions" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		answer(200, "",
			completion("SELECT 1", "stop",
				`,"prompt_tokens_details":{"cached_tokens":9},"completion_tokens_details":{"reasoning_tokens":3}`))(w, r)
	})
	for _, tt := range []struct {
		why  string
		req  llm.Request
		want string
	}{
		{"everything", full(),
			`{"max_tokens":512,"messages":[{"content":"Answer in SQL.","role":"system"},{"content":"How many?","role":"user"}],
			"model":"m-1","max_completion_tokens":512,"seed":7,"temperature":0.2,"top_p":0.9,"reasoning_effort":"low","stop":[";"],
			"response_format":{"json_schema":{"name":"reply","strict":true,"schema":{"type":"object"}},"type":"json_schema"}}`},
		{"nothing", llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "a"}, {Role: llm.Assistant, Text: "b"},
			{Role: llm.System, Text: "s"},
			{Role: llm.User, Text: " "}, {Role: llm.User, Text: "c"}, {Role: llm.System, Text: "t"}}},
			`{"model":"m-1","messages":[{"content":"s\n\nt","role":"system"},{"content":"a","role":"user"},{"content":"b","role":"assistant"},
			{"content":"c","role":"user"}]}`},
	} {
		resp := testutil.Value(m.Complete(t.Context(), tt.req))(t)
		var want map[string]any
		testutil.OK(t, json.Unmarshal([]byte(tt.want), &want))
		golden.Equal(t, want, got, tt.why)
		if header.Get("Authorization") != "Bearer "+key {
			t.Errorf("%v", header)
		}
		golden.Equal(t, llm.Response{Text: "SELECT 1", StopReason: llm.StopEnd, Model: "m-1-2026", Usage: llm.Usage{
			Calls: 1, PromptTokens: 11, CompletionTokens: 7, CachedTokens: 9, ReasoningTokens: 3, Known: true}}, resp, tt.why)
	}
}

// TestLimit: a limit is sent as the server takes it, which is learnt once.
func TestLimit(t *testing.T) {
	for _, tt := range []struct {
		why, source, refuses string
		status               int
		body                 string
		then                 string // what the second call has
	}{
		{"both are taken", "https://github.com/ollama/ollama/pull/14464", "", 0, "", "max_completion_tokens max_tokens"},
		{"max_tokens is refused", "https://github.com/griptape-ai/ComfyUI-Griptape/issues/312", "max_tokens", 400,
			fault("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
				"invalid_request_error", "max_tokens", "unsupported_parameter"), "max_completion_tokens"},
		{"refused without a field", "https://github.com/caozhiyuan/copilot-api/issues/164", "max_tokens", 400,
			fault("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
				"", "", "invalid_request_body"), "max_completion_tokens"},
		{"max_completion_tokens is refused", "https://github.com/editor-code-assistant/eca/issues/315",
			"max_completion_tokens", 422,
			`{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","max_completion_tokens"],
			"msg":"Extra inputs are not permitted","input":32000}]},"type":"invalid_request_error","param":null,"code":null}`, "max_tokens"},
		{"refused by pydantic in quotes", "https://github.com/voideditor/void/issues/128", "max_completion_tokens", 400,
			`{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'max_completion_tokens'), 'msg': 'Extra inputs are not permitted'}]",
			"type":"BadRequestError","param":null,"code":400}`, "max_tokens"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			var fields string
			m := serve(t, func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				json.NewDecoder(r.Body).Decode(&body)
				fields = ""
				for _, field := range []string{"max_completion_tokens", "max_tokens"} {
					if body[field] != nil {
						fields = strings.TrimSpace(fields + " " + field)
					}
				}
				if body[tt.refuses] != nil {
					answer(tt.status, "", tt.body)(w, r)
					return
				}
				answer(200, "", completion("SELECT 1", "stop", ""))(w, r)
			})
			for call := range 2 {
				resp, err := m.Complete(t.Context(), full())
				want := 1
				if call == 0 && tt.refuses != "" {
					want = 2
				}
				if err != nil || fields != tt.then || resp.Usage.Calls != want {
					t.Errorf("call %d: %v, sent %q, %d calls, want %q and %d (%s)", call, err, fields, resp.Usage.Calls, tt.then, want,
						tt.source)
				}
			}
		})
	}
}

// TestLearner: a model that takes none of the parameters answers all the same, and is asked once a parameter for it.
// Source: https://platform.openai.com/docs/guides/reasoning
func TestLearner(t *testing.T) {
	calls := 0
	m := llm.Chain(serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		var body map[string]any
		json.NewDecoder(r.Body).Decode(&body)
		for _, name := range []string{"max_tokens", "temperature", "top_p", "seed", "stop", "reasoning_effort",
			"response_format"} {
			if body[name] != nil {
				answer(400, "", fault("Unsupported parameter: '"+name+"' is not supported with this model.",
					"invalid_request_error", name, "unsupported_parameter"))(w, r)
				return
			}
		}
		answer(200, "", completion("SELECT 1", "stop", ""))(w, r)
	}), new(llm.TokenLimitTuner).Middleware())
	for _, want := range []int{8, 1} {
		calls = 0
		resp, err := m.Complete(t.Context(), full())
		if err != nil || resp.Text != "SELECT 1" || calls != want || resp.Usage.Calls != want {
			t.Errorf("%+v, %v, %d calls, want %d", resp, err, calls, want)
		}
	}
}

func TestConformance(t *testing.T) { client.Conformance(t, fault("bad request", "", "", "")) }

// TestKeys: no key, and none where none is needed.
func TestKeys(t *testing.T) {
	for _, name := range []string{"OPENAI_API_KEY", "OPENAI_BASE_URL"} {
		t.Setenv(name, "")
	}
	never := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		t.Errorf("asked %s", r.URL)
		return nil, errors.New("asked")
	})}
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	_, err := openai.Client{HTTP: never}.Model("gpt-5-mini").Complete(t.Context(), req)
	if llm.ClassOf(err) != llm.ClassPermanent || !strings.Contains(err.Error(), "set OPENAI_API_KEY") {
		t.Error(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") == "":
			answer(200, "", completion("none", "stop", ""))(w, r)
		case strings.HasPrefix(r.Header.Get("Authorization"), "Bearer sk-ant-"):
			answer(401, "", fault("Incorrect API key provided: sk-ant-api0*", "", "", "invalid_api_key"))(w, r)
		}
	}))
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	if resp, err := openai.Model("local").Complete(t.Context(), req); err != nil || resp.Text != "none" {
		t.Errorf("a server that wants no key: %v, %v", resp, err)
	}
	t.Setenv("OPENAI_API_KEY", "sk-ant-api03-0123456789")
	if _, err := openai.Model("local").Complete(t.Context(), req); !strings.Contains(fmt.Sprint(err),
		"does not know the key, set OPENAI_API_KEY") {
		t.Errorf("the key of another provider: %v", err)
	}
	for _, url := range []string{"http://u:p4ssw0rd@%zz/v1", "localhost:8000/v1", "/v1"} {
		_, err = openai.Client{BaseURL: url, HTTP: never}.Model("m").Complete(t.Context(), req)
		if llm.ClassOf(err) != llm.ClassPermanent || strings.Contains(err.Error(), "p4ssw0rd") {
			t.Errorf("%q is no URL: %v", url, err)
		}
	}
}

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestConnections: the suite's, one that never was, and the end of connections that looked open.
func TestConnections(t *testing.T) {
	client.Connections(t)
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	listener := testutil.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	listener.Close()
	_, err := openai.Client{BaseURL: "http://" + listener.Addr().String(), Key: key}.Model("m").Complete(t.Context(), req)
	if llm.ClassOf(err) != llm.ClassOverloaded || !strings.Contains(err.Error(), "look at OPENAI_BASE_URL") ||
		!strings.Contains(err.Error(), "connection refused. Is the server running?") || !errors.As(err, new(*net.OpError)) {
		t.Errorf("nothing listens: %v", err)
	}
}

// TestProxy: the proxy of the environment is asked. net/http reads it once for a process, so another one does this.
func TestProxy(t *testing.T) {
	if os.Getenv("TEST_PROXY") == "" {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer(200, "", completion(r.URL.Host, "stop", ""))(w, r)
		}))
		defer proxy.Close()
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxy$")
		child.Env = append(os.Environ(), "TEST_PROXY=yes", "HTTP_PROXY="+proxy.URL,
			"OPENAI_BASE_URL=http://models.example.test/v1", "OPENAI_API_KEY=")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	resp, err := openai.Model("m").Complete(t.Context(),
		llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}})
	if err != nil || resp.Text != "models.example.test" {
		t.Errorf("%v, %v", resp, err)
	}
}

// TestMany: 200 calls at once, 8 of them under way.
func TestMany(t *testing.T) {
	var now, most atomic.Int32
	m := llm.Chain(serve(t, func(w http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		for {
			if old := most.Load(); n <= old || most.CompareAndSwap(old, n) {
				break
			}
		}
		answer(200, "", completion("SELECT 1", "stop", ""))(w, r)
	}), llm.Limit{Concurrency: 8}.Middleware())
	var all sync.WaitGroup
	for range 200 {
		all.Go(func() {
			if resp, err := m.Complete(t.Context(), full()); err != nil || resp.Text != "SELECT 1" {
				t.Errorf("%v, %v", resp, err)
			}
		})
	}
	all.Wait()
	if most.Load() > 8 {
		t.Errorf("%d calls at once", most.Load())
	}
}

// TestAzure: the v1 API of Azure, by options. Source:
// https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
func TestAzure(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer(200, "", completion(r.URL.Path+" "+r.Header.Get("Api-Key")+r.Header.Get("Authorization"), "stop", ""))(w, r)
	}))
	defer server.Close()
	t.Setenv("OPENAI_API_KEY", "")
	m := openai.Client{BaseURL: server.URL + "/openai/v1/", Header: http.Header{"api-key": {"k"}}}.Model("deployment")
	resp, err := m.Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}})
	if err != nil || resp.Text != "/openai/v1/chat/completions k" {
		t.Errorf("%q, %v", resp.Text, err)
	}
}

// TestEmbedder: vectors in the order of the texts, in batches, and what fails.
func TestEmbedder(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", key)
	calls, short := 0, false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		json.NewDecoder(r.Body).Decode(&body)
		calls++
		var data []string
		for i := len(body.Input) - 1; i >= 0; i-- { // in any order
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d,0.5]}`, i, len(body.Input[i])))
		}
		if short {
			data = data[1:]
		}
		fmt.Fprintf(w, `{"object":"list","data":[%s],"usage":{"prompt_tokens":5}}`, strings.Join(data, ","))
	}))
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.URL+"/v1")
	e := openai.Embedder("text-embedding-3-small")
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	vectors, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil || len(vectors) != 300 || vectors[299][0] != 300 || vectors[0][1] != 0.5 || calls != 2 {
		t.Errorf("%d vectors, %d calls, %v", len(vectors), calls, err)
	}
	if v, err := e.EmbedQuery(t.Context(), "abc"); err != nil || v[0] != 3 {
		t.Errorf("%v, %v", v, err)
	}
	if short = true; true {
		if _, err := e.EmbedQuery(t.Context(), "abc"); llm.ClassOf(err) != llm.ClassUnknown {
			t.Errorf("no vector: %v", err)
		}
	}
	server.Config.Handler = answer(401, "", fault("no: "+key, "", "", ""))
	if _, err := e.EmbedQuery(t.Context(), "abc"); llm.ClassOf(err) != llm.ClassPermanent ||
		strings.Contains(err.Error(), key) {
		t.Errorf("%v", err)
	}
	if _, err := e.EmbedDocuments(canceled(t), texts); err != context.Canceled {
		t.Errorf("%v", err)
	}
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

// TestLive asks the server of OPENAI_BASE_URL, where TEXTTOSQL_LIVE_MODEL names a model ("openai:NAME"): real usage, a
// real limit, real refusals. ".ci/live answers" runs it with a small model.
func TestLive(t *testing.T) {
	name, ok := strings.CutPrefix(os.Getenv("TEXTTOSQL_LIVE_MODEL"), "openai:")
	if !ok {
		t.Skip("TEXTTOSQL_LIVE_MODEL names no model of openai")
	}
	m := openai.Model(name)
	req := full()
	req.Schema, req.Effort, req.Stop = nil, "", nil
	for _, limit := range []int{1, 16} {
		req.MaxTokens = &limit
		resp, err := m.Complete(t.Context(), req)
		t.Logf("%d tokens: %+v, %v", limit, resp, err)
		if err != nil || resp.StopReason != llm.StopLength || !resp.Usage.Known || resp.Usage.CompletionTokens > limit {
			t.Errorf("%d tokens: %+v, %v", limit, resp, err)
		}
	}
	base := strings.TrimSuffix(strings.TrimSuffix(os.Getenv("OPENAI_BASE_URL"), "/"), "/v1")
	_, err := openai.Client{BaseURL: base + "/nowhere"}.Model(name).Complete(t.Context(), req)
	if !strings.Contains(fmt.Sprint(err), "look at OPENAI_BASE_URL") {
		t.Errorf("a wrong base URL: %v", err)
	}
	schema := full()
	schema.Messages = []llm.Message{{Role: llm.User, Text: "How many legs has a cat? Reply as JSON."}}
	schema.Schema =
		json.RawMessage(
			`{"type":"object","properties":{"legs":{"type":"integer"}},"required":["legs"],"additionalProperties":false}`)
	schema.MaxTokens, schema.Stop = nil, nil
	var said struct{ Legs *int }
	if resp, err := m.Complete(t.Context(), schema); err != nil || json.Unmarshal([]byte(resp.Text), &said) != nil ||
		said.Legs == nil {
		t.Errorf("a reply in a shape: %+v, %v", resp, err)
	} else {
		t.Logf("in a shape: %s", resp.Text)
	}
}
