package session

import (
	"encoding/json"
	"time"

	"github.com/texttosql/texttosql/schema"
)

// Turn is one action of the user, with the answer to it.
type Turn struct {
	// Kind is "question", "follow_up" (a question that may refer to the ones before) or "choice" (an option of the
	// pending question). "correction" corrects the answer or replies to the pending question; "held" is the usable
	// part of a rejected correction. "confirmation" marks the answer as right. "statement" is a statement by the
	// user, in Text; it does not change the state.
	Kind     string    `json:"kind"`
	At       time.Time `json:"at"`
	Text     string    `json:"text,omitempty"`     // the user's words; for a confirmation, a complete wording
	Evidence string    `json:"evidence,omitempty"` // the caller's evidence for the question
	Samples  int       `json:"samples,omitempty"`  // the number of samples that the caller set; 0: the engine's
	// WithoutMemory means that the prompts of the question have no lessons, and that no lesson is learned from it.
	WithoutMemory bool `json:"without_memory,omitempty"`
	// for a statement: the user confirmed that it answers the previous question
	Confirmed  bool        `json:"confirmed,omitempty"`
	Option     string      `json:"option,omitempty"`     // the id of the chosen option
	Correction *Correction `json:"correction,omitempty"` // the correction, or the choice of a table or join
	Answer     *Answer     `json:"answer,omitempty"`     // nil: none, or none yet
	Attempts   []Attempt   `json:"attempts,omitempty"`   // the statements that were tried for it
}

// Answer is the answer to a turn. Its rows are not stored: the statement runs again.
type Answer struct {
	SQL        string  `json:"sql"`
	Confidence float64 `json:"confidence"` // 0..1
	// the evidence for it, a vote.Level; "" in records of earlier versions
	Level   string             `json:"level,omitempty"`
	Closing string             `json:"closing,omitempty"` // the level as a sentence
	Tables  []schema.TableName `json:"tables,omitempty"`
	Joins   []schema.Join      `json:"joins,omitempty"`
	Notes   []string           `json:"notes,omitempty"`  // facts about it for the user
	Ballot  json.RawMessage    `json:"ballot,omitempty"` // the vote; only for the current question
}

// PreviousTurn is an answered question of the same conversation, which a follow-up question may refer to.
type PreviousTurn struct {
	Question string `json:"question"` // the question as it was asked
	SQL      string `json:"sql"`      // the statement that answered it
}
