package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/redact"
)

// Class is the kind of a failure, which shows what may help. The strings never change, because recordings and traces
// contain them.
type Class string

// The classes. Only the first three are [Error.Temporary].
const (
	ClassRateLimit Class = "rate-limit" // too many requests (HTTP 429): wait
	// the provider cannot serve now (HTTP 5xx), or the connection broke: wait
	ClassOverloaded     Class = "overloaded"
	ClassTimeout        Class = "timeout"          // no reply in time, while the caller was still waiting
	ClassContextTooLong Class = "context-too-long" // the request is too long for the model: shorten it
	ClassRefused        Class = "refused"          // the provider or the model declined the content: ask something else
	ClassOutOfTokens    Class = "no-room"          // reasoning used up MaxTokens before the first word: allow more
	ClassCancelled      Class = "cancelled"        // the caller gave up
	ClassPermanent      Class = "permanent"        // wrong key, model or request, or no recording: do not repeat
	ClassUnknown        Class = ""                 // the class is not known
)

// String returns the class, "unknown" for ClassUnknown.
func (c Class) String() string { return cmp.Or(string(c), "unknown") }

// Error is the error of a failed call.
//
// Parameter is "temperature", "top_p", "max_tokens", "seed", "stop", "effort" or "schema", with ClassPermanent: the
// same call without it may succeed. Adapters set it from the provider's error code, never only from words in a
// message.
type Error struct {
	Class      Class         // the kind of failure
	Status     int           // HTTP status of the reply; 0 if there was none or it is unknown
	RetryAfter time.Duration // the wait that the provider requests; 0: none
	Parameter  string        // the field of the Request that the model rejects: see above; "" for any other failure
	Usage      Usage         // the cost of the failed call if the provider reports it; zero: as Class says
	Advice     string        // the client's advice for the operator; may be empty
	Message    string        // the text for a person, perhaps raw: the method Error scrubs it; "" means the text of Err
	Err        error         // the cause, for errors.Is and errors.As; may be nil
}

// Error returns "llm: CLASS (status N): ADVICE: MESSAGE", advice and message in one line and without credentials.
func (e *Error) Error() string {
	text := "llm: " + strings.ReplaceAll(e.Class.String(), "-", " ")
	if e.Status != 0 {
		text += fmt.Sprintf(" (status %d)", e.Status)
	}
	if message := e.text(); message != "" {
		text += ": " + message
	}
	return text
}

func (e *Error) text() string {
	message := e.Message
	if message == "" && e.Err != nil {
		message = e.Err.Error()
	}
	if e.Advice != "" {
		message = strings.TrimSuffix(e.Advice+": "+message, ": ")
	}
	return redact.Line(message)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// StatusError returns an [*Error] for a call that a server answered with an HTTP status other than success. The status
// decides the class: 429 is ClassRateLimit, 408 and 504 are ClassTimeout, 413 is ClassContextTooLong, 409 and all
// others from 500 on except 501 and 505 are ClassOverloaded, all others are ClassPermanent. retryAfter is the wait that
// the server requests (Retry-After); 0: none. err is the cause; it may be nil.
func StatusError(status int, retryAfter time.Duration, err error) error {
	return &Error{Class: classOfStatus(status), Status: status, RetryAfter: max(0, retryAfter), Err: err}
}

func classOfStatus(status int) Class {
	switch {
	case status == http.StatusTooManyRequests:
		return ClassRateLimit
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return ClassTimeout
	case status == http.StatusRequestEntityTooLarge:
		return ClassContextTooLong
	case status == http.StatusNotImplemented, status == http.StatusHTTPVersionNotSupported:
		return ClassPermanent
	case status == http.StatusConflict, status >= 500: // a conflict of the server's own; 529 is Anthropic's "overloaded"
		return ClassOverloaded
	}
	return ClassPermanent
}

// Temporary reports whether the same call may succeed later: the class is ClassRateLimit, ClassOverloaded or
// ClassTimeout.
func (e *Error) Temporary() bool { return e.Class.temporary() }

func (c Class) temporary() bool {
	return c == ClassRateLimit || c == ClassOverloaded || c == ClassTimeout
}

// ClassOf returns the class of err. It is ClassPermanent for a spent budget, otherwise the class of the first [*Error]
// in err. For the two errors of a context it is ClassCancelled or ClassTimeout. For any other error and for nil it is
// ClassUnknown.
func ClassOf(err error) Class {
	var e *Error
	switch {
	case err == nil:
		return ClassUnknown
	case errors.Is(err, ErrBudget):
		return ClassPermanent
	case errors.As(err, &e):
		return e.Class
	case errors.Is(err, context.Canceled):
		return ClassCancelled
	case errors.Is(err, context.DeadlineExceeded):
		return ClassTimeout
	}
	return ClassUnknown
}

// AsError returns err if it is an [*Error] itself, and nil for nil. Otherwise it wraps err in an *Error with the class
// from [ClassOf] and the other fields of the first *Error in err.
func AsError(err error) *Error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*Error); ok {
		return e
	}
	e := &Error{Class: ClassOf(err), Err: err}
	var within *Error
	if errors.As(err, &within) {
		e.Status, e.RetryAfter, e.Parameter, e.Usage, e.Advice = within.Status, within.RetryAfter, within.Parameter,
			within.Usage, within.Advice
	}
	return e
}
