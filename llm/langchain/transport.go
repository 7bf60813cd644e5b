package langchain

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"time"
)

const (
	// maxReply bounds the body of a reply in bytes. A reply of a million tokens
	// is half as long; what is longer is no reply, and the clients would read it
	// into memory whole.
	maxReply = 8 << 20

	// maxErrorBody bounds the body of a failed response in bytes. Error pages of
	// proxies are a few kilobytes.
	maxErrorBody = 64 << 10

	// maxRetryAfter bounds what a Retry-After may ask for.
	maxRetryAfter = 24 * time.Hour
)

var errTooLarge = errors.New("the reply is over 8 MiB")

// HTTPClient returns a client for the WithHTTPClient option of a langchaingo
// provider. It keeps, for the call that it belongs to, what langchaingo drops:
// status, Retry-After and error code of a failed response, and the cause of a
// broken connection. The package comment says what is lost without it.
//
// It is a copy of base with its transport wrapped; nil means
// [http.DefaultClient], which has no time-out: use [llm.Timeout]. Bodies over
// 8 MiB (64 KiB where the response failed) are cut.
//
// One client serves any number of providers. Safe for concurrent use if base
// is.
func HTTPClient(base *http.Client) *http.Client {
	if base == nil {
		base = http.DefaultClient
	}
	c := *base
	c.Transport = transport{base.Transport}
	return &c
}

// transport notes what happens to requests whose context holds notes.
type transport struct{ base http.RoundTripper }

// under is the transport below, as http.Client chooses it.
func (t transport) under() http.RoundTripper { return cmp.Or(t.base, http.DefaultTransport) }

// CloseIdleConnections closes those of the base transport: http.Client asks for
// the method.
func (t transport) CloseIdleConnections() {
	if c, ok := t.under().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// RoundTrip sends req through the base transport.
func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	n, ok := req.Context().Value(notesKey{}).(*notes)
	if !ok {
		return t.under().RoundTrip(req) // somebody else uses the client
	}
	ctx := req.Context()
	n.begin()
	if n.dropTemperature {
		var err error
		if req, err = withoutTemperature(req); err != nil {
			return nil, err
		}
	}
	resp, err := t.under().RoundTrip(req)
	if err != nil {
		n.broke(ctx, "no reply", err)
		return nil, err
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		resp.Body = &watched{ctx: ctx, body: resp.Body, notes: n, left: maxReply}
		return resp, nil
	}
	// Whatever can be read of it will do: the status alone is worth keeping.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	n.failed(resp.StatusCode, retryAfter(resp.Header), body)
	return resp, nil
}

// notes is what the transport tells about one call of a client, which may make
// several requests: the last one counts. It travels in the context, so that
// concurrent calls of one client do not mix.
type notes struct {
	dropTemperature bool // to the transport: take it out of the request

	mu   sync.Mutex
	last outcome
	sent bool
}

type notesKey struct{}

// outcome is what became of a request; the zero outcome is a success.
type outcome struct {
	status     int // of a failed response
	retryAfter time.Duration
	body       []byte
	err        error // there was no response, or it broke off
}

func (n *notes) begin() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sent, n.last = true, outcome{}
}

// broke notes err, or why ctx ended: the context of a request also holds the
// time-out of an http.Client, which puts it into words above the transport.
func (n *notes) broke(ctx context.Context, what string, err error) {
	if end := ended(ctx); end != nil {
		err = end
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = outcome{err: fmt.Errorf("%s: %w", what, err)}
}

func (n *notes) failed(status int, retryAfter time.Duration, body []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = outcome{status: status, retryAfter: retryAfter, body: body}
}

// seen reports whether our transport sent anything for the call.
func (n *notes) seen() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.sent
}

func (n *notes) outcome() outcome {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

// watched is the body of a successful response. It notes the error that ends it
// early, which Ollama's client does not look at, and bounds its length.
type watched struct {
	ctx   context.Context // of the request
	body  io.ReadCloser
	notes *notes
	left  int
}

func (w *watched) Read(p []byte) (int, error) {
	if w.left == 0 {
		// Exactly as long as allowed, or longer?
		var one [1]byte
		k, err := w.body.Read(one[:])
		if k > 0 {
			err = errTooLarge
		}
		return 0, w.note(err)
	}
	k, err := w.body.Read(p[:min(len(p), w.left)])
	w.left -= k
	return k, w.note(err)
}

func (w *watched) note(err error) error {
	if err != nil && err != io.EOF {
		w.notes.broke(w.ctx, "the reply broke off", err)
	}
	return err
}

func (w *watched) Close() error { return w.body.Close() }

// retryAfter reads how long a provider asks to wait: Retry-After in seconds or
// as a date, or OpenAI's retry-after-ms, which is more exact. 0 if it does not
// ask, or for a time gone by.
func retryAfter(h http.Header) time.Duration {
	if ms, ok := span(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return ms
	}
	value := h.Get("Retry-After")
	if s, ok := span(value, time.Second); ok {
		return s
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(time.Until(at), 0), maxRetryAfter)
	}
	return 0
}

// span reads a number of units, at most maxRetryAfter. Some servers send
// fractions.
func span(text string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	return time.Duration(min(max(f, 0)*float64(unit), float64(maxRetryAfter))), true
}

// withoutTemperature returns a copy of req whose JSON body has no temperature,
// neither at the top (OpenAI, Anthropic) nor among the options (Ollama). The
// clients have no way to leave it out. A body that is no JSON object stays.
func withoutTemperature(req *http.Request) (*http.Request, error) {
	if req.Body == nil {
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	if changed, ok := deleteKey(body, "temperature"); ok {
		body = changed
	}
	req = req.Clone(req.Context())
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return req, nil
}

// deleteKey removes key from the object and from its member "options"; false if
// object is none.
func deleteKey(object []byte, key string) ([]byte, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return nil, false
	}
	delete(members, key)
	if options, ok := deleteKey(members["options"], key); ok {
		members["options"] = options
	}
	out, err := json.Marshal(members)
	return out, err == nil
}
