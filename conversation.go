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
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// Conversation is a dialogue of questions, follow-ups, choices, corrections and confirmations, with any strategy.
//
// The store's journal has every model reply before the reply is used. The store also has the record before and after
// every step. So a conversation survives its process: Resume replays the journal and pays for no reply twice. A
// correction asks the question again with the same journal, so only changed requests are paid for.
//
// Every method that returns a Result returns a non-nil one, also with an error. The error is one of these:
//   - *session.QuestionError: answer it with Choose, Correct or Apply.
//   - *session.InterruptedError: Resume continues the question; Ask begins another one.
//   - session.ErrConflict: another process took over the session.
//   - another error of package session, such as a *StateError, or ErrStale: the schema changed, and Restart goes on.
//   - any error of the store, and of Engine.Ask.
//
// Safe for concurrent use. While one call works on a conversation, every other call gets exec.ErrBusy: call again
// later. This includes another Conversation with the same id, in any process on session.FileStore.
type Conversation struct {
	// MaxCorrections limits the corrections of a question; 0 means 3, a negative value means none. Set it
	// before the first call.
	MaxCorrections int

	*core
	given   key         // the engine's key
	current key         // has the scope and policy of the current question; written only between begin and end
	scope   *exec.Scope // the scope of the last WithScope; nil: the scope of given
	store   session.Store

	saves sync.Mutex     // held over each save, so that one follows the other; it is taken before mu
	mu    sync.Mutex     // guards rec, and is never held while a store works
	rec   session.Record // the record that was saved last; nothing that it points to is ever changed

	found []trace.Warning // warnings from opening the conversation, added to the next answer
}

// busyError is a session.StateError: another call works on the conversation.
type busyError struct{ *session.StateError }

// Is makes the error match only exec.ErrBusy: the same call may be valid later.
func (e busyError) Is(target error) bool { return target == exec.ErrBusy }

// Explain reports that the conversation is answering another question.
func (e busyError) Explain() failure.Report {
	return failure.Report{Class: failure.Busy, Message: "The conversation is answering another question",
		Advice: "Wait for it, and ask again"}
}

// As finds the session.StateError.
func (e busyError) As(target any) bool {
	state, ok := target.(**session.StateError)
	if ok {
		*state = e.StateError
	}
	return ok
}

// NewConversation begins a conversation. The store saves it from its first question on; a nil store keeps it in
// memory. The conversation belongs permanently to the scope of the engine (For) or to the scope of its first Ask.
func (e *Engine) NewConversation(store session.Store) *Conversation {
	if store == nil {
		store = &session.MemoryStore{}
	}
	c := &Conversation{store: store, rec: session.New(session.NewID(), now())}
	if e != nil {
		c.core, c.given, c.current = e.core, e.key, e.key
	}
	return c
}

// OpenConversation opens the conversation with this id. It returns the errors of the store: session.ErrNotFound,
// session.ErrInvalidID or *session.RecordError. A conversation of a scope other than the one of the engine (For) or
// of opts is reported as not found. The accepted options are WithScope and WithPolicy.
//
// A conversation whose process died is "active". Resume takes it over; a process that still works on it then
// gets session.ErrConflict.
func (e *Engine) OpenConversation(ctx context.Context, store session.Store, id string,
	opts ...AskOption) (*Conversation, error) {
	if store == nil {
		return nil, &strategy.ConfigError{Field: "texttosql: OpenConversation",
			Problem: "the store is nil; give it that of NewConversation"}
	}
	q, err := heeding("OpenConversation", "", opts)
	if err == nil {
		e, err = e.within(q)
	}
	if err != nil {
		return nil, err
	}
	loading := trace.Tracer{}.New("loading")
	rec, err := store.Load(trace.NewContext(ctx, loading), id)
	if err == nil && rec.Scope != e.ScopeKey() {
		err = session.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("texttosql: opening conversation %.40q: %w", id, err)
	}
	c := e.NewConversation(store)
	c.rec, c.found = rec, loading.Warnings()
	return c, nil
}

// Record returns a copy of the conversation record that was saved last.
func (s *Conversation) Record() session.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rec.Clone()
}

// begin locks out other calls until end. If another call finished since, begin reads the record again.
func (s *Conversation) begin(ctx context.Context, call string, a *asking) (end func(), err error) {
	rec := s.Record()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.core == nil {
		return nil, errNoEngine
	}
	busy := busyError{&session.StateError{Call: call, State: rec.State,
		Hint: "another call works on it: wait, and call again"}}
	if _, taken := s.talking.LoadOrStore(rec.ID, true); taken {
		return nil, busy
	}
	release := func() {}
	end = func() { release(); s.talking.Delete(rec.ID) }
	if h, ok := s.store.(session.Locker); ok {
		if release, err = h.Lock(ctx, rec.ID); err != nil {
			s.talking.Delete(rec.ID)
			if errors.Is(err, session.ErrLocked) {
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

// within sets the key of the call: the current question's key if a is nil, otherwise the key of the question in a.
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
		return &exec.RefusedError{Reason: "scope", Detail: "the conversation belongs to another scope, or to none"}
	}
	s.current, s.scope, a.scope, a.policy = e.key, cmp.Or(a.scope, s.scope), nil, nil
	return nil
}

// engine returns the engine with the scope and policy of the current question.
func (s *Conversation) engine() *Engine { return s.at(s.current) }

func (s *Conversation) at(k key) *Engine {
	if s.core == nil {
		return nil
	}
	return &Engine{s.core, k}
}

// Ask asks a question. From the second question on it is a follow-up: prompts show the last three answered
// questions with their statements, and the tables of the last answer stay in the schema. Corrections of an
// earlier question do not apply. Ask drops a pending question of the strategy and a question that was
// interrupted. While another question is active, the error is a *session.StateError.
func (s *Conversation) Ask(ctx context.Context, question string, opts ...AskOption) (res *Result, err error) {
	defer s.fill(&res, question)
	a := newQuestion(question, opts)
	if a.ID != "" {
		a.misplaced = "WithID does nothing here: Progress and log records have the id of the conversation"
	}
	if err = s.at(s.given).takes(ctx, a); err != nil {
		return nil, err
	}
	end, err := s.begin(ctx, "Ask", &a)
	if err != nil {
		return nil, err
	}
	defer end()
	err = s.commit(ctx, func(r *session.Record) error {
		if r.State == session.Interrupted {
			if err := drop(r); err != nil {
				return err
			}
		}
		turn, to := session.Turn{Kind: dialogue.TurnQuestion}, session.State(dialogue.SchemaLoading)
		if r.State != dialogue.Initializing {
			turn.Kind, to = dialogue.TurnFollowUp, dialogue.QueryUnderstanding
		}
		if !r.State.May(to) {
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
		return r.Move(to, now(), turn.Kind)
	})
	if err != nil {
		return nil, err
	}
	return s.run(ctx, a, nil)
}

// fill makes the Result of a call that did not begin. question is what was asked; "": the current question.
func (s *Conversation) fill(res **Result, question string) {
	if *res != nil {
		return
	}
	rec := s.Record()
	if i := rec.Turn(); question == "" && i >= 0 {
		question = rec.Turns[i].Text
	}
	*res = &Result{Question: question}
}

// drop takes an interrupted record to where another question may be asked.
func drop(r *session.Record) error {
	if err := r.Move(r.ResumeState, now(), "dropped"); err != nil || r.State == dialogue.Initializing {
		return err
	}
	return r.Move(session.Failed, now(), "dropped")
}

// turn adds a turn, which makes what was pending and what failed a thing of the past.
func (s *Conversation) turn(r *session.Record, t session.Turn) {
	t.At = now()
	r.Turns = append(r.Turns, t)
	r.Pending, r.Failure = nil, nil
}

// Choose answers the pending question with one of its options. A table or a join becomes a correction (see
// Apply), and the question runs again with it. A result becomes the answer: Choose checks its statement again
// and calls no model. An unknown id matches session.ErrInvalidCorrection.
func (s *Conversation) Choose(ctx context.Context, optionID string) (*Result, error) {
	return s.correct(ctx, "Choose", func(r *session.Record, _ *schema.Schema) (session.Turn, error) {
		t := session.Turn{Kind: dialogue.TurnChoice, Option: optionID}
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
			t.Answer = &session.Answer{SQL: o.SQL, Confidence: 1, Level: string(vote.LevelChosen),
				Closing: vote.LevelChosen.Closing()}
		}
		return t, nil
	})
}

// Correct corrects the answer, the failure or the pending question in the user's words; see session.Correction.Parse.
// The question runs again with the corrections in force: if two contradict each other, the later one counts.
//
// A question accepts MaxCorrections corrections. Text that it does not recognise goes to the model
// unchanged. It does not use up a correction, and the warning "correction-as-text" lists the known forms. After
// session.ErrInvalidCorrection no model was called and the correction is not counted. If the error reports an unknown
// table, the other parts of the text still apply to the question (session.CorrectionError.Held).
func (s *Conversation) Correct(ctx context.Context, text string) (*Result, error) {
	return s.correct(ctx, "Correct", func(_ *session.Record, known *schema.Schema) (session.Turn, error) {
		var c session.Correction
		err := c.Parse(text, known)
		return session.Turn{Kind: dialogue.TurnCorrection, Text: strings.TrimSpace(text), Correction: &c}, err
	})
}

// Apply is like Correct, for a correction that the program has already parsed.
func (s *Conversation) Apply(ctx context.Context, c session.Correction) (*Result, error) {
	return s.correct(ctx, "Apply", func(_ *session.Record, known *schema.Schema) (session.Turn, error) {
		c, err := c.Resolve(known)
		return session.Turn{Kind: dialogue.TurnCorrection, Correction: &c}, err
	})
}

// correct adds the turn that made returns, and runs the question again.
func (s *Conversation) correct(
	ctx context.Context, call string, made func(*session.Record, *schema.Schema) (session.Turn, error),
) (res *Result, err error) {
	defer s.fill(&res, "")
	end, err := s.begin(ctx, call, nil)
	if err != nil {
		return nil, err
	}
	defer end()
	rec := s.Record()
	switch rec.State {
	case session.AwaitingCorrection, session.Completed, session.Failed:
	default:
		return nil, &session.StateError{Call: call, State: rec.State,
			Hint: "only a pending question, an answer or a failure can be corrected"}
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
		held := session.Turn{Kind: dialogue.TurnPartial, At: now(), Text: t.Text, Correction: bad.Held}
		err = cmp.Or(s.commit(ctx, func(r *session.Record) error { r.Turns = append(r.Turns, held); return nil }), err)
	}
	if err != nil {
		return nil, err
	}
	if t.Kind == dialogue.TurnCorrection && t.Correction.Kind != dialogue.CorrectText &&
		rec.Corrected() >= s.mostCorrections() {
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
	return max(0, cmp.Or(s.MaxCorrections, dialogue.MaxCorrections))
}

// take adds a turn that makes the question run again.
func (s *Conversation) take(ctx context.Context, t session.Turn) error {
	to := session.State(dialogue.QueryUnderstanding)
	if t.Correction != nil && t.Correction.Kind == dialogue.CorrectJoin {
		to = dialogue.InferringJoins
	}
	return s.commit(ctx, func(r *session.Record) error {
		s.turn(r, t)
		return r.Move(to, now(), t.Kind)
	})
}

// fresh returns an error that matches session.ErrStale if the schema or the configuration changed
// since the question began.
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

// Resume continues a conversation that was interrupted, that failed or whose process died. It uses recorded
// replies first, then the models. For a waiting conversation it returns the pending question. For a completed
// one it returns the answer and reads its rows again. In both cases it calls no model. The error
// session.ErrStale reports that the schema or the configuration changed; Restart continues with the new one.
func (s *Conversation) Resume(ctx context.Context) (res *Result, err error) {
	defer s.fill(&res, "")
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
		a.talk = &talk{}
		a.talk.known, a.talk.level = known(&rec) // which was checked under its corrections
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

// Restart runs the current question again under the present schema and configuration. It keeps the corrections
// whose names still exist. Requests that did not change use their recorded replies.
func (s *Conversation) Restart(ctx context.Context) (res *Result, err error) {
	defer s.fill(&res, "")
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

// back takes a record to the state from which its question runs again. An active record stays active; its new
// revision gives it a new owner.
func back(r *session.Record, reason string) error {
	switch r.State {
	case session.Interrupted:
		return r.Move(r.ResumeState, now(), reason)
	case session.AwaitingCorrection, session.Completed, session.Failed:
		return r.Move(dialogue.QueryUnderstanding, now(), reason)
	}
	return nil
}

// shown returns a pending question with the first rows of its options. No record holds these rows.
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

// Confirm stores the answer as an exemplar for later questions; see Engine.Confirm. If standalone is not "", it
// replaces the words of the question. A follow-up needs it, because its words alone are incomplete; without it
// the error is session.ErrNotStandalone. The error memory.ErrNotPersisted reports that no file has the
// exemplar. The option is WithUser.
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
	if standalone = strings.TrimSpace(standalone); standalone == "" && asked.Kind == dialogue.TurnFollowUp {
		return session.ErrNotStandalone
	}
	answer, _ := known(&rec)
	forgotten := s.engine().Confirm(ctx, cmp.Or(standalone, asked.Text), answer.SQL, opts...)
	if forgotten != nil && !errors.Is(forgotten, memory.ErrNotPersisted) {
		return forgotten
	}
	return cmp.Or(s.commit(ctx, func(r *session.Record) error {
		r.Turns = append(r.Turns, session.Turn{Kind: dialogue.TurnConfirmation, At: now(), Text: standalone})
		return nil
	}), forgotten)
}
