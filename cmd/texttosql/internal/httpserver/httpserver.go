// Package httpserver opens an HTTP server to this machine, or to those who have a token: where it may listen, which
// requests come in, and how it ends. What the requests may ask for is the business of the handler behind it.
package httpserver

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// Door says who may come in. The zero Door lets in programs of this machine, and no page of another site.
type Door struct {
	Token   string   // what every request must show; "": nothing, and then Listen takes a loopback address alone
	Sum     []byte   // the SHA-256 of what every request must show, where the token itself is not known; nil: it is Token
	Hosts   []string // names by which the server is reached, beside localhost and its own address: "sql.example.org"
	MaxBody int64    // bytes of a request's body; 0: 1 MiB
	// Credential returns the token that a request shows; nil: the one of "Authorization: Bearer".
	Credential func(*http.Request) string
}

// Time limits of a connection. There is none on a reply, because a question may take minutes.
const (
	headerTime = 10 * time.Second
	bodyTime   = 30 * time.Second
	idleTime   = 2 * time.Minute
	graceTime  = 5 * time.Second
)

const (
	maxBody  = 1 << 20
	minToken = 16 // characters
)

// Listen listens on an address such as "127.0.0.1:8080" or "localhost:0". Any other than a loopback address is an error
// without a Token. So is a Token of less than 16 characters.
func (d Door) Listen(ctx context.Context, address string) (net.Listener, error) {
	if d.Token != "" && len(d.Token) < minToken {
		return nil, fmt.Errorf("the token is shorter than %d characters: make one with openssl rand -hex 32", minToken)
	}
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("the address %q is none to listen on: %w", address, err)
	}
	if !at.IP.IsLoopback() && d.Token == "" {
		return nil, fmt.Errorf("the address %q can be reached from other machines: give a token, or listen on 127.0.0.1",
			address)
	}
	return new(net.ListenConfig).Listen(ctx, "tcp", at.String())
}

// Guard lets those requests through to next that may come in. It looks at the Host and the Origin first, so that a page
// of another site reaches nothing, not even by a name that was made to mean this machine (DNS rebinding). It compares
// the token in constant time. The body is read before next is called, within 30 seconds.
func (d Door) Guard(next http.Handler) http.Handler {
	want := d.Sum
	if want == nil && d.Token != "" {
		sum := sha256.Sum256([]byte(d.Token))
		want = sum[:]
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !d.knows(r):
			refuse(w, http.StatusForbidden, "this Host is not one of the server's names; see its list of hosts")
			return
		case !sameSite(r):
			refuse(w, http.StatusForbidden, "the request comes from a page of another site")
			return
		}
		if want != nil {
			got := sha256.Sum256([]byte(d.shown(r)))
			if subtle.ConstantTimeCompare(got[:], want) != 1 {
				w.Header().Set("WWW-Authenticate", "Bearer")
				refuse(w, http.StatusUnauthorized, "the token is missing or wrong")
				return
			}
		}
		if r.Body != nil && r.Body != http.NoBody {
			body, status, why := d.read(w, r)
			if status != 0 {
				refuse(w, status, why)
				return
			}
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		}
		next.ServeHTTP(w, r)
	})
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Connection", "close")
	http.Error(w, why, status)
}

func (d Door) shown(r *http.Request) string {
	if d.Credential != nil {
		return d.Credential(r)
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// knows reports whether the request names the server as it may be named.
func (d Door) knows(r *http.Request) bool {
	host := (&url.URL{Host: r.Host}).Hostname()
	if slices.ContainsFunc(d.Hosts, func(name string) bool { return strings.EqualFold(name, host) }) {
		return true
	}
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if local == nil {
		return false
	}
	own, err := netip.ParseAddrPort(local.String())
	if err != nil {
		return false
	}
	if strings.EqualFold(host, "localhost") {
		return own.Addr().Unmap().IsLoopback()
	}
	named, err := netip.ParseAddr(host)
	return err == nil && named.Unmap() == own.Addr().Unmap()
}

// sameSite reports whether no page of another site sent the request. A link that a person follows may come from
// anywhere.
func sameSite(r *http.Request) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" &&
		r.Header.Get("Sec-Fetch-Dest") == "document"
}

// read returns the body, or the status and the reason of a refusal.
func (d Door) read(w http.ResponseWriter, r *http.Request) (body []byte, status int, why string) {
	limit := cmp.Or(d.MaxBody, maxBody)
	c := http.NewResponseController(w)
	c.SetReadDeadline(time.Now().Add(bodyTime)) // a writer without deadlines is one of a test
	defer c.SetReadDeadline(time.Time{})
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, http.StatusRequestEntityTooLarge, fmt.Sprintf("the body has more than %d bytes", limit)
	case err != nil:
		return nil, http.StatusBadRequest, "the body could not be read"
	}
	return body, 0, ""
}

// Serve serves on l until ctx ends, and returns nil then. It calls closing, which ends the replies that never end
// by themselves, such as streams; nil: there are none. Other replies have 5 seconds. Then their contexts end, and
// Serve waits for their handlers. It closes l.
func Serve(ctx context.Context, l net.Listener, handler http.Handler, closing func()) error {
	base, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	var running sync.WaitGroup
	s := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			running.Add(1)
			defer running.Done()
			handler.ServeHTTP(w, r)
		}),
		BaseContext:       func(net.Listener) context.Context { return base },
		ReadHeaderTimeout: headerTime, IdleTimeout: idleTime, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(io.Discard, "", 0), // of broken connections, in words of the client
	}
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	if closing != nil {
		closing()
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), graceTime)
	defer cancel()
	if s.Shutdown(within) != nil {
		end()
		s.Close()
	}
	<-failed
	running.Wait()
	return nil
}
