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
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// caller is a client: what it shows with each request.
type caller map[string]string

func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	for name, value := range c {
		r.Header.Set(name, value)
	}
	return http.DefaultTransport.RoundTrip(r)
}

// TestScopesOfClients: on the page and over MCP, by a proxy's header and by token, each user reads its own rows and
// conversations, and one that the file does not have is refused.
func TestScopesOfClients(t *testing.T) {
	const tokenOfAnn, tokenOfBo = "a token of ann 0123456789", "a token of bo 01234567890"
	f := newFakeProvider(t)
	db, dir := singers(t), t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		testutil.OK(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	policy := file("policy", `{"Rows": {"singer": "id = :id"}}`)
	scope := func(id int) string { return fmt.Sprintf(`{"Key": "%d", "Params": {"id": %[1]d}}`, id) }
	byHeader := file("header", fmt.Sprintf(`{"Header": "X-User", "Users": {"ann": %s, "bo": %s}}`, scope(1), scope(2)))
	byToken := file("tokens", fmt.Sprintf(`{"Tokens": {%q: %s, %q: %s}}`, tokenOfAnn, scope(1), tokenOfBo, scope(2)))
	proxy := func(user string) caller { return caller{"Authorization": "Bearer " + testToken, "X-User": user} }
	for _, tt := range []struct {
		name    string
		args    []string
		ann, bo caller
		refused map[string]caller
		status  int // of who is refused
	}{
		{"header", []string{"--scopes", byHeader, "--token-file", tokenFile(t)}, proxy("ann"), proxy("bo"), map[string]caller{
			"an unknown user": proxy("eve"), "no header": {"Authorization": "Bearer " + testToken}, "an empty header": proxy(""),
		}, http.StatusForbidden},
		{"header without the proxy's token", []string{"--scopes", byHeader, "--token-file", tokenFile(t)}, proxy("ann"),
			proxy("bo"), map[string]caller{
				"no token": {"X-User": "ann"}, "an unknown user without a token": {"X-User": "eve"},
				"a token of another": {"X-User": "ann", "Authorization": "Bearer " + tokenOfBo},
			}, http.StatusUnauthorized},
		{"tokens", []string{"--scopes", byToken}, caller{"Authorization": "Bearer " + tokenOfAnn},
			caller{"Authorization": "Bearer " + tokenOfBo},
			map[string]caller{"an unknown token": {"Authorization": "Bearer " + testToken}, "none": {}},
			http.StatusUnauthorized},
	} {
		common := append([]string{"--db", db, "--policy", policy, "--model", "openai:m"}, tt.args...)
		t.Run("page by "+tt.name, func(t *testing.T) {
			cmd := asProgram(f,
				append([]string{"serve", "--listen", "127.0.0.1:0", "--sessions", filepath.Join(t.TempDir(), "kept"), "-n", "1"},
					common...)...)
			said := newNotes(t)
			cmd.Stdout, cmd.Stderr = said.File, said.File
			url, _ := startHTTP(t, cmd, said)
			send := func(c caller, method, path, body string) (int, string) {
				req, _ := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("X-Texttosql", "1")
				resp := testutil.Value((&http.Client{Transport: c}).Do(req))(t)
				defer resp.Body.Close()
				text, _ := io.ReadAll(resp.Body)
				return resp.StatusCode, string(text)
			}
			for why, c := range tt.refused {
				for _, path := range []string{"/", "/api/conversations"} {
					if status, text := send(c, http.MethodGet, path, ""); status != tt.status {
						t.Errorf("%s: %s: %d %.200s", why, path, status, text)
					}
				}
			}
			var ids []string
			first, second := tt.ann, tt.bo
			for i, c := range []caller{first, second} {
				own := []string{"Ann", "Bo"}[i]
				other := map[string]string{"Ann": "Bo", "Bo": "Ann"}[own]
				if status, text := send(c, http.MethodGet, "/api/sample?table=singer", ""); status != 200 ||
					!strings.Contains(text, own) || strings.Contains(text, other) {
					t.Errorf("rows of %s: %d %s", own, status, text)
				}
				status, text := send(c, http.MethodPost, "/api/conversations", `{"question": "How many singers are there?"}`)
				var made struct{ ID string }
				if err := json.Unmarshal([]byte(text), &made); err != nil || status >= 300 || made.ID == "" {
					t.Fatalf("%s asks: %d %s", own, status, text)
				}
				ids = append(ids, made.ID)
				var list struct{ Conversations []struct{ ID string } }
				if _, text := send(c, http.MethodGet, "/api/conversations", ""); json.Unmarshal([]byte(text), &list) != nil ||
					len(list.Conversations) != 1 || list.Conversations[0].ID != made.ID {
					t.Errorf("conversations of %s: %s", own, text)
				}
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
					if status, text := send(c, http.MethodGet, "/trace/"+made.ID+"/0", ""); status == http.StatusOK {
						break
					} else if time.Now().After(deadline) {
						t.Fatalf("%s has no trace of its own: %d %s", own, status, text)
					}
				}
			}
			for i, c := range []caller{first, second} { // each with the id of the other's
				for call, body := range map[string]string{
					"GET": "", "GET /events": "", "GET /rows/0": "", "DELETE": "", "POST /ask": `{"question": "Who?"}`,
					"POST /choose":  `{"option": "a"}`,
					"POST /correct": `{"text": "\"x\" means singer.name"}`, "POST /confirm": `{"text": "yes"}`,
					"POST /edit": `{"question": "Who?"}`, "POST /resume": "{}",
					"POST /restart": "{}", "POST /rename": `{"title": "Who?"}`, "POST /query": `{"sql": "SELECT 'Who?'"}`,
					"POST /keep": `{"turn": 0}`,
				} {
					method, rest, _ := strings.Cut(call, " ")
					if status, text := send(c, method, "/api/conversations/"+ids[1-i]+rest, body); status != http.StatusNotFound {
						t.Errorf("%s of another's conversation: %d %s", call, status, text)
					}
				}
				if status, _ := send(c, http.MethodGet, "/trace/"+ids[1-i]+"/0", ""); status != http.StatusNotFound {
					t.Errorf("the trace of another's answer: %d", status)
				}
			}
			for i, c := range []caller{first, second} {
				if status, text := send(c, http.MethodGet, "/api/conversations/"+ids[i], ""); status != 200 ||
					strings.Contains(text, "Who?") {
					t.Errorf("what is left of it: %d %s", status, text)
				}
			}
			if status, text := send(tt.ann, http.MethodGet, "/", ""); status != 200 || !strings.Contains(text, "<html") {
				t.Errorf("the page: %d %.200s", status, text)
			}
		})
		t.Run("MCP by "+tt.name, func(t *testing.T) {
			cmd := asProgram(f, append([]string{"serve-mcp", "--http", "127.0.0.1:0"}, common...)...)
			errs := newNotes(t)
			cmd.Stderr = errs.File
			url, _ := startHTTP(t, cmd, errs)
			client := func(c caller) (*mcp.ClientSession, error) {
				transport := &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, HTTPClient: &http.Client{Transport: c}}
				return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
			}
			for why, c := range tt.refused {
				if _, err := client(c); err == nil || !strings.Contains(err.Error(), http.StatusText(tt.status)) {
					t.Errorf("%s: %v", why, err)
				}
			}
			for own, c := range map[string]caller{"Ann": tt.ann, "Bo": tt.bo} {
				cs := testutil.Value(client(c))(t)
				for tool, in := range map[string]map[string]any{
					"ask": {"question": "Which singers are the best?"}, "query": {"sql": "SELECT name FROM singer"},
				} {
					res := testutil.Value(cs.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in}))(t)
					text, _ := json.Marshal(res)
					other := map[string]string{"Ann": "Bo", "Bo": "Ann"}[own]
					if bytes.Contains(text, []byte(`"`+other+`\"`)) || bytes.Contains(text, []byte(other+" ")) || tool == "query" &&
						!bytes.Contains(text, []byte(own)) {
						t.Errorf("%s of %s: %s", tool, own, text)
					}
				}
				if err := cs.Close(); err != nil {
					t.Log(err)
				}
			}
		})
	}
}

// TestScopesShareConnections: the connections and the places for files are those of all users together.
func TestScopesShareConnections(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sqlite")
	db := testutil.Value(sql.Open("sqlite3", path))(t)
	testutil.Value(db.Exec("CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT); " +
		"INSERT INTO singer VALUES (1, 'Ann'), (2, 'Bo'); CREATE TABLE tall (text TEXT); " +
		"INSERT INTO tall WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 100) " +
		"SELECT printf('%.900000d', x) FROM c; CREATE VIEW endless AS " +
		"WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c WHERE x < 0"))(t)
	testutil.OK(t, db.Close())
	const scopes = `{"Tokens": {"a token of ann 0123456789": {"Key": "1", "Params": {"id": 1}},
		"a token of bo 01234567890": {"Key": "2", "Params": {"id": 2}}}}`
	address, stop := servePage(t, map[string]string{"TEXTTOSQL_DSN": path}, "--sessions", t.TempDir(),
		"--limits", file(t, "limits.json", `{"Connections": 2}`), "--scopes", file(t, "scopes.json", scopes),
		"--policy", file(t, "policy.json", `{"Rows": {"singer": "id = :id"}, "Shared": ["tall", "endless"]}`))
	defer stop()
	start := func(ctx context.Context, user, path, body string) (*http.Response, error) {
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		req := testutil.Value(http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body)))(t)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Texttosql", "1")
		req.Header.Set("Authorization", "Bearer a token of "+user)
		return http.DefaultClient.Do(req)
	}
	const ann, bo = "ann 0123456789", "bo 01234567890"
	within := func(took time.Duration, user, path, body string) (status int, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), took)
		defer cancel()
		resp, err := start(ctx, user, path, body)
		if err != nil {
			return 0, err.Error()
		}
		defer resp.Body.Close()
		return resp.StatusCode, string(testutil.Value(io.ReadAll(resp.Body))(t))
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var running sync.WaitGroup
	for range 2 {
		running.Go(func() {
			if resp, err := start(ctx, ann, "/api/sample?table=endless", ""); err == nil {
				resp.Body.Close()
			}
		})
	}
	waits := false
	for deadline := time.Now().Add(5 * time.Second); !waits && time.Now().Before(deadline); {
		status, _ := within(time.Second, bo, "/api/sample?table=singer", "")
		waits = status == 0
	}
	if !waits {
		t.Error("one user has a connection while another one has all that there are")
	}
	cancel()
	running.Wait()
	if status, text := within(time.Minute, bo, "/api/sample?table=singer", ""); status != 200 ||
		!strings.Contains(text, "Bo") {
		t.Errorf("once they are free: %d %s", status, text)
	}

	download := func(user string) string {
		var own struct{ ID string }
		_, text := within(time.Minute, user, "/api/query", `{"sql": "SELECT text FROM tall"}`)
		testutil.OK(t, json.Unmarshal([]byte(text), &own), text)
		return "/api/conversations/" + own.ID + "/rows/0?save&own&form=csv"
	}
	ofAnn, ofBo := download(ann), download(bo)
	slow := testutil.Value(start(t.Context(), ann, ofAnn, ""))(t) // nobody reads it
	defer slow.Body.Close()
	if status, text := within(time.Minute, bo, ofBo, ""); status != http.StatusServiceUnavailable ||
		!strings.Contains(text, "files are sent") {
		t.Errorf("a second file beside an unread one: %d %.200s", status, text)
	}
	if status, text := within(time.Minute, bo, "/api/query", `{"sql": "SELECT name FROM singer"}`); status != 200 {
		t.Errorf("a statement beside an unread file: %d %s", status, text)
	}
}

// TestScopesAtTheStart: a program whose flags have one half of scopes and rules does not start, and says which half is
// missing.
func TestScopesAtTheStart(t *testing.T) {
	f := newFakeProvider(t)
	db := singers(t)
	users := file(t, "scopes.json", `{"Header": "X-User", "Users": {"ann": {"Key": "1", "Params": {"id": 1}}}}`)
	one := file(t, "scope.json", `{"Key": "1", "Params": {"id": 1}}`)
	policies := map[string]string{
		"rules":    file(t, "rules.json", `{"Rows": {"singer": "id = :id"}}`),
		"shared":   file(t, "shared.json", `{"Shared": ["singer"]}`),
		"settings": file(t, "settings.json", `{"Settings": ["app.tenant"]}`),
		"other":    file(t, "other.json", `{"DenyColumns": ["singer.name"]}`), "nothing": "",
	}
	many, alone := []string{"--scopes", users, "--token-file", tokenFile(t)}, []string{"--scope", one}
	verbs := map[string][]string{
		"serve":                       {"serve", "--listen", "127.0.0.1:0", "--sessions", filepath.Join(t.TempDir(), "kept")},
		"serve-mcp":                   {"serve-mcp", "--http", "127.0.0.1:0"},
		"serve-mcp on standard input": {"serve-mcp"}, "ask": {"ask", "How many singers are there?"},
	}
	for _, tt := range []struct {
		verb, policy string
		flags        []string
		want         string // what it says; "": it starts
	}{
		{"serve", "nothing", nil, ""},
		{"serve", "rules", nil, "--scope"},
		{"serve", "shared", nil, "--scope"},
		{"serve", "nothing", many, "Rows, Shared"},
		{"serve", "other", many, "Rows, Shared"},
		{"serve", "settings", many, "SQLite takes no settings"},
		{"serve", "rules", many, ""},
		{"serve", "shared", many, ""},
		{"serve", "nothing", alone, "Rows, Shared"},
		{"serve", "rules", alone, ""},
		{"serve-mcp", "nothing", nil, ""},
		{"serve-mcp", "rules", nil, "--scope"},
		{"serve-mcp", "nothing", many, "Rows, Shared"},
		{"serve-mcp", "rules", many, ""},
		{"serve-mcp", "shared", many, ""},
		{"serve-mcp", "nothing", alone, "Rows, Shared"},
		{"serve-mcp on standard input", "nothing", nil, ""},
		{"serve-mcp on standard input", "rules", nil, "--scope"},
		{"serve-mcp on standard input", "nothing", alone, "Rows, Shared"},
		{"serve-mcp on standard input", "rules", alone, ""},
		{"ask", "nothing", nil, ""},
		{"ask", "rules", nil, "--scope"},
		{"ask", "shared", nil, "--scope"},
		{"ask", "nothing", alone, "Rows, Shared"},
		{"ask", "other", alone, "Rows, Shared"},
		{"ask", "rules", alone, ""},
	} {
		args := slices.Concat(verbs[tt.verb], []string{"--db", db, "--model", "openai:m"}, tt.flags)
		if policies[tt.policy] != "" {
			args = append(args, "--policy", policies[tt.policy])
		}
		ctx, cancel := context.WithCancel(t.Context())
		env := map[string]string{"OPENAI_BASE_URL": f.URL, "OPENAI_API_KEY": secret}
		said := &ending{at: "http://", end: cancel}
		p := &program{ctx: ctx, in: strings.NewReader(""), out: said, err: said, args: args,
			getenv: func(name string) string { return env[name] }}
		err := p.run()
		p.report(err)
		cancel()
		started := err == nil || errors.Is(err, context.Canceled)
		if started != (tt.want == "") || !strings.Contains(said.said.String(), tt.want) {
			t.Errorf("%s, %s, %q: %v\n%s, want %q", tt.verb, tt.policy, tt.flags, err, said.said.String(), tt.want)
		}
	}
}

// ending keeps what a program says, and ends it once it says at.
type ending struct {
	mu   sync.Mutex
	said bytes.Buffer
	at   string
	end  func()
}

func (e *ending) Write(p []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if bytes.Contains(p, []byte(e.at)) {
		e.end()
	}
	return e.said.Write(p)
}
