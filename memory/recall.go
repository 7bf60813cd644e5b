package memory

import (
	"sync"

	"github.com/texttosql/texttosql/schema"
)

// RecallInput is what a question may be shown lessons for.
type RecallInput struct {
	Question string
	Schema   *schema.Schema // as prompts show it, before Recall.Map
	Live     *schema.Schema // as the database has it; nil: Schema
	// Check passes a statement that may be shown. nil: no statement may.
	Check func(sql string) error
}

// Recall holds the lessons that one question may be shown. Lessons.Recall makes it once for a question; its JSON is
// kept with the question, so that a repetition has the same prompts. A nil Recall has no lessons. It notes which
// lessons were shown, for Lessons.Learn. Safe for concurrent use.
type Recall struct {
	Question string   `json:"question"`           // that it was made for; choices are shown for this one only
	Lessons  []Lesson `json:"lessons,omitempty"`  // at most 500, the best ones first
	Warnings []string `json:"warnings,omitempty"` // lessons that cannot be used, and why

	mu    sync.Mutex
	shown map[string]bool // by id: in a prompt
	force map[string]bool // by id: in the schema of a prompt
}

// Map returns declared with the names that live has, where a lesson tells them, and declared itself where none does. A
// name that live has is never changed, and no name is changed into one that live does not have, so mapping twice
// changes nothing.
func (r *Recall) Map(declared, live *schema.Schema) *schema.Schema { return declared }

// ForTable is the advice for a prompt that asks whether a question needs table t: a section that ends in an empty line,
// or "".
func (r *Recall) ForTable(t *schema.Table, question string) string { return "" }

// ForSQL is the advice for a prompt that asks for SQL over s: a section that ends in an empty line, or "".
func (r *Recall) ForSQL(s *schema.Schema, question string) string { return "" }

// ForError is the advice for a prompt that asks for another statement after an error with this message: a section that
// ends in an empty line, or "".
func (r *Recall) ForError(message string) string { return "" }
