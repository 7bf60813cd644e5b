// Package web is the page of "texttosql serve": a person asks, sees the answer with its rows and its votes, chooses
// where the answers disagree, corrects, confirms and asks on.
//
// It keeps nothing of its own: a conversation is the session.Record of its store, so a reload, a second tab and a
// program that was killed find it as it is. What no record holds, such as rows and votes, stays in memory for the
// answers of this program that were seen last.
//
// The page is one HTML document with its style and its script. Every text from a model, a database or a person reaches
// it as JSON and is set as text.
package web

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
)

// Config is what a Server needs.
type Config struct {
	Engine *texttosql.Engine // required
	Store  session.Store     // required; conversations live as long as it does
	// the same database under the same policy; nil: no sentences about statements, no rows of tables
	DB        *exec.DB
	Confirmed *memory.VerifiedAnswers // its last questions are offered where nothing was asked yet; nil: none
	Progress  *Progress               // of the Engine; nil: the page shows no steps
	Title     string                  // what the page is called, such as the name of a company; "": "texttosql"
	Accent    string                  // the colour of buttons, links and charts, "#2457d6"; "": that one
	Database  string                  // what the page calls the database; "": "your database"
	Sweep     bool                    // session.DeleteExpired deletes old conversations, at once and every day
	Parallel  int                     // questions that run at a time, others wait in line; 0: 4
	Files     chan struct{}           // has room for as many files as are sent at a time; nil: as many as Parallel
	NoModel   bool                    // the Engine has no model: it serves tables and statements, and answers no question
	// who uses the page, as it greets and as confirmed answers name them; "": nobody knows
	Who string
	// takes what nobody may see, such as parts of a DSN, out of the text of an error; nil: nothing
	Hide func(string) string
	Door httpserver.Door // who may come in; its Credential is set by Handler
}

// Server serves the page. Make one with New. Safe for concurrent use.
type Server struct {
	Config
	page  document
	ctx   context.Context // ends with Close
	stop  context.CancelFunc
	calls sync.WaitGroup // calls of sessions that run

	mu      sync.Mutex
	closed  bool
	jobs    int               // how many topics work
	line    []waiter          // those that wait until others have ended
	topics  map[string]*topic // conversations that run or are watched
	seen    memo
	figures map[string]ran // of the saved answers, by their id
}

// New returns a Server. The caller calls Close.
func New(c Config) (*Server, error) {
	if c.Engine == nil || c.Store == nil {
		return nil, errors.New("web: the page needs an Engine and a Store")
	}
	if c.Parallel < 0 {
		return nil, fmt.Errorf("web: Parallel is %d", c.Parallel)
	}
	c.Parallel, c.Title, c.Database = cmp.Or(c.Parallel, 4), cmp.Or(c.Title, "texttosql"),
		cmp.Or(c.Database, "your database")
	c.Files = cmp.Or(c.Files, make(chan struct{}, c.Parallel))
	colours, err := accents(c.Accent)
	if err != nil {
		return nil, err
	}
	s := &Server{Config: c, page: assembled(colours), topics: map[string]*topic{}, figures: map[string]ran{}}
	s.ctx, s.stop = context.WithCancel(context.Background())
	if c.Progress != nil {
		c.Progress.mu.Lock()
		c.Progress.to = append(slices.Clip(c.Progress.to), s)
		c.Progress.mu.Unlock()
	}
	if c.Sweep {
		s.calls.Go(s.sweep)
	}
	return s, nil
}

// sweep deletes old conversations until Close. What cannot be read is never deleted.
func (s *Server) sweep() {
	every := time.NewTicker(24 * time.Hour)
	defer every.Stop()
	for {
		session.DeleteExpired(s.ctx, s.Store, time.Now()) // an error leaves the rest for tomorrow
		select {
		case <-every.C:
		case <-s.ctx.Done():
			return
		}
	}
}

// Close ends all streams and interrupts the questions that run, which can be resumed. It returns when all have ended.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.stop()
	s.calls.Wait()
}

// Handler returns the page and its interface behind the door. The page itself, which holds no data, and the way to log
// in need no token.
func (s *Server) Handler() http.Handler {
	open, closed := s.Door, s.Door
	open.MaxBody, closed.MaxBody = maxBody, maxBody
	open.Token, closed.Credential = "", s.credential
	front, inner := http.NewServeMux(), http.NewServeMux()
	front.HandleFunc("GET /{$}", s.index)
	front.HandleFunc("POST /api/login", s.login)
	front.HandleFunc("GET /favicon.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		io.WriteString(w, icon)
	})
	front.HandleFunc("GET /api/alive", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, struct{}{})
	})
	inner.HandleFunc("GET /api/conversations", s.list)
	inner.HandleFunc("POST /api/conversations", s.ask)
	inner.HandleFunc("GET /api/conversations/{id}", s.show)
	inner.HandleFunc("DELETE /api/conversations/{id}", s.forget)
	inner.HandleFunc("GET /api/conversations/{id}/rows/{turn}", s.rows)
	inner.HandleFunc("POST /api/query", s.query)
	inner.HandleFunc("POST /api/conversations/{id}/query", s.query)
	inner.HandleFunc("POST /api/conversations/{id}/keep", s.confirmOwn)
	inner.HandleFunc("POST /api/conversations/{id}/rename", s.rename)
	inner.HandleFunc("GET /api/start", s.start)
	inner.HandleFunc("GET /api/saved", s.board)
	inner.HandleFunc("POST /api/saved/{id}/run", s.runSaved)
	inner.HandleFunc("DELETE /api/saved/{id}", s.removeSaved)
	inner.HandleFunc("GET /saved/{file}", s.savedFile)
	inner.HandleFunc("GET /api/sample", s.sample)
	inner.HandleFunc("GET /api/conversations/{id}/events", s.events)
	inner.HandleFunc("POST /api/conversations/{id}/{call}", s.call)
	inner.HandleFunc("GET /api/schema", s.schema)
	inner.HandleFunc("GET /trace/{id}/{turn}", s.trace)
	for _, path := range []string{"/api/", "/trace/", "/saved/"} {
		front.Handle(path, closed.Guard(inner))
	}
	return headers(open.Guard(front))
}

// headers says on every reply that it is for this page alone. The door keeps other pages out; a header of our own is a
// second lock on requests that write.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		for name, value := range map[string]string{
			"Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
			"X-Content-Type-Options":  "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"X-Frame-Options":            "DENY",
			"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			h.Set(name, value)
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Header.Get("X-Texttosql") == "" {
			// No page of another origin can set it: its browser would ask for leave, which nobody gives.
			answer(w, http.StatusForbidden, problem{"foreign", "a writing request needs the header X-Texttosql"})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// cookie is the name of the cookie that stands for the token.
const cookie = "texttosql"

// pass is the value of the cookie: it shows that its bearer knew the token, and does not tell it.
func (s *Server) pass() string {
	mac := hmac.New(sha256.New, []byte(s.Door.Token))
	mac.Write([]byte("texttosql serve"))
	return hex.EncodeToString(mac.Sum(nil))
}

// credential returns what a request shows at the door: a token, which its cookie may stand for.
func (s *Server) credential(r *http.Request) string {
	for _, c := range r.CookiesNamed(cookie) { // another port of the host may set one of the same name
		if hmac.Equal([]byte(c.Value), []byte(s.pass())) {
			return s.Door.Token
		}
	}
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token
}

// login gives a cookie for the token. The token comes in the body, so that it stands in no log of addresses.
func (s *Server) login(w http.ResponseWriter, r *http.Request) {
	var in struct{ Token string }
	if !read(w, r, &in) {
		return
	}
	given, want := sha256.Sum256([]byte(in.Token)), sha256.Sum256([]byte(s.Door.Token))
	if s.Door.Token != "" && !hmac.Equal(given[:], want[:]) {
		answer(w, http.StatusUnauthorized, problem{"token", "this is not the token"})
		return
	}
	http.SetCookie(w, &http.Cookie{Name: cookie, Value: s.pass(), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil})
	answer(w, http.StatusOK, struct{}{})
}

// maxBody bounds a request, in bytes. A question and a correction are far below it.
const maxBody = 64 << 10

// read reads the JSON body of a request. If it cannot, it answers and returns false.
func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		answer(w, http.StatusUnsupportedMediaType, problem{"request", "the body must be JSON"})
		return false
	}
	known := json.NewDecoder(r.Body) // which the door has bounded
	known.DisallowUnknownFields()
	err := known.Decode(into)
	if _, end := known.Token(); err != nil || end != io.EOF {
		answer(w, http.StatusBadRequest, problem{"request", "the body is not one object of this request"})
		return false
	}
	return true
}

// answer writes JSON.
func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v) // the client may be gone
}

// problem is a refusal as the page shows it. Code is a stable word for its script.
type problem struct {
	Code  string `json:"code"`
	Error string `json:"error"`
}

// The refusals of a server that has enough to do.
var (
	errBusy = errors.New("this conversation is answering a question already, perhaps in another tab; " +
		"wait for it or cancel it")
	errFull   = errors.New("too many questions wait or files are sent; try again when some of them have ended")
	errClosed = errors.New("the server is stopping; the conversation goes on when it is back")
)

// missingError says what an address names that is not there.
type missingError string

func (e missingError) Error() string { return string(e) }

// refuse answers with an error.
func (s *Server) refuse(w http.ResponseWriter, err error) {
	status, code := 0, ""
	switch {
	case errors.Is(err, errBusy):
		status, code = http.StatusConflict, "busy"
	case errors.Is(err, errFull), errors.Is(err, errClosed):
		status, code = http.StatusServiceUnavailable, "full"
		w.Header().Set("Retry-After", "5")
	case errors.As(err, new(missingError)):
		status, code = http.StatusNotFound, string(failure.Missing)
	default:
		f := failure.Of(err)
		status, code, err = f.HTTPStatus, string(f.Class), errors.New(strings.TrimSpace(f.Message+" "+forVisitors(f.Advice)))
	}
	answer(w, status, problem{code, s.told(err)})
}

// told is the text of an error for the page.
func (s *Server) told(err error) string { return s.clean(redact.Line(err.Error())) }

// clean takes out of the text of an error what nobody may see, and the names of packages in front of it.
func (s *Server) clean(text string) string {
	if s.Hide != nil {
		text = s.Hide(text)
	}
	for _, name := range []string{"texttosql: ", "session: ", "strategy: ", "exec: ", "llm: "} {
		text = strings.TrimPrefix(text, name)
	}
	return visible(strings.TrimPrefix(text, "the correction cannot be used: "))
}
