package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
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
	"time"

	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/internal/golden"
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
	for _, want := range []string{"had no vote: not-read-only", "was repaired", "samples saved", "Welche Produkte",
		"All 7 samples agree."} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in the output", want)
		}
	}
}

// TestBrokenInputs: one clear line each, and no model is called.
func TestBrokenInputs(t *testing.T) {
	listed := shop.Listed().Questions()[0]
	nobody := map[string]string{"OLLAMA_HOST": "127.0.0.1:1"}
	text := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(text, []byte("a,b\n1,2\n"+strings.Repeat("3,4\n", 99)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"unknown model", []string{"-model", "nope:x", "q"}, `model "nope:x": unknown provider`},
		{"missing key", []string{"-model", "openai:gpt", "q"}, "OPENAI_API_KEY is not set"},
		{"missing recording", []string{"-model", "replay:/does/not/exist", "q"}, "no such file"},
		{"unreachable server", []string{"-model", "ollama:x", listed},
			"ollama:x: cannot reach http://127.0.0.1:1: connection refused. Is the server running?"},
		{"missing database", []string{"-model", "ollama:x", "-db", "/does/not/exist.sqlite", "q"},
			"/does/not/exist.sqlite: no such file"},
		{"no database", []string{"-model", "ollama:x", "-db", text, "q"}, "not a database"},
		{"folder", []string{"-model", "ollama:x", "-db", t.TempDir(), "q"}, "is a folder"},
		{"empty question", []string{""}, "the question is empty"},
		{"no question", []string{"-model", "ollama:x", "-db", text}, "the question is empty"},
		{"unlisted question", []string{"How", "many?"}, "no model is configured for this question"},
		{"own database without a model", []string{"-db", text, listed}, "no model is configured"},
		{"unknown flag", []string{"-bogus"}, "-bogus"},
		{"shop over a file", []string{"-write-db", text}, "exists already"},
		{"page that cannot be written", []string{"-trace", "/does/not/exist/page.html", listed}, "/does/not/exist/page.html"},
	} {
		_, err := try(t, nobody, tt.args...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") ||
			len(err.Error()) > 300 {
			t.Errorf("%s: no clear line with %q: %v", tt.name, tt.want, err)
		}
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
	if _, err := db.Exec("CREATE TABLE hostile (\"a\x1b[31mb\" TEXT); INSERT INTO hostile " +
		"VALUES ('\x1b]0;owned\x07\r\u202e\u009b2Jcell')"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		text, _ := json.Marshal("```sql\nSELECT count(*) AS n, '\x1b[2J\u202e' AS x, hostile.* FROM customers, hostile\n```")
		fmt.Fprintf(w,
			`{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`,
			text)
	}))
	defer server.Close()
	page := filepath.Join(t.TempDir(), "page.html")
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	out, err := try(t, env, "-model", "openai:x", "-db", path, "-trace", page, "How many\x1b[31m", "customers",
		"are there?")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"── How many[31m customers are there?", "SELECT count(*) AS n", `a\x1b[31mb`,
		`\u009b2Jcell`, "tokens, "} {
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

// TestProgress: while a live model is slow, one line says so, and how long it has been.
func TestProgress(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		time.Sleep(1100 * time.Millisecond)
		io.WriteString(w, `{"choices":[{"message":{"content":"SELECT 1 FROM customers"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1"}
	var stderr bytes.Buffer
	if err := run(t.Context(), []string{"-model", "openai:x", "How many?"}, io.Discard, &stderr, func(name string) string {
		return env[name]
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stderr.String(), "\rasking the model 0/") || !strings.Contains(stderr.String(), ", 1 s ") ||
		!strings.HasSuffix(stderr.String(), "s \n") {
		t.Errorf("%q", &stderr)
	}
}

// TestWhy: the factors of the confidence are told where they are asked for.
func TestWhy(t *testing.T) {
	question := shop.Listed().Questions()[0]
	plain, err := try(t, nil, question)
	why, err2 := try(t, nil, "-why", question)
	if err != nil || err2 != nil || len(why) <= len(plain) {
		t.Errorf("%v, %v: %s%s", err, err2, plain, why)
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

// TestInterruptKey ends the whole program, which the test itself is once more.
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
	if err := program.Wait(); program.ProcessState.ExitCode() != 1 || stderr.String() != "quickstart: context canceled\n" {
		t.Errorf("%v, %q", err, &stderr)
	}
}

// TestReadme: the README shows what the program prints.
func TestReadme(t *testing.T) {
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "\n\n```\n")
	shown, _, _ = strings.Cut(shown, "```\n")
	var out strings.Builder
	if err := run(t.Context(), []string{"Which customers in the USA never ordered?"}, &out, io.Discard,
		func(string) string { return "" }); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(shown, "SELECT") || !strings.Contains(out.String(), shown) {
		t.Errorf("the README has\n%s\nand the program prints\n%s", shown, &out)
	}
}
