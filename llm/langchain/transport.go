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
	"sync/atomic"
	"time"
)

const (
	// maxReply bounds the body of a reply in bytes, because the clients read all of it into memory. A reply of a
	// million tokens is half as long.
	maxReply = 8 << 20

	// maxErrorBody bounds the body of a failed response in bytes. Error pages of proxies are a few kilobytes.
	maxErrorBody = 64 << 10

	// maxRetryAfter bounds what a Retry-After may ask for.
	maxRetryAfter = 24 * time.Hour
)

var errTooLarge = errors.New("the reply is over 8 MiB")

// HTTPClient returns a client for the WithHTTPClient option of a langchaingo provider. For each call it keeps what
// langchaingo drops: status, Retry-After and error code of a failed response, and the cause of a broken connection. The
// package comment says what is lost without it.
//
// It is a copy of base with a wrapped transport. nil means [http.DefaultClient], which has no time-out: use
// [llm.Timeout]. A reply over 8 MiB is an error; the body of a failed response is cut at 64 KiB. One client serves any
// number of providers. Safe for concurrent use if base is.
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

// under returns the base transport, as http.Client chooses it.
func (t transport) under() http.RoundTripper { return cmp.Or(t.base, http.DefaultTransport) }

// CloseIdleConnections closes the idle connections of the base transport. http.Client looks for this method.
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
	n.last.Store(new(outcome))
	n.mu.Lock()
	n.head = nil
	n.mu.Unlock()
	if n.dropTemperature || n.topP != 0 {
		var err error
		if req, err = n.edited(req); err != nil {
			return nil, err
		}
	}
	resp, err := t.under().RoundTrip(req)
	if err != nil {
		n.broke(ctx, "no reply", err)
		return nil, err
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		resp.Body = &watched{http.MaxBytesReader(nil, resp.Body, maxReply), ctx, n}
		return resp, nil
	}
	// An error of reading does not matter: the status alone is worth keeping.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	n.last.Store(&outcome{status: resp.StatusCode, retryAfter: retryAfter(resp.Header), body: body})
	return resp, nil
}

// notes is what the transport tells about one call of a client. The last request of the call counts. It travels in the
// context, so that concurrent calls of one client do not mix.
type notes struct {
	dropTemperature bool        // the transport takes the temperature out of the request
	topP            float64     // the transport puts it into a request that has none; 0: it does not
	sentTopP        atomic.Bool // the request has a top_p
	last            atomic.Pointer[outcome]

	mu   sync.Mutex
	head []byte // of the body of a successful response
}

// maxHead bounds what is kept of a successful response, in bytes: enough to see what it is.
const maxHead = 4 << 10

func (n *notes) read(p []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.head = append(n.head, p[:min(len(p), maxHead-len(n.head))]...)
}

// raw returns what the server sent, or the beginning of it.
func (n *notes) raw() []byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	if body := n.outcome().body; len(body) > 0 {
		return body
	}
	return n.head
}

type notesKey struct{}

// outcome is how a request ended; the zero outcome is a success.
type outcome struct {
	status     int // of a failed response
	retryAfter time.Duration
	body       []byte
	err        error // there was no response, or it broke off
}

// broke notes err, or the end of ctx. The context of a request also holds the time-out of an http.Client, which reports
// it only above the transport.
func (n *notes) broke(ctx context.Context, what string, err error) {
	n.last.Store(&outcome{err: fmt.Errorf("%s: %w", what, cmp.Or(ended(ctx), err))})
}

// seen reports whether our transport sent anything for the call.
func (n *notes) seen() bool { return n.last.Load() != nil }

func (n *notes) outcome() outcome {
	if last := n.last.Load(); last != nil {
		return *last
	}
	return outcome{}
}

// watched is the body of a successful response. It notes an error that ends the body early, which Ollama's client
// ignores.
type watched struct {
	io.ReadCloser // bounded by http.MaxBytesReader
	ctx           context.Context
	notes         *notes
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	w.notes.read(p[:n])
	if errors.As(err, new(*http.MaxBytesError)) {
		err = errTooLarge
	}
	if err != nil && err != io.EOF {
		w.notes.broke(w.ctx, "the reply broke off", err)
	}
	return n, err
}

// retryAfter returns the wait that a provider asks for: Retry-After in seconds or as a date, or OpenAI's
// retry-after-ms, which is more exact. 0 if there is none or the time has passed.
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

// span reads a number of units, at most maxRetryAfter. Some servers send fractions.
func span(text string, unit time.Duration) (time.Duration, bool) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) {
		return 0, false
	}
	return time.Duration(min(max(f, 0)*float64(unit), float64(maxRetryAfter))), true
}

// edited returns a copy of req whose JSON body is as n asks for. A body that is no JSON object stays as it is.
func (n *notes) edited(req *http.Request) (*http.Request, error) {
	if req.Body == nil {
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	// The clients cannot leave the temperature out. It stands at the top (OpenAI, Anthropic) or among the options (Ollama).
	if n.dropTemperature {
		if changed, ok := deleteKey(body, "temperature"); ok {
			body = changed
		}
	}
	if n.topP != 0 {
		var sent bool
		body, sent = withTopP(body, n.topP)
		n.sentTopP.Store(sent)
	}
	req = req.Clone(req.Context())
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return req, nil
}

// withTopP puts top_p where OpenAI's client drops it: at the top of a request with messages and without options. sent
// says that the request has one, there or where the other clients have theirs.
func withTopP(body []byte, topP float64) (changed []byte, sent bool) {
	var top struct {
		TopP     *float64        `json:"top_p"`
		Messages json.RawMessage `json:"messages"`
		Options  *struct {
			TopP *float64 `json:"top_p"`
		} // Ollama
		Generation *struct{ TopP *float64 } `json:"generationConfig"` // Google
	}
	if json.Unmarshal(body, &top) != nil {
		return body, false
	}
	if top.TopP != nil || top.Options != nil && top.Options.TopP != nil || top.Generation != nil && top.Generation.TopP != nil {
		return body, true
	}
	if top.Messages == nil || top.Options != nil {
		return body, false
	}
	return fmt.Appendf(nil, `{"top_p":%g,%s`, topP, bytes.TrimLeft(body, " \t\r\n{")), true
}

// deleteKey removes key from the object and from its member "options". It returns false for anything but an object.
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
