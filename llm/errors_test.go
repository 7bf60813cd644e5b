package llm_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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
		{"no status", &llm.Error{Class: llm.ClassContextTooLong, Message: "9000 tokens"}, "llm: context too long: 9000 tokens"},
		{"the cause speaks where there is no message", &llm.Error{Class: llm.ClassPermanent, Err: io.ErrUnexpectedEOF}, "llm: permanent: unexpected EOF"},
		{"a message hides the words of its cause", &llm.Error{Message: "cut off", Err: io.ErrUnexpectedEOF}, "llm: unknown: cut off"},
		{"zero", &llm.Error{}, "llm: unknown"},
		{"a key in a message", &llm.Error{Class: llm.ClassPermanent, Message: "bad key: sk-abcdefghijklmnop"}, "llm: permanent: bad key: sk-***"},
		{"a key in a cause", &llm.Error{Err: errors.New("GET https://x/?key=AIzaSecret: refused")}, "llm: unknown: GET https://x/?key=*** refused"},
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
		{"the class goes before the cause", &llm.Error{Class: llm.ClassRefused, Err: context.Canceled}, llm.ClassRefused, false},
		{"unknown although its cause is known", &llm.Error{Err: context.Canceled}, llm.ClassUnknown, false},
		{"cancelled", fmt.Errorf("x: %w", context.Canceled), llm.ClassCancelled, false},
		{"deadline", context.DeadlineExceeded, llm.ClassTimeout, false},
		{"budget", fmt.Errorf("x: %w", &llm.BudgetError{Limit: "calls"}), llm.ClassPermanent, false},
		{"budget spent after a failure", fmt.Errorf("%w: no attempt 2 after: %w", &llm.BudgetError{Limit: "calls"}, &llm.Error{Class: llm.ClassRateLimit}),
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
	if got := llm.AsError(io.EOF); got.Class != llm.ClassUnknown || !errors.Is(got, io.EOF) || got.Error() != "llm: unknown: EOF" {
		t.Errorf("AsError(EOF) = %#v", got)
	}
}

func TestScrub(t *testing.T) {
	tests := []struct{ why, in, want string }{
		{"empty", "", ""},
		{"plain words stay", `no such model: "gpt-9"`, `no such model: "gpt-9"`},
		{"parameters", "url?key=abc&token=def password=ghi", "url?key=***&token=*** password=***"},
		{"a header", "Authorization: Bearer abc.def-ghi", "Authorization: ***"},
		{"a provider's key", "Incorrect API key provided: sk-proj-0123456789abcdef.", "Incorrect API key provided: sk-***."},
		{"a key across a line break is found after it is gone", "api_key=\n  sk-0123456789ab", "api_key= ***"},
		{"a hidden character does not split a key", "bad key: sk-0123\u200b456789abcdef", "bad key: sk-***"},
		{"cut at 200 bytes", strings.Repeat("x", 201), strings.Repeat("x", 200) + "…"},
		{"200 bytes are not cut", strings.Repeat("x", 200), strings.Repeat("x", 200)},
		{"no rune is split", strings.Repeat("é", 150), strings.Repeat("é", 100) + "…"},
		{"not UTF-8", "a\xff\xfeb", "a\uFFFDb"},
		{"a secret that stands across the cut", strings.Repeat("x", 195) + " token=0123456789", strings.Repeat("x", 195) + " toke…"},
		{"only space", " \r\n\t ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := llm.Scrub(tt.in); got != tt.want {
				t.Errorf("Scrub(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("Authorization: Bearer abc", 3)
	f.Add(strings.Repeat("é", 120)+" key=abc", 100)
	f.Add("a\x00b\xff", 1)
	f.Fuzz(func(t *testing.T, text string, repeat int) {
		text = strings.Repeat(text, max(0, min(repeat, 10_000/(len(text)+1)))) // long enough for every cut
		got := llm.Scrub(text)
		if len(got) > 203 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x1b\x00") {
			t.Errorf("Scrub(%q) = %q", text, got)
		}
		const secret = "s3cretS3cretS3cret"
		if out := llm.Scrub(text + " api_key=" + secret); !strings.Contains(text, secret) && strings.Contains(out, secret) {
			t.Errorf("a key is left in %q", out)
		}
	})
}
