package web

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/session"
)

// call is a call of a session that may take minutes.
type call func(context.Context, *texttosql.Conversation) (*texttosql.Result, error)

// run runs a call of the session of that id, of a new one for "", on a goroutine of its own, which only cancel and
// Close end early. It returns nil once the session has saved what the user did, and before that the error of the call.
func (s *Server) run(ctx context.Context, id string, do call) (string, error) {
	store := &saves{Store: s.Store, server: s, first: make(chan struct{}), leave: func() {}}
	var talk *texttosql.Conversation
	var err error
	if id == "" {
		talk = s.Engine.NewConversation(store)
		id = talk.Record().ID
	}
	within, release, err := s.claim(context.WithoutCancel(ctx), id)
	if err != nil {
		return "", err
	}
	if talk == nil { // loaded once nobody else here can change it
		if talk, err = s.Engine.OpenConversation(ctx, store, id); err != nil {
			release()
			return "", err
		}
	}
	within = httpserver.WithConversation(within, id)
	store.within = within
	ended := make(chan error, 1)
	go func() {
		res, err := do(within, talk)
		s.keep(talk.Record(), res, err)
		store.leave()
		release()
		ended <- err
	}()
	select {
	case <-store.first:
		return id, nil
	case err = <-ended:
	case <-ctx.Done():
		return id, ctx.Err()
	}
	select {
	case <-store.first:
		return id, nil // the record tells the error
	default:
	}
	if asked := (*session.QuestionError)(nil); errors.As(err, &asked) {
		err = nil // it was pending, and is now with its rows
	}
	return id, err
}

// saves tells of the records that a store has saved. Behind the first it waits in the line of the server: what the user
// did is kept by then.
type saves struct {
	session.Store
	server *Server
	once   sync.Once
	first  chan struct{}   // closed after the first
	within context.Context // of the call that saves; nil: it does not wait
	leave  func()          // ends the place at work that it got
}

func (s *saves) Save(ctx context.Context, r session.Record) error {
	if err := s.Store.Save(ctx, r); err != nil {
		return err
	}
	s.server.saved(r.ID, r.Revision+1)
	s.once.Do(func() {
		close(s.first)
		if s.within == nil {
			return
		}
		if leave, err := s.server.enter(s.within, r.ID); err == nil {
			s.leave = leave
			// the line is too long: the question is stopped, and can be asked to go on
		} else if !errors.Is(err, context.Canceled) {
			s.server.cancel(r.ID)
		}
	})
	return nil
}

// Lock is session.Locker of a store that is one.
func (s *saves) Lock(ctx context.Context, id string) (release func(), err error) {
	if h, ok := s.Store.(session.Locker); ok {
		return h.Lock(ctx, id)
	}
	return func() {}, nil
}

// input is the body of all calls; each reads what it needs.
type input struct {
	Question   string              `json:"question"`
	Option     string              `json:"option"`
	Text       string              `json:"text"`
	Correction *session.Correction `json:"correction"`
}

func (s *Server) ask(w http.ResponseWriter, r *http.Request) { s.begin(w, r, "", "ask") }

func (s *Server) call(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	if err := session.CheckID(id); err != nil {
		s.refuse(w, err)
		return
	}
	s.begin(w, r, id, r.PathValue("call"))
}

// begin reads what the user does and lets the session begin it.
func (s *Server) begin(w http.ResponseWriter, r *http.Request, id, name string) {
	var in input
	if !read(w, r, &in) {
		return
	}
	calls := map[string]call{
		"ask": func(ctx context.Context, t *texttosql.Conversation) (*texttosql.Result, error) {
			return t.Ask(ctx, in.Question)
		},
		"choose": func(ctx context.Context, t *texttosql.Conversation) (*texttosql.Result, error) {
			return t.Choose(ctx, in.Option)
		},
		"correct": func(ctx context.Context, t *texttosql.Conversation) (*texttosql.Result, error) {
			if in.Correction != nil {
				return t.Apply(ctx, *in.Correction)
			}
			return t.Correct(ctx, in.Text)
		},
		"confirm": func(ctx context.Context, t *texttosql.Conversation) (*texttosql.Result, error) {
			return nil, t.Confirm(ctx, in.Text, texttosql.WithUser(s.Who))
		},
		"resume":  func(ctx context.Context, t *texttosql.Conversation) (*texttosql.Result, error) { return t.Resume(ctx) },
		"restart": func(ctx context.Context, t *texttosql.Conversation) (*texttosql.Result, error) { return t.Restart(ctx) },
	}
	do, known := calls[name]
	var err error
	if name == "edit" { // the question that was stopped, or has no answer, is another one now
		if err = s.rephrase(r.Context(), id, in.Question); err != nil {
			s.refuse(w, err)
			return
		}
		do, known = calls["restart"], true
	}
	switch {
	case name == "cancel":
		if !s.cancel(id) {
			if _, err = s.Store.Load(r.Context(), id); err != nil { // ids of others are not recognised
				s.refuse(w, err)
				return
			}
		}
	case !known:
		answer(w, http.StatusNotFound, problem{"missing", "there is nothing here"})
		return
	default:
		if id, err = s.run(r.Context(), id, do); err != nil {
			s.refuse(w, err)
			return
		}
	}
	answer(w, http.StatusAccepted, map[string]string{"id": id})
}
