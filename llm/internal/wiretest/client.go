// Package wiretest tests the clients of providers through servers on loopback.
package wiretest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
)

// Key is the key with which a [Client] asks. No text of an error may hold it.
const Key = "secret-0123456789-key"

// Client is a client of a provider, which tests ask through servers on loopback.
type Client struct {
	Model   func(url string) llm.Model     // asks the server at url with Key
	Reply   func(text, stop string) string // the body of a whole reply; stop is the provider's word for its end
	End     string                         // the provider's word for a reply that is done
	Request llm.Request                    // with all that the provider takes
}

// Serve returns a model of a server that answers with handler until the test ends.
func (c Client) Serve(t *testing.T, handler http.HandlerFunc) llm.Model {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return c.Model(server.URL)
}

// Answer returns a handler that reads the request and answers with a status, one header ("Name: value", or "") and a
// body.
func Answer(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// Wire is one answer of a server, and what becomes of the one call.
type Wire struct {
	Why, Source  string
	Status       int
	Header, Body string
	Class        llm.Class     // of the error; "" where Text is a reply, or for [llm.ClassUnknown]
	Wait         time.Duration // [llm.Error.RetryAfter]
	Parameter    string        // [llm.Error.Parameter]
	Text         string        // a part of the error, or the reply
}

// Wire asks for Request once, in a subtest. No error may hold Key or a line break.
func (c Client) Wire(t *testing.T, w Wire) {
	t.Run(w.Why, func(t *testing.T) {
		calls := 0
		handler := Answer(w.Status, w.Header, w.Body)
		resp, err := c.Serve(t, func(rw http.ResponseWriter, r *http.Request) {
			calls++
			handler(rw, r)
		}).Complete(t.Context(), c.Request)
		if calls != 1 {
			t.Errorf("%d calls", calls)
		}
		if w.Class == "" && err == nil {
			if resp.Text != w.Text {
				t.Errorf("%q, want %q", resp.Text, w.Text)
			}
			return
		}
		var e *llm.Error
		if !errors.As(err, &e) {
			t.Fatalf("%+v, %v", resp, err)
		}
		if e.Class != w.Class || e.RetryAfter != w.Wait || e.Parameter != w.Parameter ||
			!strings.Contains(err.Error(), w.Text) {
			t.Errorf("%v (wait %v, parameter %q), want class %v, %v, %q and %q (%s)", err, e.RetryAfter, e.Parameter, w.Class,
				w.Wait, w.Parameter, w.Text, w.Source)
		}
		if w.Status != http.StatusOK && e.Status != w.Status {
			t.Errorf("status %d", e.Status)
		}
		if all := fmt.Sprintf("%v %+v %v", err, e, errors.Unwrap(err)); strings.Contains(all, Key) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("a key or a line break in %s", all)
		}
	})
}

// Connections checks connections that break, that a server closes without a word, and the end of a context.
func (c Client) Connections(t *testing.T) {
	body := c.Reply("SELECT 1", c.End)
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	for why, write := range map[string]string{"before the reply": "", "in the head": "HTTP/1.1 200 OK\r\nConte",
		"in the reply": head + body[:20]} {
		_, err := c.Serve(t, hijacked(write)).Complete(t.Context(), c.Request)
		if llm.ClassOf(err) != llm.ClassOverloaded || strings.Contains(err.Error(), Key) {
			t.Errorf("cut %s: %v", why, err)
		}
	}
	m := llm.Chain(c.Serve(t, hijacked(head+body)), llm.Retry{Base: time.Millisecond}.Middleware())
	for range 30 { // each connection looks as if it stayed open
		if resp, err := m.Complete(t.Context(), c.Request); err != nil || resp.Text != "SELECT 1" {
			t.Fatalf("a server that closes kept connections: %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, body[:1])
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}).Complete(ctx, c.Request)
	if err != context.Canceled {
		t.Errorf("a context that ends behind the first byte: %v", err)
	}
}

// hijacked writes bytes and closes the connection.
func hijacked(write string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(conn, write)
		conn.Close()
	}
}

// Conformance runs llmtest.Conformance over the client. refusal is the body of a bad request.
func (c Client) Conformance(t *testing.T, refusal string) {
	llmtest.Conformance(t, func(t *testing.T, behaviour string) llm.Model {
		return c.Serve(t, map[string]http.HandlerFunc{
			"answers": Answer(http.StatusOK, "", c.Reply("SELECT count(*) FROM singer", c.End)),
			"empties": Answer(http.StatusOK, "", c.Reply("", c.End)),
			"fails":   Answer(http.StatusBadRequest, "", refusal),
			"busy":    Answer(http.StatusTooManyRequests, "Retry-After: 1", refusal),
			"down":    Answer(http.StatusServiceUnavailable, "", refusal),
			"hangs":   func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body); <-r.Context().Done() },
		}[behaviour])
	})
}
