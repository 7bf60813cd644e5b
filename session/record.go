package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// Version is the version of the record's form. A change that an older program would misread or lose raises it.
const Version = 1

// Limits of a session.
const (
	maxRecord      = 1 << 20 // bytes of a record as JSON
	MaxCorrections = 3       // corrections of a question, where a conversation does not say otherwise
	maxEarlier     = 3       // answered questions that a follow-up sees
)

// Record is what a store keeps of a session: a copy of the conversation without rows and without the model's replies,
// which are in the journal. Only Move changes State, ResumeState and Transitions.
type Record struct {
	Version     int             `json:"version"`  // Version; a store sets it
	ID          string          `json:"id"`       // the id that NewID made
	Revision    int64           `json:"revision"` // how often the record was saved; see Store
	Created     time.Time       `json:"created"`
	Updated     time.Time       `json:"updated"`         // time of the last transition
	Schema      string          `json:"schema"`          // fingerprint of the schema that the answers are about
	Config      string          `json:"config"`          // hash of the engine's configuration
	Scope       string          `json:"scope,omitempty"` // exec.Scope.Key of its questions; "": it belongs to no scope
	State       State           `json:"state"`
	ResumeState State           `json:"resume_state,omitempty"` // the state that an interrupted session left
	Transitions []Transition    `json:"transitions"`            // oldest first
	Turns       []Turn          `json:"turns"`                  // oldest first
	Title       string          `json:"title,omitempty"`        // what its user calls it; "": its first question
	Pending     *QuestionError  `json:"pending,omitempty"`      // what the user is asked
	Failure     *Failure        `json:"failure,omitempty"`      // why the last turn failed
	Lessons     json.RawMessage `json:"lessons,omitempty"`      // what the question may be shown of the memory
	Learned     json.RawMessage `json:"learned,omitempty"`      // what the memory learned of the question
	Usage       trace.Usage     `json:"usage"`                  // the usage of all replies in the journal
}

// Transition is a change of the state.
type Transition struct {
	From   State     `json:"from"`
	To     State     `json:"to"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"` // one line, such as "join correction"
}

// New returns the record of a new session that was not saved yet.
func New(id string, at time.Time) Record {
	return Record{Version: Version, ID: id, Created: at, Updated: at, State: Initializing}
}

// Move enters a state at a time, or returns a *TransitionError and changes nothing. Entering Interrupted keeps the state
// that was left as ResumeState, the only one that may follow it.
func (r *Record) Move(to State, at time.Time, reason string) error {
	if !r.State.May(to) || r.State == Interrupted && to != r.ResumeState {
		return &TransitionError{From: r.State, To: to, Resume: r.ResumeState}
	}
	r.ResumeState = ""
	if to == Interrupted {
		r.ResumeState = r.State
	}
	r.Transitions = append(r.Transitions, Transition{r.State, to, at, reason})
	r.State, r.Updated = to, at
	return nil
}

// Turn returns the place of the turn that asked the current question: the last question or follow-up. It is -1 if
// nothing was asked yet.
func (r *Record) Turn() int {
	for i, t := range slices.Backward(r.Turns) {
		if t.Kind == TurnQuestion || t.Kind == TurnFollowUp {
			return i
		}
	}
	return -1
}

// Last returns the place of the turn that the state is about: the last one that is no confirmation, no statement of the
// user, and nothing that was held of a correction. It is -1 if there is none.
func (r *Record) Last() int {
	i := len(r.Turns) - 1
	for i > 0 && slices.Contains([]TurnKind{TurnConfirmation, TurnHeld, TurnStatement}, r.Turns[i].Kind) {
		i--
	}
	return i
}

// Corrections returns what the user corrected of the current question, oldest first, choices of a table or join
// included, as far as it is in force: a table that a later one rejects is selected and joined no more, one that a later
// one names is rejected no more, and a word means what it was last said to mean.
func (r *Record) Corrections() []Correction {
	var all []Correction
	for _, t := range r.Turns[max(0, r.Turn()):] {
		if t.Correction != nil {
			all = append(all, *t.Correction)
		}
	}
	return inForce(all)
}

// maxSaid bounds what Said returns, in bytes.
const maxSaid = 2000

// forgets finds a correction that takes an earlier one back, and meaning the term that one explains.
var (
	forgets = regexp.MustCompile(`(?i)\b(?:forget|ignore|disregard|scrap|undo|take back|no longer|not any ?more|never ?mind|vergiss|olvida|oublie)\b`)
	meaning = regexp.MustCompile(`(?i)^\W*(?:no,?\s+|by\s+)?(.{1,60}?)\s+(?:means?|(?:is|are) (?:defined as|called|the same as)|refers? to|stands? for|=|heißt|bedeutet|significa|signifie)\s`)
)

// Said returns in a line each what the user said of words, values and rules while earlier questions were corrected, the oldest
// first: it holds for every later question of the conversation. What a later one takes back or says otherwise of the same
// term is left out, and of much the newest two thousand bytes are kept. Tables, joins, filters and
// prose that explains no term belong to the question of which they were said.
func (r *Record) Said() (lines []string) {
	var said []Correction
	for _, t := range r.Turns[:max(0, r.Turn())] {
		if c := t.Correction; c != nil && (c.Kind == CorrectColumn || c.Kind == CorrectLogic || meaning.MatchString(c.Text) || forgets.MatchString(c.Text)) {
			said = append(said, *c)
		}
	}
	said = inForce(append(said, r.Corrections()...))
	size := 0
	for i, c := range slices.Backward(said) {
		line := c.Constraint()
		if size += len(line); size > maxSaid {
			break
		}
		over := forgets.MatchString(c.Text) || slices.ContainsFunc(said[i+1:], func(l Correction) bool { return l.revokes(c) })
		if !over && !slices.ContainsFunc(r.Corrections(), func(c Correction) bool { return c.Constraint() == line }) {
			lines = append([]string{line}, lines...)
		}
	}
	return lines
}

// revokes reports whether a correction takes an earlier one back, or says something else of its term.
func (c Correction) revokes(earlier Correction) bool {
	if forgets.MatchString(c.Text) {
		stems := words.Stems(earlier.Text)
		return slices.ContainsFunc(words.Stems(c.Text), func(w string) bool { return len(w) > 3 && slices.Contains(stems, w) })
	}
	a, b := meaning.FindStringSubmatch(c.Text), meaning.FindStringSubmatch(earlier.Text)
	return a != nil && b != nil && words.Fold(a[1]) == words.Fold(b[1])
}

// Corrected counts the corrections of the current question. There may be MaxCorrections. What a question to the user asked
// for is none, and so is what was not understood (Turn.AsText).
func (r *Record) Corrected() int {
	n := 0
	for _, t := range r.Turns[max(0, r.Turn()):] {
		if t.Kind == TurnCorrection && !t.AsText {
			n++
		}
	}
	return n
}

// ChosenBefore returns the option of a question about tables that the user took when an earlier question was unclear in the
// same way: its table was selected, and those of the other options were rejected. c is the correction; its Kind is "" if
// nothing was chosen.
func (r *Record) ChosenBefore(q *QuestionError) (o Option, c Correction) {
	for _, t := range slices.Backward(r.Turns[:max(0, r.Turn())]) {
		if t.Correction == nil {
			continue
		}
		for _, o := range q.Options {
			c, _ := q.Correction(o.ID)
			if c.Kind == CorrectTable && slices.Contains(t.Correction.Tables, *o.Table) &&
				!slices.ContainsFunc(c.Rejected, func(n schema.TableName) bool { return !slices.Contains(t.Correction.Rejected, n) }) {
				return o, c
			}
		}
	}
	return Option{}, Correction{}
}

// Earlier returns the last three answered questions before the current one, oldest first, each with the last statement
// that answered it, by the model's word or the user's.
func (r *Record) Earlier() []Earlier {
	var all []Earlier
	question, answer := "", ""
	for _, t := range r.Turns[:max(0, r.Turn())] {
		if t.Kind == TurnQuestion || t.Kind == TurnFollowUp {
			if answer != "" {
				all = append(all, Earlier{question, answer})
			}
			question, answer = t.Text, ""
		}
		if t.Answer != nil {
			answer = t.Answer.SQL
		}
		if t.Confirmed && question != "" {
			answer = t.Text
		}
	}
	if answer != "" {
		all = append(all, Earlier{question, answer})
	}
	return all[max(0, len(all)-maxEarlier):]
}

// Clone returns a deep copy, but for the rows of options, which are shared. A record that cannot be written as JSON is
// returned as it is.
func (r Record) Clone() Record {
	var c Record
	text, err := json.Marshal(r)
	if err != nil || json.Unmarshal(text, &c) != nil {
		return r
	}
	if r.Pending != nil {
		for i := range r.Pending.Options {
			c.Pending.Options[i].Rows = r.Pending.Options[i].Rows
		}
	}
	return c
}

// Summary returns what a list of sessions shows of r.
func (r *Record) Summary() Summary {
	s := Summary{ID: r.ID, Title: r.Title, Scope: r.Scope, State: r.State, Created: r.Created, Updated: r.Updated, Turns: len(r.Turns)}
	for _, t := range r.Turns {
		if s.Question == "" {
			s.Question = t.Text
		}
		if t.Kind == TurnQuestion {
			s.Question = t.Text
			break
		}
	}
	return s
}

// Failure says why a session failed, for its user.
type Failure struct {
	Question        string             `json:"user_query"`
	Tables          []schema.TableName `json:"identified_tables,omitempty"`
	Iterations      int                `json:"attempted_iterations"` // attempts at a statement
	Corrections     int                `json:"correction_attempts"`
	Error           string             `json:"error"`
	Message         string             `json:"message,omitempty"` // the error as a person reads it; "" in old records
	Attempts        []Attempt          `json:"sql_attempts,omitempty"`
	Recommendations []string           `json:"recommendations,omitempty"` // what the user can do, a sentence each
}

// Attempt is a statement that was tried.
type Attempt struct {
	SQL   string `json:"sql"`
	Error string `json:"error,omitempty"` // "": it ran
}

// RecordError says that a record cannot be read or kept. What is stored stays as it is.
type RecordError struct {
	ID   string
	File string // "" in memory
	Err  error
}

// Error names the session and the reason.
func (e *RecordError) Error() string {
	text := "session: the record of " + e.ID
	if e.File != "" {
		text += " (" + e.File + ")"
	}
	return text + ": " + e.Err.Error()
}

// Unwrap returns the reason.
func (e *RecordError) Unwrap() error { return e.Err }

// Encode returns r as a store keeps it, under the next revision. An error is ErrInvalidID or a *RecordError.
func (r Record) Encode() ([]byte, error) {
	if err := CheckID(r.ID); err != nil {
		return nil, err
	}
	if r.Version == 0 {
		r.Version = Version
	}
	r.Revision++
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // statements are full of < and >, and people read this
	err := r.valid(r.ID)
	if err == nil {
		err = enc.Encode(r)
	}
	text := append(atomicfile.Sealed(b.Bytes()), '\n')
	if err == nil && len(text) > maxRecord {
		err = errTooLarge
	}
	if err != nil {
		return nil, &RecordError{ID: r.ID, Err: err}
	}
	return text, nil
}

// Decode reads the record of that id as Encode wrote it. An error is ErrInvalidID or a *RecordError: the text was changed
// or cut short, is too large, of another version or of another session, or it names an unknown state. A text without a
// checksum, as a database that rewrites JSON returns it, is taken as it is.
func Decode(id string, text []byte) (Record, error) {
	if err := CheckID(id); err != nil {
		return Record{}, err
	}
	var r Record
	unsealed, err := atomicfile.Unsealed(text)
	if len(text) > maxRecord {
		err = errTooLarge
	} else if err == nil {
		err = json.Unmarshal(unsealed, &r)
	}
	if err == nil {
		err = r.valid(id)
		if err == nil && r.Revision < 1 {
			err = fmt.Errorf("its revision is %d", r.Revision)
		}
	}
	if err != nil {
		return Record{}, &RecordError{ID: id, Err: err}
	}
	return r, nil
}

var errTooLarge = fmt.Errorf("it is larger than %d bytes", maxRecord)

// valid says what is wrong with r as the record of a session.
func (r *Record) valid(id string) error {
	switch _, known := edges[r.State]; {
	case r.Version != Version:
		return fmt.Errorf("it has version %d, this program reads %d", r.Version, Version)
	case r.ID != id:
		return fmt.Errorf("it is that of session %q", r.ID)
	case !known:
		return fmt.Errorf("its state %q is unknown", r.State)
	case (r.State == Interrupted) != (r.ResumeState != "") || r.ResumeState != "" && !r.ResumeState.May(Interrupted):
		return fmt.Errorf("in state %q it has resume state %q", r.State, r.ResumeState)
	}
	return nil
}
