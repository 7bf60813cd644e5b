package gemini_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"google.golang.org/genai"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/gemini"
	"github.com/texttosql/texttosql/llm/internal/wiretest"
	"github.com/texttosql/texttosql/memory"
)

var _ memory.Embedder = gemini.Embedder("m")

const key = wiretest.Key

var answer = wiretest.Answer

func client(url string) gemini.Client {
	return gemini.Client{Config: genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI,
		HTTPOptions: genai.HTTPOptions{BaseURL: url}}}
}

// suite asks the client of this package.
var suite = wiretest.Client{
	Model:   func(url string) llm.Model { return client(url).Model("m-1") },
	Reply:   func(text, stop string) string { return candidate(text, stop, "") },
	End:     "STOP",
	Request: full(),
}

var serve = suite.Serve

func candidate(text, finish, more string) string {
	part, _ := json.Marshal(text)
	return fmt.Sprintf(
		`{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":%s}]},"finishReason":%q}],
		"modelVersion":"m-1-2026","usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":4,"thoughtsTokenCount":3%s}}`, part, finish, more)
}

func fault(code int, status, message, details string) string {
	text, _ := json.Marshal(message)
	return fmt.Sprintf(`{"error":{"code":%d,"message":%s,"status":%q,"details":[%s]}}`, code, text, status, details)
}

func full() llm.Request {
	temperature, topP, limit, seed := 0.25, 0.5, 512, 7
	return llm.Request{
		Messages: []llm.Message{{Role: llm.System, Text: "Answer in SQL."}, {Role: llm.User, Text: "Schema."},
			{Role: llm.Assistant, Text: "Yes."},
			{Role: llm.User, Text: "How many?"}},
		Temperature: &temperature, TopP: &topP, MaxTokens: &limit, Seed: &seed, Stop: []string{";"},
		Effort: "low", Schema: json.RawMessage(`{"type":"object"}`), CachePrefix: 2,
	}
}

const (
	troubles = "https://ai.google.dev/gemini-api/docs/troubleshooting"
	generate = "https://ai.google.dev/api/generate-content"
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
		{"thinking level", "https://github.com/RooCodeInc/Roo-Code/issues/10700", 400, "",
			fault(400, "INVALID_ARGUMENT", "Thinking level is not supported for this model.", ""), llm.ClassPermanent, 0,
			"effort", "Thinking"},
		{"a level that the model lacks", "https://github.com/jenslys/opencode-gemini-auth/issues/14", 400, "",
			fault(400, "INVALID_ARGUMENT",
				"Unable to submit request because thinking_level MEDIUM is not supported by this model.", ""),
			llm.ClassPermanent, 0,
			"effort", "MEDIUM"},
		{"thinking", "https://github.com/immersive-translate/immersive-translate/issues/2976", 400, "",
			fault(400, "INVALID_ARGUMENT", "thinking_config is not supported.", ""), llm.ClassPermanent, 0, "effort",
			"thinking_config"},
		{"an unknown field", troubles, 400, "", fault(400, "INVALID_ARGUMENT",
			`Invalid JSON payload received. Unknown name "responseJsonSchema" at 'generation_config': Cannot find field.`, ""),
			llm.ClassPermanent, 0, "schema", "Unknown name"},
		{"a limit over the model's", generate, 400, "",
			fault(400, "INVALID_ARGUMENT", "Unable to submit request because it has a maxOutputTokens "+
				"value of 100000 but the supported range is from 1 (inclusive) to 8193 (exclusive).", ""), llm.ClassPermanent, 0,
			"max_tokens", "8193"},
		{"temperature", generate, 400, "",
			fault(400, "INVALID_ARGUMENT", "* GenerateContentRequest.generation_config.'temperature': out of range", ""),
			llm.ClassPermanent, 0, "temperature", "range"},
		{"a prompt that names a parameter", generate, 400, "",
			fault(400, "INVALID_ARGUMENT", "the temperature of Lima does not stop", ""),
			llm.ClassPermanent, 0, "", "Lima"},
		{"wrong key", troubles, 400, "", fault(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.",
			`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), llm.ClassPermanent, 0, "",
			"does not know the key, set GEMINI_API_KEY, GOOGLE_API_KEY or Config.APIKey"},
		{"another kind of key", troubles, 401, "", fault(401, "UNAUTHENTICATED", "invalid credentials "+key, ""),
			llm.ClassPermanent, 0, "",
			"does not know the key"},
		{"not permitted", troubles, 403, "", fault(403, "PERMISSION_DENIED", "Your API key was reported as leaked.", ""),
			llm.ClassPermanent, 0, "",
			"the key (GEMINI_API_KEY"},
		{"no such model", troubles, 404, "", fault(404, "NOT_FOUND",
			"models/m-1 is not found for API version v1beta, or is not supported for generateContent.", ""), llm.ClassPermanent,
			0, "",
			"there is no model m-1 for this key"},
		{"a wrong base URL", troubles, 404, "Content-Type: text/html", "<html><title>Error 404 (Not Found)!!1</title>",
			llm.ClassPermanent, 0, "",
			"look at GOOGLE_GEMINI_BASE_URL"},
		{"a page in place of the API", troubles, 200, "Content-Type: text/html", "<html><title>Welcome</title>",
			llm.ClassPermanent, 0, "",
			"look at GOOGLE_GEMINI_BASE_URL"},
		{"time-out", troubles, 408, "", fault(408, "CANCELLED", "late", ""), llm.ClassTimeout, 0, "", "late"},
		{"conflict", "https://cloud.google.com/apis/design/errors", 409, "", fault(409, "ABORTED", "try again", ""),
			llm.ClassOverloaded, 0, "", "again"},
		{"rate limit", "https://ai.google.dev/gemini-api/docs/rate-limits", 429, "",
			fault(429, "RESOURCE_EXHAUSTED", "slow down",
				`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}`), llm.ClassRateLimit,
			17 * time.Second, "",
			"slow down"},
		{"rate limit without a time", "https://github.com/google-gemini/gemini-cli/issues/1905", 429, "",
			fault(429, "RESOURCE_EXHAUSTED",
				"Resource has been exhausted (e.g. check quota).", ""), llm.ClassRateLimit, 0, "", "exhausted"},
		{"server error", troubles, 500, "", fault(500, "INTERNAL", "oops", ""), llm.ClassOverloaded, 0, "", "oops"},
		{"overloaded", troubles, 503, "Retry-After: 3", fault(503, "UNAVAILABLE", "The model is overloaded.", ""),
			llm.ClassOverloaded, 3 * time.Second, "", ""},
		{"a gateway's overload", "https://docs.claude.com/en/api/errors", 529, "", "busy", llm.ClassOverloaded, 0, "",
			"busy"},
		{"late gateway", troubles, 504, "", fault(504, "DEADLINE_EXCEEDED", "late", ""), llm.ClassTimeout, 0, "", "late"},
		{"too long", troubles, 400, "", fault(400, "INVALID_ARGUMENT",
			"The input token count (1300000) exceeds the maximum number of tokens allowed (1048576).", ""),
			llm.ClassContextTooLong, 0, "", "1048576"},
		{"blocked prompt", generate, 200, "",
			`{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":11}}`,
			llm.ClassRefused, 0, "", "PROHIBITED_CONTENT"},
		{"blocked reply", generate, 200, "", `{"candidates":[{"finishReason":"SAFETY"}]}`, llm.ClassRefused, 0, "", "SAFETY"},
		{"recitation", generate, 200, "", candidate("SELECT", "RECITATION", ""), llm.ClassRefused, 0, "", "RECITATION"},
		{"no candidate", generate, 200, "", `{"candidates":[],"usageMetadata":{"promptTokenCount":11}}`, llm.ClassUnknown, 0,
			"", "empty"},
		{"candidates that are null", generate, 200, "", `{"candidates":[null]}`, llm.ClassUnknown, 0, "", "another form"},
		{"all thought", "https://ai.google.dev/gemini-api/docs/thinking", 200, "", candidate("", "MAX_TOKENS", ""),
			llm.ClassOutOfTokens, 0, "",
			"512 tokens were used up"},
		{"10 MB", generate, 200, "", candidate(strings.Repeat("x", 10<<20), "STOP", ""), llm.ClassPermanent, 0, "",
			"over 8 MiB"},
		{"no JSON", generate, 200, "", `{"candidates": [}`, llm.ClassUnknown, 0, "", "no JSON"},
		{"cut by its limit", generate, 200, "", candidate("SELECT count(", "MAX_TOKENS", ""), "", 0, "", "SELECT count("},
		{"invalid UTF-8", generate, 200, "", strings.Replace(candidate("SELECT X", "STOP", ""), "X", "\xff'a'", 1), "", 0, "",
			"SELECT \uFFFD'a'"},
	} {
		suite.Wire(t, w)
	}
}

// TestRequest: what is sent.
func TestRequest(t *testing.T) {
	var got map[string]any
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = nil
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.URL.Path != "/v1beta/models/m-1:generateContent" ||
			r.Header.Get("X-Goog-Api-Key") != key {
			t.Errorf("%s %v: %v", r.URL.Path, r.Header, err)
		}
		answer(200, "", candidate("SELECT 1", "STOP", `,"cachedContentTokenCount":9`))(w, r)
	})
	for _, tt := range []struct {
		why  string
		req  llm.Request
		want string
	}{
		{"everything", full(), `{"systemInstruction":{"role":"user","parts":[{"text":"Answer in SQL."}]},"contents":[
			{"role":"user","parts":[{"text":"Schema."}]},{"role":"model","parts":[{"text":"Yes."}]},{"role":"user","parts":[{"text":"How many?"}]}],
			"generationConfig":{"temperature":0.25,"topP":0.5,"maxOutputTokens":512,"seed":7,"stopSequences":[";"],
			"thinkingConfig":{"thinkingLevel":"LOW"},"responseMimeType":"application/json","responseJsonSchema":{"type":"object"}}}`},
		{"nothing", llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "a"}}},
			`{"contents":[{"role":"user","parts":[{"text":"a"}]}],"generationConfig":{}}`},
	} {
		resp := testutil.Value(m.Complete(t.Context(), tt.req))(t)
		var want map[string]any
		testutil.OK(t, json.Unmarshal([]byte(tt.want), &want))
		golden.Equal(t, want, got, tt.why)
		golden.Equal(t, llm.Response{Text: "SELECT 1", StopReason: llm.StopEnd, Model: "m-1-2026", Usage: llm.Usage{
			Calls: 1, PromptTokens: 11, CompletionTokens: 7, CachedTokens: 9, ReasoningTokens: 3, Known: true}}, resp, tt.why)
	}
}

func TestConformance(t *testing.T) {
	suite.Conformance(t, fault(400, "INVALID_ARGUMENT", "bad request", ""))
}

// TestKeys: no key, and half a configuration.
func TestKeys(t *testing.T) {
	for _, name := range []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI",
		"GOOGLE_GENAI_USE_ENTERPRISE"} {
		t.Setenv(name, "")
	}
	req := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	_, err := gemini.Model("m").Complete(t.Context(), req)
	if llm.ClassOf(err) != llm.ClassPermanent ||
		!strings.Contains(err.Error(), "look at GEMINI_API_KEY, GOOGLE_API_KEY or Config.APIKey") {
		t.Error(err)
	}
	_, err = gemini.Client{Config: genai.ClientConfig{APIKey: key, Backend: genai.BackendGeminiAPI,
		Project: "p"}}.Model("m").Complete(t.Context(), req)
	if llm.ClassOf(err) != llm.ClassPermanent || strings.Contains(err.Error(), key) ||
		!strings.Contains(err.Error(), "project") {
		t.Error(err)
	}
}

func TestConnections(t *testing.T) { suite.Connections(t) }

// TestEmbedder: vectors in the order of the texts, in batches, for documents and for questions.
func TestEmbedder(t *testing.T) {
	calls, short, task := 0, false, ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Requests []struct {
				Content  struct{ Parts []struct{ Text string } }
				TaskType string
			}
		}
		json.NewDecoder(r.Body).Decode(&body)
		calls++
		var vectors []string
		for _, q := range body.Requests {
			vectors = append(vectors, fmt.Sprintf(`{"values":[%d,0.5]}`, len(q.Content.Parts[0].Text)))
			task = q.TaskType
		}
		if short {
			vectors = vectors[1:]
		}
		fmt.Fprintf(w, `{"embeddings":[%s]}`, strings.Join(vectors, ","))
	}))
	defer server.Close()
	e := client(server.URL).Embedder("gemini-embedding-001")
	texts := make([]string, 150)
	for i := range texts {
		texts[i] = strings.Repeat("x", i+1)
	}
	vectors, err := e.EmbedDocuments(t.Context(), texts)
	if err != nil || len(vectors) != 150 || vectors[149][0] != 150 || vectors[0][1] != 0.5 || calls != 2 ||
		task != "RETRIEVAL_DOCUMENT" {
		t.Errorf("%d vectors, %d calls for %s, %v", len(vectors), calls, task, err)
	}
	if v, err := e.EmbedQuery(t.Context(), "abc"); err != nil || v[0] != 3 || task != "RETRIEVAL_QUERY" {
		t.Errorf("%v, %v", v, err)
	}
	short = true
	if _, err := e.EmbedQuery(t.Context(), "abc"); llm.ClassOf(err) != llm.ClassUnknown {
		t.Errorf("no vector: %v", err)
	}
}

// TestKinds: trouble that people reported of this protocol.
func TestKinds(t *testing.T) {
	event := func(text, finish string) string {
		return fmt.Sprintf(`data: {"candidates":[{"content":{"role":"model","parts":[{"text":%q}]}%s}],`+
			`"usageMetadata":{"promptTokenCount":11}}`+"\r\n\r\n", text, finish)
	}
	for _, tt := range []struct {
		why, body string
		text      string
		stop      string
		class     llm.Class
		says      string
	}{
		{"a stream that nobody asked for", event("SELECT", "") + event(" 1", `,"finishReason":"STOP"`), "SELECT 1",
			llm.StopEnd, "", ""},
		{"a stream that is cut", event("SELECT", ""), "", "", llm.ClassOverloaded, "broke off"},
		{"a call that is malformed", `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, "", "",
			llm.ClassUnknown, "MALFORMED"},
		{"a language", `{"candidates":[{"finishReason":"LANGUAGE"}]}`, "", "", llm.ClassUnknown, "LANGUAGE"},
		{"nothing but a thought",
			`{"candidates":[{"content":{"parts":[{"text":"hm","thought":true}]},"finishReason":"STOP"}]}`, "", "",
			llm.ClassUnknown,
			"nothing but reasoning"},
		{"a word that nobody knows", candidate("SELECT 1", "OTHER", ""), "SELECT 1", llm.StopLength, "", ""},
		{"an error in a success", `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, "",
			"", llm.ClassOverloaded, "overloaded"},
	} {
		resp, err := serve(t, answer(200, "", tt.body)).Complete(t.Context(), full())
		if resp.Text != tt.text || resp.StopReason != tt.stop || llm.ClassOf(err) != tt.class ||
			(err == nil) != (tt.says == "") ||
			!strings.Contains(fmt.Sprint(err), tt.says) {
			t.Errorf("%s: %+v, %v", tt.why, resp, err)
		}
	}
	calls := 0
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls++
		var body map[string]any
		json.NewDecoder(r.Body).Decode(&body)
		if body["systemInstruction"] != nil {
			answer(400, "", fault(400, "INVALID_ARGUMENT", "Developer instruction is not enabled for models/gemma-3-27b-it",
				""))(w, r)
			return
		}
		answer(200, "", candidate("SELECT 1", "STOP", ""))(w, r)
	})
	for _, want := range []int{2, 3} {
		if resp, err := m.Complete(t.Context(), full()); err != nil || calls != want {
			t.Errorf("a model without messages of the system: %+v, %v, %d calls", resp, err, calls)
		}
	}
}
