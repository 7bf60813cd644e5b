package mcpserver_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/internal/testutil"
)

const token = "0123456789abcdef0123456789abcdef"

// serve serves s on loopback until the test ends.
func serve(t *testing.T, s *mcpserver.Server, d httpserver.Door) (url string) {
	t.Helper()
	l := testutil.Value(d.Listen(t.Context(), "127.0.0.1:0"))(t)
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- httpserver.Serve(ctx, l, d.Guard(s.Handler()), s.Close) }()
	t.Cleanup(func() {
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// shows adds a token to requests.
type shows string

func (s shows) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(s))
	return http.DefaultTransport.RoundTrip(r)
}

func connectHTTP(t *testing.T, url, token string, opts *mcp.ClientOptions) (*mcp.ClientSession, error) {
	t.Helper()
	transport := &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1}
	if token != "" {
		transport.HTTPClient = &http.Client{Transport: shows(token)}
	}
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, opts).Connect(t.Context(), transport, nil)
	if err == nil {
		t.Cleanup(func() { cs.Close() })
	}
	return cs, err
}

func TestHTTP(t *testing.T) {
	noLeak(t)
	url := serve(t, serverOf(t, newModel(), nil), httpserver.Door{Token: token})
	if _, err := connectHTTP(t, url, "", nil); err == nil {
		t.Error("a client without the token came in")
	}
	if _, err := connectHTTP(t, url, strings.Repeat("0", 32), nil); err == nil || strings.Contains(err.Error(), token) {
		t.Errorf("a client with another token: %v", err)
	}
	chosen := &mcp.ClientOptions{ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": "r2"}}, nil
	}}
	progress := make(chan string, 100)
	chosen.ProgressNotificationHandler = func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
		progress <- req.Params.Message
	}
	cs := testutil.Value(connectHTTP(t, url, token, chosen))(t)
	other := testutil.Value(connectHTTP(t, url, token, nil))(t)
	// Two clients at once, each with its own session.
	answers := make(chan string, 2)
	for _, c := range []*mcp.ClientSession{cs, other} {
		go func() {
			params := &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": disagree}}
			params.SetProgressToken("p")
			res, err := c.CallTool(context.Background(), params)
			if err != nil {
				answers <- err.Error()
				return
			}
			out, _ := res.StructuredContent.(map[string]any)
			answers <- fmt.Sprint(out["status"], " ", out["rows"])
		}()
	}
	got := []string{<-answers, <-answers}
	if strings.HasPrefix(got[0], "unsure") {
		got[0], got[1] = got[1], got[0]
	}
	if got[0] != "answered [[Bo]]" || got[1] != "unsure []" {
		t.Errorf("%q", got)
	}
	if first := <-progress; first == "" {
		t.Error("no progress")
	}
	if list, err := cs.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 1 {
		t.Errorf("%v %v", list, err)
	}
}

// post sends one message as a client does.
func post(t *testing.T, url, session, body string, change func(*http.Request)) (*http.Response, string) {
	t.Helper()
	req := testutil.Value(http.NewRequest("POST", url, strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	if change != nil {
		change(req)
	}
	resp := testutil.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	said, _ := io.ReadAll(resp.Body)
	return resp, string(said)
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},` +
	`"clientInfo":{"name":"t","version":"1"}}}`

func TestHTTPRefuses(t *testing.T) {
	noLeak(t)
	s := serverOf(t, newModel(), func(c *mcpserver.Config) { c.Sessions = 2 })
	url := serve(t, s, httpserver.Door{})
	resp, _ := post(t, url, "", initialize, nil)
	session := resp.Header.Get("Mcp-Session-Id")
	if resp.StatusCode != 200 || session == "" {
		t.Fatalf("%v", resp)
	}
	list := `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	tests := []struct {
		why, session, body string
		change             func(*http.Request)
		want               int
	}{
		{"a session", session, list, nil, 200},
		{"a session that is none", strings.Repeat("A", 26), list, nil, 404},
		{"a page of another site", session, list, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") },
			403},
		{"a name that was made to mean this machine", session, list, func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"a form", session, list, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		{"a long body", session, `{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"cursor":"` +
			strings.Repeat("x", 1<<20) + `"}}`, nil, 413},
		{"a body that is no JSON", session, "{", nil, 400},
		{"a deep body", session, strings.Repeat("[", 100_000), nil, 400},
		{"an empty body", session, "", nil, 400},
		{"two messages, of which the second would be dropped", session, list + list, nil, 400},
		{"two messages on two lines", session, list + "\n" + list, nil, 400},
		{"two messages without a session", "", initialize + list, nil, 400},
		{"a message and a bracket", session, list + "}", nil, 400},
		{"a number", session, "5", nil, 400},
		{"an empty list", session, " []", nil, 400},
		{"a list of two messages, as older clients send it", session, "[" + list + "," + strings.Replace(list, `"id":2`,
			`"id":4`, 1) + "]", nil, 200},
		{"a message and spaces", session, " " + list + "\r\n", nil, 200},
		{"a method that is none", session, `{"jsonrpc":"2.0","id":3,"method":"drop"}`, nil, 400},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			resp, said := post(t, url, tt.session, tt.body, tt.change)
			if resp.StatusCode != tt.want {
				t.Errorf("status %d, want %d: %.300s", resp.StatusCode, tt.want, said)
			}
			if tt.want == 400 && !strings.Contains(tt.body, "drop") &&
				said != "the body is not one JSON message, or one list of them\n" {
				t.Errorf("an unclear error: %q", said)
			}
		})
	}
	// A call without a session gives nothing, and takes no seat. Of two sessions that never called a tool one makes room.
	use := func(session string) {
		t.Helper()
		resp, said := post(t, url, session,
			`{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"schema","arguments":{}}}`, nil)
		if resp.StatusCode != 200 || !strings.Contains(said, "singer") {
			t.Errorf("a tool: %d %s", resp.StatusCode, said)
		}
	}
	use(session)
	if _, said := post(t, url, "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"schema"}}`,
		nil); strings.Contains(said, "singer") {
		t.Errorf("a call without a session: %s", said)
	}
	if resp, said := post(t, url, "", initialize, nil); resp.StatusCode != 200 {
		t.Errorf("the second session: %d %s", resp.StatusCode, said)
	}
	third, said := post(t, url, "", initialize, nil)
	if third.StatusCode != 200 {
		t.Errorf("the third session: %d %s", third.StatusCode, said)
	}
	use(third.Header.Get("Mcp-Session-Id"))
	if resp, said := post(t, url, "", initialize, nil); resp.StatusCode != 503 {
		t.Errorf("the fourth session: %d %s", resp.StatusCode, said)
	}
	// One that is deleted makes room.
	req, _ := http.NewRequest("DELETE", url, nil)
	req.Header.Set("Mcp-Session-Id", session)
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 204 {
		t.Fatalf("%v %v", resp, err)
	}
	if resp, said := post(t, url, "", initialize, nil); resp.StatusCode != 200 {
		t.Errorf("the session after a deletion: %d %s", resp.StatusCode, said)
	}
}

// A client that sends nothing is forgotten, and makes room.
func TestHTTPSessionsExpire(t *testing.T) {
	noLeak(t)
	s := serverOf(t, newModel(), func(c *mcpserver.Config) { c.Sessions, c.Idle = 1, 50*time.Millisecond })
	url := serve(t, s, httpserver.Door{})
	resp, _ := post(t, url, "", initialize, nil)
	session := resp.Header.Get("Mcp-Session-Id")
	post(t, url, session, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"schema","arguments":{}}}`, nil)
	for range 1000 {
		if resp, _ = post(t, url, "", initialize, nil); resp.StatusCode == 200 {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if resp.StatusCode != 200 {
		t.Error("the first session is still there")
	}
	if resp, _ := post(t, url, session, `{"jsonrpc":"2.0","id":2,"method":"ping"}`, nil); resp.StatusCode != 404 {
		t.Errorf("the first session answers %d", resp.StatusCode)
	}
}

// A question over HTTP ends soon after its client cancelled it, went away, deleted its session, and when the server
// ends.
func TestHTTPEndsQuestions(t *testing.T) {
	for _, why := range []string{"cancelled", "gone", "deleted", "the server ends"} {
		t.Run(why, func(t *testing.T) {
			noLeak(t)
			m := newModel()
			s := serverOf(t, m, nil)
			url := serve(t, s, httpserver.Door{})
			resp, _ := post(t, url, "", initialize, nil)
			session := resp.Header.Get("Mcp-Session-Id")
			post(t, url, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, nil)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			body := fmt.Sprintf(
				`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"ask","arguments":{"question":%q,"samples":1}}}`,
				blocks)
			req := testutil.Value(http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader([]byte(body))))(t)
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("Mcp-Session-Id", session)
			req.Header.Set("Texttosql-Post", "forged")
			over := make(chan bool)
			go func() {
				defer close(over)
				if resp, err := http.DefaultClient.Do(req); err == nil {
					io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
			}()
			<-m.waiting
			switch why {
			case "cancelled":
				post(t, url, session, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`, nil)
			case "gone":
				cancel()
			case "deleted":
				req, _ := http.NewRequest("DELETE", url, nil)
				req.Header.Set("Mcp-Session-Id", session)
				if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != 204 {
					t.Errorf("%v %v", resp, err)
				}
			case "the server ends":
				s.Close() // the door behind it would end the question too, by force and later
			}
			<-m.ended
			<-over
		})
	}
}
