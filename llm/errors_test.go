package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/texttosql/texttosql/llm"
)

func TestErrorText(t *testing.T) {
	tests := []struct {
		why  string
		err  *llm.Error
		want string
	}{
		{"all there is", &llm.Error{Class: llm.ClassRateLimit, Status: 429, RetryAfter: time.Second, Message: "slow down"},
			"llm: rate limit (status 429): slow down"},
		{"no status", &llm.Error{Class: llm.ClassContextTooLong, Message: "9000 tokens"},
			"llm: context too long: 9000 tokens"},
		{"the cause speaks where there is no message", &llm.Error{Class: llm.ClassPermanent, Err: io.ErrUnexpectedEOF},
			"llm: permanent: unexpected EOF"},
		{"a message hides the words of its cause", &llm.Error{Message: "cut off", Err: io.ErrUnexpectedEOF},
			"llm: unknown: cut off"},
		{"zero", &llm.Error{}, "llm: unknown"},
		{"a key in a message", &llm.Error{Class: llm.ClassPermanent, Message: "bad key: sk-abcdefghijklmnop"},
			"llm: permanent: bad key: sk-***"},
		{"a key in a cause", &llm.Error{Err: errors.New("GET https://x/?key=AIzaSecret: refused")},
			"llm: unknown: GET https://x/?key=*** refused"},
		{"several lines become one", &llm.Error{Message: "a\r\n\tb\x1b[31m\u202ec"}, "llm: unknown: a b[31mc"},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := tt.err.Error(); got != tt.want {
				t.Errorf("Error() = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestClassOf(t *testing.T) {
	tests := []struct {
		why       string
		err       error
		want      llm.Class
		temporary bool
	}{
		{"nil", nil, llm.ClassUnknown, false},
		{"some error", io.EOF, llm.ClassUnknown, false},
		{"of a class", &llm.Error{Class: llm.ClassOverloaded}, llm.ClassOverloaded, true},
		{"wrapped", fmt.Errorf("sample 3: %w", &llm.Error{Class: llm.ClassRateLimit}), llm.ClassRateLimit, true},
		{"a time-out of one attempt", &llm.Error{Class: llm.ClassTimeout}, llm.ClassTimeout, true},
		{"the class goes before the cause", &llm.Error{Class: llm.ClassRefused, Err: context.Canceled}, llm.ClassRefused,
			false},
		{"unknown although its cause is known", &llm.Error{Err: context.Canceled}, llm.ClassUnknown, false},
		{"cancelled", fmt.Errorf("x: %w", context.Canceled), llm.ClassCancelled, false},
		{"deadline", context.DeadlineExceeded, llm.ClassTimeout, false},
		{"budget", fmt.Errorf("x: %w", &llm.BudgetError{Limit: "calls"}), llm.ClassPermanent, false},
		{"budget spent after a failure", fmt.Errorf("%w: no attempt 2 after: %w", &llm.BudgetError{Limit: "calls"},
			&llm.Error{Class: llm.ClassRateLimit}),
			llm.ClassPermanent, true},
		{"permanent", &llm.Error{Class: llm.ClassPermanent}, llm.ClassPermanent, false},
		{"too long", &llm.Error{Class: llm.ClassContextTooLong}, llm.ClassContextTooLong, false},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := llm.ClassOf(tt.err); got != tt.want {
				t.Errorf("ClassOf = %v, want %v", got, tt.want)
			}
			var e *llm.Error
			if errors.As(tt.err, &e) && e.Temporary() != tt.temporary {
				t.Errorf("Temporary = %v, want %v", e.Temporary(), tt.temporary)
			}
		})
	}
}

// TestStatusError: the class of each status, and what it keeps.
func TestStatusError(t *testing.T) {
	cause := errors.New("slow down")
	for _, tt := range []struct {
		status    int
		want      llm.Class
		temporary bool
	}{
		{429, llm.ClassRateLimit, true}, {503, llm.ClassOverloaded, true}, {500, llm.ClassOverloaded, true},
		{529, llm.ClassOverloaded, true},
		{409, llm.ClassOverloaded, true}, {408, llm.ClassTimeout, true}, {504, llm.ClassTimeout, true},
		{413, llm.ClassContextTooLong, false},
		{400, llm.ClassPermanent, false}, {401, llm.ClassPermanent, false}, {404, llm.ClassPermanent, false},
		{501, llm.ClassPermanent, false},
		{0, llm.ClassPermanent, false},
	} {
		err := fmt.Errorf("mine: %w", llm.StatusError(tt.status, time.Minute, cause))
		e := llm.AsError(err)
		if e.Class != tt.want || e.Temporary() != tt.temporary || e.Status != tt.status || e.RetryAfter != time.Minute ||
			!errors.Is(err, cause) {
			t.Errorf("%d: %#v", tt.status, e)
		}
	}
	if e := llm.AsError(llm.StatusError(503, -time.Second, nil)); e.RetryAfter != 0 ||
		e.Error() != "llm: overloaded (status 503)" {
		t.Errorf("a wait that is over, and no cause: %v, %v", e.RetryAfter, e)
	}
}

func TestAsError(t *testing.T) {
	own := &llm.Error{Class: llm.ClassRateLimit, Status: 429, RetryAfter: time.Second, Message: "slow down"}
	if llm.AsError(nil) != nil || llm.AsError(own) != own {
		t.Error("nil or an *Error does not stay itself")
	}
	wrapped := fmt.Errorf("mine: %w", own)
	got := llm.AsError(wrapped)
	if got.Class != own.Class || got.Status != own.Status || got.RetryAfter != own.RetryAfter || !errors.Is(got, own) {
		t.Errorf("AsError(%v) = %#v", wrapped, got)
	}
	if got := llm.AsError(io.EOF); got.Class != llm.ClassUnknown || !errors.Is(got, io.EOF) ||
		got.Error() != "llm: unknown: EOF" {
		t.Errorf("AsError(EOF) = %#v", got)
	}
}
