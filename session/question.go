package session

import (
	"github.com/texttosql/texttosql/result"
	"github.com/texttosql/texttosql/schema"
)

// QuestionError is a question that a strategy asks the user instead of answering. It is an error: Engine.Ask returns
// it together with the Result, and a session waits for the choice. Test for it with errors.As.
type QuestionError struct {
	// Kind is "table" (which of several tables is meant), "join" (how two tables are joined) or "result" (which of
	// several answers is meant). It may also be "meaning" (the meaning of words that match nothing in the data). The
	// ids of the options begin with "t", "j", "r" and "m": "t1" is the first.
	Kind    string            `json:"kind"`
	Message string            `json:"message"`           // one line for the user
	Options []Option          `json:"options"`           // two or more, in a stable order
	Context map[string]string `json:"context,omitempty"` // its subject: "user_query", "table1", "table2", …
}

// Option is one answer that the user may choose.
type Option struct {
	ID     string             `json:"id"`    // the same for equal replies of the model
	Label  string             `json:"label"` // one line for the user
	Table  *schema.TableName  `json:"table,omitempty"`
	Join   *schema.Join       `json:"join,omitempty"`
	Column *schema.ColumnName `json:"column,omitempty"`
	SQL    string             `json:"sql,omitempty"`
	// the first rows of SQL, only for the user; records and prompts do not have them
	Rows       *result.Table `json:"-"`
	Confidence float64       `json:"confidence"` // 0..1
}

// Error returns the message with the ids and labels of the options.
func (q *QuestionError) Error() string {
	text := "the question is not clear: " + q.Message
	for _, o := range q.Options {
		text += "; " + o.ID + ": " + o.Label
	}
	return text
}

// Public returns the error without names or values from the database (trace.Span.Fail).
func (q *QuestionError) Public() string {
	return "the question is not clear: it asks about a " + q.Kind
}

// Option returns the option with an id.
func (q *QuestionError) Option(id string) (Option, bool) {
	for _, o := range q.Options {
		if o.ID == id {
			return o, true
		}
	}
	return Option{}, false
}
