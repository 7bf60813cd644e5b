package langchain_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/langchain"
	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"
	"github.com/tmc/langchaingo/llms/ollama"
	"github.com/tmc/langchaingo/llms/openai"
)

// wire is one of langchaingo's clients and the format that it speaks.
type wire struct {
	name   string
	client func(t *testing.T, url string, c *http.Client) llms.Model // nil c: the client's own
	reply  func(text string) string                                  // 11 tokens in, 7 out
	fault  func(message, code string) string                         // the body of an error
}

var wires = []wire{
	{
		name: "openai",
		client: func(t *testing.T, url string, c *http.Client) llms.Model {
			options := []openai.Option{openai.WithBaseURL(url), openai.WithToken("sk-test-0123456789"), openai.WithModel("m")}
			if c != nil {
				options = append(options, openai.WithHTTPClient(c))
			}
			m := testutil.Value(openai.New(options...))(t)
			return m
		},
		reply: func(text string) string {
			return fmt.Sprintf(
				`{"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],
				"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`, quoted(text))
		},
		fault: func(message, code string) string {
			return fmt.Sprintf(`{"error":{"message":%s,"type":"invalid_request_error","param":null,"code":%s}}`, quoted(message),
				quoted(code))
		},
	},
	{
		name: "ollama",
		client: func(t *testing.T, url string, c *http.Client) llms.Model {
			options := []ollama.Option{ollama.WithServerURL(url), ollama.WithModel("m")}
			if c != nil {
				options = append(options, ollama.WithHTTPClient(c))
			}
			m := testutil.Value(ollama.New(options...))(t)
			return m
		},
		reply: func(text string) string { // in two chunks, as the server sends it unasked
			return fmt.Sprintf(`{"model":"m","message":{"role":"assistant","content":%s},"done":false}`+"\n"+
				`{"model":"m","message":{"role":"assistant","content":""},"done":true,"prompt_eval_count":11,"eval_count":7}`+"\n",
				quoted(text))
		},
		fault: func(message, _ string) string { return fmt.Sprintf(`{"error":%s}`, quoted(message)) },
	},
	{
		name: "anthropic",
		client: func(t *testing.T, url string, c *http.Client) llms.Model {
			options := []anthropic.Option{anthropic.WithBaseURL(url), anthropic.WithToken("test-key"), anthropic.WithModel("m")}
			if c != nil {
				options = append(options, anthropic.WithHTTPClient(c))
			}
			m := testutil.Value(anthropic.New(options...))(t)
			return m
		},
		reply: func(text string) string {
			return fmt.Sprintf(
				`{"type":"message","role":"assistant","content":[{"type":"text","text":%s}],"stop_reason":"end_turn",
				"usage":{"input_tokens":11,"output_tokens":7}}`, quoted(text))
		},
		fault: func(message, code string) string {
			return fmt.Sprintf(`{"type":"error","error":{"type":%s,"message":%s}}`, quoted(code), quoted(message))
		},
	},
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// eachWire runs f with every client, with and without our HTTP client.
func eachWire(t *testing.T, f func(t *testing.T, w wire, ours bool)) {
	for _, w := range wires {
		for _, ours := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s/ours=%t", w.name, ours), func(t *testing.T) { f(t, w, ours) })
		}
	}
}

// model is the adapter of w's client, which talks to handler.
func (w wire) model(t *testing.T, ours bool, handler http.HandlerFunc) llm.Model {
	return langchain.Model(w.llms(t, ours, handler))
}

func (w wire) llms(t *testing.T, ours bool, handler http.HandlerFunc) llms.Model {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	if !ours {
		return w.client(t, server.URL, nil)
	}
	return w.client(t, server.URL, langchain.HTTPClient(nil))
}

// bodies collects the requests that a server sees.
type bodies struct {
	mu   sync.Mutex
	seen []map[string]any
}

func (b *bodies) take(t *testing.T, r *http.Request) map[string]any {
	raw, err := io.ReadAll(r.Body)
	var body map[string]any
	if err == nil {
		err = json.Unmarshal(raw, &body)
	}
	if err != nil {
		t.Errorf("request body: %v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seen = append(b.seen, body)
	return body
}

func (b *bodies) all() []map[string]any {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.seen
}

// answer replies with status and body.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func ask(text string) llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}, Purpose: "generate"}
}
