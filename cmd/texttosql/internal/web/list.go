package web

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
)

// entry is a conversation in the list.
type entry struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"`
	State   string    `json:"state"` // or "broken": its record cannot be read
	Updated time.Time `json:"updated"`
}

// maxListed is how many conversations the page lists, maxOffered how many confirmed questions it offers.
const (
	maxListed  = 30
	maxOffered = 4
)

// list gives the conversations that were changed last, or those whose name or question contains a text.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	find := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("find")))
	all, err := s.Store.List(r.Context(), session.Filter{Limit: -1})
	if all == nil && err != nil && len(broken(err)) == 0 {
		s.refuse(w, err)
		return
	}
	out := struct {
		Title         string  `json:"title"`
		Database      string  `json:"database"`
		Engine        string  `json:"engine"`
		Conversations []entry `json:"conversations"`
		More          int     `json:"more"` // how many are not listed
		Asks          bool    `json:"asks"` // there is a model to ask
		Who           string  `json:"who,omitempty"`
		Scope         string  `json:"scope,omitempty"` // whose rows
	}{Title: s.Title, Database: s.Database, Conversations: []entry{}, Asks: !s.NoModel, Who: visible(s.Who),
		Scope: visible(s.Engine.ScopeKey())}
	if s.DB != nil {
		out.Engine = s.DB.Language().Name
	}
	for _, b := range broken(err) {
		if find != "" {
			break
		}
		out.Conversations = append(out.Conversations, entry{ID: b.ID, Title: "A conversation that cannot be read",
			State: "broken"})
	}
	for _, one := range all {
		if !strings.Contains(strings.ToLower(one.Title+"\n"+one.Question), find) {
			continue
		}
		if len(out.Conversations) >= maxListed {
			out.More++
			continue
		}
		state, _ := s.state(one.ID, one.State)
		title := one.Title
		if title == "" {
			title = one.Question
		}
		out.Conversations = append(out.Conversations, entry{one.ID, visible(words.Short(words.Line(title), 200)), state,
			one.Updated})
	}
	answer(w, http.StatusOK, out)
}

// broken are the records that an error says cannot be read.
func broken(err error) (all []*session.RecordError) {
	if many, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range many.Unwrap() {
			all = append(all, broken(one)...)
		}
		return all
	}
	if one := (*session.RecordError)(nil); errors.As(err, &one) {
		return []*session.RecordError{one}
	}
	return nil
}

func (s *Server) show(w http.ResponseWriter, r *http.Request) {
	rec, err := s.Store.Load(r.Context(), r.PathValue("id"))
	if err != nil {
		s.refuse(w, err)
		return
	}
	answer(w, http.StatusOK, s.view(rec))
}

// forget deletes a conversation, unless it is being answered.
func (s *Server) forget(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	_, release, err := s.claim(r.Context(), id)
	if err == nil {
		err = s.Store.Delete(r.Context(), id)
		s.seen.drop(id, 0)
		release()
	}
	s.done(w, id, err)
}

// maxTitle bounds the name of a conversation, in bytes.
const maxTitle = 500

// rename gives a conversation a name; "" is its first question again.
func (s *Server) rename(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Title string `json:"title"`
	}
	if !read(w, r, &in) {
		return
	}
	rec, err := s.rewrite(r.Context(), r.PathValue("id"), func(_ context.Context, rec *session.Record) error {
		rec.Title = words.Cut(strings.TrimSpace(in.Title), maxTitle)
		return nil
	})
	s.done(w, rec.ID, err)
}

// done answers with the id of a conversation that was changed, or with an error.
func (s *Server) done(w http.ResponseWriter, id string, err error) {
	if err != nil {
		s.refuse(w, err)
		return
	}
	answer(w, http.StatusOK, map[string]string{"id": id})
}

// rewrite changes a record on which nobody works, a new one for the id "", and returns it.
func (s *Server) rewrite(ctx context.Context, id string,
	f func(context.Context, *session.Record) error) (rec session.Record, err error) {
	isNew := id == ""
	if isNew {
		rec = session.New(session.NewID(), time.Now())
	} else if rec, err = s.Store.Load(ctx, id); err != nil { // whether one of others is busy nobody learns
		return rec, err
	}
	ctx, release, err := s.claim(ctx, rec.ID)
	if err != nil {
		return rec, err
	}
	defer release()
	store := &saves{Store: s.Store, server: s, first: make(chan struct{}), leave: func() {}}
	free, err := store.Lock(ctx, rec.ID)
	if err != nil {
		if errors.Is(err, session.ErrLocked) {
			err = errBusy
		}
		return rec, err
	}
	defer free()
	if !isNew {
		rec, err = s.Store.Load(ctx, id)
	}
	if err == nil {
		err = f(ctx, &rec)
	}
	if err == nil {
		err = store.Save(ctx, rec)
	}
	return rec, err
}

// rephrase puts other words in the place of a question that was stopped or has no answer, and takes back what was said
// about it.
func (s *Server) rephrase(ctx context.Context, id, question string) error {
	_, err := s.rewrite(ctx, id, func(_ context.Context, rec *session.Record) error {
		i := rec.Turn()
		switch {
		case strings.TrimSpace(question) == "":
			return strategy.ErrEmptyQuestion
		case len(question) > maxQuestion:
			return &texttosql.InputError{Field: "question", Bytes: len(question), Limit: maxQuestion}
		case i < 0 || rec.State != session.Interrupted && rec.State != session.Failed:
			return &session.StateError{Call: "Edit", State: rec.State, Hint: "Ask another question"}
		}
		asked := rec.Turns[i]
		asked.Text, asked.Answer, asked.Attempts = strings.TrimSpace(question), nil, nil
		after := slices.DeleteFunc(rec.Turns[i+1:], func(t session.Turn) bool { return t.Kind != dialogue.TurnStatement })
		rec.Turns = append(append(rec.Turns[:i:i], asked), after...)
		s.seen.drop(id, i)
		return nil
	})
	return err
}

// maxQuestion bounds a question, as the engine does, in bytes.
const maxQuestion = 8 << 10
