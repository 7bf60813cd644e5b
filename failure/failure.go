// Package failure classifies the errors of questions, statements and conversations. [Of] returns a [Report] for any
// error: its [Class], a message for a person, an exit code and an HTTP status.
package failure

// Class is the kind of an error of a question or of a call of a conversation. The zero Class means no error. The
// strings never change.
type Class string

// The classes. [Of] finds the class of an error.
const (
	Cancelled Class = "cancelled" // the caller gave up
	Time      Class = "time"      // the deadline of the question is over
	Budget    Class = "budget"    // the budget of model calls is spent
	Limit     Class = "limit"     // a statement exceeds a limit on time, memory or size
	// the question or correction cannot be used: empty, too long, an unknown name, no model to ask
	Input        Class = "input"
	Unclear      Class = "unclear"      // the user must choose between meanings (*session.QuestionError)
	Unsure       Class = "unsure"       // the best answer is below the required confidence
	Unanswerable Class = "unanswerable" // the data cannot answer the question (texttosql.WithRefuseBelow)
	// the guard or policy refuses the statement or all samples: a write, a denied table
	Refused Class = "refused"
	// the database rejects the statement: its syntax, or a name that the database does not have
	Invalid  Class = "invalid"
	NoAnswer Class = "no-answer" // the model wrote no statement, declined, or no statement passed the checks
	Key      Class = "key"       // the provider rejects the key or the account
	Rate     Class = "rate"      // the provider limits requests now
	// the provider does not answer, or rejects this request, such as a prompt that is too long
	Provider    Class = "provider"
	Busy        Class = "busy"        // locks or connections of the database are in use
	Database    Class = "database"    // the database does not respond
	Config      Class = "config"      // an option, the policy or the opened database is wrong
	Interrupted Class = "interrupted" // a conversation stopped before its answer; Resume continues it
	Missing     Class = "missing"     // the store has no such conversation
	Stale       Class = "stale"       // the schema or the configuration changed in the meantime
	Conflict    Class = "conflict"    // another process has the conversation, or its state does not allow the call
	Internal    Class = "internal"    // a part of the program panicked, or a record is broken
	Other       Class = "other"       // an error that this package does not know
)

// Report describes an error for a person, a command and a service.
type Report struct {
	Class      Class
	Message    string // for a person: one sentence without names of packages, keys or a provider's own words
	Advice     string // the next step for the person, one sentence; "" if none is known
	ExitCode   int    // the exit code of a command, as cmd/texttosql has it
	HTTPStatus int    // the HTTP status of a service
}
