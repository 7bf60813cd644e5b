package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/texttosql/texttosql/internal/words"
	"github.com/texttosql/texttosql/trace"
)

// Class says what kind of failure an error is, and so what may help. The strings never change, because recordings and
// traces hold them.
type Class string

// The classes. Only the first three are [Error.Temporary].
const (
	ClassRateLimit      Class = "rate-limit"       // too many requests (HTTP 429): wait
	ClassOverloaded     Class = "overloaded"       // the provider cannot serve now (HTTP 5xx), or the connection broke: wait
	ClassTimeout        Class = "timeout"          // no reply in time, while the caller was still waiting
	ClassContextTooLong Class = "context-too-long" // the request does not fit the model: shorten it
	ClassRefused        Class = "refused"          // the provider or the model declined the content: ask something else
	ClassNoRoom         Class = "no-room"          // MaxTokens was used up before the first word, by reasoning: allow more
	ClassCancelled      Class = "cancelled"        // the caller gave up
	ClassPermanent      Class = "permanent"        // wrong key, model or request, or no recording: do not repeat the call
	ClassUnknown        Class = ""                 // none of the others is known to apply
)

// String returns the class, "unknown" for ClassUnknown.
func (c Class) String() string { return cmp.Or(string(c), "unknown") }

// ErrAccount is the cause of a failed call whose account has no money left, or a limit that waiting does not lift: other calls
// fail as well until its owner has done something.
var ErrAccount = errors.New("llm: the account has no money left, or a limit is used up")

// Error is a failed call.
//
// Parameter is "temperature", "top_p", "max_tokens", "seed", "stop", "effort" or "schema", with ClassPermanent: the same
// call without it may do. Adapters set it from what the provider names as the cause, never from words of a message alone.
type Error struct {
	Class      Class         // what may help
	Status     int           // HTTP status of the reply; 0 if there was none or it is unknown
	RetryAfter time.Duration // the wait that the provider asks for; 0: none
	Parameter  string        // the field of the Request that the model refuses: see below; "" for any other failure
	Usage      Usage         // the cost of the failed call where the provider tells it, as of one without room; zero: what Class says
	Advice     string        // what the operator has to change, in words of the client alone; ""
	Message    string        // the text for a person; may be raw: the method Error scrubs it; "" means the text of Err
	Err        error         // the cause, for errors.Is and errors.As; may be nil
}

// Error returns "llm: CLASS (status N): ADVICE: MESSAGE", advice and message scrubbed by [Scrub].
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
	return Scrub(message)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same call may succeed later: the class is ClassRateLimit, ClassOverloaded or
// ClassTimeout.
func (e *Error) Temporary() bool { return e.Class.temporary() }

func (c Class) temporary() bool {
	return c == ClassRateLimit || c == ClassOverloaded || c == ClassTimeout
}

// ClassOf returns the class of err. It is ClassPermanent for a spent budget, else the class of the first [*Error] in
// err, else ClassCancelled or ClassTimeout for the two errors of a context, else ClassUnknown. It is ClassUnknown for
// nil.
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
// of [ClassOf], and with what the first *Error in err tells beside them.
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
		e.Status, e.RetryAfter, e.Parameter, e.Usage, e.Advice = within.Status, within.RetryAfter, within.Parameter, within.Usage, within.Advice
	}
	return e
}

// maxMessage bounds what an error text repeats of a provider's words, in bytes. It is enough for the first sentence and
// too little for a prompt that the provider echoes.
const maxMessage = 200

// Scrub makes text from outside fit for an error text: one line without control characters, with credentials replaced
// by "***" ([trace.Scrub]). A longer text is cut at 200 bytes and ends with "…".
func Scrub(text string) string {
	if start := words.Cut(text, 16*maxMessage); start != text { // a body may be megabytes
		// Without the last word: half a credential might not look like one.
		text = start[:strings.LastIndexAny(start, " \t\r\n")+1]
		if text == "" {
			text = start
		}
	}
	text = trace.Scrub(words.Line(strings.ToValidUTF8(text, "\uFFFD")))
	if short := words.Cut(text, maxMessage); short != text {
		return strings.TrimRight(short, " ") + "…"
	}
	return text
}
