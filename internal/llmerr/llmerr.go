// Package llmerr has the causes of failed model calls that only our own packages test for. Programs use package
// failure.
package llmerr

import "errors"

// ErrAccount is the cause of a failed call if the account has no money left, or reached a limit that waiting does not
// lift. Other calls fail too until the owner of the account acts.
var ErrAccount = errors.New("llm: the account has no money left, or a limit is used up")

// ErrPanic matches the error of a call if the model or one of its middlewares panicked.
var ErrPanic = errors.New("the model panicked")
