package exec

import (
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/sqltext"
)

// Errors to test for with errors.Is.
var (
	// ErrNotReadOnly matches a refusal of a statement that writes or changes state.
	ErrNotReadOnly = guard.ErrNotReadOnly
	// ErrUnguarded matches the error for a database or connection that cannot be guarded. Nothing ran on it.
	ErrUnguarded = errors.New("exec: the database cannot be guarded")
	// ErrBusy matches an error about a lock that somebody else holds, or about a pool that had no connection free. The
	// same statement may succeed later.
	ErrBusy = errors.New("exec: the database is busy")
	// ErrUnavailable matches the error of a database that cannot be asked: it is not there, it is down, or the connection
	// to it broke before a statement was sent. It says nothing about the statement.
	ErrUnavailable = errors.New("exec: the database cannot be asked")
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
	ReasonFunction   sqltext.Reason = "function"    // a function that is not on the list; Policy.AllowFunctions adds to it
	ReasonTooComplex sqltext.Reason = "too-complex" // a statement over a limit on its size or depth
	ReasonGuard      sqltext.Reason = "guard"       // the guard itself failed, so everything is refused
)

// The faults of an [InvalidError].
const (
	FaultSyntax     Fault = "syntax"     // it does not parse
	FaultSchema     Fault = "schema"     // a table, column or function does not exist or is ambiguous
	FaultCompile    Fault = "compile"    // it parses, but makes no sense: a misplaced aggregate
	FaultRun        Fault = "run"        // it failed while it ran: integer overflow, malformed JSON
	FaultConstraint Fault = "constraint" // not the engine's: it goes against a correction of the user, which Message states
)

// unavailable makes an error match ErrUnavailable.
type unavailable struct{ error }

func (e unavailable) Unwrap() error        { return e.error }
func (e unavailable) Is(target error) bool { return target == ErrUnavailable }

// What guards share with exec lives in exec/guard, for engines in modules of their own. The fields are those here;
// that package says more of each.
type (
	// Policy says which relations, columns and functions a statement may read. The zero Policy allows every table and
	// view of the schema, every column whose name does not say that it holds secrets, and the dialect's list of
	// functions. What is denied stays denied, whatever is allowed. Names compare without regard to ASCII case; one
	// with a dot is quoted: `"order.items".id`.
	//
	//	AllowTables    []string          // not empty: all that may be read: "table", "schema.table", "catalog.schema.table"
	//	DenyTables     []string          // not to be read, counted or joined; a view over one is refused whole
	//	DenyColumns    []string          // "table.column", or "column" in every table
	//	AllowFunctions []string          // functions more than the dialect lists
	//	Reveal         []string          // columns that look secret and are not: as DenyColumns, or "*"
	//	Rows           map[string]string // a table's rule about rows: "orders": "tenant_id = :tenant"; see Scope
	//	Shared         []string          // tables that every scope reads whole, beside Rows
	//	Settings       []string          // settings that each scope has to give
	//	Fence          string            // "always": the rule of a row comes before anything else; "": where it may matter
	Policy = guard.Policy

	// RefusedError says that a statement may not run. Nothing of it ran. It matches ErrNotReadOnly where Writes, and
	// ErrNoScope where the reason is ReasonScope. Use errors.As with a *RefusedError.
	//
	//	Reason sqltext.Reason // one of the Reason constants here and in sqltext
	//	Detail string         // one line for a person, without stored values
	//	Writes bool           // the statement writes or changes state
	//	Name   string         // what another statement may do without: a table in lower case, or "*"; "": nothing
	RefusedError = guard.RefusedError

	// InvalidError says that the engine rejected a statement, or a check on its behalf. Use errors.As with an
	// *InvalidError.
	//
	//	Fault   Fault  // what is wrong with it
	//	Message string // the engine's own words; they may repeat parts of the statement
	//	Name    string // the table, column or function that is not there or ambiguous, where the engine names it
	InvalidError = guard.InvalidError

	// Fault is what is wrong with a statement that the engine rejected, a string: FaultSyntax, FaultSchema,
	// FaultCompile, FaultRun or FaultConstraint.
	Fault = guard.Fault

	// PolicyError says that a [Policy] names what the database does not have, or that a rule of it cannot hold. Use
	// errors.As with a *PolicyError.
	//
	//	Unknown []string // the entries with the field in front, `DenyColumns: "users.pasword"`, and what is wrong with each
	PolicyError = guard.PolicyError
)

// LimitError says that a statement ran into a limit that leaves no result. A limit on rows or bytes leaves one: it sets
// Truncated.
type LimitError struct {
	// Limit is "time", "columns", "memory", "engine-cost", "scanned bytes" (of the tables read), "bytes" (of the names of
	// columns), or "cell": a value that the statement read or made on its way was too long, whether or not it is in the
	// result.
	Limit string
	Max   string // the limit in force: "3s", "500", "1000000 bytes"; "" where the engine has it
	Found int    // of "columns": how many the statement has; 0: it is not known
	// Running says that the engine did not stop: the statement still runs, on a connection that nobody else uses.
	Running bool
}

// Error names the limit, its size and what allows more, where they are known.
func (e *LimitError) Error() string {
	if e.Limit == "columns" {
		return "exec: " + e.columns()
	}
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

// columns says of how many columns too many a result would be.
func (e *LimitError) columns() string {
	found := "more than " + e.Max
	if e.Found > 0 {
		found = words.Thousands(e.Found)
	}
	return found + " columns; at most " + e.Max + " are returned. Name the columns you want"
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

// IsRejection reports whether err is about the statement itself: it was refused, the engine rejected it, or it ran into
// a limit. Such a candidate has failed. Any other error is about the connection or the end of the caller's context, and
// says nothing about the statement.
func IsRejection(err error) bool {
	return !errors.Is(err, ErrBroken) &&
		(errors.As(err, new(*RefusedError)) || errors.As(err, new(*InvalidError)) || errors.As(err, new(*LimitError)))
}

// IsTyped reports whether err says by its type what it is about, so that [Dialect.Classify] has nothing to add.
func IsTyped(err error) bool {
	return IsRejection(err) || errors.As(err, new(*PolicyError)) || errors.Is(err, ErrUnguarded) || errors.Is(err, ErrBusy) ||
		errors.Is(err, ErrBroken) || errors.Is(err, guard.ErrStale)
}
