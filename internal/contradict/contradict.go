// Package contradict has the input of doubt.QuestionFeatures.Contradictions.
package contradict

import (
	"time"

	"github.com/texttosql/texttosql/internal/snapshot"
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/sqltext"
)

// Answer is the winner of a vote. Fields that are nil or zero are unknown: the readers that need them find nothing.
type Answer struct {
	Earlier   []*sqltext.Statement // the answers to the questions before, the oldest first
	Statement *sqltext.Statement
	Table     *result.Table  // its rows
	Schema    *schema.Schema // with profiles, where there are some
	Values    Values         // stored values that the question names
	Now       time.Time      // the day of the question
	// Query runs a statement that the pass writes, under the guard and the limits of the answer; nil where it does not
	// run.
	Query func(sql string) *result.Table
}

// Values finds the stored values that a question names, and the words of the names of tables and columns.
type Values interface {
	Named(question string) []Stored
	InNames(word string) bool
}

// Stored is a value that a column stores.
type Stored = snapshot.Stored
