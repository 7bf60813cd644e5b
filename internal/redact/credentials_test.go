package redact_test

import (
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/redact"
)

func TestCredentials(t *testing.T) {
	tests := []struct{ why, text, want string }{
		{"a parameter of a URL", "GET https://x.ai/v1?key=AIzaSyA-1234567890&alt=json: 403",
			"GET https://x.ai/v1?key=***&alt=json: 403"},
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
		{"a header as Go prints it", "sent map[Authorization:[Bearer abc] Host:[x]]",
			"sent map[Authorization:[***] Host:[x]]"},
		{"a list of headers as JSON", `{"Authorization":["abc"]}`, `{"Authorization":["***"]}`},
		{"a bare bearer token", "sent Bearer abc.def", "sent Bearer ***"},
		{"a JSON field", `{"api_key": "abc", "model": "m"}`, `{"api_key": ***, "model": "m"}`},
		{"a provider's key", "Incorrect API key provided: sk-proj-abcdefgh12345678.", "Incorrect API key provided: sk-***."},
		{"a bare key of Groq", "key gsk_abcdefgh12345678 is wrong", "key gsk_*** is wrong"},
		{"of Hugging Face", "hf_abcdefghijklmnop: 401", "hf_***: 401"},
		{"of xAI", "(xai-abcdefgh12345678)", "(xai-***)"},
		{"of GitHub", "ghp_abcdefgh12345678 and github_pat_11ABC_defghijkl", "ghp_*** and github_pat_***"},
		{"of Slack and GitLab", "xoxb-1234567890-abc, glpat-abcdefgh1234", "xoxb-***, glpat-***"},
		{"of AWS", "AKIAIOSFODNN7EXAMPLE denied", "AKIA*** denied"},
		{"a token of JSON parts", "got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-def", "got eyJ***"},
		{"a token in JSON", `{"token": "abc", "n": 1}`, `{"token": ***, "n": 1}`},
		{"in single quotes", `{'refresh_token': 'abc'}`, `{'refresh_token': ***}`},
		{"a name that ends in pass", "file:x.db?_auth_user=me&_auth_pass=hunter2", "file:x.db?_auth_user=me&_auth_pass=***"},
		{"a cookie", "sent Cookie: session=abc; id=7", "sent Cookie: ***"},
		{"cookies as Go prints them", "map[Set-Cookie:[a=b; Path=/] Host:[x]]", "map[Set-Cookie:[***] Host:[x]]"},
		{"a URL whose password has a slash", "dial postgres://me:hun/ter2@db:5432/shop: x",
			"dial postgres://me:***@db:5432/shop: x"},
		{"a port is no password", "GET http://db:8080/of/me@example.com: 404", "GET http://db:8080/of/me@example.com: 404"},
		{"words that begin like keys", "no such table: hf_x, ask-me, task-force-of-four",
			"no such table: hf_x, ask-me, task-force-of-four"},
		{"a continent", "no such column: ASIA_PACIFIC", "no such column: ASIA_PACIFIC"},
		{"SQLite says token: of SQL", `unrecognized token: "'x"`, `unrecognized token: "'x"`},
		{"an ordinary error", "no such column: key", "no such column: key"},
		{"a URL without a password", "Get http://localhost:11434/api/chat: refused",
			"Get http://localhost:11434/api/chat: refused"},
		{"an address", "mail me@example.com: x", "mail me@example.com: x"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			if got := redact.Credentials(tt.text); got != tt.want {
				t.Errorf("Credentials(%q)\n got %q\nwant %q", tt.text, got, tt.want)
			}
			if once := redact.Credentials(tt.text); redact.Credentials(once) != once {
				t.Errorf("scrubbed twice: %q, then %q", once, redact.Credentials(once))
			}
		})
	}
}

func BenchmarkScrub(b *testing.B) {
	text := strings.Repeat("exec: preparing statement: no such column: nme ", 4)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		redact.Credentials(text)
	}
}
