package trace_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/trace"
)

func TestScrub(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"a parameter of a URL", "GET https://x.ai/v1?key=AIzaSyA-1234567890&alt=json: 403", "GET https://x.ai/v1?key=***&alt=json: 403"},
		{"a parameter of a DSN", "dial: host=db password=hunter2 user=me", "dial: host=db password=*** user=me"},
		{"a quoted one", "password='hunter 2' user=me", "password=*** user=me"},
		{"names that end in the word", "access_token=abc&api-key=def", "access_token=***&api-key=***"},
		{"case", "API_KEY=abc Token=def", "API_KEY=*** Token=***"},
		{"blanks around the sign", "pwd = hunter2", "pwd = ***"},
		{"a URL with a password", "postgres://me:hun@ter2@db:5432/shop", "postgres://me:***@db:5432/shop"},
		{"a MySQL DSN", "opening me:hunter2@tcp(127.0.0.1:3306)/shop", "opening me:***@tcp(127.0.0.1:3306)/shop"},
		{"a header", "Authorization: Bearer abc.def.ghi", "Authorization: ***"},
		{"a header as JSON", `{"Authorization":"Basic bWU6aHVudGVy"}`, `{"Authorization":"***"}`},
		{"a header of another scheme", "Authorization: Token abc failed", "Authorization: *** failed"},
		{"a header without a scheme", "authorization=abc", "authorization=***"},
		{"a header as Go prints it", "sent map[Authorization:[Bearer abc] Host:[x]]", "sent map[Authorization:[***] Host:[x]]"},
		{"a list of headers as JSON", `{"Authorization":["abc"]}`, `{"Authorization":["***"]}`},
		{"a bare bearer token", "sent Bearer abc.def", "sent Bearer ***"},
		{"a JSON field", `{"api_key": "abc", "model": "m"}`, `{"api_key": ***, "model": "m"}`},
		{"a provider's key", "Incorrect API key provided: sk-proj-abcdefgh12345678.", "Incorrect API key provided: sk-***."},
		{"SQLite says token: of SQL", `unrecognized token: "'x"`, `unrecognized token: "'x"`},
		{"an ordinary error", "no such column: key", "no such column: key"},
		{"a URL without a password", "Get http://localhost:11434/api/chat: refused", "Get http://localhost:11434/api/chat: refused"},
		{"an address", "mail me@example.com: x", "mail me@example.com: x"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := trace.Scrub(tt.text); got != tt.want {
				t.Errorf("Scrub(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if once := trace.Scrub(tt.text); trace.Scrub(once) != once {
				t.Errorf("scrubbed twice: %q, then %q", once, trace.Scrub(once))
			}
		})
	}
}

func BenchmarkScrub(b *testing.B) {
	text := strings.Repeat("exec: preparing statement: no such column: nme ", 4)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		trace.Scrub(text)
	}
}
