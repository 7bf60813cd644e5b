package session

import (
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// Kind says what a Question is about.
type Kind string

// The kinds of questions. The options of each have ids of their own: "t1", "j1" and "r1" are the first.
const (
	KindTable  Kind = "table"  // which of several tables is meant
	KindJoin   Kind = "join"   // how two tables are joined
	KindResult Kind = "result" // which of several answers is meant
	// KindMeaning asks what is meant by words that nothing in the data stands for. Its options begin with "m1".
	KindMeaning Kind = "meaning"
)

// QuestionError is what a strategy asks the user instead of giving an answer. It is an error: Engine.Ask returns it beside
// the Result, and a session waits for the choice. Test for it with errors.As.
type QuestionError struct {
	Kind    Kind              `json:"kind"`
	Message string            `json:"message"`           // one line for the user
	Options []Option          `json:"options"`           // two or more, in a stable order
	Context map[string]string `json:"context,omitempty"` // what it is about: "user_query", "table1", "table2", …
}

// Option is one answer that the user may choose.
type Option struct {
	ID         string             `json:"id"`    // the same for equal replies of the model
	Label      string             `json:"label"` // one line for the user
	Table      *schema.TableName  `json:"table,omitempty"`
	Join       *schema.Join       `json:"join,omitempty"`
	Column     *schema.ColumnName `json:"column,omitempty"`
	SQL        string             `json:"sql,omitempty"`
	Rows       *result.Table      `json:"-"`          // the first rows of SQL, for the user's eyes; in no record and no prompt
	Confidence float64            `json:"confidence"` // 0..1
}

// Error is the message with the ids and labels of the options.
func (q *QuestionError) Error() string {
	text := "the question is not clear: " + q.Message
	for _, o := range q.Options {
		text += "; " + o.ID + ": " + o.Label
	}
	return text
}

// Public is the error without names or values of the database (trace.Span.Fail).
func (q *QuestionError) Public() string {
	return "the question is not clear: it asks about a " + string(q.Kind)
}

// Option returns the option of that id.
func (q *QuestionError) Option(id string) (Option, bool) {
	for _, o := range q.Options {
		if o.ID == id {
			return o, true
		}
	}
	return Option{}, false
}
