package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// raw is a client that writes JSON-RPC itself, in the protocol of 2026-07-28: no handshake, no session.
type raw struct {
	t      *testing.T
	asks   bool // it can ask its user
	nextID int
	head   http.Header // of every request
}

// message is a reply.
type message struct {
	Result struct {
		Supported         []string `json:"supportedVersions"`
		Tools             []struct{ Name string }
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent map[string]any
		InputRequests     map[string]struct{ Params struct{ Message string } }
		RequestState      string
	}
	Error *struct {
		Code    int
		Message string
	}
}

// send sends one request to a server, and returns its reply and the headers of that.
func (c *raw) send(url, method string, params map[string]any) (m message, head http.Header) {
	c.t.Helper()
	c.nextID++
	capabilities := map[string]any{}
	if c.asks {
		capabilities["elicitation"] = map[string]any{"form": map[string]any{}}
	}
	params["_meta"] = map[string]any{"io.modelcontextprotocol/protocolVersion": "2026-07-28",
		"io.modelcontextprotocol/clientInfo":         map[string]any{"name": "raw", "version": "1"},
		"io.modelcontextprotocol/clientCapabilities": capabilities}
	body := testutil.Value(json.Marshal(map[string]any{"jsonrpc": "2.0", "id": c.nextID, "method": method,
		"params": params}))(c.t)
	req := testutil.Value(http.NewRequestWithContext(c.t.Context(), "POST", url, strings.NewReader(string(body))))(c.t)
	for name, value := range map[string]string{"Content-Type": "application/json",
		"Accept":               "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} {
		req.Header.Set(name, value)
	}
	for name, values := range c.head {
		req.Header[name] = values
	}
	if name, ok := params["name"].(string); ok {
		req.Header.Set("Mcp-Name", name)
	}
	resp := testutil.Value(http.DefaultClient.Do(req))(c.t)
	defer resp.Body.Close()
	text := string(testutil.Value(io.ReadAll(resp.Body))(c.t))
	for line := range strings.Lines(text) { // of an event stream, or all of it
		data := strings.TrimPrefix(line, "data: ")
		if strings.HasPrefix(data, "{") && json.Unmarshal([]byte(data), &m) == nil {
			return m, resp.Header
		}
	}
	c.t.Fatalf("%s: %d %s", method, resp.StatusCode, text)
	return m, nil
}

func (c *raw) call(url, tool string, args map[string]any) message {
	c.t.Helper()
	m, _ := c.send(url, "tools/call", map[string]any{"name": tool, "arguments": args})
	if m.Error != nil || m.Result.IsError {
		c.t.Fatalf("%s %v: %+v", tool, args, m)
	}
	return m
}

// twoServers starts two processes on one database and one store.
func twoServers(t *testing.T, store string, more ...string) (a, b string) {
	t.Helper()
	f, db := newFakeProvider(t), singers(t)
	args := append([]string{"serve-mcp", "--db", db, "--model", "openai:m", "--samples", "3", "--http", "127.0.0.1:0"},
		more...)
	if store != "" {
		args = append(args, "--sessions", store)
	}
	for _, url := range []*string{&a, &b} {
		cmd := asProgram(f, args...)
		errs := newNotes(t)
		cmd.Stderr = errs.File
		*url, _ = startHTTP(t, cmd, errs)
	}
	return a, b
}

// postgresOf makes a database on PostgreSQL by a script, and returns its DSN, with a password.
func postgresOf(t *testing.T, name, script string) (dsn string) {
	t.Helper()
	at := func(name string) string {
		return fmt.Sprintf("postgres://postgres:%s@127.0.0.1:%d/%s", secret, pg.Get(t).Port, name)
	}
	run := func(dsn, script string) {
		pool := testutil.Value(sql.Open("pgx", dsn))(t)
		defer pool.Close()
		testutil.Value(pool.Exec(script))(t)
	}
	run(at("postgres"), "CREATE DATABASE "+name)
	run(at(name), script)
	return at(name)
}

const howManySingers = "How many singers are there?"

// TestServeMCPBehindABalancer: each call may reach another process, which goes on with the conversation, the choice and
// the explanation of the other one.
func TestServeMCPBehindABalancer(t *testing.T) {
	stores := map[string]func(t *testing.T) string{
		"folder": func(t *testing.T) string { return filepath.Join(t.TempDir(), "kept") },
		"postgres": func(t *testing.T) string {
			return postgresOf(t, "balanced", "SELECT 1")
		},
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			a, b := twoServers(t, store(t))
			c := &raw{t: t}
			found, head := c.send(a, "server/discover", map[string]any{})
			if len(found.Result.Supported) == 0 || found.Result.Supported[0] != "2026-07-28" ||
				head.Get("Mcp-Session-Id") != "" {
				t.Errorf("%+v %v", found, head)
			}
			if list, _ := c.send(b, "tools/list", map[string]any{}); len(list.Result.Tools) != 10 {
				t.Errorf("%+v", list)
			}

			first := c.call(a, "ask", map[string]any{"question": "Which singers are the best?"}).Result.StructuredContent
			if first["status"] != "unsure" {
				t.Fatalf("%v", first)
			}
			chosen := c.call(b, "choose", map[string]any{"conversation": first["conversation"],
				"option": "r1"}).Result.StructuredContent
			if chosen["status"] != "answered" || chosen["conversation"] != first["conversation"] {
				t.Errorf("%v", chosen)
			}
			for _, id := range []any{first["answer_id"], chosen["answer_id"]} {
				why := c.call(a, "explain_answer", map[string]any{"answer_id": id}).Result.StructuredContent
				if votes, _ := why["votes"].([]any); len(votes) != 3 {
					t.Errorf("%v", why)
				}
			}
			follow := c.call(a, "ask", map[string]any{"question": howManySingers,
				"conversation": first["conversation"]}).Result.StructuredContent
			if follow["status"] != "answered" || fmt.Sprint(follow["rows"]) != "[[2]]" {
				t.Errorf("%v", follow)
			}
			if m, _ := c.send(b, "tools/call",
				map[string]any{"name": "ask", "arguments": map[string]any{"question": howManySingers,
					"conversation": strings.Repeat("0", 32)}}); !m.Result.IsError || !strings.Contains(m.Result.Content[0].Text,
				"no conversation") {
				t.Errorf("an id that is none: %+v", m)
			}

			c.asks = true
			args := map[string]any{"question": "Which singers are the best?"}
			form := c.call(a, "ask", args).Result
			if !strings.Contains(form.InputRequests["choice"].Params.Message, "r2") {
				t.Fatalf("%+v", form)
			}
			again, _ := c.send(b, "tools/call", map[string]any{"name": "ask", "arguments": args,
				"requestState": form.RequestState, "inputResponses": map[string]any{"choice": map[string]any{"action": "accept",
					"content": map[string]any{"choice": "r2"}}}})
			if out := again.Result.StructuredContent; out["status"] != "answered" ||
				fmt.Sprint(out["cost"].(map[string]any)["calls"]) != "3" {
				t.Errorf("%+v", again)
			}
		})
	}
}

// TestServeMCPStateless: with --stateless clients of older protocols have no session either; without a store a process
// goes on with its own conversations alone.
func TestServeMCPStateless(t *testing.T) {
	connected := func(url, protocol string) *mcp.ClientSession {
		cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
			&mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1, DisableStandaloneSSE: true},
			&mcp.ClientSessionOptions{ProtocolVersion: protocol}))(t)
		t.Cleanup(func() { cs.Close() })
		if got := cs.InitializeResult().ProtocolVersion; got != protocol {
			t.Fatalf("%s: protocol %s", protocol, got)
		}
		return cs
	}
	ask := func(cs *mcp.ClientSession, conversation any) *mcp.CallToolResult {
		args := map[string]any{"question": howManySingers}
		if conversation != nil {
			args["conversation"] = conversation
		}
		return testutil.Value(cs.CallTool(context.Background(), &mcp.CallToolParams{Name: "ask", Arguments: args}))(t)
	}
	for _, store := range []string{"", filepath.Join(t.TempDir(), "kept")} {
		a, b := twoServers(t, store, "--stateless")
		for _, protocol := range []string{"2026-07-28", "2025-11-25", "2025-06-18"} {
			here, there := connected(a, protocol), connected(b, protocol)
			if here.ID() != "" {
				t.Errorf("%s: session %s", protocol, here.ID())
			}
			first := ask(here, nil).StructuredContent.(map[string]any)
			if res := ask(here, first["conversation"]); res.IsError {
				t.Errorf("%s: %v", protocol, res.Content)
			}
			if res := ask(there, first["conversation"]); res.IsError != (store == "") {
				t.Errorf("%s, store %q: %v", protocol, store, res.Content)
			}
		}
	}
}

// TestServeMCPAccessLog: the line about a request has the hash of its scope, its conversation and the trace that it
// came with.
func TestServeMCPAccessLog(t *testing.T) {
	f := newFakeProvider(t)
	scopes := file(t, "scopes.json", `{"Tokens": {"`+testToken+`": {"Key": "acme", "Params": {"id": 1}}}}`)
	policy := file(t, "policy.json", `{"Rows": {"singer": "id = :id"}}`)
	cmd := asProgram(f, "serve-mcp", "--db", singers(t), "--policy", policy, "--scopes", scopes, "--model", "openai:m",
		"--http", "127.0.0.1:0", "--access-log")
	said := newNotes(t)
	cmd.Stderr = said.File
	testutil.OK(t, cmd.Start())
	defer func() { cmd.Process.Kill(); cmd.Wait() }()
	for !served.MatchString(said.text()) && t.Context().Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	c := &raw{t: t, head: http.Header{"Authorization": {"Bearer " + testToken},
		"Traceparent": {"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}}
	out := c.call(served.FindStringSubmatch(said.text())[1], "ask",
		map[string]any{"question": howManySingers}).Result.StructuredContent
	for !strings.Contains(said.text(), "msg=request") && t.Context().Err() == nil {
		time.Sleep(20 * time.Millisecond)
	}
	for _, want := range []string{"scope=822b33ad87c148a0", "conversation=" + out["conversation"].(string),
		"trace=4bf92f3577b34da6a3ce929d0e0e4736"} {
		if !strings.Contains(said.text(), want) {
			t.Errorf("no %s in %s", want, said.text())
		}
	}
	if strings.Contains(said.text(), "acme") || strings.Contains(said.text(), testToken) {
		t.Error(said.text())
	}
}

// TestServeMCPBudgetOfASession: what one client may cost needs a session, so a client without one is sent back to an
// older protocol.
func TestServeMCPBudgetOfASession(t *testing.T) {
	budget := file(t, "budget.json", `{"Calls": 2}`)
	url, _ := serveHTTP(t, newFakeProvider(t), "--session-budget", budget)
	cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1}, nil))(t)
	defer cs.Close()
	if got := cs.InitializeResult().ProtocolVersion; got != "2025-11-25" {
		t.Errorf("protocol %s", got)
	}
	for i, wanted := range []bool{false, true} {
		res := testutil.Value(cs.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": howManySingers}}))(t)
		if res.IsError != wanted {
			t.Errorf("question %d: %v", i, res.Content)
		}
	}
}
