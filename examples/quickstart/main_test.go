package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/examples/internal/shop"
)

var update = flag.Bool("update", false, "write the golden file")

// try runs the program with an environment of its own.
func try(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, func(name string) string { return env[name] })
	return out.String(), err
}

// TestDefaultOutput is the golden of the program as it stands: no model, no
// question.
func TestDefaultOutput(t *testing.T) {
	got, err := try(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "default.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the default output (-want +got; -update writes it):\n%s", diff)
	}
}

// TestShowsWhatItIsFor: the scripted replies let vote, guard, repair and other
// languages be seen.
func TestShowsWhatItIsFor(t *testing.T) {
	got, err := try(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"none is called", "had no vote: not-read-only", "was repaired", "draws saved", "Welche Produkte", "confidence 0."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the output", want)
		}
	}
}

// file writes a file and returns its path.
func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBrokenInputs: one clear line each, quickly.
func TestBrokenInputs(t *testing.T) {
	listed := shop.Questions()[0]
	nobody := map[string]string{"OLLAMA_HOST": "127.0.0.1:1", "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"Incorrect API key provided: sk-test-0123456789"}}`)
	}))
	t.Cleanup(refusing.Close) // after the parallel subtests
	half := file(t, "half.sqlite", "SQLite format 3\x00 and nothing behind it, or nothing that makes sense")
	tests := []struct {
		name string
		env  map[string]string
		args []string
		want []string
		not  string
	}{
		{"unknown model", nil, []string{"-model", "nope:x", "q"}, []string{`model "nope:x": unknown provider`, "ollama:NAME"}, ""},
		{"no model name", nil, []string{"-model", "ollama:", "q"}, []string{"nothing after the colon"}, ""},
		{"missing key", nil, []string{"-model", "openai:gpt", "q"}, []string{"OPENAI_API_KEY is not set"}, ""},
		{"missing key of Anthropic", nil, []string{"-model", "anthropic:x", "q"}, []string{"ANTHROPIC_API_KEY is not set"}, ""},
		{"missing recording", nil, []string{"-model", "replay:/does/not/exist", "q"}, []string{"no such file"}, ""},
		{"unreachable server", nobody, []string{"-model", "ollama:x", listed}, []string{"every draw failed", "connection refused"}, "passed the checks"},
		{"unreachable server, listed questions", nobody, []string{"-model", "openai:x"}, []string{"every draw failed", "connection refused"}, ""},
		{"wrong key", map[string]string{"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": refusing.URL}, []string{"-model", "openai:x", "q"}, []string{"status 401"}, "sk-test"},
		{"missing database", nobody, []string{"-model", "ollama:x", "-db", "/does/not/exist.sqlite", "q"}, []string{"/does/not/exist.sqlite: no such file"}, ""},
		{"no database", nobody, []string{"-model", "ollama:x", "-db", file(t, "a.csv", "a,b\n1,2\n"), "q"}, []string{"a.csv: is no SQLite database"}, ""},
		{"corrupt database", nobody, []string{"-model", "ollama:x", "-db", half, "q"}, []string{"not a database"}, ""},
		{"empty database", nobody, []string{"-model", "ollama:x", "-db", file(t, "empty.sqlite", ""), "q"}, []string{"no table"}, ""},
		{"folder", nobody, []string{"-model", "ollama:x", "-db", t.TempDir(), "q"}, []string{"is a folder"}, ""},
		{"empty question", nil, []string{""}, []string{"the question is empty"}, ""},
		{"blank question", nil, []string{" ", "\t"}, []string{"the question is empty"}, ""},
		{"invisible question", nobody, []string{"-model", "ollama:x", "\u200b\u2060"}, []string{"the question is empty"}, ""},
		{"long question", nobody, []string{"-model", "ollama:x", strings.Repeat("please ", 2000)}, []string{"the question has 14000 bytes; the limit is 8192"}, ""},
		{"unlisted question", nil, []string{"How", "many?"}, []string{"no model is configured for this question", "-model openai:NAME"}, ""},
		{"own database without a model", nil, []string{"-db", half, listed}, []string{"no model is configured"}, ""},
		{"own database without a question", nil, []string{"-db", half}, []string{"-db needs a question"}, ""},
		{"unknown flag", nil, []string{"-bogus"}, []string{"-bogus", "-h lists the flags"}, ""},
		{"page that cannot be written", nil, []string{"-trace", "/does/not/exist/page.html", listed}, []string{"/does/not/exist/page.html"}, ""},
		{"shop over a file", nil, []string{"-write-db", half}, []string{"exists already"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // two of them wait for retries
			start := time.Now()
			out, err := try(t, tt.env, tt.args...)
			if err == nil {
				t.Fatalf("no error; output:\n%s", out)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("no %q in %q", want, err)
				}
			}
			if strings.Contains(err.Error(), "\n") || tt.not != "" && strings.Contains(err.Error(), tt.not) || len(err.Error()) > 400 {
				t.Errorf("no clear line: %q", err)
			}
			if strings.Contains(out, "no answer") {
				t.Errorf("the error is told twice:\n%s", out)
			}
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestLiveModel answers about the user's own file through a server that speaks
// the wire format of OpenAI, prints nothing that a terminal obeys, and writes a
// page.
func TestLiveModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own shop.sqlite")
	if out, err := try(t, nil, "-write-db", path); err != nil || out != "" {
		t.Fatalf("%q, %v", out, err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal("```sql\nSELECT count(*) AS n, '\x1b[2J\u202e' AS x FROM customers\n```")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, text)
	}))
	defer server.Close()
	page := filepath.Join(t.TempDir(), "page.html")
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	out, err := try(t, env, "-model", "openai:x", "-db", path, "-trace", page, "How many\x1b[31m", "customers", "are there?")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"── How many[31m customers are there?", "SELECT count(*) AS n", "tokens, ", "Wrote " + page} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("the terminal is sent control characters: %q", out)
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte("<html")) {
		t.Errorf("page: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database was changed: %v", err)
	}
}

// TestLeavesNoFiles: the shop's folder goes with the program, and is not made for
// a database of the user's own.
func TestLeavesNoFiles(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	own := filepath.Join(t.TempDir(), "own.sqlite")
	if _, err := try(t, nil, "-write-db", own); err != nil {
		t.Fatal(err)
	}
	if _, err := try(t, nil, shop.Questions()[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := try(t, map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:1"}, "-model", "openai:x", "-db", own, "​"); err == nil {
		t.Error("an invisible question was answered")
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestInterrupted ends at once, with the listed questions that were not asked
// left alone.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body) // without that the server does not see the client go
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	var out bytes.Buffer
	env := map[string]string{"OLLAMA_HOST": server.URL}
	start := time.Now()
	err := run(ctx, []string{"-model", "ollama:x"}, &out, func(name string) string { return env[name] })
	if !errors.Is(err, context.Canceled) || strings.Contains(out.String(), "no answer") || time.Since(start) > 5*time.Second {
		t.Errorf("got %v after %v:\n%s", err, time.Since(start), out.String())
	}
}
