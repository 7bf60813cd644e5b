package texttosql

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/failure"
	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/dateprompt"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/prompttext"
	"github.com/texttosql/texttosql/internal/redact"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/replay"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// talk is what a session adds to a question of the engine. The nil talk adds nothing.
type talk struct {
	corrections []session.Correction
	earlier     []session.PreviousTurn
	known       *strategy.Outcome // the answer, where no strategy is to be asked
	level       vote.Level        // of that answer; "": by its vote
	// the statement that the user's last words correct; "": they correct none
	corrected string
	recorded  []llm.Middleware                     // the player and the recorder of the journal
	ready     func(*strategy.Env) error            // the question begins
	stage     func(context.Context, session.State) // the strategy announces a state
}

func (t *talk) replies() []llm.Middleware {
	if t == nil {
		return nil
	}
	return t.recorded
}

// begin completes the task and env of a question.
func (t *talk) begin(env *strategy.Env, task *strategy.Task) error {
	if t == nil {
		return nil
	}
	task.Corrections, task.Earlier, env.Host.Stage = t.corrections, t.earlier, t.stage
	if t.ready == nil {
		return nil
	}
	return t.ready(env)
}

func (t *talk) answer() (*strategy.Outcome, vote.Level) {
	if t == nil {
		return nil, ""
	}
	return t.known, t.level
}

// asked is the current question of a record.
func (s *Conversation) asked(r *session.Record) asking {
	t := r.Turns[r.Turn()]
	return asking{Question: Question{ID: r.ID, Text: t.Text, Evidence: t.Evidence, Samples: t.Samples},
		withoutMemory: t.WithoutMemory, recall: recalled(r)}
}

// day says on which day the current question was first asked; "": the engine has no clock.
func (s *Conversation) day(r *session.Record) string {
	if s.engine().clock == nil {
		return ""
	}
	return dateprompt.Line(r.Turns[r.Turn()].At.In(s.engine().clock().Location()))
}

// said is the evidence of the current question with what the user said of words while earlier ones were corrected.
func (s *Conversation) said(ctx context.Context, r *session.Record) string {
	evidence, said := r.Turns[r.Turn()].Evidence, r.Said()
	if len(said) > 0 {
		denied, err := s.engine().denied(ctx) // the question meets the same error
		said = slices.DeleteFunc(said, func(line string) bool { return err != nil || denied(line) })
	}
	if len(said) > 0 {
		evidence = strings.TrimSpace(evidence + "\nThe user said before: " + strings.Join(said, "; "))
	}
	return evidence
}

// known is the answer to the current question with its level, "" in records of earlier versions; nil: there is none.
func known(r *session.Record) (*strategy.Outcome, vote.Level) {
	for i, t := range slices.Backward(r.Turns) {
		switch {
		case i < r.Turn():
			return nil, ""
		case t.Answer != nil && t.Kind == dialogue.TurnChoice && t.Correction == nil:
			return &strategy.Outcome{SQL: t.Answer.SQL, Confidence: t.Answer.Confidence}, vote.LevelChosen
		case t.Answer != nil:
			out := &strategy.Outcome{SQL: t.Answer.SQL, Confidence: t.Answer.Confidence}
			json.Unmarshal(t.Answer.Ballot, &out.Ballot) // "" is none
			return out, vote.Level(t.Answer.Level)
		}
	}
	return nil, ""
}

// again asks the current question again.
func (s *Conversation) again(ctx context.Context) (*Result, error) {
	rec := s.Record()
	var chosen *strategy.Outcome
	if t := rec.Turns[rec.Last()]; t.Kind == dialogue.TurnChoice && t.Correction == nil && t.Answer != nil {
		chosen, _ = known(&rec)
	}
	return s.run(ctx, s.asked(&rec), chosen)
}

// earlier are the turns before the current question, as far as the policy of the question lets a prompt show them.
func (s *Conversation) earlier(ctx context.Context, r *session.Record) (turns []session.PreviousTurn, err error) {
	for _, t := range r.Earlier() {
		pairs, err := s.engine().Permitted(ctx, []memory.Exemplar{{Question: t.Question, SQL: t.SQL}})
		if err != nil {
			return nil, err
		}
		if len(pairs) > 0 {
			turns = append(turns, t)
		}
	}
	return turns, nil
}

// run asks the current question: recorded replies first, then the models. chosen is the answer of the user, if there is
// one. The record is in the state in which the question goes on, and is in another one when run returns.
func (s *Conversation) run(caller context.Context, a asking, chosen *strategy.Outcome) (*Result, error) {
	ctx, stop := context.WithCancelCause(caller)
	defer stop(nil)
	rec := s.Record()
	r := &running{Conversation: s, stop: stop, reached: rec.State == dialogue.SchemaLoading ||
		rec.State == dialogue.QueryUnderstanding}
	a.ID = cmp.Or(a.ID, rec.ID)
	a.day, a.Evidence = s.day(&rec), s.said(ctx, &rec)
	a.talk = &talk{
		corrections: rec.Corrections(), known: chosen, level: vote.LevelChosen, ready: r.ready, stage: r.announce,
	}
	if answered, _ := known(&rec); answered != nil && rec.Turns[rec.Last()].Kind == dialogue.TurnCorrection {
		a.talk.corrected = answered.SQL
	}

	opening := trace.Tracer{}.New("opening")
	log, err := s.store.Journal(trace.NewContext(ctx, opening), rec.ID)
	s.found = append(s.found, opening.Warnings()...)
	var res *Result
	if err == nil {
		defer log.Close()
		a.talk.recorded, err = s.recorded(log)
	}
	if err != nil {
		err = &saveError{fmt.Errorf("texttosql: the journal of conversation %s: %w", rec.ID, err)}
	} else if a.talk.earlier, err = s.earlier(ctx, &rec); err == nil {
		res, err = s.engine().Ask(ctx, a.Text, a)
	}
	if res != nil {
		res.Warnings, s.found = append(res.Warnings, s.found...), nil
	}
	if t := rec.Turns[rec.Last()]; t.Correction != nil && t.Correction.Kind == dialogue.CorrectText && res != nil {
		res.Warnings = append(res.Warnings, trace.Warning{Code: "correction-as-text",
			Message: "the correction is shown to the model as it is, and nothing is held to it: " +
				"write \"use table X, not Y\", \"join on A.x = B.y\" or \"word means A.x\""})
	}
	if cause := r.unsaved(); cause != nil {
		err = cause
	}
	err = r.end(caller, log, res, err)
	asked := (*session.QuestionError)(nil)
	if !errors.As(err, &asked) {
		return res, err
	}
	rec = s.Record()
	o, c := rec.ChosenBefore(asked)
	if c.Kind == "" {
		return res, err
	}
	if err := s.take(caller, session.Turn{Kind: dialogue.TurnChoice, Option: o.ID, Text: o.Label,
		Correction: &c}); err != nil {
		return res, err
	}
	if res, err = s.again(caller); res != nil {
		res.note("the table %s was chosen before", o.Table)
	}
	return res, err
}

// recorded returns the middlewares that answer from a journal, and write to it what it does not have.
func (s *Conversation) recorded(log session.Journal) ([]llm.Middleware, error) {
	player, err := played(log)
	if err != nil {
		return nil, err
	}
	for _, note := range player.Notes() {
		s.found = append(s.found, trace.Warning{Code: "stored-file", Message: note})
	}
	return []llm.Middleware{player.Or, replay.NewRecorder(appending{log}).Record}, nil
}

func played(log session.Journal) (*replay.Player, error) {
	lines, err := log.Read()
	if err != nil {
		return nil, err
	}
	return replay.NewPlayer(bytes.NewReader(lines))
}

// appending is a journal as the writer of a recorder, which writes a line at a time.
type appending struct{ session.Journal }

func (a appending) Write(line []byte) (int, error) {
	if err := a.Append(line); err != nil {
		return 0, err
	}
	return len(line), nil
}

// running is one run of a question.
type running struct {
	*Conversation
	stop  context.CancelCauseFunc
	shown *memory.RetrievedLessons // the lessons of the prompts; nil: none

	mu      sync.Mutex
	reached bool  // the state in which the question goes on was announced; what comes before it is repeated
	failed  error // of saving the record
}

// ready writes down what the question began with.
func (r *running) ready(env *strategy.Env) error {
	rec := r.Record()
	r.shown = env.Lessons
	if rec.Schema != "" {
		return nil
	}
	return r.commit(context.Background(), func(rec *session.Record) error {
		rec.Schema, rec.Config = env.Schema.Fingerprint(), r.engine().configHash()
		r.keep(rec)
		if rec.State != dialogue.SchemaLoading {
			return nil
		}
		return rec.Move(dialogue.QueryUnderstanding, now(), "")
	})
}

// keep writes down what the question is shown of the lessons, and which of them were.
func (r *running) keep(rec *session.Record) {
	if r.shown != nil {
		rec.Lessons, _ = json.Marshal(r.shown) // texts and numbers
	}
}

// order is the place of a state in a run; 0: it is no part of one.
func order(s session.State) int {
	return slices.Index([]session.State{
		dialogue.Initializing, dialogue.SchemaLoading, dialogue.QueryUnderstanding, dialogue.InferringJoins,
		dialogue.GeneratingSQL,
		dialogue.ExecutingQuery, session.AwaitingCorrection, session.Completed, session.Failed, session.Interrupted,
	}, s)
}

// announce takes the record to the state that the strategy is in. A state that a repeated run was in before, and one
// that may not follow, is ignored. If the record cannot be saved, the run ends, unless all of its replies are paid for.
func (r *running) announce(ctx context.Context, to session.State) {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.Record().State
	if order(to) < order(dialogue.QueryUnderstanding) || order(to) > order(dialogue.ExecutingQuery) || r.failed != nil {
		return
	}
	if !r.reached {
		if r.reached = order(to) >= order(at); !r.reached || to == at {
			return
		}
	}
	if !at.May(to) && order(to) <= order(at) {
		return
	}
	r.failed = r.commit(ctx, func(rec *session.Record) error { return walk(rec, to, "") })
	if paid := to == dialogue.ExecutingQuery; r.failed != nil && (!paid || errors.Is(r.failed, session.ErrConflict)) {
		r.stop(r.failed)
	}
}

func (r *running) unsaved() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// walk moves a record to a state, through the states that the strategy did not announce.
func walk(r *session.Record, to session.State, reason string) error {
	next := map[session.State]session.State{
		dialogue.SchemaLoading:      dialogue.QueryUnderstanding,
		dialogue.QueryUnderstanding: dialogue.GeneratingSQL,
		dialogue.InferringJoins:     dialogue.GeneratingSQL,
		dialogue.GeneratingSQL:      dialogue.ExecutingQuery,
	}
	for !r.State.May(to) && next[r.State] != "" {
		if err := r.Move(next[r.State], now(), ""); err != nil {
			return err
		}
	}
	return r.Move(to, now(), reason)
}

// saving is how long a save may take when the caller's context has ended.
const saving = 5 * time.Second

// commit changes the record and saves it, whatever became of ctx. After an error it is as it was.
func (s *Conversation) commit(ctx context.Context, change func(*session.Record) error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
	defer cancel()
	s.saves.Lock()
	defer s.saves.Unlock()
	next := s.Record()
	if err := change(&next); err != nil {
		return err
	}
	if err := s.store.Save(ctx, next); err != nil {
		return &saveError{&atomicfile.StoreError{Err: fmt.Errorf("texttosql: saving conversation %s: %w", next.ID, err)}}
	}
	next.Revision++
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rec = next
	return nil
}

// saveError says that a record could not be saved.
type saveError struct{ error }

func (e *saveError) Unwrap() error { return e.error }

// end writes down how a run ended, and returns the error that the caller sees.
func (r *running) end(ctx context.Context, log session.Journal, res *Result, err error) error {
	if errors.Is(err, session.ErrConflict) {
		return err // the session is somebody else's
	}
	to, rec := ending(err), r.Record()
	learned := rec.Learned
	if to == session.Completed || to == session.Failed {
		within, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
		learned = r.learn(within, &rec, res, to == session.Completed)
		cancel()
	}
	serr := r.commit(ctx, func(rec *session.Record) error {
		rec.Learned = learned
		r.keep(rec)
		if log != nil {
			if player, err := played(log); err == nil {
				rec.Usage = player.Usage()
			}
		}
		turn := &rec.Turns[rec.Last()]
		turn.Attempts = attempts(res)
		var reason string
		switch to {
		case session.Completed:
			turn.Answer = &session.Answer{
				SQL: res.SQL, Confidence: res.Confidence, Level: string(res.Level), Closing: res.Closing(),
				Tables: tables(res), Ballot: ballot(res),
			}
		case session.AwaitingCorrection:
			errors.As(err, &rec.Pending)
		case session.Failed:
			turn.Answer, rec.Failure = nil, r.failure(rec, res, err)
		}
		if err != nil {
			reason = string(failure.Of(err).Class)
		}
		return walk(rec, to, reason)
	})
	switch {
	case serr != nil:
		return errors.Join(err, serr)
	case to == session.Interrupted:
		return &session.InterruptedError{ID: r.Record().ID, Err: err}
	}
	return err
}

// maxBallot bounds what a record keeps of a vote, in bytes.
const maxBallot = 64 << 10

// ballot is the vote as a record keeps it; nil: there was none, or it is too large.
func ballot(res *Result) json.RawMessage {
	text, err := json.Marshal(res.Ballot)
	if err != nil || res.Ballot.Sampled == 0 || len(text) > maxBallot {
		return nil
	}
	return text
}

// ending is the state in which an error leaves a session: what a model, a budget, a lock or the caller ended can go on.
func ending(err error) session.State {
	var (
		asked    *session.QuestionError
		none     *strategy.NoCandidateError
		provider *llm.Error
		unsaved  *saveError
	)
	_, unstored := err.(*unstoredError) // the question has its answer
	switch {
	case err == nil || unstored:
		return session.Completed
	case errors.As(err, &asked):
		return session.AwaitingCorrection
	case is(err, context.Canceled, context.DeadlineExceeded, llm.ErrBudget, exec.ErrBusy), errors.As(err, &unsaved):
		return session.Interrupted
	case errors.As(err, &none) && len(none.Failed) > 0, none == nil &&
		(errors.As(err, &provider) || errors.As(err, new(*llm.ReplyError))):
		return session.Interrupted
	}
	return session.Failed
}

// now is the time as a record keeps it.
func now() time.Time { return time.Now().UTC().Round(0) }

// recalled is what the question of a record may be shown: that which it was shown first. nil: it did not begin.
func recalled(r *session.Record) *memory.RetrievedLessons {
	if r.Schema == "" {
		return nil
	}
	kept := &memory.RetrievedLessons{}
	if json.Unmarshal(r.Lessons, kept) != nil {
		return &memory.RetrievedLessons{}
	}
	return kept
}

// taught is what the question of a record taught so far.
func taught(r *session.Record) (kept memory.LearnResult) {
	json.Unmarshal(r.Learned, &kept) // "" is none
	return kept
}

// learn learns from a question that came to its end, and returns what was learned for the record. What could not be
// kept is a warning: the answer is there.
func (s *running) learn(ctx context.Context, r *session.Record, res *Result, completed bool) json.RawMessage {
	asked, ended := r.Turns[r.Turn()], r.Turns[r.Last()]
	if s.engine().lessons == nil || asked.WithoutMemory || res == nil {
		return r.Learned
	}
	ep := memory.Episode{
		Session: r.ID, Question: asked.Text, FollowUp: asked.Kind == dialogue.TurnFollowUp, Recall: s.shown,
		Completed: completed, SQL: res.SQL, Corrections: r.Corrections(), Before: taught(r), At: now(),
	}
	if ended.Kind == dialogue.TurnChoice && ended.Correction == nil {
		ep.Chosen = &session.Option{ID: ended.Option, Label: ended.Text, SQL: res.SQL}
	}
	learned, err := s.engine().learnFrom(ctx, ep, res.outcome())
	if err != nil {
		res.Warnings = append(res.Warnings,
			trace.Warning{Code: "lessons-not-kept", Message: prompttext.ErrorLine(redact.Line(err.Error()), false)})
	}
	text, _ := json.Marshal(learned) // lists of texts
	return text
}

// takeBack takes back what an answer said for the lessons, since it is corrected. It follows the save of the
// correction: one that was not saved takes nothing back. What cannot be taken back is a warning.
func (s *Conversation) takeBack(ctx context.Context, r *session.Record, c session.Correction) error {
	if s.engine().lessons == nil || s.engine().withoutMemory {
		return nil
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
	defer cancel()
	taken, err := patiently(within, s.engine().atLessons, func() (memory.LearnResult, error) {
		return s.engine().lessons.Undo(taught(r), c)
	})
	if err != nil {
		trace.FromContext(ctx).Warn("lessons-not-kept", prompttext.ErrorLine(redact.Line(err.Error()), false))
		return nil
	}
	return s.commit(ctx, func(r *session.Record) (err error) {
		r.Learned, err = json.Marshal(taken)
		return err
	})
}

// maxAttempt bounds what a record keeps of a statement that was tried, in bytes.
const maxAttempt = 4 << 10

// attempts lists the statements that were tried, each once, with what was wrong with it.
func attempts(res *Result) []session.Attempt {
	if res == nil {
		return nil
	}
	var all []session.Attempt
	add := func(sql, problem string) {
		a := session.Attempt{SQL: words.Cut(sql, maxAttempt), Error: prompttext.ErrorLine(redact.Line(problem), false)}
		if sql != "" && len(all) < maxAttempts && !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	for _, s := range res.Steps {
		add(s.SQL, s.Problem)
	}
	for _, c := range res.Candidates {
		add(c.SQL, c.Rejected)
	}
	return all
}

// tables returns the tables that the linker chose; nil: all.
func tables(res *Result) []schema.TableName {
	if res == nil || res.Links.Whole {
		return nil
	}
	var names []schema.TableName
	for _, t := range res.Links.Tables {
		names = append(names, t.Name())
	}
	return names
}

// failure is what a session keeps of an error that ended a question.
func (s *Conversation) failure(r *session.Record, res *Result, err error) *session.Failure {
	var f session.Failure
	if told := interface{ Summary() session.Failure }(nil); errors.As(err, &told) {
		f = told.Summary()
	} else {
		f = session.Failure{Tables: tables(res), Attempts: attempts(res)}
		f.Iterations = len(f.Attempts)
		if advice := failure.Of(err).Advice; advice != "" {
			f.Recommendations = []string{advice}
		}
	}
	f.Question, f.Corrections = r.Turns[r.Turn()].Text, r.Corrected()
	f.Error, f.Message = prompttext.ErrorLine(redact.Line(err.Error()), false), failure.Of(err).Message
	if f.Corrections >= s.mostCorrections() {
		f.Recommendations = append(f.Recommendations,
			"All corrections of this question are used: ask it in other words, or write the SQL by hand.")
	}
	return &f
}
