package session

import (
	"errors"
	"fmt"
)

// ErrNotStandalone says that the wording of a follow-up was to be confirmed, which means nothing without the questions
// before it.
var ErrNotStandalone = errors.New("session: a follow-up cannot be confirmed as it was asked: give Confirm a wording that stands alone")

// StateError says that a call makes no sense now. The conversation is unchanged. Of Choose, Correct and Apply it matches
// ErrInvalidCorrection.
type StateError struct {
	Call  string // the method
	State State
	Hint  string // what can be done instead
}

// Error names the call, the state and what can be done.
func (e *StateError) Error() string {
	return fmt.Sprintf("session: no %s while the conversation is %s: %s", e.Call, e.State, e.Hint)
}

// Is reports whether target is ErrInvalidCorrection and the call was to correct something.
func (e *StateError) Is(target error) bool {
	return target == ErrInvalidCorrection && (e.Call == "Choose" || e.Call == "Correct" || e.Call == "Apply")
}

// InterruptedError says that a conversation stopped before its question was answered: it was cancelled, a budget is spent or
// a provider is down. It was saved, and Resume goes on where it stopped.
type InterruptedError struct {
	ID  string // id of the conversation
	Err error  // why
}

// Error names the conversation and the reason.
func (e *InterruptedError) Error() string {
	return fmt.Sprintf("session: conversation %s is interrupted and can be resumed: %v", e.ID, e.Err)
}

// Unwrap returns the reason.
func (e *InterruptedError) Unwrap() error { return e.Err }
