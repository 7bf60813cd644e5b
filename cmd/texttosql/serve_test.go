package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestServe: the program serves the page, keeps conversations in their folder, and ends when it is told to.
func TestServe(t *testing.T) {
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w,
			`{"choices":[{"message":{"content":"SELECT count(*) FROM customers"},"finish_reason":"stop"}],"usage":{}}`)
	}))
	defer provider.Close()
	dir := filepath.Join(t.TempDir(), "s3cret")
	testutil.OK(t, os.Mkdir(dir, 0o700))
	db := filepath.Join(dir, "shop.sqlite")
	testutil.OK(t, os.Rename(shopFile(t), db))
	token := filepath.Join(dir, "token")
	testutil.OK(t, os.WriteFile(token, []byte("a token of the tests\n"), 0o600))
	env := map[string]string{"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": provider.URL, "TEXTTOSQL_DSN": db}
	folder := t.TempDir()
	serveTwice(t, env, "--sessions", folder, "--token-file", token)
	if os.Getenv("TEXTTOSQL_SERVERS") != "" { // conversations and lessons on PostgreSQL
		env["TEXTTOSQL_SESSIONS"] = fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", pg.Get(t).Port)
		serveTwice(t, env, "--lessons", env["TEXTTOSQL_SESSIONS"], "--token-file", token)
	}
	for _, place := range []string{folder, env["TEXTTOSQL_SESSIONS"]} { // to talk the flag means the same
		if place == "" {
			continue
		}
		if code, out, told := try(t, env, "", "talk", "--list", "--sessions", place); code != 0 ||
			!strings.Contains(out, "How many customers are there?") {
			t.Errorf("talk --list: code %d, %s%s", code, out, told)
		}
	}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"--listen", "0.0.0.0:0"}, "give a token"},
		{[]string{"--listen", "nowhere"}, "nowhere"},
		{[]string{"--token-file", filepath.Join(t.TempDir(), "none")}, "--token-file"},
		{[]string{"--parallel", "0"}, "--parallel 0"},
		{[]string{"--limits", file(t, "limits.json", `{"Connections": 1}`)}, "want Connections 2 or more, not 1"},
		{[]string{"--ask-below", "2"}, "--ask-below 2: want 0 to 1"},
		{[]string{"--sessions", "postgres://me:sesame@127.0.0.1:1/x"}, "--sessions: pgstore"},
		{[]string{"--lessons", "postgres://me:sesame@127.0.0.1:1/x"}, "--lessons: pgstore"},
		{[]string{"--confirmed", "postgres://me:sesame@127.0.0.1:1/x"}, "--confirmed: pgstore"},
	} {
		var said strings.Builder
		p := &program{ctx: t.Context(), out: io.Discard, err: &said, getenv: func(name string) string { return env[name] }}
		p.args = append([]string{"serve", "--model", "openai:m", "--listen", "127.0.0.1:0", "--sessions", folder}, tt.args...)
		if code := p.report(p.run()); code != exitUsage || !strings.Contains(said.String(), tt.says) ||
			strings.Contains(said.String(), "sesame") {
			t.Errorf("%q: code %d: %s", tt.args, code, said.String())
		}
	}
}

// serveTwice serves, asks, ends, and serves again: the second finds what the first kept.
func serveTwice(t *testing.T, env map[string]string, args ...string) {
	t.Helper()
	for run := range 2 {
		address, stop := servePage(t, env, append([]string{"--model", "openai:m", "-n", "2"}, args...)...)
		get := func(body string) (got map[string]any) {
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/api/conversations", nil)
			if body != "" {
				req, _ = http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/conversations",
					strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Texttosql", "1")
			}
			req.Header.Set("Authorization", "Bearer a token of the tests")
			resp := testutil.Value(http.DefaultClient.Do(req))(t)
			defer resp.Body.Close()
			text, _ := io.ReadAll(resp.Body)
			if json.Unmarshal(text, &got) != nil || resp.StatusCode >= 300 || strings.Contains(string(text), "s3cret") {
				t.Fatalf("%s: %s", resp.Status, text)
			}
			return got
		}
		if run == 0 {
			get(`{"question": "How many customers are there?"}`)
		}
		if all := get(""); all["database"] != "shop" || len(all["conversations"].([]any)) != 1 {
			t.Errorf("%v", all)
		}
		stop()
	}
}

// servePage serves a page until stop, which waits for its end.
func servePage(t *testing.T, env map[string]string, args ...string) (address string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said, out := io.Pipe()
	p := &program{ctx: ctx, out: out, err: io.Discard, getenv: func(name string) string { return env[name] }}
	p.args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
	ended := make(chan int, 1)
	go func() {
		code := p.report(p.run())
		out.Close()
		ended <- code
	}()
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("%q %v, code %d", line, err, <-ended)
	}
	address, _, _ = strings.Cut(strings.TrimPrefix(line, "the page is at "), ",")
	return address, func() {
		t.Helper()
		cancel()
		if code := <-ended; code != exitAnswer {
			t.Errorf("code %d", code)
		}
	}
}

// TestServeStops: the end of the program stops a running question at once, and the question goes on after it.
func TestServeStops(t *testing.T) {
	asked, hang := make(chan bool, 100), make(chan bool)
	provider := &fake{reply: always("SELECT count(*) AS n FROM customers")}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		select {
		case <-hang:
			provider.ServeHTTP(w, r)
		case <-t.Context().Done():
		}
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DSN": shopFile(t),
		"TEXTTOSQL_MODEL": "openai:fake"}
	folder := t.TempDir()
	address, stop := servePage(t, env, "--sessions", folder, "--strategy", "direct")
	var c struct{ ID, State string }
	_, text := send(t, address, "/api/conversations", `{"question": "How many customers?"}`)
	testutil.OK(t, json.Unmarshal([]byte(text), &c), text)
	<-asked
	began := time.Now()
	stop()
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the program ended after %v", took)
	}
	close(hang)
	if _, out, _ := try(t, env, "", "talk", "--list", "--sessions", folder); !strings.HasPrefix(out, c.ID) ||
		!strings.Contains(out, "interrupted") {
		t.Errorf("%s is not interrupted: %s", c.ID, out)
	}
	code, out, told := try(t, env, "", "talk", "--resume", c.ID, "--sessions", folder, "--strategy", "direct")
	if code != exitAnswer || !strings.Contains(out, "40 customers.") {
		t.Errorf("code %d, %s%s", code, out, told)
	}
}

// send sends a request of the page and reads its reply.
func send(t *testing.T, address, path, body string) (status int, text string) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req := testutil.Value(http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Texttosql", "1")
	resp := testutil.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	return resp.StatusCode, string(testutil.Value(io.ReadAll(resp.Body))(t))
}

// TestServeWithoutAModel: the page serves statements, and says that there is no model to ask.
func TestServeWithoutAModel(t *testing.T) {
	address, stop := servePage(t, map[string]string{"TEXTTOSQL_DSN": shopFile(t)}, "--sessions", t.TempDir())
	defer stop()
	if _, text := send(t, address, "/api/conversations", ""); !strings.Contains(text, `"asks":false`) {
		t.Error(text)
	}
	if status, text := send(t, address, "/api/query",
		`{"sql": "SELECT count(*) FROM customers"}`); status != http.StatusOK {
		t.Error(status, text)
	}
	if status, text := send(t, address, "/api/conversations",
		`{"question": "How many customers are there?"}`); status != http.StatusNotImplemented {
		t.Error(status, text)
	}
}

// TestServeDocument: the commands of SERVE.md serve.
func TestServeDocument(t *testing.T) {
	text := testutil.Value(os.ReadFile("SERVE.md"))(t)
	t.Chdir(filepath.Dir(shopFile(t)))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	testutil.OK(t, os.WriteFile("token", []byte(strings.Repeat("t", 64)), 0o600))
	commands := 0
	for line := range strings.Lines(string(text)) {
		command, _, _ := strings.Cut(line, " #")
		args := strings.Fields(command)
		if len(args) < 2 || args[0] != "texttosql" {
			continue
		}
		commands++
		ctx, stop := context.WithCancel(t.Context())
		said, out := io.Pipe()
		var problem strings.Builder
		p := &program{ctx: ctx, out: out, err: &problem, getenv: func(name string) string {
			return map[string]string{"OPENAI_API_KEY": "key"}[name]
		},
			args: append(args[1:], "--listen", "127.0.0.1:0")} // any port, in place of its own
		ended := make(chan int, 1)
		go func() {
			code := p.report(p.run())
			out.Close()
			ended <- code
		}()
		if line, _ := bufio.NewReader(said).ReadString('\n'); !strings.HasPrefix(line, "the page is at http://127.0.0.1:") {
			t.Errorf("%q: %q", command, line)
		}
		stop()
		if code := <-ended; code != exitAnswer {
			t.Errorf("%q: code %d: %s", command, code, problem.String())
		}
	}
	if commands < 2 {
		t.Errorf("%d commands", commands)
	}
}

// TestWithoutParts: what a DSN says of user, password and place is in no text.
func TestWithoutParts(t *testing.T) {
	for dsn, text := range map[string]string{
		"postgres://reader:hunter2@db.example.org:5432/shop": "hunter2 reader db.example.org:5432 db.example.org " +
			"postgres://reader:hunter2@db.example.org:5432/shop",
		"reader:hunter2@tcp(db.example.org:3306)/shop":       "hunter2 reader db.example.org:3306",
		"host=db.example.org user=reader password='hunter2'": "db.example.org reader hunter2",
		"/srv/data/shop.sqlite":                              "open /srv/data/shop.sqlite-wal",
	} {
		got := withoutParts("no table shop: "+text, dsn)
		for _, secret := range []string{"hunter2", "reader", "example", "/srv"} {
			if strings.Contains(got, secret) {
				t.Errorf("%s: %s", dsn, got)
			}
		}
		if !strings.Contains(got, "no table shop") {
			t.Errorf("%s: %s", dsn, got)
		}
	}
	if got := withoutParts("no such file", "shop.sqlite"); got != "no such file" {
		t.Error(got)
	}
}

// TestServeKeepsConfirmed: without --confirmed an answer that was confirmed is beside the conversations at the next
// start, until it is removed. The page has the name of --title.
func TestServeKeepsConfirmed(t *testing.T) {
	env := map[string]string{"OPENAI_API_KEY": "key", "OPENAI_BASE_URL": newFakeProvider(t).URL,
		"TEXTTOSQL_DSN": shopFile(t)}
	folder := filepath.Join(t.TempDir(), "not", "there", "yet")
	args := []string{"--model", "openai:m", "-n", "2", "--sessions", folder, "--title", "Northwind", "--accent", "#00875a"}
	var saved struct {
		Answers []struct{ ID, Question string }
	}
	for run, want := range []int{0, 1, 0} {
		address, stop := servePage(t, env, args...)
		_, text := send(t, address, "/api/saved", "")
		testutil.OK(t, json.Unmarshal([]byte(text), &saved))
		if len(saved.Answers) != want {
			t.Errorf("run %d: %s", run, text)
		}
		switch run {
		case 0:
			_, text = send(t, address, "/api/query", `{"sql": "SELECT count(*) FROM customers", "question": "x"}`)
			var made struct{ ID string }
			testutil.OK(t, json.Unmarshal([]byte(text), &made))
			if status, text := send(t, address, "/api/conversations/"+made.ID+"/keep",
				`{"turn": 0, "text": "How many customers are there?"}`); status != http.StatusOK {
				t.Error(status, text)
			}
		case 1:
			if status, text := send(t, address, "/saved/"+saved.Answers[0].ID+".csv", ""); status != http.StatusOK ||
				!strings.Contains(text, "count(*)\n") {
				t.Error(status, text)
			}
			req := testutil.Value(http.NewRequestWithContext(t.Context(), http.MethodDelete, address+"/api/saved/"+
				saved.Answers[0].ID, nil))(t)
			req.Header.Set("X-Texttosql", "1")
			testutil.Value(http.DefaultClient.Do(req))(t).Body.Close()
		}
		if _, text := send(t, address, "/api/conversations", ""); !strings.Contains(text, `"title":"Northwind"`) {
			t.Error(text)
		}
		stop()
	}
	if _, err := os.Stat(filepath.Join(folder, "confirmed.jsonl")); err != nil {
		t.Error(err)
	}
	testutil.OK(t, os.WriteFile(filepath.Join(folder, "confirmed.jsonl"), []byte("{\"question\": 1}\n"), 0o600))
	code, _, told := try(t, env, "", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	if code != exitUsage || !strings.Contains(told, "confirmed.jsonl, line 1") || strings.Contains(told, "--confirmed") {
		t.Errorf("a broken file: %d: %s", code, told)
	}
	testutil.OK(t, os.Remove(filepath.Join(folder, "confirmed.jsonl")))
	testutil.OK(t, os.Mkdir(filepath.Join(folder, "confirmed.jsonl"), 0o700))
	address, stop := servePage(t, env, args...) // the answers end with the program
	if status, text := send(t, address, "/api/saved", ""); status != http.StatusOK {
		t.Error(status, text)
	}
	stop()
	code, _, told = try(t, env, "", append([]string{"serve", "--listen", "127.0.0.1:0"},
		append(args, "--accent", "blue")...)...)
	if code == 0 || !strings.Contains(told, "#2457d6") {
		t.Errorf("code %d: %s", code, told)
	}
}
