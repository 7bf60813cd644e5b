package httpserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/internal/testutil"
)

const token = "0123456789abcdef0123456789abcdef"

func TestListen(t *testing.T) {
	tests := []struct {
		why, address, token, wrong string
	}{
		{"loopback needs no token", "127.0.0.1:0", "", ""},
		{"the name of loopback", "localhost:0", "", ""},
		{"loopback of IPv6 is asked for as one", "[::1]:0", "", ""},
		{"no host is every interface", ":0", "", "other machines"},
		{"every interface", "0.0.0.0:0", "", "other machines"},
		{"every interface with a token", "0.0.0.0:0", token, ""},
		{"a token that can be guessed", "127.0.0.1:0", "secret", "shorter"},
		{"no address", "127.0.0.1", "", "none to listen on"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			l, err := httpserver.Door{Token: tt.token}.Listen(t.Context(), tt.address)
			if err == nil {
				l.Close()
			} else if strings.Contains(tt.address, "::1") && tt.wrong == "" {
				t.Skip("this machine has no IPv6")
			}
			if tt.wrong == "" && err != nil || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("error %v, want one with %q", err, tt.wrong)
			}
		})
	}
}

// serve serves on loopback until the test ends.
func serve(t *testing.T, d httpserver.Door, h http.Handler) (url string) {
	t.Helper()
	l := testutil.Value(d.Listen(t.Context(), "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- httpserver.Serve(ctx, l, d.Guard(h), nil) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

func TestGuard(t *testing.T) {
	open := httpserver.Door{}
	named := httpserver.Door{Hosts: []string{"sql.example.org"}, MaxBody: 10}
	locked := httpserver.Door{Token: token}
	tests := []struct {
		why    string
		door   httpserver.Door
		method string
		host   string // "": that of the server
		header map[string]string
		body   string
		want   int
	}{
		{"a program of this machine", open, "POST", "", nil, "x", 200},
		{"by name", open, "POST", "localhost:1", nil, "x", 200},
		{"a name that was made to mean this machine", open, "POST", "evil.example:80", nil, "x", 403},
		{"a name that begins like ours", open, "POST", "localhost.evil.example", nil, "x", 403},
		{"another loopback address", open, "POST", "127.0.0.2:80", nil, "x", 403},
		{"a name that was given", named, "POST", "SQL.example.org", nil, "x", 200},
		{"a page of the server", open, "POST", "localhost:1", map[string]string{"Origin": "http://localhost:1"}, "x", 200},
		{"a page of another port", open, "POST", "localhost:1", map[string]string{"Origin": "http://localhost:2"}, "x", 403},
		{"a page of another site", open, "POST", "", map[string]string{"Origin": "https://evil.example"}, "x", 403},
		{"a page without a site", open, "POST", "", map[string]string{"Origin": "null"}, "x", 403},
		{"a file", open, "POST", "localhost:1", map[string]string{"Origin": "file://localhost:1"}, "x", 403},
		{"a script of another site", open, "GET", "", map[string]string{"Sec-Fetch-Site": "cross-site",
			"Sec-Fetch-Mode": "no-cors"}, "", 403},
		{"a frame in another site", open, "GET", "",
			map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, "",
			403},
		{"a link that a person follows", open, "GET", "",
			map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "",
			200},
		{"a form of another site", open, "POST", "",
			map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, "x",
			403},
		{"the token", locked, "POST", "", map[string]string{"Authorization": "Bearer " + token}, "x", 200},
		{"the scheme in lower case", locked, "POST", "", map[string]string{"Authorization": "bearer " + token}, "x", 200},
		{"no token", locked, "POST", "", nil, "x", 401},
		{"the start of the token", locked, "POST", "", map[string]string{"Authorization": "Bearer " + token[:31]}, "x", 401},
		{"a token and more", locked, "POST", "", map[string]string{"Authorization": "Bearer " + token + "0"}, "x", 401},
		{"another scheme", locked, "POST", "", map[string]string{"Authorization": "Basic " + token}, "x", 401},
		{"the token does not open for another site", locked, "POST", "",
			map[string]string{"Authorization": "Bearer " + token, "Origin": "https://evil.example"}, "x", 403},
		{"a body as long as may be", named, "POST", "", nil, "0123456789", 200},
		{"a longer one", named, "POST", "", nil, "0123456789a", 413},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			called := ""
			url := serve(t, tt.door, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				called = "called with " + string(body)
			}))
			req := testutil.Value(http.NewRequest(tt.method, url, strings.NewReader(tt.body)))(t)
			req.Host = tt.host
			for k, v := range tt.header {
				req.Header.Set(k, v)
			}
			resp := testutil.Value(http.DefaultClient.Do(req))(t)
			said, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			if resp.StatusCode != tt.want {
				t.Errorf("status %d (%s), want %d", resp.StatusCode, said, tt.want)
			}
			want := ""
			if tt.want == 200 {
				want = "called with " + tt.body
			}
			if called != want {
				t.Errorf("the handler was %q, want %q", called, want)
			}
			if strings.Contains(string(said), token) {
				t.Errorf("the reply names the token: %s", said)
			}
		})
	}
}

// A client that sends half a body keeps no handler.
func TestBodyThatStops(t *testing.T) {
	url := serve(t, httpserver.Door{}, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the handler was called")
	}))
	conn := testutil.Value(net.Dial("tcp", strings.TrimPrefix(url, "http://")))(t)
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf")
	conn.Close() // the end of the server, in Cleanup, waits for every handler
}

func TestServeEnds(t *testing.T) {
	d := httpserver.Door{}
	l := testutil.Value(d.Listen(t.Context(), "127.0.0.1:0"))(t)
	ctx, stop := context.WithCancel(context.Background())
	inside, closed, done := make(chan bool), make(chan bool), make(chan error)
	stream := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(inside)
		<-closed
	})
	go func() { done <- httpserver.Serve(ctx, l, d.Guard(stream), func() { close(closed) }) }()
	go http.Get("http://" + l.Addr().String())
	<-inside
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the server still listens")
	}
}
