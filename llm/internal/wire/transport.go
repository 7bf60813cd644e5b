package wire

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// maxReply bounds the body of a reply in bytes, because the clients read all of it into memory. A reply of a
	// million tokens is half as long.
	maxReply = 8 << 20

	// maxErrorBody bounds the body of a failed response in bytes. Error pages of proxies are a few kilobytes.
	maxErrorBody = 64 << 10

	// maxHead bounds what is kept of a successful response, in bytes: enough to find an error in it.
	maxHead = 64 << 10

	// maxTold bounds what is put into a trace of it, in bytes.
	maxTold = 4 << 10

	// maxRetryAfter bounds what a provider may ask to wait.
	maxRetryAfter = 24 * time.Hour
)

var (
	errTooLarge = errors.New("the reply is over 8 MiB")
	errNoKey    = errors.New("no key was given")
	errNoURL    = errors.New("the address is no URL of a server, as https://host/path")
)

// HTTPClient returns a copy of base whose requests pass through [RoundTrip]. nil means [http.DefaultClient], which has
// no time-out: use [llm.Timeout]. It follows no redirection to another host, which would be sent the key, unless base
// says where it goes. Safe for concurrent use if base is.
func HTTPClient(base *http.Client) *http.Client {
	if base == nil {
		base = http.DefaultClient
	}
	c := *base
	c.Transport = transport{cmp.Or(base.Transport, http.DefaultTransport)}
	if c.CheckRedirect == nil {
		c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
			if req.URL.Host != via[0].URL.Host || len(via) > 9 {
				return http.ErrUseLastResponse
			}
			return nil
		}
	}
	return &c
}

type transport struct{ base http.RoundTripper }

func (t transport) RoundTrip(req *http.Request) (*http.Response, error) {
	return RoundTrip(req, t.base.RoundTrip)
}

// CloseIdleConnections closes the idle connections of the base transport. http.Client looks for this method.
func (t transport) CloseIdleConnections() {
	if c, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// Call is what happened to the requests of one call of a client, the last of which counts. [Begin] makes it; its
// methods are safe for concurrent use.
type Call struct {
	// Edit changes the body of a request before it is sent. It is set before the first one; nil: bodies stay as they are.
	Edit func(body []byte) []byte

	home string // the host that is not asked without a key

	mu      sync.Mutex
	sent    bool
	last    outcome
	head    []byte   // of the body of a successful response
	secrets []string // the credentials that were sent
	url     string   // without its query
}

// outcome is how a request ended; the zero outcome is a success.
type outcome struct {
	status     int // of a failed response
	retryAfter time.Duration
	body       []byte
	asked      []byte // the body of its request
	err        error  // there was no response, or it broke off
}

type callKey struct{}

// Begin returns the context of the requests of one call, and what will be known of them.
func Begin(ctx context.Context) (context.Context, *Call) {
	c := new(Call)
	return context.WithValue(ctx, callKey{}, c), c
}

// RoundTrip sends req through next and notes what happens to it, where its context is one of [Begin]. A reply over 8
// MiB is an error; the body of a failed response is cut at 64 KiB. A success is said to be JSON, whatever its header
// says, because SDKs read nothing else, and a stream of events, which no client asks for, is put together.
func RoundTrip(req *http.Request, next func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	ctx := req.Context()
	c, ok := ctx.Value(callKey{}).(*Call)
	if !ok {
		return next(req) // somebody else uses the client
	}
	secrets := credentials(req.Header)
	c.note(func() {
		u := *req.URL
		u.RawQuery, u.User = "", nil
		c.sent, c.last, c.head, c.secrets, c.url = true, outcome{}, nil, secrets, u.String()
	})
	var err error
	switch u := req.URL; {
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		err = errNoURL
	case len(secrets) == 0 && u.Host == c.home:
		err = errNoKey
	}
	if err != nil {
		c.end(outcome{err: err})
		return nil, err
	}
	sent, err := c.edited(req)
	if err != nil {
		return nil, err
	}
	resp, err := next(sent)
	if err != nil {
		c.broke(ctx, "no reply", err)
		return nil, err
	}
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		resp.Body = &watched{ReadCloser: http.MaxBytesReader(nil, resp.Body, maxReply), ctx: ctx, call: c}
		resp.Header.Set("Content-Type", "application/json")
		return resp, nil
	}
	// An error of reading does not matter: the status alone is worth keeping.
	body, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBody))
	resp.Body.Close()
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	var asked []byte
	if req.GetBody != nil {
		if r, err := req.GetBody(); err == nil {
			asked, _ = io.ReadAll(r)
		}
	}
	c.end(outcome{status: resp.StatusCode, retryAfter: retryAfter(resp.Header), body: body, asked: asked})
	return resp, nil
}

// edited is a copy of a request with the body that Edit makes of its own.
func (c *Call) edited(req *http.Request) (*http.Request, error) {
	if c.Edit == nil || req.Body == nil {
		return req, nil
	}
	body, err := io.ReadAll(req.Body)
	req.Body.Close()
	if err != nil {
		return nil, err
	}
	body = c.Edit(body)
	req = req.Clone(req.Context())
	req.ContentLength = int64(len(body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	req.Body, _ = req.GetBody()
	return req, nil
}

// credentials are the keys in the headers of a request.
func credentials(h http.Header) (keys []string) {
	for _, name := range []string{"Authorization", "Api-Key", "X-Api-Key", "X-Goog-Api-Key"} {
		_, key, found := strings.Cut(h.Get(name), " ") // "Bearer KEY"
		if !found {
			key = h.Get(name)
		}
		if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

func (c *Call) note(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
}

func (c *Call) end(o outcome) { c.note(func() { c.last = o }) }

// broke notes err, or the end of ctx. The context of a request also holds the time-out of an http.Client, which reports
// it only above the transport.
func (c *Call) broke(ctx context.Context, what string, err error) {
	c.end(outcome{err: fmt.Errorf("%s: %w", what, cmp.Or(Ended(ctx), err))})
}

func (c *Call) outcome() (o outcome) {
	c.note(func() { o = c.last })
	return o
}

// Sent reports whether RoundTrip saw a request of the call.
func (c *Call) Sent() (sent bool) {
	c.note(func() { sent = c.sent })
	return sent
}

// Failed reports whether RoundTrip saw the call fail.
func (c *Call) Failed() bool {
	o := c.outcome()
	return o.status != 0 || o.err != nil
}

// Raw returns what the server sent, or its first 64 KiB.
func (c *Call) Raw() (raw []byte) {
	c.note(func() {
		if raw = c.head; len(c.last.body) > 0 {
			raw = c.last.body
		}
	})
	return raw
}

// withoutKeys replaces what was sent as a key, which a server may repeat.
func (c *Call) withoutKeys(text string) string {
	var secrets []string
	c.note(func() { secrets = slices.Clone(c.secrets) })
	for _, secret := range secrets {
		if len(secret) > 3 { // "none" and "x" are no secrets
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}

// watched is the body of a successful response. It notes an error that ends the body early, which some clients ignore.
type watched struct {
	io.ReadCloser // bounded by http.MaxBytesReader
	ctx           context.Context
	call          *Call
	text          io.Reader // what is read from it
}

func (w *watched) Read(p []byte) (n int, err error) {
	if w.text == nil {
		err = w.begin()
	}
	if err == nil {
		n, err = w.text.Read(p)
	}
	w.call.note(func() { w.call.head = append(w.call.head, p[:min(n, maxHead-len(w.call.head))]...) })
	if errors.As(err, new(*http.MaxBytesError)) {
		err = errTooLarge
	}
	if err != nil && err != io.EOF {
		w.call.broke(w.ctx, "the reply broke off", err)
	}
	return n, err
}

// begin looks at the first bytes. Blank ones, by which some servers keep a connection open, are left out.
func (w *watched) begin() error {
	text := bufio.NewReader(w.ReadCloser)
	w.text = text
	for {
		c, err := text.ReadByte()
		if err != nil {
			return err
		}
		if !strings.ContainsRune(" \t\r\n", rune(c)) {
			break
		}
	}
	if err := text.UnreadByte(); err != nil {
		return err
	}
	if head, _ := text.Peek(len("event:")); !isStream(head) {
		return nil
	}
	events, err := io.ReadAll(text)
	if err == nil {
		events, err = unstreamed(events)
	}
	w.text = bytes.NewReader(events)
	return err
}

// Ended returns ctx.Err(), or context.DeadlineExceeded if the deadline has passed and the timer of ctx has not fired
// yet. A dialer has a timer of its own, which may be earlier.
func Ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
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
