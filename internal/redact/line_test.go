package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/texttosql/texttosql/internal/redact"
)

func TestLine(t *testing.T) {
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
		{"a secret that stands across the cut", strings.Repeat("x", 195) + " token=0123456789", strings.Repeat("x", 195) +
			" toke…"},
		{"only space", " \r\n\t ", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := redact.Line(tt.in); got != tt.want {
				t.Errorf("Line(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func FuzzLine(f *testing.F) {
	f.Add("Authorization: Bearer abc", 3)
	f.Add(strings.Repeat("é", 120)+" key=abc", 100)
	f.Add("a\x00b\xff", 1)
	f.Fuzz(func(t *testing.T, text string, repeat int) {
		text = strings.Repeat(text, max(0, min(repeat, 10_000/(len(text)+1)))) // long enough for every cut
		got := redact.Line(text)
		if len(got) > 203 || !utf8.ValidString(got) || strings.ContainsAny(got, "\n\r\t\x1b\x00") {
			t.Errorf("Line(%q) = %q", text, got)
		}
		const secret = "s3cretS3cretS3cret"
		if out := redact.Line(text + " api_key=" + secret); !strings.Contains(text, secret) && strings.Contains(out, secret) {
			t.Errorf("a key is left in %q", out)
		}
	})
}

// What a provider said, in an error of one's own.
func ExampleLine() {
	fmt.Println(redact.Line("Incorrect API key provided:\n\tsk-test-0123456789abcdef"))
	// Output: Incorrect API key provided: sk-***
}

func BenchmarkLine(b *testing.B) {
	body := strings.Repeat(`{"error":{"message":"Incorrect API key provided: sk-0123456789abcdef","code":401}} `, 100)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		redact.Line(body)
	}
}
