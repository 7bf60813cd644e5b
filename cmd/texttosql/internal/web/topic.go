package web

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/cli"
)

// topic is what a Server knows of a conversation that runs or is watched. Its fields are guarded by Server.mu.
type topic struct {
	cancel   context.CancelFunc // nil: it does not run
	revision int64              // of the last record that is known
	steps    []step             // of the question that runs
	began    time.Time          // when it began to run
	busy     time.Time          // until when a call of the model waits that is tried again
	line     int                // its place among those that wait until others have ended, from 1; 0: it does not wait
	watchers map[chan struct{}]bool
}

// step is all work of one kind for a question.
type step struct {
	Name   texttosql.Step `json:"name"`
	Begun  int            `json:"begun"`
	Ended  int            `json:"ended"`
	Failed int            `json:"failed,omitempty"`
}

// maxSteps bounds the kinds of work that are told, because a strategy may name them as it likes.
const maxSteps = 20

// maxWatchers bounds the streams of a server.
const maxWatchers = 100

// topic returns that of a conversation and makes it where it is missing. The caller holds mu.
func (s *Server) topic(id string) *topic {
	t := s.topics[id]
	if t == nil {
		t = &topic{watchers: map[chan struct{}]bool{}}
		s.topics[id] = t
	}
	return t
}

// tidy forgets a topic that nobody needs. The caller holds mu.
func (s *Server) tidy(id string) {
	if t := s.topics[id]; t != nil && t.cancel == nil && len(t.watchers) == 0 {
		delete(s.topics, id)
	}
}

// tell wakes those who watch t. Who is awake already looks again later. The caller holds mu.
func (t *topic) tell() {
	for w := range t.watchers {
		select {
		case w <- struct{}{}:
		default:
		}
	}
}

// claim lets the caller alone work on a conversation, until release. within ends with ctx, by cancel and with Close.
func (s *Server) claim(ctx context.Context, id string) (within context.Context, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topic(id)
	switch {
	case t.cancel != nil:
		return nil, nil, errBusy
	case s.closed:
		s.tidy(id)
		return nil, nil, errClosed
	}
	within, t.cancel = context.WithCancel(ctx)
	leave := context.AfterFunc(s.ctx, t.cancel)
	t.steps, t.began, t.busy = nil, time.Now(), time.Time{}
	s.calls.Add(1)
	t.tell()
	return within, func() {
		leave()
		s.mu.Lock()
		t.cancel()
		t.cancel = nil
		t.tell()
		s.tidy(id)
		s.mu.Unlock()
		s.calls.Done()
	}, nil
}

// maxLine bounds those that wait, on a page of many visitors.
const maxLine = 100

// waiter is one that waits in the line of a server.
type waiter struct {
	of   *topic
	turn chan struct{} // closed when it is let in
}

// Waiting is how many wait in the line.
func (s *Server) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.line)
}

// enter waits until fewer than Parallel topics of the server work, in the order of coming, and lets one in until leave.
func (s *Server) enter(ctx context.Context, id string) (leave func(), err error) {
	s.mu.Lock()
	if s.jobs < s.Parallel {
		s.jobs++
		s.mu.Unlock()
		return s.leave, nil
	}
	if len(s.line) >= maxLine {
		s.mu.Unlock()
		return nil, errFull
	}
	mine := waiter{s.topic(id), make(chan struct{})}
	s.line = append(s.line, mine)
	s.numbered()
	s.mu.Unlock()
	select {
	case <-mine.turn:
		return s.leave, nil
	case <-ctx.Done():
	}
	s.mu.Lock()
	i := slices.IndexFunc(s.line, func(p waiter) bool { return p.turn == mine.turn })
	if i >= 0 {
		s.line = slices.Delete(s.line, i, i+1)
		mine.of.line = 0
		s.numbered()
	}
	s.mu.Unlock()
	if i < 0 { // it was let in meanwhile
		s.leave()
	}
	return nil, ctx.Err()
}

// leave lets the next one in.
func (s *Server) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.line) == 0 {
		s.jobs--
		return
	}
	next := s.line[0]
	s.line = s.line[1:]
	next.of.line, next.of.began = 0, time.Now()
	next.of.tell()
	close(next.turn)
	s.numbered()
}

// numbered tells those that wait where they stand. The caller holds mu.
func (s *Server) numbered() {
	for i, p := range s.line {
		p.of.line = i + 1
		p.of.tell()
	}
}

// work is claim and enter, for what answers one request.
func (s *Server) work(ctx context.Context, id string) (within context.Context, done func(), err error) {
	within, release, err := s.claim(ctx, id)
	if err != nil {
		return nil, nil, err
	}
	leave, err := s.enter(within, id)
	if err != nil {
		release()
		return nil, nil, err
	}
	return within, func() { leave(); release() }, nil
}

// cancel ends what a conversation is doing here, and reports whether it does anything. Its session is interrupted then.
func (s *Server) cancel(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[id]
	if t == nil || t.cancel == nil {
		return false
	}
	t.cancel()
	return true
}

func (s *Server) runs(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[id]
	return t != nil && t.cancel != nil
}

// saved notes the revision of a record.
func (s *Server) saved(id string, revision int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[id]; t != nil && t.revision != revision {
		t.revision = revision
		t.tell()
	}
}

// Progress carries the steps of questions from an Engine to the Servers that have it, one for each scope: its Tell is
// for texttosql.WithProgress. Safe for concurrent use.
type Progress struct {
	mu sync.Mutex
	to []*Server
}

// Tell takes one step.
func (p *Progress) Tell(n texttosql.Progress) {
	p.mu.Lock()
	to := p.to
	p.mu.Unlock()
	for _, s := range to { // the conversation is one of one of them
		s.progress(n)
	}
}

func (s *Server) progress(n texttosql.Progress) {
	if n.Kind == "happened" && n.Message == "retry" {
		s.retried(n.ID, cli.Wait(n.Span))
		return
	}
	if n.Kind != "started" && n.Kind != "ended" || n.Span.Parent() == nil || n.Span.Parent() != n.Span.Root() {
		return // the steps of the question, not their parts
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.topics[n.ID]
	if t == nil || t.cancel == nil {
		return
	}
	i := slices.IndexFunc(t.steps, func(have step) bool { return have.Name == n.Step })
	switch {
	case i < 0 && len(t.steps) == maxSteps:
		return
	case i < 0:
		t.steps, i = append(slices.Clip(t.steps), step{Name: n.Step}), len(t.steps)
	default:
		t.steps = slices.Clone(t.steps) // a stream may be writing it
	}
	switch at := &t.steps[i]; {
	case n.Kind == "started":
		at.Begun++
	default:
		at.Ended++
		if n.Message != "" {
			at.Failed++
		}
	}
	t.tell()
}

// retried notes that the model of a question is busy.
func (s *Server) retried(id string, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.topics[id]; t != nil && t.cancel != nil {
		t.busy = time.Now().Add(wait)
		t.tell()
	}
}

// news is what a stream tells. The page reads the conversation again where the revision or what runs is another one.
type news struct {
	Revision int64  `json:"revision"`
	Running  bool   `json:"running"`
	Steps    []step `json:"steps"`
	Elapsed  int64  `json:"elapsed,omitempty"` // milliseconds since it began to run
	Busy     int    `json:"busy,omitempty"`    // seconds until a call of the model is tried again
	Line     int    `json:"line,omitempty"`    // its place among those that wait, from 1
}

// beat is how often a stream shows that it lives, so that a page can tell in 3 seconds that it does not. Every looking
// beats it looks whether another program has changed the record.
const (
	beat    = time.Second
	looking = 15
)

// events streams what happens to a conversation. A client that goes away ends its stream and nothing else.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	rec, err := s.Store.Load(r.Context(), id)
	if err != nil {
		s.refuse(w, err)
		return
	}
	woken := make(chan struct{}, 1)
	s.mu.Lock()
	watchers := 0
	for _, t := range s.topics {
		watchers += len(t.watchers)
	}
	if s.closed || watchers >= maxWatchers {
		s.mu.Unlock()
		s.refuse(w, errFull)
		return
	}
	t := s.topic(id)
	t.watchers[woken] = true
	t.revision = max(t.revision, rec.Revision)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(t.watchers, woken)
		s.tidy(id)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, "retry: 1000\n\n") // milliseconds until a browser comes back to a server that was started again
	out := http.NewResponseController(w)
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	for beats := 0; ; {
		s.mu.Lock()
		now := news{Revision: t.revision, Running: t.cancel != nil, Steps: t.steps, Line: t.line}
		if now.Running {
			now.Elapsed = max(1, time.Since(t.began).Milliseconds())
			now.Busy = int(math.Ceil(max(0, time.Until(t.busy).Seconds())))
		}
		s.mu.Unlock()
		text, err := json.Marshal(now)
		out.SetWriteDeadline(time.Now().Add(10 * time.Second)) // for a client that does not read; not every writer has one
		_, werr := fmt.Fprintf(w, "data: %s\n\n", text)
		if cmp.Or(err, werr, out.Flush()) != nil {
			return
		}
		select {
		case <-woken:
		case <-ticker.C:
			if beats++; beats%looking != 0 {
				continue
			}
			if rec, err := s.Store.Load(r.Context(), id); err == nil {
				s.saved(id, rec.Revision)
			}
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}
