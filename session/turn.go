package session

import (
	"encoding/json"
	"time"

	"github.com/texttosql/texttosql/schema"
)

// TurnKind says what the user did.
type TurnKind string

// The kinds of turns.
const (
	TurnQuestion     TurnKind = "question"
	TurnFollowUp     TurnKind = "follow_up"    // a question that may refer to the ones before
	TurnChoice       TurnKind = "choice"       // an option of the pending Question
	TurnCorrection   TurnKind = "correction"   // a correction of the answer or of the pending Question
	TurnHeld         TurnKind = "held"         // what holds of a correction that could not be used
	TurnConfirmation TurnKind = "confirmation" // the answer is right
	TurnStatement    TurnKind = "statement"    // a statement that the user wrote, as Text; it changes no state
)

// Turn is one thing that the user did, with the answer to it.
type Turn struct {
	Kind     TurnKind  `json:"kind"`
	At       time.Time `json:"at"`
	Text     string    `json:"text,omitempty"`     // the user's words; of a confirmation, a wording that stands alone
	Evidence string    `json:"evidence,omitempty"` // what the caller said beside the question
	Samples  int       `json:"samples,omitempty"`  // how many samples the caller of a question asked for; 0: the engine's
	// WithoutMemory: of a question that is shown nothing learned, and teaches nothing.
	WithoutMemory bool        `json:"without_memory,omitempty"`
	Confirmed     bool        `json:"confirmed,omitempty"`  // of a statement: its user said that it answers the question before it
	Option        string      `json:"option,omitempty"`     // the id of the option that a choice takes
	Correction    *Correction `json:"correction,omitempty"` // what a correction says, or a choice of a table or join
	AsText        bool        `json:"as_text,omitempty"`    // of a correction that names a table in no form that Parse reads: it is shown as it is, and not counted
	Answer        *Answer     `json:"answer,omitempty"`     // nil: none, or none yet
	Attempts      []Attempt   `json:"attempts,omitempty"`   // the statements that were tried for it
}

// Answer is the answer to a turn. Its rows are not kept: the statement is run again.
type Answer struct {
	SQL        string             `json:"sql"`
	Confidence float64            `json:"confidence"` // 0..1
	Tables     []schema.TableName `json:"tables,omitempty"`
	Joins      []schema.Join      `json:"joins,omitempty"`
	Notes      []string           `json:"notes,omitempty"`  // what the user should know about it
	Ballot     json.RawMessage    `json:"ballot,omitempty"` // the vote; of the current question alone
}

// Earlier is an answered question of the same conversation, which a follow-up question may refer to.
type Earlier struct {
	Question string `json:"question"` // the question as it was asked
	SQL      string `json:"sql"`      // the statement that answered it
}
