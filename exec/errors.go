package exec

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"

	"github.com/texttosql/texttosql/sqltext"
)

// Errors to test for with errors.Is.
var (
	// ErrNotReadOnly matches a refusal of a statement that writes or changes state.
	ErrNotReadOnly = errors.New("exec: not a reading statement")
	// ErrUnguarded matches the error for a database or connection that cannot be guarded. Nothing ran on it.
	ErrUnguarded = errors.New("exec: the database cannot be guarded")
	// ErrBusy matches an error about a lock that somebody else holds, or about a pool that had no connection free. The
	// same statement may succeed later.
	ErrBusy = errors.New("exec: the database is busy")
	// ErrNoExecution is the error of a DB that looks at statements and runs none; see DB.WithoutExecution. It says
	// nothing about the statement.
	ErrNoExecution = errors.New("exec: statements are not executed here")
	// ErrBroken matches the error of a DB that could not put a connection to an in-memory database back as it was, and
	// refuses further work since.
	ErrBroken = errors.New("exec: a connection could not be restored")
)

// The reasons of a [RefusedError] that come from the guard, beside those of the text check. The values are stable. A
// statement that writes has sqltext.ReasonNotReadOnly.
const (
	ReasonStatement  sqltext.Reason = "statement"   // a kind of statement that is not on the list
	ReasonTable      sqltext.Reason = "table"       // a relation that may not be read, or that the schema does not have
	ReasonColumn     sqltext.Reason = "column"      // a column that the policy denies
	ReasonFunction   sqltext.Reason = "function"    // a function that is not on the list
	ReasonTooComplex sqltext.Reason = "too-complex" // over a limit on the size or depth of a statement
	ReasonGuard      sqltext.Reason = "guard"       // the guard itself failed, so everything is refused
)

// RefusedError says that a statement may not run. Nothing of it ran.
type RefusedError struct {
	Reason sqltext.Reason
	Detail string // one line for a person, without stored values
	Writes bool   // the statement writes or changes state
}

// Error returns "exec: refused (REASON): DETAIL".
func (e *RefusedError) Error() string {
	return fmt.Sprintf("exec: refused (%s): %s", e.Reason, visible(e.Detail))
}

// Is makes a refusal of a statement that writes match [ErrNotReadOnly].
func (e *RefusedError) Is(target error) bool { return target == ErrNotReadOnly && e.Writes }

// Fault is what is wrong with a statement that the engine rejected.
type Fault string

// The faults of an [InvalidError].
const (
	FaultSyntax  Fault = "syntax"  // it does not parse
	FaultSchema  Fault = "schema"  // a table, column or function does not exist or is ambiguous
	FaultCompile Fault = "compile" // it parses, but makes no sense: a misplaced aggregate
	FaultRun     Fault = "run"     // it failed while it ran: integer overflow, malformed JSON

	// FaultConstraint is not the engine's: the statement goes against a correction of the user, which Message states.
	FaultConstraint Fault = "constraint"
)

// InvalidError says that the engine rejected a statement, or a check on its behalf.
type InvalidError struct {
	Fault   Fault  // what is wrong with it
	Message string // the engine's own words; they may repeat parts of the statement
	Name    string // the table, column or function that does not exist or is ambiguous, where the engine names it
}

// Error returns "exec: invalid statement (FAULT): MESSAGE".
func (e *InvalidError) Error() string {
	return fmt.Sprintf("exec: invalid statement (%s): %s", e.Fault, visible(e.Message))
}

// Public is the error without the engine's words, for logs and exported traces (trace.Span.Fail).
func (e *InvalidError) Public() string {
	return fmt.Sprintf("exec: invalid statement (%s)", e.Fault)
}

// visible writes out the characters of a message that a person would not see: "no such column: a\u200b".
func visible(message string) string {
	return words.Visible(message, "", func(r rune) bool { return !unicode.IsPrint(r) })
}

// LimitError says that a statement ran into a limit that leaves no result. A limit on rows or bytes leaves one: it sets
// Truncated.
type LimitError struct {
	// Limit is "time", "columns", "memory", "engine-cost", "scanned bytes" (of the tables read), "bytes" (of the names of
	// columns), or "cell": a value that the statement read or made on its way was too long, whether or not it is in the
	// result.
	Limit string
	Max   string // the limit in force: "3s", "500", "1000000 bytes"; "" where the engine has it
	// Running says that the engine did not stop: the statement still runs, on a connection that nobody else uses.
	Running bool
}

// Error names the limit, its size and what allows more, where they are known.
func (e *LimitError) Error() string {
	s := "exec: over the limit on " + e.Limit
	if e.Max != "" {
		s += " (" + e.Max + ")"
	}
	if e.Running {
		s += ": the database does not stop, and the statement still runs"
	}
	if e.Limit == "cell" {
		s += ": the statement reads or makes a longer value; Limits.Candidate.CellBytes or Limits.Answer.CellBytes allows it"
	}
	return s
}

// UnguardedError says why a database or a connection cannot be guarded and what to do about it. It matches
// [ErrUnguarded].
type UnguardedError struct {
	Reason string // "the driver connection *foo.Conn has not the methods RegisterAuthorizer and SetLimit"
	Remedy string // "open the database with …"
}

// Error returns what ErrUnguarded says, the reason and the remedy.
func (e *UnguardedError) Error() string {
	return fmt.Sprintf("%v: %s; %s", ErrUnguarded, e.Reason, e.Remedy)
}

// Is makes every UnguardedError match [ErrUnguarded].
func (e *UnguardedError) Is(target error) bool { return target == ErrUnguarded }

// PolicyError says that a [Policy] names tables or columns that the database does not have. A guard says so at its
// first use only: what is dropped later is no error.
type PolicyError struct {
	Unknown []string // with the field in front: `DenyColumns: "users.pasword"`
}

// Error returns all names that are unknown, in one line.
func (e *PolicyError) Error() string {
	return "exec: the policy names what the database does not have: " + strings.Join(e.Unknown, ", ")
}

// IsRejection reports whether err is about the statement itself: it was refused, the engine rejected it, or it ran into
// a limit. Such a candidate has failed. Any other error is about the connection or the end of the caller's context, and
// says nothing about the statement.
func IsRejection(err error) bool {
	return !errors.Is(err, ErrBroken) &&
		(errors.As(err, new(*RefusedError)) || errors.As(err, new(*InvalidError)) || errors.As(err, new(*LimitError)))
}
