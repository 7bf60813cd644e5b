package exec

import (
	"errors"
	"fmt"
)

// Errors to test for with errors.Is.
var (
	// ErrNotReadOnly matches a refusal of a statement that writes or changes
	// state.
	ErrNotReadOnly = errors.New("exec: not a reading statement")
	// ErrUnguarded matches the error for a database or connection that cannot be
	// guarded. Nothing ran on it.
	ErrUnguarded = errors.New("exec: the database cannot be guarded")
	// ErrBusy matches an error about a lock that somebody else holds. The same
	// statement may succeed later.
	ErrBusy = errors.New("exec: the database is locked")
	// ErrBroken matches the error of a DB that could not put a connection to an
	// in-memory database back as it was, and therefore refuses further work.
	ErrBroken = errors.New("exec: a connection could not be restored")
)

// Rule names why a statement was refused. The values are stable; those of the
// text check are in sqltext.
type Rule string

// RefusedError says that a statement may not run. Nothing of it ran.
type RefusedError struct {
	Rule   Rule
	Detail string // one line for a person, without stored values
	Writes bool   // the statement writes or changes state
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("exec: refused (%s): %s", e.Rule, e.Detail)
}

// Is makes a refusal of a writing statement match [ErrNotReadOnly].
func (e *RefusedError) Is(target error) bool { return target == ErrNotReadOnly && e.Writes }
