// Package failure names what questions, statements and conversations can end with: a [Class] each, with what a person reads and what a
// program does about it. texttosql.Failure makes a [Report] of any error.
package failure

// Class is what kind of error a question or a call of a conversation ended with. The strings never change.
type Class string

// The classes. texttosql.Failure finds that of an error.
const (
	None         Class = ""             // no error
	Cancelled    Class = "cancelled"    // the caller gave up
	Time         Class = "time"         // the deadline of the question is over
	Budget       Class = "budget"       // the budget of model calls is spent
	Limit        Class = "limit"        // a statement takes more time, memory or the like than it may
	Input        Class = "input"        // the question cannot be asked as it is: empty, too long
	Unclear      Class = "unclear"      // the user is asked something (*session.QuestionError)
	Unsure       Class = "unsure"       // the best answer is below the confidence asked for
	Unanswerable Class = "unanswerable" // the data has nothing for the question (texttosql.WithRefuseBelow)
	Writes       Class = "writes"       // what was asked for would change something
	Denied       Class = "denied"       // the policy denies a table or column, or the schema does not have it
	Refused      Class = "refused"      // the guard refuses the statement, or those of all samples
	UnknownName  Class = "unknown-name" // a table or column that the database does not have
	Invalid      Class = "invalid"      // the database does not take the statement
	NoStatement  Class = "no-statement" // nothing readable in the replies
	NoAnswer     Class = "no-answer"    // no statement passed the checks, for several reasons
	Key          Class = "key"          // the provider refuses the key or the account
	Rate         Class = "rate"         // the provider takes no more requests now
	Provider     Class = "provider"     // the provider does not answer, or not this request
	Declined     Class = "declined"     // the provider or the model declined the content
	TooLong      Class = "too-long"     // the prompt does not fit the model
	Busy         Class = "busy"         // locks or connections of the database are taken
	Database     Class = "database"     // the database cannot be asked
	Empty        Class = "empty"        // nothing of the database may be read
	Unguarded    Class = "unguarded"    // the database cannot be guarded as it was opened
	Config       Class = "config"       // an option or the policy is wrong
	NoModel      Class = "no-model"     // the question needs a model, and the engine has none (NoModel)
	Interrupted  Class = "interrupted"  // a conversation stopped before its answer; Resume goes on
	Missing      Class = "missing"      // there is no such conversation
	Conflict     Class = "conflict"     // another process has the conversation
	Stale        Class = "stale"        // the schema or the configuration changed since
	State        Class = "state"        // the call makes no sense now
	Correction   Class = "correction"   // the correction cannot be used
	Internal     Class = "internal"     // a part of the program panicked, or a record is broken
	Other        Class = "other"        // an error that this package does not know
)

// Report is what a program does about an error.
type Report struct {
	Class      Class
	Message    string // what a person reads: one sentence without names of packages, keys or a provider's own words
	Advice     string // what to do next, one sentence; "" where nothing is known
	ExitCode   int    // the exit code of a command, as cmd/texttosql has it
	HTTPStatus int    // the HTTP status of a service
}
