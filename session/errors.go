package session

import (
	"errors"
	"fmt"
)

// ErrNotStandalone reports that Confirm needs another wording: the words of a follow-up are incomplete without the
// earlier questions.
var ErrNotStandalone = errors.New("session: a follow-up cannot be confirmed as it was asked: " +
	"give Confirm a wording that stands alone")

// StateError reports a call that the state of the conversation does not allow. The conversation is unchanged. From
// Choose, Correct and Apply it matches ErrInvalidCorrection.
type StateError struct {
	Call  string // the method
	State State
	Hint  string // an allowed call
}

// Error names the call, the state and an allowed call.
func (e *StateError) Error() string {
	return fmt.Sprintf("session: no %s while the conversation is %s: %s", e.Call, e.State, e.Hint)
}

// Is reports whether target is ErrInvalidCorrection and the call was Choose, Correct or Apply.
func (e *StateError) Is(target error) bool {
	return target == ErrInvalidCorrection && (e.Call == "Choose" || e.Call == "Correct" || e.Call == "Apply")
}

// InterruptedError reports that a conversation stopped before its answer: it was cancelled, a budget is spent, or a
// provider is down. It was saved, and Resume continues it.
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
