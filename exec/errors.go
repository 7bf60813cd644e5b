package exec

import (
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/exec/guard"
	"github.com/texttosql/texttosql/internal/execerr"
	"github.com/texttosql/texttosql/internal/words"
)

// Errors to test for with errors.Is.
var (
	// ErrNotReadOnly matches a refusal of a statement that writes or changes state.
	ErrNotReadOnly = execerr.ErrNotReadOnly
	// ErrBusy matches an error about a lock that another client holds, or about a pool without a free connection. The
	// same statement may succeed later.
	ErrBusy = errors.New("exec: the database is busy")
	// ErrUnavailable matches the error for a database that cannot be reached. The database does not exist, it is down,
	// or the connection broke before a statement was sent. The error is not about the statement.
	ErrUnavailable = errors.New("exec: the database cannot be asked")
	// ErrNoExecution is the error of a DB that checks statements but does not run them; see DB.WithoutExecution. It is
	// not about the statement.
	ErrNoExecution = errors.New("exec: statements are not executed here")
	// ErrBroken matches the error of a DB that could not restore a connection to an in-memory database. The DB refuses
	// all further work.
	ErrBroken = errors.New("exec: a connection could not be restored")
)

// unavailable makes an error match ErrUnavailable.
type unavailable struct{ error }

func (e unavailable) Unwrap() error        { return e.error }
func (e unavailable) Is(target error) bool { return target == ErrUnavailable }

// These types are aliases for those in exec/guard, which engines in other modules import too. The fields here are the
// same; exec/guard documents them in more detail.
type (
	// Policy defines which relations, columns and functions a statement may read. The zero Policy allows every table
	// and view of the schema, the dialect's list of functions, and every column whose name does not look secret. Denied
	// names stay denied, whatever is allowed. Names compare without regard to ASCII case. A name with a dot is quoted:
	// `"order.items".id`.
	//
	//	AllowTables    []string          // not empty: all that may be read: "table", "schema.table", "catalog.schema.table"
	//	DenyTables     []string          // not to be read, counted or joined; a view over one is refused whole
	//	DenyColumns    []string          // "table.column", or "column" in every table
	//	AllowFunctions []string          // functions in addition to the dialect's list
	//	Reveal         []string          // columns that look secret and are not: as DenyColumns, or "*"
	//	Rows           map[string]string // a table's rule about rows: "orders": "tenant_id = :tenant"; see Scope
	//	Shared         []string          // tables that every scope reads whole, in addition to Rows
	//	Settings       []string          // settings that each scope must give
	//	Fence          string            // "always": the row rule is applied first; "": where it may matter
	Policy = guard.Policy

	// RefusedError reports that a statement may not run. No part of it ran. It matches ErrNotReadOnly if Writes is set,
	// and ErrNoScope if the reason is "scope". Use errors.As with a *RefusedError.
	//
	//	Reason string // a word below, or one of your own Check
	//	Detail string // one line for a person, without stored values
	//	Writes bool   // the statement writes or changes state
	//	Name   string // the table or column that a new statement should avoid, in lower case, or "*"; "": none
	//	Hidden string // the end of Error, for people only: prompts do not have it
	//
	// The guard's reasons are stable words, as in sqltext.RefusedError. "table" and "column" are denied or unknown
	// names. "statement" and "function" are not on the list; Policy.AllowFunctions adds functions. "scope" is missing
	// or incomplete. "rows": no rule about rows can be enforced there. The others are "too-complex" and "guard", which
	// failed.
	RefusedError = execerr.RefusedError

	// InvalidError reports that a statement was rejected by the engine, or by a check that stands in for the engine.
	// Use errors.As with an *InvalidError.
	//
	//	Fault   string // the kind of fault, one of the words below
	//	Message string // the engine's own words; they may repeat parts of the statement
	//	Name    string // the missing or ambiguous table, column or function, if the engine names it
	//
	// The faults are stable words. "syntax": it does not parse. "schema": a name does not exist or is ambiguous.
	// "compile": it parses but is not valid, such as a misplaced aggregate. "run": it failed while running, as integer
	// overflow does. "constraint": it contradicts a correction of the user, which Message states.
	InvalidError = execerr.InvalidError

	// PolicyError reports that a [Policy] names something that the database does not have, or that a row rule cannot be
	// enforced. Use errors.As with a *PolicyError.
	//
	//	Unknown []string // the entries with the field in front, `DenyColumns: "users.pasword"`, and the fault of each
	PolicyError = execerr.PolicyError
)

// LimitError reports that a statement reached a limit that leaves no result. A limit on rows or bytes leaves one: it
// sets Truncated.
type LimitError struct {
	// Limit is "time", "columns", "memory", "engine-cost", "scanned bytes" (of the tables read), "bytes" (of the column
	// names), or "cell". For "cell", a value that the statement read or computed was too long, even if it is not in the
	// result.
	Limit string
	Max   string // the limit in force: "3s", "500", "1000000 bytes"; "" if the engine sets it
	Found int    // for "columns": how many the statement has; 0: unknown
	// Running reports that the engine did not stop: the statement still runs, on a connection that nobody else uses.
	Running bool
}

// Error names the limit, its size and the setting that raises it, if they are known.
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

// columns returns how many columns too many the result would have, in words.
func (e *LimitError) columns() string {
	found := "more than " + e.Max
	if e.Found > 0 {
		found = words.Thousands(e.Found)
	}
	return found + " columns; at most " + e.Max + " are returned. Name the columns you want"
}

// UnguardedError reports why a database or a connection cannot be guarded, and how to fix it.
// No statement ran on it.
type UnguardedError struct {
	Reason string // "the driver connection *foo.Conn has not the methods RegisterAuthorizer and SetLimit"
	Remedy string // "open the database with …"
}

// Error returns the reason and the remedy.
func (e *UnguardedError) Error() string {
	return fmt.Sprintf("exec: the database cannot be guarded: %s; %s", e.Reason, e.Remedy)
}

// IsRejection reports whether err is about the statement itself: it was refused, the engine rejected it, or it reached
// a limit. Such a candidate has failed. Any other error is about the connection or the end of the caller's context, and
// not about the statement.
func IsRejection(err error) bool {
	return !errors.Is(err, ErrBroken) &&
		(errors.As(err, new(*RefusedError)) || errors.As(err, new(*InvalidError)) || errors.As(err, new(*LimitError)))
}

// IsClassified reports whether err already has one of this package's types, so that [Dialect.Classify] returns it
// unchanged.
func IsClassified(err error) bool {
	return IsRejection(err) || errors.As(err, new(*PolicyError)) || errors.As(err, new(*UnguardedError)) ||
		errors.Is(err, ErrBusy) ||
		errors.Is(err, ErrBroken) || errors.Is(err, guard.ErrStale)
}
