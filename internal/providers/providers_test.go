package providers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
)

// env is an environment of the test's own.
type env map[string]string

func (e env) get(key string) string { return e[key] }

func question() llm.Request {
	return llm.Request{Messages: []llm.Message{
		{Role: llm.System, Text: "Answer with one SQL statement."},
		{Role: llm.User, Text: "How many singers are there?"},
	}, Purpose: "generate"}
}

// server speaks the wire formats of the three providers, each at its path.
func server(t *testing.T) string {
	t.Helper()
	format := map[string]string{
		"/v1/chat/completions": `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`,
		"/v1/messages":         `{"content":[{"type":"text","text":%s}],"stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":8}}`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Model string }
		json.NewDecoder(r.Body).Decode(&body)
		if format[r.URL.Path] == "" || body.Model == "unknown" {
			w.WriteHeader(http.StatusNotFound)
			io.WriteString(w, `{"error":{"message":"no such model"}}`)
			return
		}
		reply := fmt.Sprintf("%s %s%s%s", body.Model, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key"),
			r.Header.Get("OpenAI-Organization"))
		text, _ := json.Marshal(reply)
		fmt.Fprintf(w, format[r.URL.Path], text)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func TestModel(t *testing.T) {
	// What the process has must not matter, although the clients read it.
	for _, name := range []string{
		"OPENAI_API_KEY", "OPENAI_MODEL", "OPENAI_BASE_URL", "OPENAI_ORGANIZATION", "OPENAI_ORG_ID", "ANTHROPIC_API_KEY",
		"OLLAMA_HOST",
	} {
		t.Setenv(name, "of-the-process")
	}
	url := server(t)
	tests := []struct {
		spec, want string
		env        env
	}{
		{"openai:gpt-4o-mini", "gpt-4o-mini Bearer k1", env{"OPENAI_API_KEY": "k1\n", "OPENAI_BASE_URL": url + "/v1/"}},
		{"openai:m", "m Bearer k1org", env{"OPENAI_API_KEY": "k1", "OPENAI_BASE_URL": url + "/v1",
			"OPENAI_ORGANIZATION": "org"}},
		{"ollama:qwen2.5-coder:7b", "qwen2.5-coder:7b ", env{"OLLAMA_HOST": url}},
		{"ollama:m", "m ", env{"OLLAMA_HOST": strings.TrimPrefix(url, "http://")}},
		{"anthropic:claude", "claude k2", env{"ANTHROPIC_API_KEY": "k2", "ANTHROPIC_BASE_URL": url}},
		{"anthropic:claude", "claude k2", env{"ANTHROPIC_API_KEY": "k2", "ANTHROPIC_BASE_URL": url + "/v1"}},
	}
	for _, test := range tests {
		m, err := Model(test.spec, test.env.get)
		if err != nil {
			t.Errorf("%s: %v", test.spec, err)
			continue
		}
		if got := llm.NameOf(m); got != test.spec {
			t.Errorf("%s: named %q", test.spec, got)
		}
		resp, err := m.Complete(t.Context(), question())
		if err != nil || resp.Text != strings.TrimRight(test.want, " ") && resp.Text != test.want || !resp.Usage.Known ||
			resp.Usage.PromptTokens != 20 {
			t.Errorf("%s: got %+v, %v, want %q", test.spec, resp, err, test.want)
		}
	}
}

func TestUnknownModelAtTheServer(t *testing.T) {
	url := server(t)
	m := testutil.Value(Model("openai:unknown", env{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": url + "/v1"}.get))(t)
	_, err := m.Complete(t.Context(), question())
	want := "llm: permanent (status 404): look at OPENAI_BASE_URL (most end in /v1): the server has nothing at " + url +
		"/v1/chat/completions"
	if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), ": no such model") {
		t.Errorf("got %v", err)
	}
}

// TestUnreachable: until it has answered once, a server that cannot be reached is
// named and not worth a retry.
func TestUnreachable(t *testing.T) {
	listener := testutil.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	closed := "http://" + listener.Addr().String()
	listener.Close()
	for _, spec := range []string{"openai:m", "ollama:m", "anthropic:m"} {
		m, err := Model(spec, env{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": closed + "/v1",
			"ANTHROPIC_BASE_URL": closed, "OLLAMA_HOST": closed}.get)
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Complete(t.Context(), question())
		if llm.ClassOf(err) != llm.ClassPermanent || !strings.Contains(err.Error(), spec+": cannot reach "+closed) ||
			!strings.Contains(err.Error(), "connection refused") {
			t.Errorf("%s: got %v", spec, err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Complete(ended, question()); err != context.Canceled {
			t.Errorf("%s, cancelled: got %v", spec, err)
		}

		// A server that answered, if with an error, and is away now.
		gone := httptest.NewServer(http.NotFoundHandler())
		m = testutil.Value(Model(spec, env{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", "OPENAI_BASE_URL": gone.URL,
			"ANTHROPIC_BASE_URL": gone.URL, "OLLAMA_HOST": gone.URL}.get))(t)
		if _, err := m.Complete(t.Context(), question()); llm.ClassOf(err) != llm.ClassPermanent {
			t.Errorf("%s: got %v", spec, err)
		}
		gone.CloseClientConnections()
		gone.Close()
		if _, err := m.Complete(t.Context(), question()); llm.ClassOf(err) != llm.ClassOverloaded {
			t.Errorf("%s, gone: got %v", spec, err)
		}
	}
}

func TestModelErrors(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		testutil.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	keys := env{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k"}
	with := func(key, value string) env { return env{"OPENAI_API_KEY": "k", "ANTHROPIC_API_KEY": "k", key: value} }
	tests := []struct {
		spec string
		env  env
		want string
	}{
		{"", keys, "want openai:NAME"},
		{"gpt-4o", keys, "unknown provider"},
		{"OpenAI:m", keys, "unknown provider"},
		{"openai:", keys, "no model name"},
		{"replay", keys, "no model name"},
		{"openai:m", env{}, "OPENAI_API_KEY is not set"},
		{"anthropic:m", env{"OPENAI_API_KEY": "k"}, "ANTHROPIC_API_KEY is not set"},
		{"openai:m", with("OPENAI_BASE_URL", "localhost:8000/v1"), "OPENAI_BASE_URL is no URL"},
		{"openai:m", with("OPENAI_BASE_URL", "http://user:s3cret@[::1/v1"), "OPENAI_BASE_URL is no URL"},
		{"anthropic:m", with("ANTHROPIC_BASE_URL", "ftp://x"), "ANTHROPIC_BASE_URL is no URL"},
		{"ollama:m", with("OLLAMA_HOST", "http://%zz"), "OLLAMA_HOST is no URL"},
		{"ollama:m", with("OLLAMA_HOST", "http://a b"), "OLLAMA_HOST is no URL"},
		{"ollama:m", with("OLLAMA_HOST", "[::bad"), "OLLAMA_HOST is no URL"},
		{"ollama:m", with("OLLAMA_HOST", ":::bad"), "OLLAMA_HOST is no URL"},
		{"ollama:m", with("OLLAMA_HOST", "box:65536"), "OLLAMA_HOST is no URL"},
		{"ollama:m", with("OLLAMA_HOST", "box:0"), "OLLAMA_HOST is no URL"},
		{"openai:m", with("OPENAI_BASE_URL", "http://box:99999/v1"), "OPENAI_BASE_URL is no URL"},
		{"replay:" + filepath.Join(dir, "none.jsonl"), keys, "no such file"},
		{"replay:" + file("empty.jsonl", ""), keys, "empty"},
		{"replay:" + file("broken.jsonl", "{\"v\":1}\n{]\n{\"v\":1}\n"), keys, "line"},
		{"replay:" + file("two.jsonl", `{"v":1,"hash":"a","model":"m1","draw":0,"reply":{"text":"x"}}`+"\n"+
			`{"v":1,"hash":"a","model":"m2","draw":0,"reply":{"text":"x"}}`+"\n"), keys, "several models (m1, m2)"},
	}
	for _, test := range tests {
		_, err := Model(test.spec, test.env.get)
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") ||
			strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v, want a line with %q", test.spec, err, test.want)
		}
	}
}

func TestReplay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.jsonl")
	rec := testutil.Value(replay.Append(path))(t)
	live := testutil.Value(Model("openai:m", env{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server(t) + "/v1"}.get))(t)
	testutil.Value(llm.Chain(live, rec.Record).Complete(t.Context(), question()))(t)
	testutil.OK(t, rec.Close())

	m := testutil.Value(Model("replay:"+path, env{}.get))(t)
	resp, err := m.Complete(t.Context(), question())
	if err != nil || resp.Text != "m Bearer k" || llm.NameOf(m) != "openai:m" {
		t.Errorf("got %+v, %v of %q", resp, err, llm.NameOf(m))
	}
}

func TestOllamaURL(t *testing.T) {
	tests := []struct{ host, want, why string }{
		{"", "http://127.0.0.1:11434", "the default"},
		{"box", "http://box:11434", "a name"},
		{"box:8080", "http://box:8080", "a name and a port"},
		{":8080", "http://127.0.0.1:8080", "a port"},
		{"0.0.0.0", "http://127.0.0.1:11434", "where a server listens"},
		{"0.0.0.0:8080", "http://127.0.0.1:8080", "where a server listens"},
		{"[::]:8080", "http://[::1]:8080", "where a server listens"},
		{"::1", "http://[::1]:11434", "an address without brackets"},
		{"::bad", "http://[::bad]:11434", "an address too, although it spells a word"},
		{"http://box", "http://box:80", "with a scheme, its port: so does Ollama"},
		{"https://box/ollama/", "https://box:443/ollama", "behind a proxy"},
		{` "box" `, "http://box:11434", "quotes of a settings file"},
	}
	for _, test := range tests {
		if got, err := ollamaURL(test.host); err != nil || got != test.want {
			t.Errorf("%s: ollamaURL(%q) = %q, %v, want %q", test.why, test.host, got, err, test.want)
		}
	}
}
