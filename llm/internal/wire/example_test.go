package wire_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/internal/wire"
)

// A client of one's own: a provider with a protocol that no client here speaks.
func ExampleClient() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte("temperature")) {
			w.WriteHeader(http.StatusBadRequest)
			io.WriteString(w, `{"error": "this model takes no 'temperature'"}`)
			return
		}
		io.WriteString(w, `{"say": "SELECT 1", "in": 12, "out": 3}`)
	}))
	defer server.Close()

	client := wire.HTTPClient(nil)
	model := &wire.Client{
		Model: "large", Key: "ACME_KEY", Base: "ACME_URL",
		Parameters: []string{"temperature", "temperature"},
		Send: func(ctx context.Context, _ *wire.Call, r wire.Request) (llm.Response, string, error) {
			body, _ := json.Marshal(map[string]any{"ask": wire.Joined(r.Turns), "temperature": r.Temperature})
			if r.Temperature == nil {
				body, _ = json.Marshal(map[string]any{"ask": wire.Joined(r.Turns)})
			}
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, bytes.NewReader(body))
			if err != nil {
				return llm.Response{}, "", err
			}
			reply, err := client.Do(request)
			if err != nil {
				return llm.Response{}, "", err
			}
			defer reply.Body.Close()
			if reply.StatusCode != http.StatusOK {
				return llm.Response{}, "", fmt.Errorf("status %d", reply.StatusCode)
			}
			var out struct {
				Say     string
				In, Out int
			}
			err = json.NewDecoder(reply.Body).Decode(&out)
			return llm.Response{Text: out.Say, Usage: llm.Usage{Calls: 1, PromptTokens: out.In, CompletionTokens: out.Out,
				Known: true}}, "", err
		},
	}
	request := llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}}
	reply, err := model.Complete(context.Background(), request)
	fmt.Println(reply.Text, reply.Usage.PromptTokens, err)
	request.Temperature = new(float64)
	_, err = model.Complete(context.Background(), request)
	fmt.Println(err)
	fmt.Println("without", llm.AsError(err).Parameter)
	// Output:
	// SELECT 1 12 <nil>
	// llm: permanent (status 400): this model takes no 'temperature'
	// without temperature
}

// The one call of a client, by Post: the status, the words of the server and its wait are in the error.
func ExamplePost() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(http.StatusTooManyRequests)
		io.WriteString(w, `{"error": {"message": "slow down"}}`)
	}))
	defer server.Close()

	client := wire.HTTPClient(nil)
	model := &wire.Client{Model: "large", Key: "ACME_KEY", Base: "ACME_URL",
		Send: func(ctx context.Context, _ *wire.Call, r wire.Request) (llm.Response, string, error) {
			var out struct{ Say, Why string }
			err := wire.Post(ctx, client, server.URL, "/ask", http.Header{"Acme-Key": {"k"}},
				map[string]string{"ask": wire.Joined(r.Turns)}, &out)
			return llm.Response{Text: out.Say, StopReason: wire.Stop(out.Why)}, out.Why, err
		}}
	_, err := model.Complete(context.Background(), llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "One?"}}})
	fmt.Println(err, llm.AsError(err).RetryAfter)
	// Output: llm: rate limit (status 429): slow down 7s
}

// Only a word that means "done" is an end.
func ExampleStop() {
	fmt.Printf("%q %q %q %q\n", wire.Stop("END_TURN"), wire.Stop("MAX_TOKENS"), wire.Stop("insufficient_system_resource"),
		wire.Stop(""))
	// Output: "stop" "length" "length" ""
}

// A model of vectors.
func ExampleEmbedder() {
	e := &wire.Embedder{Client: &wire.Client{Model: "lengths"}, Batch: 100, Embed: func(_ context.Context, texts []string,
		_ bool) ([][]float32, error) {
		var out [][]float32
		for _, text := range texts {
			out = append(out, []float32{float32(len(text))})
		}
		return out, nil
	}}
	fmt.Println(e.EmbedDocuments(context.Background(), []string{"a", "abc"}))
	// Output: [[1] [3]] <nil>
}

// TestMessages: which messages are sent, and where the mark of a prompt cache stands.
func TestMessages(t *testing.T) {
	of := func(role string, text string) llm.Message { return llm.Message{Role: role, Text: text} }
	plain := func(role string, text string) wire.Message { return wire.Message{Message: of(role, text)} }
	marked := func(role string, text string) wire.Message {
		return wire.Message{Message: of(role, text), Mark: true}
	}
	all := []llm.Message{of(llm.System, "s"), of(llm.User, " "), of(llm.User, "a"), of(llm.Assistant, "b"),
		of(llm.User, "c")}
	for _, tt := range []struct {
		why           string
		messages      []llm.Message
		prefix        int
		system, turns []wire.Message
		fails         bool
	}{
		{"no mark", all, 0, []wire.Message{plain(llm.System, "s")},
			[]wire.Message{plain(llm.User, "a"), plain(llm.Assistant, "b"), plain(llm.User, "c")}, false},
		{"in the system", all, 1, []wire.Message{marked(llm.System, "s")},
			[]wire.Message{plain(llm.User, "a"), plain(llm.Assistant, "b"), plain(llm.User, "c")}, false},
		{"on an empty one: before it", all, 2, []wire.Message{marked(llm.System, "s")},
			[]wire.Message{plain(llm.User, "a"), plain(llm.Assistant, "b"), plain(llm.User, "c")}, false},
		{"in the turns", all, 3, []wire.Message{plain(llm.System, "s")},
			[]wire.Message{marked(llm.User, "a"), plain(llm.Assistant, "b"), plain(llm.User, "c")}, false},
		{"all and more", all, 9, []wire.Message{plain(llm.System, "s")},
			[]wire.Message{plain(llm.User, "a"), plain(llm.Assistant, "b"), marked(llm.User, "c")}, false},
		{"nothing of the user", all[:1], 0, nil, nil, true},
		{"an unknown role", []llm.Message{of("tool", "a")}, 0, nil, nil, true},
	} {
		system, turns, err := wire.Messages(llm.Request{Messages: tt.messages, CachePrefix: tt.prefix})
		if (err != nil) != tt.fails || llm.ClassOf(err) == llm.ClassUnknown && tt.fails {
			t.Errorf("%s: %v", tt.why, err)
		}
		if diff := cmp.Diff(tt.system, system) + cmp.Diff(tt.turns, turns); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.why, diff)
		}
	}
}
