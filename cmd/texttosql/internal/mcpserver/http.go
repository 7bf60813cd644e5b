package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/session"
)

// Handler serves clients over streamable HTTP. Those of the protocol of 2026-07-28 have no session: any process that
// has the same Store takes their calls. Others have one each, unless Stateless is set. Who may come in is decided in
// front of it. Call Close in the end: streams end then, and questions.
//
// A question ends with the request that asked it, because nobody can fetch its answer later. A Budget is one of a
// session, so with it the protocol without sessions is not spoken.
func (s *Server) Handler() http.Handler {
	seated := mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if seat, ok := r.Context().Value(seatKey{}).(*seat); ok {
			return seat.mcp
		}
		return nil
	}, &mcp.StreamableHTTPOptions{SessionTimeout: s.Idle})
	var stateless http.Handler
	if !bounded(s.Budget) {
		s.shared = s.newClient(context.Background(), s.Sessions, keptShared)
		stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s.shared.mcp },
			&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r, ok := oneMessage(r)
		if !ok {
			http.Error(w, "the body is not one JSON message, or one list of them", http.StatusBadRequest)
			return
		}
		id := r.Header.Get("Mcp-Session-Id")
		r, done := s.posts.begin(r)
		defer done()
		switch {
		case s.Stateless, stateless != nil && id == "" && r.Header.Get("MCP-Protocol-Version") >= callsAgain:
			stateless.ServeHTTP(w, r)
			return
		case id == "" && r.Method == http.MethodPost:
			seat := s.take()
			if seat == nil {
				http.Error(w, "too many sessions: try again later", http.StatusServiceUnavailable)
				return
			}
			defer s.taken(seat)
			r = r.WithContext(context.WithValue(r.Context(), seatKey{}, seat))
		case id != "" && r.Method == http.MethodDelete:
			s.stop(id)
		}
		seated.ServeHTTP(w, r)
	})
}

// message finds the beginning of an object, or of a list of them, in a value of JSON.
var message = regexp.MustCompile(`^\s*(?:\[\s*)?\{`)

// oneMessage reports whether the body of a request is one object of JSON, or one list of them, and returns the request
// with the body to be read again. The SDK of MCP answers the first of two objects and drops the second.
func oneMessage(r *http.Request) (read *http.Request, ok bool) {
	if r.Method != http.MethodPost {
		return r, true
	}
	body, err := io.ReadAll(r.Body) // which the door has bounded
	if err != nil || !message.Match(body) || !json.Valid(body) {
		return r, false
	}
	read = r.Clone(r.Context())
	read.Body = io.NopCloser(bytes.NewReader(body))
	return read, true
}

// Close ends all clients over HTTP and everything that runs for them, and lets no other in.
func (s *Server) Close() {
	s.mu.Lock()
	seats := s.seats
	s.seats, s.closed = nil, true
	s.mu.Unlock()
	if s.shared != nil {
		s.shared.leave()
	}
	for _, seat := range seats {
		seat.leave()
	}
}

// seat is a client over HTTP. It is free once its session is over.
type seat struct {
	*client
	opening bool // its first request runs
}

type seatKey struct{}

// take returns a new seat, nil if there is none.
func (s *Server) take() *seat {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seats = slices.DeleteFunc(s.seats, func(old *seat) bool {
		free := !old.opening && old.session() == nil
		if free {
			old.end()
		}
		return free
	})
	if s.closed {
		return nil
	}
	if len(s.seats) >= s.Sessions { // a client that never asked for anything makes room
		i := slices.IndexFunc(s.seats, func(old *seat) bool { return !old.opening && !old.used.Load() })
		if i < 0 {
			return nil
		}
		s.seats[i].leave()
		s.seats = slices.Delete(s.seats, i, i+1)
	}
	seat := &seat{s.newClient(context.Background(), mostWaiting, keptAlone), true}
	s.seats = append(s.seats, seat)
	return seat
}

func (s *Server) taken(seat *seat) {
	s.mu.Lock()
	seat.opening = false
	closed := s.closed
	s.mu.Unlock()
	if closed {
		seat.leave()
	}
}

// leave ends a client and what runs for it.
func (c *client) leave() {
	c.end()
	for session := range c.mcp.Sessions() {
		session.Close()
	}
}

func (c *client) session() *mcp.ServerSession {
	for session := range c.mcp.Sessions() {
		return session
	}
	return nil
}

// stop ends what runs for a session that its client deletes, because the deletion waits for it.
func (s *Server) stop(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, seat := range s.seats {
		if session := seat.session(); session != nil && session.ID() == id {
			seat.end()
		}
	}
}

// posts knows the context of every request that runs, by a header that only the server sets.
type posts struct{ running sync.Map }

const postHeader = "Texttosql-Post"

func (p *posts) begin(r *http.Request) (marked *http.Request, done func()) {
	id := session.NewID()
	marked = r.Clone(r.Context())
	marked.Header.Set(postHeader, id)
	p.running.Store(id, r.Context())
	return marked, func() { p.running.Delete(id) }
}

// of returns the context of the HTTP request that carried a call; nil: it came in another way.
func (p *posts) of(extra *mcp.RequestExtra) context.Context {
	if extra == nil {
		return nil
	}
	ctx, _ := p.running.Load(extra.Header.Get(postHeader))
	post, _ := ctx.(context.Context)
	return post
}
