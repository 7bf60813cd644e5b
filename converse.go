package texttosql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/snapshot"
	"github.com/texttosql/texttosql/strategy"
)

// Conversation is a dialogue: questions, follow-ups, choices, corrections, confirmations. Any strategy can be conversed
// with.
//
// Every reply of a model is kept in the store's journal before it is used, and the record before and after every step.
// So a conversation survives its process: Resume answers the same requests from the journal and pays for nothing twice. A
// correction asks the question again in the same way, so only what it changes is paid for.
//
// A call returns the Result of the engine, or beside it a *session.QuestionError to answer with Choose, Correct or Apply; an
// *session.InterruptedError after which Resume goes on; session.ErrConflict where another process took the session over; or what
// Ask of an Engine returns. While a call works on a conversation, any other one, of another Conversation with its id
// or another process on session.Files too, gets an error that matches ErrBusy: wait, and call again. Safe for concurrent use.
type Conversation struct {
	// MaxCorrections is how many corrections a question takes; 0 means session.MaxCorrections, negative: none. Set it before
	// the first call.
	MaxCorrections int

	*core
	given   key    // that of the engine
	current key    // within the scope and policy of the current question; written between begin and end
	scope   *Scope // of the last WithScope; nil: that of given
	store   session.Store

	mu  sync.Mutex
	rec session.Record // as it was saved last; what it points to is never changed
}

// busyError is the session.StateError of a conversation on which another call works.
type busyError struct{ *session.StateError }

// Is makes it match ErrBusy and nothing else: to correct something later is no mistake.
func (e busyError) Is(target error) bool { return target == ErrBusy }

// As finds the session.StateError.
func (e busyError) As(target any) bool {
	state, ok := target.(**session.StateError)
	if ok {
		*state = e.StateError
	}
	return ok
}

// NewConversation begins a conversation, which store keeps from its first question on. nil: it lives in memory. It belongs
// to the scope of the engine (For), or to that of its first Ask, for good.
func (e *Engine) NewConversation(store session.Store) *Conversation {
	if store == nil {
		store = &session.Memory{}
	}
	c := &Conversation{store: store, rec: session.New(session.NewID(), now())}
	if e != nil {
		c.core, c.given, c.current = e.core, e.key, e.key
	}
	return c
}

// OpenConversation opens the conversation of that id. The errors are those of the store: session.ErrNotFound,
// session.ErrInvalidID, *session.RecordError. A conversation of another scope than that of the engine (For) or of opts is not
// found. The options are WithScope and WithPolicy.
//
// A conversation whose process died is "active"; Resume takes it over. Whoever held it then gets session.ErrConflict.
func (e *Engine) OpenConversation(ctx context.Context, store session.Store, id string, opts ...AskOption) (*Conversation, error) {
	if store == nil {
		return nil, &strategy.ConfigError{Field: "texttosql: OpenConversation", Problem: "the store is nil; give it that of NewConversation"}
	}
	q, err := heeding("OpenConversation", "", opts)
	if err == nil {
		e, err = e.within(q)
	}
	if err != nil {
		return nil, err
	}
	rec, err := store.Load(ctx, id)
	if err == nil && rec.Scope != e.ScopeKey() {
		err = session.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("texttosql: opening conversation %.40q: %w", id, err)
	}
	c := e.NewConversation(store)
	c.rec = rec
	return c, nil
}

// Record returns a copy of the conversation as it was saved last.
func (s *Conversation) Record() session.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Clone()
}

// begin keeps other calls away until end. What another one brought to its end since is read again.
func (s *Conversation) begin(ctx context.Context, call string, a *asking) (end func(), err error) {
	rec := s.Record()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.core == nil {
		return nil, errNoEngine
	}
	busy := busyError{&session.StateError{Call: call, State: rec.State, Hint: "another call works on it: wait, and call again"}}
	if _, taken := s.talking.LoadOrStore(rec.ID, true); taken {
		return nil, busy
	}
	release := func() {}
	end = func() { release(); s.talking.Delete(rec.ID) }
	if h, ok := s.store.(session.Holder); ok {
		if release, err = h.Hold(ctx, rec.ID); err != nil {
			s.talking.Delete(rec.ID)
			if errors.Is(err, session.ErrHeld) {
				err = busy
			}
			return nil, err
		}
	}
	if rec.State.Active() && rec.Revision > 0 {
		if now, err := s.store.Load(ctx, rec.ID); err == nil && !now.State.Active() {
			s.mu.Lock()
			s.rec = now
			s.mu.Unlock()
		}
	}
	if err := s.within(a); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// within takes the key of a question: that of the current one, or of the one that is asked.
func (s *Conversation) within(a *asking) error {
	if a == nil {
		_, err := s.engine().within(asking{})
		return err
	}
	e, err := s.at(s.given).within(asking{scope: cmp.Or(a.scope, s.scope), policy: a.policy})
	if err != nil {
		return err
	}
	if rec := s.Record(); rec.Revision > 0 && rec.Scope != e.ScopeKey() {
		return &exec.RefusedError{Reason: exec.ReasonScope, Detail: "the conversation belongs to another scope, or to none"}
	}
	s.current, s.scope, a.scope, a.policy = e.key, cmp.Or(a.scope, s.scope), nil, nil
	return nil
}

// engine is that of the current question.
func (s *Conversation) engine() *Engine { return s.at(s.current) }

func (s *Conversation) at(k key) *Engine {
	if s.core == nil {
		return nil
	}
	return &Engine{s.core, k}
}

// Ask asks a question. From the second on it is a follow-up: prompts show the last three answered questions with their
// statements, and the tables of the last answer stay in. Corrections of an earlier question do not hold for it. A
// pending question of the strategy is dropped. While it is active or interrupted the error is a *session.StateError.
func (s *Conversation) Ask(ctx context.Context, question string, opts ...AskOption) (*Result, error) {
	a := newQuestion(question, opts)
	if a.ID != "" {
		a.misplaced = "Question.ID does nothing here: Progress and log records have the id of the conversation"
	}
	if err := s.at(s.given).takes(a); err != nil {
		return nil, err
	}
	end, err := s.begin(ctx, "Ask", &a)
	if err != nil {
		return nil, err
	}
	defer end()
	err = s.commit(ctx, func(r *session.Record) error {
		turn, to := session.Turn{Kind: session.TurnQuestion}, session.SchemaLoading
		if r.State != session.Initializing {
			turn.Kind, to = session.TurnFollowUp, session.QueryUnderstanding
		}
		if !r.State.May(to) || r.State == session.Interrupted {
			return &session.StateError{Call: "Ask", State: r.State, Hint: "Resume it first, or begin another conversation"}
		}
		for i := range r.Turns {
			r.Turns[i].Attempts = nil // the record is bounded
			if a := r.Turns[i].Answer; a != nil {
				a.Ballot = nil
			}
		}
		turn.Text, turn.Evidence, turn.Samples, turn.WithoutMemory = a.Text, a.Evidence, a.Samples, a.withoutMemory
		s.turn(r, turn)
		r.Scope = s.engine().ScopeKey()
		r.Schema, r.Config, r.Lessons, r.Learned = "", "", nil, nil // known once the question runs
		return r.Move(to, now(), string(turn.Kind))
	})
	if err != nil {
		return nil, err
	}
	return s.run(ctx, a, nil)
}

// turn adds a turn, which makes what was pending and what failed a thing of the past.
func (s *Conversation) turn(r *session.Record, t session.Turn) {
	t.At = now()
	r.Turns = append(r.Turns, t)
	r.Pending, r.Failure = nil, nil
}

// Choose answers the pending question with one of its options. A table or a join is a correction (Apply), and the
// question is asked again under it. A result becomes the answer: its statement is checked again and no model is asked.
// An unknown id matches session.ErrInvalidCorrection.
func (s *Conversation) Choose(ctx context.Context, optionID string) (*Result, error) {
	return s.correct(ctx, "Choose", func(r *session.Record, _ *schema.Schema) (session.Turn, error) {
		t := session.Turn{Kind: session.TurnChoice, Option: optionID}
		if r.Pending == nil {
			return t, &session.StateError{Call: "Choose", State: r.State, Hint: "nothing is asked"}
		}
		c, err := r.Pending.Correction(optionID)
		if err != nil {
			return t, err
		}
		o, _ := r.Pending.Option(optionID)
		if t.Text = o.Label; c.Kind != "" {
			t.Correction = &c
		} else {
			t.Answer = &session.Answer{SQL: o.SQL, Confidence: 1}
		}
		return t, nil
	})
}

// Correct corrects the answer, the failure or the pending question in the user's words; see session.Parse. The question
// is asked again under the corrections of it that are in force: of two that contradict each other the later one counts.
// A question takes MaxCorrections. Prose that names a table or a column, in no form that session.Parse reads, is shown to the
// model as it is; it is not counted, and the warning "correction-as-text" says which form to use. The error session.ErrInvalidCorrection asks no model and is not counted; what the
// text says of other tables than an unknown one holds for the question from then on (session.CorrectionError.Held).
func (s *Conversation) Correct(ctx context.Context, text string) (*Result, error) {
	return s.correct(ctx, "Correct", func(_ *session.Record, known *schema.Schema) (session.Turn, error) {
		c, err := session.Parse(text, known)
		asText := c.Kind == session.CorrectText && session.Mentions(c.Text, known)
		return session.Turn{Kind: session.TurnCorrection, Text: strings.TrimSpace(text), Correction: &c, AsText: asText}, err
	})
}

// Apply is Correct for a correction that is known in parts.
func (s *Conversation) Apply(ctx context.Context, c session.Correction) (*Result, error) {
	return s.correct(ctx, "Apply", func(_ *session.Record, known *schema.Schema) (session.Turn, error) {
		c, err := c.Resolve(known)
		return session.Turn{Kind: session.TurnCorrection, Correction: &c}, err
	})
}

// correct adds the turn that made returns, and asks the question again.
func (s *Conversation) correct(ctx context.Context, call string, made func(*session.Record, *schema.Schema) (session.Turn, error)) (*Result, error) {
	end, err := s.begin(ctx, call, nil)
	if err != nil {
		return nil, err
	}
	defer end()
	rec := s.Record()
	switch rec.State {
	case session.AwaitingCorrection, session.Completed, session.Failed:
	default:
		return nil, &session.StateError{Call: call, State: rec.State, Hint: "only a pending question, an answer or a failure can be corrected"}
	}
	if err := s.fresh(ctx, &rec); err != nil {
		return nil, err
	}
	known, err := s.engine().nameable(ctx)
	if err != nil {
		return nil, err
	}
	t, err := made(&rec, known)
	if bad := (*session.CorrectionError)(nil); errors.As(err, &bad) && bad.Held != nil {
		held := session.Turn{Kind: session.TurnHeld, At: now(), Text: t.Text, Correction: bad.Held}
		err = cmp.Or(s.commit(ctx, func(r *session.Record) error { r.Turns = append(r.Turns, held); return nil }), err)
	}
	if err != nil {
		return nil, err
	}
	if t.Kind == session.TurnCorrection && !t.AsText && rec.Corrected() >= s.mostCorrections() {
		return nil, session.ErrMaxCorrections
	}
	err = s.take(ctx, t)
	if err == nil && t.Correction != nil && rec.State == session.Completed {
		err = s.takeBack(ctx, &rec, *t.Correction)
	}
	if err != nil {
		return nil, err
	}
	return s.again(ctx)
}

func (s *Conversation) mostCorrections() int {
	return max(0, cmp.Or(s.MaxCorrections, session.MaxCorrections))
}

// take adds a turn with which the question is asked again.
func (s *Conversation) take(ctx context.Context, t session.Turn) error {
	to := session.QueryUnderstanding
	if t.Correction != nil && t.Correction.Kind == session.CorrectJoin {
		to = session.InferringJoins
	}
	return s.commit(ctx, func(r *session.Record) error {
		s.turn(r, t)
		return r.Move(to, now(), string(t.Kind))
	})
}

// fresh returns an error that matches session.ErrStale if the schema or the configuration is not that of the question.
func (s *Conversation) fresh(ctx context.Context, r *session.Record) error {
	if r.Schema == "" {
		return nil // it did not begin
	}
	lessons, err := s.engine().recall(ctx, s.asked(r))
	var present *snapshot.Snapshot
	if err == nil {
		present, _, err = s.engine().snapshot(ctx, lessons)
	}
	switch {
	case err != nil:
		return fmt.Errorf("texttosql: inspecting the database: %w", err)
	case present.Schema.Fingerprint() != r.Schema:
		return fmt.Errorf("%w (the schema of session %s)", session.ErrStale, r.ID)
	case s.engine().configHash() != r.Config:
		return fmt.Errorf("%w (the strategy, models or settings of session %s)", session.ErrStale, r.ID)
	}
	return nil
}

// Resume goes on with a conversation that was interrupted, whose process died or that failed: recorded replies first, then
// the models. Of one that waits it returns the pending question again, and of a completed one the answer with its
// rows read anew; both ask no model. The error session.ErrStale says that the schema or the configuration changed;
// Restart goes on all the same.
func (s *Conversation) Resume(ctx context.Context) (*Result, error) {
	end, err := s.begin(ctx, "Resume", nil)
	if err != nil {
		return nil, err
	}
	defer end()
	rec := s.Record()
	switch i := rec.Turn(); {
	case i < 0:
		return nil, &session.StateError{Call: "Resume", State: rec.State, Hint: "Ask first"}
	case rec.State == session.AwaitingCorrection:
		return &Result{Question: rec.Turns[i].Text}, s.shown(ctx, rec.Pending)
	case rec.State == session.Completed:
		a := s.asked(&rec)
		a.talk = &talk{known: known(&rec)} // which was checked under its corrections
		return s.engine().Ask(ctx, a.Text, a)
	}
	if err := s.fresh(ctx, &rec); err != nil {
		return nil, err
	}
	if err := s.commit(ctx, func(r *session.Record) error { return back(r, "resume") }); err != nil {
		return nil, err
	}
	return s.again(ctx)
}

// Restart asks the current question again under the present schema and configuration, with the corrections made of it
// that still name something. Recorded replies serve where the requests did not change.
func (s *Conversation) Restart(ctx context.Context) (*Result, error) {
	end, err := s.begin(ctx, "Restart", nil)
	if err != nil {
		return nil, err
	}
	defer end()
	known, err := s.engine().nameable(ctx)
	if err != nil {
		return nil, err
	}
	err = s.commit(ctx, func(r *session.Record) error {
		i := r.Turn()
		if i < 0 {
			return &session.StateError{Call: "Restart", State: r.State, Hint: "Ask first"}
		}
		for ; i < len(r.Turns); i++ {
			t := &r.Turns[i]
			t.Answer = nil
			if t.Correction != nil {
				if _, err := t.Correction.Resolve(known); err != nil {
					t.Correction = nil // its words stay
				}
			}
		}
		r.Schema, r.Config, r.Lessons, r.Pending, r.Failure = "", "", nil, nil, nil
		return back(r, "restart")
	})
	if err != nil {
		return nil, err
	}
	return s.again(ctx)
}

// back takes a record to where its question runs again. One that is active stays, and gets a new owner by its revision.
func back(r *session.Record, reason string) error {
	switch r.State {
	case session.Interrupted:
		return r.Move(r.ResumeState, now(), reason)
	case session.AwaitingCorrection, session.Completed, session.Failed:
		return r.Move(session.QueryUnderstanding, now(), reason)
	}
	return nil
}

// shown is a pending question with the first rows of its options, which no record holds.
func (s *Conversation) shown(ctx context.Context, q *session.QuestionError) error {
	again := *q
	again.Options = slices.Clone(q.Options)
	for i, o := range again.Options {
		if o.SQL != "" && o.Rows == nil && !s.engine().withoutExecution {
			again.Options[i].Rows, _ = s.engine().db.QueryWithin(ctx, o.SQL, exec.Bounds{Rows: 5}) // beside the question
		}
	}
	return cmp.Or(ctx.Err(), error(&again))
}

// Confirm keeps the answer as an exemplar for later questions; see Engine.Confirm. standalone replaces the question's
// words where it is not "". A follow-up needs one, else the error is session.ErrNotStandalone: its words mean nothing alone. The
// error memory.ErrForgotten says that it is kept, but not in a file. The option is Question.User.
func (s *Conversation) Confirm(ctx context.Context, standalone string, opts ...AskOption) error {
	end, err := s.begin(ctx, "Confirm", nil)
	if err != nil {
		return err
	}
	defer end()
	rec := s.Record()
	if rec.State != session.Completed {
		return &session.StateError{Call: "Confirm", State: rec.State, Hint: "only an answer can be confirmed"}
	}
	asked := rec.Turns[rec.Turn()]
	if standalone = strings.TrimSpace(standalone); standalone == "" && asked.Kind == session.TurnFollowUp {
		return session.ErrNotStandalone
	}
	forgotten := s.engine().Confirm(ctx, cmp.Or(standalone, asked.Text), known(&rec).SQL, opts...)
	if forgotten != nil && !errors.Is(forgotten, memory.ErrForgotten) {
		return forgotten
	}
	return cmp.Or(s.commit(ctx, func(r *session.Record) error {
		r.Turns = append(r.Turns, session.Turn{Kind: session.TurnConfirmation, At: now(), Text: standalone})
		return nil
	}), forgotten)
}
