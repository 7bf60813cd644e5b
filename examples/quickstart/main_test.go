package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/shop"
)

// try runs the program with an environment of its own.
func try(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, io.Discard, func(name string) string { return env[name] })
	return out.String(), err
}

// TestDefaultOutput is the golden of the program as it stands: no model, no
// question.
func TestDefaultOutput(t *testing.T) {
	got, err := try(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "default.txt", got)
}

// TestShowsWhatItIsFor: the scripted replies let vote, guard, repair and other
// languages be seen.
func TestShowsWhatItIsFor(t *testing.T) {
	got, err := try(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"none is called", "had no vote: not-read-only", "was repaired", "samples saved", "Welche Produkte", "confidence 0."} {
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
	listed := shop.Listed().Questions()[0]
	nobody := map[string]string{"OLLAMA_HOST": "127.0.0.1:1", "OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}
	calls := make(chan struct{}, 1) // has one when the server was called
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		calls <- struct{}{}
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(silent.Close)
	uncalled := map[string]string{"OLLAMA_HOST": silent.URL}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		io.WriteString(w, `{"error":{"message":"Incorrect API key provided: sk-test-0123456789"}}`)
	}))
	t.Cleanup(refusing.Close)
	half := file(t, "half.sqlite", "SQLite format 3\x00 and nothing behind it, or nothing that makes sense")
	whole := filepath.Join(t.TempDir(), "whole.sqlite")
	if err := shop.Write(whole); err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	var noise strings.Builder
	for i := range 4096 {
		noise.WriteByte(byte(i * i >> 3))
	}
	const call = `{"v":1,"hash":"a","model":"m","draw":0,"reply":{"text":"SELECT 1"}}` + "\n"
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
		{"broken recording", nil, []string{"-model", "replay:" + file(t, "a.jsonl", call+"{\n"), "q"}, []string{"a.jsonl: replay: line 2"}, ""},
		{"recording of another version", nil, []string{"-model", "replay:" + file(t, "b.jsonl", call+strings.Replace(call, `"v":1`, `"v":9`, 1)), "q"},
			[]string{"b.jsonl: replay: line 2: format version 9, this program reads 1"}, ""},
		{"empty recording", nil, []string{"-model", "replay:" + file(t, "c.jsonl", ""), "q"}, []string{"the recording is empty"}, ""},
		{"folder for a recording", nil, []string{"-model", "replay:" + t.TempDir(), "q"}, []string{"is a directory"}, ""},
		{"question that is not recorded", nil, []string{"-model", "replay:" + file(t, "d.jsonl", call), "Which customers never ordered?"},
			[]string{`no recorded reply to "generate" of model "m", sample 0`, "Which customers never ordered?"}, "Schema"},
		{"missing recording", nil, []string{"-model", "replay:/does/not/exist", "q"}, []string{"no such file"}, ""},
		{"unreachable server", nobody, []string{"-model", "ollama:x", listed},
			[]string{"ollama:x: no server at http://127.0.0.1:1: ", "connection refused"}, "passed the checks"},
		{"unreachable server, listed questions", nobody, []string{"-model", "openai:x"},
			[]string{"openai:x: no server at http://127.0.0.1:1/v1: ", "connection refused"}, "attempt"},
		{"no address", map[string]string{"OLLAMA_HOST": "http://[::bad"}, []string{"-model", "ollama:x", "q"}, []string{"OLLAMA_HOST is no URL"}, ""},
		{"wrong key", map[string]string{"OPENAI_API_KEY": "sk-test-0123456789", "OPENAI_BASE_URL": refusing.URL}, []string{"-model", "openai:x", "q"},
			[]string{"status 401"}, "sk-test"},
		{"missing database", nobody, []string{"-model", "ollama:x", "-db", "/does/not/exist.sqlite", "q"}, []string{"/does/not/exist.sqlite: no such file"}, ""},
		{"no database", nobody, []string{"-model", "ollama:x", "-db", file(t, "a.csv", "a,b\n1,2\n"), "q"}, []string{"a.csv: is no SQLite database"}, ""},
		{"scrap of a database", nobody, []string{"-model", "ollama:x", "-db", file(t, "scrap.sqlite", "SQLite form"), "q"}, []string{"is no SQLite database"}, ""},
		{"encrypted database", nobody, []string{"-model", "ollama:x", "-db", file(t, "noise.sqlite", noise.String()), "q"},
			[]string{"is no SQLite database, or an encrypted one"}, ""},
		{"cut database", uncalled, []string{"-model", "ollama:x", "-db", file(t, "cut.sqlite", string(content[:len(content)/3])), "q"}, []string{"malformed"}, ""},
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
		{"flag behind the question", nil, []string{"q", "-db=secret"}, []string{"the flag -db stands behind the question"}, "secret"},
		{"missing policy", nil, []string{"-policy", "/does/not/exist"}, []string{"-policy: no such file"}, ""},
		{"broken policy", nil, []string{"-policy", file(t, "p.json", "{")}, []string{"the JSON ends in the middle"}, ""},
		{"policy of another database", uncalled, []string{"-model", "ollama:x", "-policy", file(t, "q.json", `{"DenyTables":["clients"]}`), "q"},
			[]string{`DenyTables: "clients"`}, ""},
		{"unknown flag", nil, []string{"-bogus"}, []string{"-bogus", "-h lists the flags"}, ""},
		{"page that cannot be written", uncalled, []string{"-model", "ollama:x", "-trace", "/does/not/exist/page.html", "q"},
			[]string{"/does/not/exist/page.html"}, ""},
		{"folder for a page", uncalled, []string{"-model", "ollama:x", "-trace", t.TempDir(), "q"}, []string{"it is no regular file"}, ""},
		{"page over the database", uncalled, []string{"-model", "ollama:x", "-db", whole, "-trace", whole, "q"}, []string{"is the database"}, ""},
		{"shop over a file", nil, []string{"-write-db", half}, []string{"exists already"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
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
		})
	}
	select {
	case <-calls:
		t.Error("the model was called although its answer could not be used")
	default:
	}
}

// TestLiveModel answers about the user's own file through a server that speaks
// the wire format of OpenAI, prints nothing that a terminal obeys, and writes a
// page.
func TestLiveModel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own shop? #1 100%20.sqlite")
	if out, err := try(t, nil, "-write-db", path); err != nil || out != "" {
		t.Fatalf("%q, %v", out, err)
	}
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(path))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE hostile (\"a\x1b[31mb\" TEXT); INSERT INTO hostile VALUES ('\x1b]0;owned\x07\r\u202e\u009b2Jcell')"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal("```sql\nSELECT count(*) AS n, '\x1b[2J\u202e' AS x, hostile.* FROM customers, hostile\n```")
		fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, text)
	}))
	defer server.Close()
	page := filepath.Join(t.TempDir(), "page.html")
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	out, err := try(t, env, "-model", "openai:x", "-db", path, "-trace", page, "How many\x1b[31m", "customers", "are there?")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"── How many[31m customers are there?", "SELECT count(*) AS n", `a\x1b[31mb`, `\u009b2Jcell`, "tokens, ", "Wrote " + page} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.ContainsAny(out, "\x1b\x07\r\u202e\u009b") {
		t.Errorf("the terminal is sent control characters: %q", out)
	}
	html, err := os.ReadFile(page)
	if err != nil || !bytes.Contains(html, []byte("<html")) || !bytes.Contains(html, []byte("1 row of 3 columns")) {
		t.Errorf("page: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database was changed: %v", err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("the folder of the database: %v, %v", files, err)
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
	if _, err := try(t, nil, shop.Listed().Questions()[0]); err != nil {
		t.Fatal(err)
	}
	key := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": "http://127.0.0.1:1"}
	if _, err := try(t, key, "-model", "openai:x", "-db", own, "\u200b"); err == nil {
		t.Error("an invisible question was answered")
	}
	left, err := os.ReadDir(os.TempDir())
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestProgress: each sample of a live model is told as it ends, also where standard error is no terminal.
func TestProgress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"choices":[{"message":{"content":"SELECT count(*) FROM customers"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	var out, told bytes.Buffer
	if err := run(t.Context(), []string{"-model", "openai:x", "How many customers?"}, &out, &told, func(name string) string { return env[name] }); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(told.String(), "  sample 0 after ") || strings.Contains(out.String(), "sample 0 after") {
		t.Errorf("standard error: %q, standard output: %q", &told, &out)
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
	err := run(ctx, []string{"-model", "ollama:x"}, &out, io.Discard, func(name string) string { return env[name] })
	if !errors.Is(err, context.Canceled) || strings.Contains(out.String(), "no answer") {
		t.Errorf("got %v:\n%s", err, out.String())
	}
}

// TestInterruptKey is the same for the whole program, which the test itself is
// once more.
func TestInterruptKey(t *testing.T) {
	if os.Getenv("QUICKSTART_TEST_MAIN") != "" {
		os.Args = []string{"quickstart", "-model", "ollama:x", "How many?"}
		main()
	}
	called := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		called <- struct{}{}
		<-r.Context().Done()
	}))
	defer server.Close()
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestInterruptKey$")
	program.Env = append(os.Environ(), "QUICKSTART_TEST_MAIN=1", "OLLAMA_HOST="+server.URL)
	var stderr bytes.Buffer
	program.Stderr = &stderr
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	<-called
	if err := program.Process.Signal(os.Interrupt); err != nil {
		t.Skipf("no interrupts here: %v", err)
	}
	if err := program.Wait(); program.ProcessState.ExitCode() != 1 || stderr.String() != "quickstart: interrupted\n" {
		t.Errorf("%v, %q", err, &stderr)
	}
}

// TestReadme: the README shows what the program prints.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	var out strings.Builder
	if err := run(t.Context(), []string{"Which customers in the USA never ordered?"}, &out, io.Discard, func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(shown, "SELECT") || !strings.Contains(out.String(), shown) {
		t.Errorf("the README has\n%s\nand the program prints\n%s", shown, &out)
	}
}
