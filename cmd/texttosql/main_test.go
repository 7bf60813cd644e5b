package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/servers"
)

var (
	pg = servers.Lazy{Start: servers.Postgres}
	my = servers.Lazy{Start: servers.MariaDB}
)

type runs func() int

func (r runs) Run() int { return r() }

// TestMain is also the program itself, for tests that need a process.
func TestMain(m *testing.M) {
	if os.Getenv("TEXTTOSQL_TEST_PROGRAM") != "" {
		main()
	}
	os.Exit(pg.Run(runs(func() int { return my.Run(m) })))
}

// secret is the password of every DSN of these tests: no output may have it.
const secret = "p4ssw0rd-of-tests"

// try runs a command line in this process with an environment of its own.
func try(t *testing.T, env map[string]string, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return tryWithin(t, t.Context(), env, stdin, args...)
}

func tryWithin(t *testing.T, ctx context.Context, env map[string]string, stdin string, args ...string) (code int,
	stdout, stderr string) {
	t.Helper()
	var out, told bytes.Buffer
	p := &program{ctx: ctx, in: strings.NewReader(stdin), out: &out, err: &told, args: args,
		getenv: func(name string) string { return env[name] }}
	code = p.report(p.run())
	for what, text := range map[string]string{"standard output": out.String(), "standard error": told.String()} {
		if strings.Contains(text, secret) {
			t.Errorf("%q: a password on %s:\n%s", args, what, text)
		}
		if strings.ContainsAny(text, "\x1b\x07\u009b\u202e") {
			t.Errorf("%q: an escape on %s: %q", args, what, text)
		}
	}
	return code, out.String(), told.String()
}

// shopFile makes the shop's database.
func shopFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.db")
	script, err := os.ReadFile("../../examples/shop/shop.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(string(script)); err != nil {
		t.Fatal(err)
	}
	return path
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fake is a server that speaks the protocol of OpenAI.
type fake struct {
	reply func(prompt string, call int) string

	mu      sync.Mutex
	prompts []string
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		http.Error(w, "not JSON", http.StatusBadRequest)
		return
	}
	prompt := ""
	for _, m := range body.Messages {
		prompt += m.Content + "\n"
	}
	f.mu.Lock()
	f.prompts = append(f.prompts, prompt)
	call := len(f.prompts)
	f.mu.Unlock()
	text, _ := json.Marshal(f.reply(prompt, call))
	fmt.Fprintf(w,
		`{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`,
		text)
}

// asking returns the environment of a program whose model "openai:fake" answers by reply.
func asking(t *testing.T, reply func(prompt string, call int) string) map[string]string {
	t.Helper()
	server := httptest.NewServer(&fake{reply: reply})
	t.Cleanup(server.Close)
	return map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1",
		"TEXTTOSQL_MODEL": "openai:fake", "HOME": t.TempDir()}
}

// always replies with one statement.
func always(sql string) func(string, int) string {
	return func(string, int) string { return "```sql\n" + sql + "\n```" }
}

const neverOrdered = "SELECT name FROM customers WHERE country = 'USA' AND id NOT IN (SELECT customer_id FROM orders)"

// with returns a copy of an environment with another variable.
func with(env map[string]string, name, value string) map[string]string {
	more := map[string]string{name: value}
	for n, v := range env {
		if n != name {
			more[n] = v
		}
	}
	return more
}
