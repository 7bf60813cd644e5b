// Package execerr has the errors of statements and policies that exec and exec/guard share. Users find them in exec.
package execerr

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/texttosql/texttosql/internal/words"
)

// ErrNotReadOnly matches a refusal of a statement that writes or changes state.
var ErrNotReadOnly = errors.New("exec: not a reading statement")

// ErrNoScope matches the refusal of a statement that needs a scope.
var ErrNoScope = errors.New("exec: no scope")

// RefusedError says that a statement may not run. Nothing of it ran.
type RefusedError struct {
	Reason string
	Detail string // one line for a person, without stored values
	Writes bool   // the statement writes or changes state
	// Name is what another statement may do without: a table or column that may not be read or is not there, in lower
	// case; "*" for a star, and whatever else reads columns that it does not name. "": there is nothing to write in
	// another way.
	Name string
	// Hidden ends Error, for a person alone: prompts do not have it.
	Hidden string
}

// Error returns "exec: refused (REASON): DETAIL", and Hidden behind it.
func (e *RefusedError) Error() string {
	return e.Public() + ": " + visible(e.Detail+e.Hidden)
}

// Public is the error without the names in it, for logs and exported traces (trace.Span.Fail).
func (e *RefusedError) Public() string { return fmt.Sprintf("exec: refused (%s)", e.Reason) }

// Is makes a refusal of a statement that writes match [ErrNotReadOnly], and one that lacks its scope [ErrNoScope].
func (e *RefusedError) Is(target error) bool {
	return target == ErrNotReadOnly && e.Writes || target == ErrNoScope && e.Reason == "scope"
}

// InvalidError says that the engine rejected a statement, or a check on its behalf.
type InvalidError struct {
	Fault   string // what is wrong with it
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

// PolicyError says that a policy names tables or columns that the database does not have, or that a rule of it cannot
// hold. A guard says so at its first use only: what is dropped later is no error, and a table that comes to be read
// past a rule is refused.
type PolicyError struct {
	// Unknown are the entries with the field in front, `DenyColumns: "users.pasword"`, and behind them what is wrong and
	// what to write, where the name is known.
	Unknown []string
}

// Error returns all entries that do not fit, in one line.
func (e *PolicyError) Error() string {
	return "exec: the policy does not fit the database: " + strings.Join(e.Unknown, ", ")
}

// Public is the error without the names, for logs and exported traces (trace.Span.Fail).
func (e *PolicyError) Public() string {
	return fmt.Sprintf("exec: the policy names %d things that the database does not have", len(e.Unknown))
}

// Refuse makes a refusal. A reason of "not-read-only" says that the statement writes.
func Refuse(reason string, format string, args ...any) *RefusedError {
	return &RefusedError{Reason: reason, Detail: fmt.Sprintf(format, args...), Writes: reason == "not-read-only"}
}

// NotReadableColumn is the refusal of a column that may not be read. how is what reads it without its name: "*", "u.*",
// "a NATURAL join"; "": the statement names it.
func NotReadableColumn(table, column, how string) *RefusedError {
	if how == "" {
		e := Refuse("column", "%s.%s may not be read", table, column)
		e.Name = strings.ToLower(strings.ToUpper(column)) // as exec/guard folds names
		return e
	}
	e := Refuse("column", "%s would read columns of %s that may not be read: name the columns that you need", how, table)
	e.Name = "*"
	return e
}
