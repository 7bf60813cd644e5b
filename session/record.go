package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"time"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
)

// version is the version of the record's form. A change that an older program would misread or lose raises it.
const version = 1

// Limits of a session.
const (
	maxRecord  = 1 << 20 // bytes of a record as JSON; its changes have as many at most
	minChanges = 1 << 14 // bytes of changes that a small record may have
	maxEarlier = 3       // answered questions that a follow-up sees
)

// Record is the stored form of a session: the conversation without rows and without the model's replies, which are in
// the journal. Only Move changes State, ResumeState and Transitions.
type Record struct {
	Version     int             `json:"version"`  // of the form; a store sets it
	ID          string          `json:"id"`       // the id that NewID made
	Revision    int64           `json:"revision"` // how often the record was saved; see Store
	Created     time.Time       `json:"created"`
	Updated     time.Time       `json:"updated"`         // time of the last transition
	Schema      string          `json:"schema"`          // fingerprint of the schema of the answers
	Config      string          `json:"config"`          // hash of the engine's configuration
	Scope       string          `json:"scope,omitempty"` // exec.Scope.Key of its questions; "": it has no scope
	State       State           `json:"state"`
	ResumeState State           `json:"resume_state,omitempty"` // the state that an interrupted session left
	Transitions []transition    `json:"transitions"`            // oldest first
	Turns       []Turn          `json:"turns"`                  // oldest first
	Title       string          `json:"title,omitempty"`        // the user's title; "": its first question
	Pending     *QuestionError  `json:"pending,omitempty"`      // the question to the user
	Failure     *Failure        `json:"failure,omitempty"`      // why the last turn failed
	Lessons     json.RawMessage `json:"lessons,omitempty"`      // lessons that the prompts of the question may show
	Learned     json.RawMessage `json:"learned,omitempty"`      // lessons learned from the question
	Usage       trace.Usage     `json:"usage"`                  // the usage of all replies in the journal
}

// transition is a change of the state.
type transition struct {
	From   State     `json:"from"`
	To     State     `json:"to"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"` // one line, such as "join correction"
}

// New returns the record of a new session that is not saved yet.
func New(id string, at time.Time) Record {
	return Record{Version: version, ID: id, Created: at, Updated: at, State: dialogue.Initializing}
}

// Move enters a state at a time, or returns an error and changes nothing. When it enters Interrupted, it
// stores the previous state as ResumeState, the only state that may follow.
func (r *Record) Move(to State, at time.Time, reason string) error {
	if !r.State.May(to) || r.State == Interrupted && to != r.ResumeState {
		return &transitionError{From: r.State, To: to, Resume: r.ResumeState}
	}
	r.ResumeState = ""
	if to == Interrupted {
		r.ResumeState = r.State
	}
	r.Transitions = append(r.Transitions, transition{r.State, to, at, reason})
	r.State, r.Updated = to, at
	return nil
}

// Turn returns the index of the turn that asked the current question: the last question or follow-up. It is -1
// without a question.
func (r *Record) Turn() int {
	for i, t := range slices.Backward(r.Turns) {
		if t.Kind == dialogue.TurnQuestion || t.Kind == dialogue.TurnFollowUp {
			return i
		}
	}
	return -1
}

// Last returns the index of the turn that the state is about. It skips confirmations, the user's own statements, and
// the parts of a failed correction that still apply. It is -1 without such a turn.
func (r *Record) Last() int {
	i := len(r.Turns) - 1
	for i > 0 && slices.Contains([]string{dialogue.TurnConfirmation, dialogue.TurnPartial, dialogue.TurnStatement},
		r.Turns[i].Kind) {
		i--
	}
	return i
}

// Corrections returns the corrections of the current question that are in force, oldest first. They include choices
// of a table or join. A later correction that rejects a table ends its selection and its joins. A later one that
// names a rejected table ends the rejection. Of several meanings of a word the last one counts.
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
	forgets = regexp.MustCompile(
		`(?i)\b(?:forget|ignore|disregard|scrap|undo|take back|no longer|not any ?more|never ?mind|vergiss|olvida|oublie)\b`)
	meaning = regexp.MustCompile(
		`(?i)^\W*(?:no,?\s+|by\s+)?(.{1,60}?)\s+(?:means?|(?:is|are) (?:defined as|called|the same as)|refers? to|stands? for|=|heißt|bedeutet|significa|signifie)\s`)
)

// Said returns the user's statements about words, values and rules in corrections of earlier questions, one line
// each, oldest first. It applies to every later question of the conversation. A statement is left out if a later one
// revokes or replaces it. If there are many, the newest 2,000 bytes are returned. Tables, joins, filters, and prose
// that does not explain a term apply only to their own question.
func (r *Record) Said() (lines []string) {
	var said []Correction
	for _, t := range r.Turns[:max(0, r.Turn())] {
		if c := t.Correction; c != nil && (c.Kind == dialogue.CorrectColumn || c.Kind == dialogue.CorrectLogic ||
			meaning.MatchString(c.Text) || forgets.MatchString(c.Text)) {
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
		over := forgets.MatchString(c.Text) || slices.ContainsFunc(said[i+1:], func(l Correction) bool {
			return l.revokes(c)
		})
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
		return slices.ContainsFunc(words.Stems(c.Text), func(w string) bool {
			return len(w) > 3 && slices.Contains(stems, w)
		})
	}
	a, b := meaning.FindStringSubmatch(c.Text), meaning.FindStringSubmatch(earlier.Text)
	return a != nil && b != nil && words.Fold(a[1]) == words.Fold(b[1])
}

// Corrected counts the corrections of the current question. It does not count replies to a QuestionError or corrections
// in natural language.
func (r *Record) Corrected() int {
	n := 0
	for _, t := range r.Turns[max(0, r.Turn()):] {
		if t.Kind == dialogue.TurnCorrection && (t.Correction == nil || t.Correction.Kind != dialogue.CorrectText) {
			n++
		}
	}
	return n
}

// ChosenBefore returns the option that the user chose when an earlier question about tables was unclear in the same
// way. That choice selected its table and rejected the tables of the other options. c is the correction; its Kind is
// "" if no option was chosen.
func (r *Record) ChosenBefore(q *QuestionError) (o Option, c Correction) {
	for _, t := range slices.Backward(r.Turns[:max(0, r.Turn())]) {
		if t.Correction == nil {
			continue
		}
		for _, o := range q.Options {
			c, _ := q.Correction(o.ID)
			if c.Kind == dialogue.CorrectTable && slices.Contains(t.Correction.Tables, *o.Table) &&
				!slices.ContainsFunc(c.Rejected, func(n schema.TableName) bool {
					return !slices.Contains(t.Correction.Rejected, n)
				}) {
				return o, c
			}
		}
	}
	return Option{}, Correction{}
}

// Earlier returns the last three answered questions before the current one, oldest first. Each has the last statement
// that answered it, from the model or the user.
func (r *Record) Earlier() []PreviousTurn {
	var all []PreviousTurn
	question, answer := "", ""
	for _, t := range r.Turns[:max(0, r.Turn())] {
		if t.Kind == dialogue.TurnQuestion || t.Kind == dialogue.TurnFollowUp {
			if answer != "" {
				all = append(all, PreviousTurn{question, answer})
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
		all = append(all, PreviousTurn{question, answer})
	}
	return all[max(0, len(all)-maxEarlier):]
}

// Clone returns a deep copy, except for the rows of options, which both share. A record that cannot be written as
// JSON is returned unchanged.
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

// Summary returns the entry of r in a list of sessions.
func (r *Record) Summary() Summary {
	s := Summary{ID: r.ID, Title: r.Title, Scope: r.Scope, State: r.State, Created: r.Created, Updated: r.Updated,
		Turns: len(r.Turns)}
	for _, t := range r.Turns {
		if s.Question == "" {
			s.Question = t.Text
		}
		if t.Kind == dialogue.TurnQuestion {
			s.Question = t.Text
			break
		}
	}
	return s
}

// Failure tells the user why a session failed.
type Failure struct {
	Question        string             `json:"user_query"`
	Tables          []schema.TableName `json:"identified_tables,omitempty"`
	Iterations      int                `json:"attempted_iterations"` // attempts at a statement
	Corrections     int                `json:"correction_attempts"`
	Error           string             `json:"error"`
	Message         string             `json:"message,omitempty"` // the error text for a person; "" in old records
	Attempts        []Attempt          `json:"sql_attempts,omitempty"`
	Recommendations []string           `json:"recommendations,omitempty"` // what the user can do, one sentence each
}

// Attempt is a statement that was tried.
type Attempt struct {
	SQL   string `json:"sql"`
	Error string `json:"error,omitempty"` // "": it ran
}

// RecordError reports a record that cannot be read or stored. The stored record stays unchanged.
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

// Encode returns the next revision of r for a store. stored is the text that the store has of the session, nil if it
// has none. If whole is false, the store appends the returned text, a line; otherwise the text replaces stored. A line
// has only the turns that are new or changed, so a save writes as much after a hundred turns as after one. If the lines
// would outgrow the record, the text is whole.
//
// ErrConflict reports that stored is not revision r.Revision. Any other error is ErrInvalidID or a *RecordError.
func (r Record) Encode(stored []byte) (text []byte, whole bool, err error) {
	text, err = r.encode()
	var now Record
	if err == nil && stored != nil {
		now, err = decodeRecord(r.ID, stored)
	}
	if err == nil && now.Revision != r.Revision {
		err = fmt.Errorf("%w: it has revision %d, not %d", ErrConflict, now.Revision, r.Revision)
	}
	if err != nil {
		return nil, false, err
	}
	lines, grows := changesOf(stored)
	if !grows {
		return text, true, nil
	}
	line, err := r.over(now)
	if err != nil || len(lines)+len(line) > max(len(text), minChanges) {
		return text, true, err
	}
	return line, false, nil
}

// changesOf returns the lines after a record. grows reports whether lines may follow it: it is one line with a
// checksum.
func changesOf(text []byte) (lines []byte, grows bool) {
	first, lines, _ := bytes.Cut(text, []byte("\n"))
	_, grows, _ = atomicfile.Unsealed(first)
	return lines, grows
}

// encode returns the next revision of r as a whole.
func (r Record) encode() ([]byte, error) {
	if err := CheckID(r.ID); err != nil {
		return nil, err
	}
	if r.Version == 0 {
		r.Version = version
	}
	r.Revision++
	var text []byte
	err := r.valid(r.ID)
	if err == nil {
		text, err = atomicfile.Record(0, r)
	}
	if err == nil && len(text) >= maxRecord {
		err = errTooLarge
	}
	if err != nil {
		return nil, &RecordError{ID: r.ID, Err: err}
	}
	return append(text, '\n'), nil
}

// recordChange is a line after a record: the next revision, without the turns and transitions that stay.
type recordChange struct {
	Turns       uint   `json:"turns"`       // how many of the first turns stay
	Transitions uint   `json:"transitions"` // how many of the first transitions stay
	Record      Record `json:"record"`
}

// changeVersion is the version of a recordChange.
const changeVersion = 1

// over returns the next revision as a change of now.
func (r Record) over(now Record) ([]byte, error) {
	c := recordChange{Turns: unchanged(r.Turns, now.Turns), Transitions: unchanged(r.Transitions, now.Transitions),
		Record: r}
	c.Record.Version, c.Record.Revision = version, r.Revision+1
	c.Record.Turns, c.Record.Transitions = r.Turns[c.Turns:], r.Transitions[c.Transitions:]
	line, err := atomicfile.Record(changeVersion, c)
	return append(line, '\n'), err
}

// unchanged returns how many of the first items of two lists are equal.
func unchanged[T any](a, b []T) (n uint) {
	for n < uint(min(len(a), len(b))) && reflect.DeepEqual(a[n], b[n]) {
		n++
	}
	return n
}

// apply sets r to the revision of a line that over made.
func (r *Record) apply(line []byte) error {
	var c recordChange
	_, err := atomicfile.Read(line, changeVersion, &c)
	switch {
	case err != nil:
		return err
	case c.Record.Revision != r.Revision+1 || c.Turns > uint(len(r.Turns)) || c.Transitions > uint(len(r.Transitions)):
		return fmt.Errorf("a change of revision %d does not follow revision %d", c.Record.Revision, r.Revision)
	}
	c.Record.Turns = append(r.Turns[:c.Turns], c.Record.Turns...)
	c.Record.Transitions = append(r.Transitions[:c.Transitions], c.Record.Transitions...)
	*r = c.Record
	return nil
}

// Decode sets r to the record of that id, from a text of Encode with the lines that were appended to it; after an error
// r is the zero Record. An error is ErrInvalidID or a *RecordError. A *RecordError reports a text that was changed or
// cut short, is too large, belongs to another version or session, or names an unknown state. A text without a checksum
// is accepted, because a database that rewrites JSON returns such texts. Encode never asks to append to it.
func (r *Record) Decode(id string, text []byte) (err error) {
	*r, err = decodeRecord(id, text)
	return err
}

func decodeRecord(id string, text []byte) (Record, error) {
	if err := CheckID(id); err != nil {
		return Record{}, err
	}
	var r Record
	err := r.read(text)
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

// read sets r to a record with its changes.
func (r *Record) read(text []byte) error {
	lines, grows := changesOf(text)
	if !grows { // several lines may be one object
		lines = nil
	}
	first := text[:len(text)-len(lines)]
	if len(first) > maxRecord || len(text) > 2*maxRecord {
		return errTooLarge
	}
	object, _, err := atomicfile.Unsealed(first)
	if err == nil {
		err = json.Unmarshal(object, r)
	}
	for line := range bytes.Lines(lines) {
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = r.apply(line)
		}
	}
	return err
}

var errTooLarge = fmt.Errorf("it is larger than %d bytes", maxRecord)

// valid says what is wrong with r as the record of a session.
func (r *Record) valid(id string) error {
	switch _, known := edges[r.State]; {
	case r.Version != version:
		return fmt.Errorf("it has version %d, this program reads %d", r.Version, version)
	case r.ID != id:
		return fmt.Errorf("it is that of session %q", r.ID)
	case !known:
		return fmt.Errorf("its state %q is unknown", r.State)
	case (r.State == Interrupted) != (r.ResumeState != "") || r.ResumeState != "" && !r.ResumeState.May(Interrupted):
		return fmt.Errorf("in state %q it has resume state %q", r.State, r.ResumeState)
	}
	return nil
}
