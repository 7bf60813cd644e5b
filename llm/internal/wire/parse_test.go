package wire

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/texttosql/texttosql/internal/golden"
)

func TestParseProblem(t *testing.T) {
	tests := []struct {
		why, body string
		want      problem
	}{
		{"OpenAI", `{"error":{"message":"m","type":"t","param":"temperature","code":"c"}}`,
			problem{message: "m", codes: []string{"c", "t"}, param: "temperature"}},
		{"OpenAI, nothing but a message", `{"error":{"message":"m","type":null,"param":null,"code":null}}`,
			problem{message: "m"}},
		{"Anthropic", `{"type":"error","error":{"type":"overloaded_error","message":"m"}}`,
			problem{message: "m", codes: []string{"overloaded_error"}, status: 529}},
		{
			"Google", `{"error":{"code":429,"message":"m","status":"RESOURCE_EXHAUSTED","details":[{"reason":"R"},{"retryDelay":"17s"}]}}`,
			problem{message: "m", codes: []string{"RESOURCE_EXHAUSTED", "R"}, status: 429, retryAfter: 17 * time.Second},
		},
		{"Google, streamed", `[{"error":{"code":400,"message":"m"}}]`, problem{message: "m", status: 400}},
		{"Ollama", `{"error":"m"}`, problem{message: "m"}},
		{"Hugging Face", `{"error":["m","n"]}`, problem{message: "m"}},
		{"vLLM", `{"object":"error","message":"m","type":"t","param":null,"code":400}`,
			problem{message: "m", codes: []string{"t"}, status: 400}},
		{"LiteLLM", `{"error":{"message":"m","type":"None","param":"None","code":"400"}}`,
			problem{message: "m", codes: []string{"400", "None"}, status: 400}},
		{"FastAPI", `{"detail":"m"}`, problem{message: "m"}},
		{"pydantic", `{"detail":[{"loc":["body","n"],"msg":"m"}]}`, problem{message: "m"}},
		{"Cloudflare", `{"success":false,"errors":[{"code":10000,"message":"m"}]}`, problem{message: "m"}},
		{"MiniMax", `{"choices":null,"base_resp":{"status_code":1004,"status_msg":"m"}}`, problem{message: "m"}},
		{
			"OpenRouter",
			`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":{\"message\":\"m\",\"code\":\"c\"}}"}}}`,
			problem{message: "Provider returned error: m", codes: []string{"c"}, status: 400},
		},
		{"no message, but a code", `{"error":{"code":"c"}}`, problem{message: "c", codes: []string{"c"}}},
		{"no message, but a type", `{"type":"error","error":{"type":"t"}}`, problem{message: "t", codes: []string{"t"}}},
		{"a message that is none", `{"error":{"message":{"a":1}}}`, problem{}},
		{"an odd error", `{"error":5}`, problem{}},
		{"a list of texts", `{"detail":["a"]}`, problem{message: "a"}},
		{"text", " upstream is gone\n", problem{message: "upstream is gone"}},
		{"page", " <html>\n", problem{message: "the server sent a web page"}},
		{"page with a title", "<!DOCTYPE html><Title lang=en> 502 &amp; more </title>",
			problem{message: "the server sent a web page (502 & more)"}},
		{"nothing", "", problem{}},
	}
	for _, test := range tests {
		got := parseProblem([]byte(test.body))
		got.codes = slices.DeleteFunc(got.codes, func(code string) bool { return code == "" })
		golden.Equal(t, test.want, got, test.why, cmp.AllowUnexported(problem{}), cmpopts.EquateEmpty())
	}
}

// TestWords: what broke is said for people, and does not repeat what was sent.
func TestWords(t *testing.T) {
	dial := func(err error) error {
		to := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 9}
		return &url.Error{Op: "Post", URL: "http://h/v1?key=k", Err: &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: err}}
	}
	for _, test := range []struct {
		why  string
		err  error
		want string
	}{
		{"nothing listens", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
			"cannot reach http://h: connection refused. Is the server running?"},
		{"no such name", dial(&net.DNSError{Name: "nowhere.test", IsNotFound: true}), "there is no server nowhere.test"},
		{"too late", dial(os.ErrDeadlineExceeded), "the server did not answer in time"},
		{"certificate", &tls.CertificateVerificationError{Err: errors.New("expired")},
			"the certificate of the server is not valid: expired"},
		{"cut", fmt.Errorf("the reply broke off: %w", io.ErrUnexpectedEOF),
			"the connection broke off before the reply was whole"},
		{"not about a connection", errors.New("oops"), ""},
	} {
		if got := (&Call{url: "http://h/v1"}).disconnected(test.err); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
	syntax := json.Unmarshal([]byte("<"), new(any))
	for _, test := range []struct {
		why, head, want string
		err             error
	}{
		{"page", "\n<html><title>Welcome</title>", "the server's reply is no JSON but a web page (Welcome): " +
			"is its address right?", syntax},
		{"text", "s3cret", "the server's reply is no JSON but text: is its address right?", fmt.Errorf("decode: %w", syntax)},
		{"the type of the error is hidden", "{s3cret", "the server's reply is no JSON",
			errors.New("unmarshal: invalid character 's' looking")},
		{"nothing", " ", "the server's reply is empty", io.EOF},
		{
			"another form", "[1]", "the server's reply is JSON of another form, with nothing that the client reads: " +
				"is its address right?",
			errors.New("json: cannot unmarshal array"),
		},
		{"no error at all", `{"error":null,"choices":[]}`, "", ErrEmpty},
		{"an empty reply", `{"choices":[]}`, "", ErrEmpty},
	} {
		if got := unreadable(test.err, true, []byte(test.head)); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

// FuzzParseProblem: what a failed response says is anybody's bytes.
func FuzzParseProblem(f *testing.F) {
	for _, seed := range []string{`{"error":{"message":"m","code":"c"}}`, `{"error":"m"}`, `[{"error":{}}]`, `<html>`,
		`{"error":null}`, `[[]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := parseProblem(body)
		body = bytes.TrimSpace(body) // of blanks that are none to JSON, too
		if len(body) > 0 && !json.Valid(body) && !isPage(body) && p.message != string(body) {
			t.Errorf("the text %q of a body that is no JSON is %q", body, p.message)
		}
		for _, status := range []int{400, 429, 500} {
			Class(status, p.codes...)
		}
	})
}
