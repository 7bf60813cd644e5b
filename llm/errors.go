package llm

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/texttosql/texttosql/trace"
)

// Class says what kind of failure an error is, and so what may help. The
// strings are stable: recordings and traces hold them.
type Class string

// The classes. Only the first three are [Error.Temporary].
const (
	ClassRateLimit      Class = "rate-limit"       // too many requests (HTTP 429): wait
	ClassOverloaded     Class = "overloaded"       // the provider cannot now (HTTP 5xx), or the connection broke: wait
	ClassTimeout        Class = "timeout"          // no reply in time, while the caller was still waiting
	ClassContextTooLong Class = "context-too-long" // the request does not fit the model: shorten it
	ClassRefused        Class = "refused"          // the provider or the model declined the content: ask something else
	ClassCancelled      Class = "cancelled"        // the call was given up
	ClassPermanent      Class = "permanent"        // wrong key, wrong model, wrong request, no recording: do not repeat it
	ClassUnknown        Class = ""                 // none of these can be told
)

// String returns the class, "unknown" for ClassUnknown.
func (c Class) String() string { return cmp.Or(string(c), "unknown") }

// Error is a failed call.
type Error struct {
	// Class says what may help.
	Class Class
	// Status is the HTTP status of the reply; 0 if there was none or it is lost.
	Status int
	// RetryAfter is how long the provider asks to wait; 0 if it does not.
	RetryAfter time.Duration
	// Message is what went wrong, for a person; empty means the text of Err.
	// It may be raw: Error scrubs and cuts it.
	Message string
	// Err is the cause, for errors.Is and errors.As; may be nil.
	Err error
}

// Error returns "llm: CLASS (status N): MESSAGE" with the message as [Scrub]
// leaves it.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("llm: ")
	b.WriteString(strings.ReplaceAll(e.Class.String(), "-", " "))
	if e.Status != 0 {
		b.WriteString(" (status " + strconv.Itoa(e.Status) + ")")
	}
	if text := e.text(); text != "" {
		b.WriteString(": " + text)
	}
	return b.String()
}

func (e *Error) text() string {
	if e.Message == "" && e.Err != nil {
		return Scrub(e.Err.Error())
	}
	return Scrub(e.Message)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same call may succeed later: the class is
// ClassRateLimit, ClassOverloaded or ClassTimeout.
func (e *Error) Temporary() bool { return e.Class.temporary() }

func (c Class) temporary() bool {
	return c == ClassRateLimit || c == ClassOverloaded || c == ClassTimeout
}

// ClassOf returns the class of err: ClassPermanent for a spent budget, whatever
// failed before; that of the first [*Error] in it; ClassCancelled and ClassTimeout
// for the two errors of a context; else ClassUnknown, also for nil.
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

// AsError returns err if it is an [*Error] itself; else an *Error around it,
// with its [ClassOf] and, if there is one within, that one's status and wait. It
// returns nil for nil.
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
		e.Status, e.RetryAfter = within.Status, within.RetryAfter
	}
	return e
}

// maxMessage bounds what an error text repeats of a provider's words, in bytes:
// enough for its first sentence, too little for a prompt that it echoes.
const maxMessage = 200

// Scrub makes text from outside fit for an error text: one line, without
// control characters, with credentials replaced by "***" ([trace.Scrub]), cut
// at 200 bytes with "…" behind.
func Scrub(text string) string {
	if start := cut(text, 16*maxMessage); start != text { // a body may be megabytes
		// Without the last word: half a credential might not look like one.
		text = start[:strings.LastIndexAny(start, " \t\r\n")+1]
		if text == "" {
			text = start
		}
	}
	text = trace.Scrub(oneLine(text))
	if short := cut(text, maxMessage); short != text {
		return strings.TrimRight(short, " ") + "…"
	}
	return text
}

// oneLine returns text with every run of space and control characters as one
// space, and what is not UTF-8 as U+FFFD.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.Is(unicode.C, r)
	}), " ")
}

// cut returns the first n bytes of text, less a rune that would be split.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
