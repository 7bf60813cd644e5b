package langchain

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseProblem(t *testing.T) {
	tests := []struct {
		why, body string
		want      problem
	}{
		{"OpenAI", `{"error":{"message":"m","type":"t","param":"temperature","code":"c"}}`, problem{"m", []string{"c", "t"}, "temperature"}},
		{"OpenAI, nothing but a message", `{"error":{"message":"m","type":null,"param":null,"code":null}}`, problem{"m", []string{"", ""}, ""}},
		{"Anthropic", `{"type":"error","error":{"type":"t","message":"m"}}`, problem{"m", []string{"", "t"}, ""}},
		{"Google", `{"error":{"code":400,"message":"m","status":"INVALID_ARGUMENT"}}`, problem{"m", []string{"", ""}, ""}},
		{"Google, streamed", `[{"error":{"code":400,"message":"m"}}]`, problem{"m", []string{"", ""}, ""}},
		{"Ollama", `{"error":"m"}`, problem{message: "m"}},
		{"vLLM", `{"object":"error","message":"m","type":"t","param":null,"code":400}`, problem{"m", []string{"", "t"}, ""}},
		{"FastAPI", `{"detail":"m"}`, problem{"m", []string{"", ""}, ""}},
		{"no message, but a code", `{"error":{"code":"c"}}`, problem{"c", []string{"c", ""}, ""}},
		{"no message, but a type", `{"type":"error","error":{"type":"t"}}`, problem{"t", []string{"", "t"}, ""}},
		{"a message that is none", `{"error":{"message":{"a":1}}}`, problem{codes: []string{"", ""}}},
		{"an odd error", `{"error":5}`, problem{}},
		{"a list of texts", `{"detail":["a"]}`, problem{codes: []string{"", ""}}},
		{"text", " upstream is gone\n", problem{message: "upstream is gone"}},
		{"page", " <html>\n", problem{message: "the server sent a web page"}},
		{"page with a title", "<!DOCTYPE html><Title lang=en> 502 &amp; more </title>", problem{message: "the server sent a web page (502 & more)"}},
		{"nothing", "", problem{}},
	}
	for _, test := range tests {
		got := parseProblem([]byte(test.body))
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(problem{})); diff != "" {
			t.Errorf("%s (-want +got)\n%s", test.why, diff)
		}
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
		{"nothing listens", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), "no server answers at 127.0.0.1:9: connection refused"},
		{"no such name", dial(&net.DNSError{Name: "nowhere.test", IsNotFound: true}), "there is no server nowhere.test"},
		{"too late", dial(os.ErrDeadlineExceeded), "the server did not answer in time"},
		{"certificate", &tls.CertificateVerificationError{Err: errors.New("expired")}, "the certificate of the server is not valid: expired"},
		{"cut", fmt.Errorf("the reply broke off: %w", io.ErrUnexpectedEOF), "the connection broke off before the reply was whole"},
		{"not about a connection", errors.New("oops"), ""},
	} {
		if got := disconnected(test.err); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
	syntax := json.Unmarshal([]byte("<"), new(any))
	for _, test := range []struct {
		why, head, want string
		err             error
	}{
		{"page", "\n<html><title>Welcome</title>", "the server's reply is no JSON but a web page (Welcome): is its address right?", syntax},
		{"text", "s3cret", "the server's reply is no JSON", fmt.Errorf("decode: %w", syntax)},
		{"the type of the error is hidden", "s3cret", "the server's reply is no JSON", errors.New("unmarshal: invalid character 's' looking")},
		{"nothing", " ", "the server's reply is empty", io.EOF},
		{
			"another form", "[1]", "the server's reply is JSON of another form than the client reads: is its address right?",
			errors.New("json: cannot unmarshal array"),
		},
		{"an error in a success", `{"error":{"message":"gone"}}`, "gone", errEmpty},
		{"an error without words", `{"error":{}}`, "the server reports an error without words", errEmpty},
		{"no error at all", `{"error":null,"choices":[]}`, "", errEmpty},
		{"an empty reply", `{"choices":[]}`, "", errEmpty},
	} {
		if got := unreadable(test.err, true, []byte(test.head)); got != test.want {
			t.Errorf("%s: %q, want %q", test.why, got, test.want)
		}
	}
}

func TestSplitStatus(t *testing.T) {
	tests := []struct {
		text    string
		status  int
		message string
		why     string
	}{
		{"API returned unexpected status code: 429: slow down", 429, "slow down", "OpenAI"},
		{"API returned unexpected status code: 503", 503, "", "OpenAI, no JSON"},
		{"anthropic: failed to create message: API returned unexpected status code: 529: Overloaded", 529, "Overloaded", "Anthropic"},
		{"unexpected status code: 503, body: busy", 503, "busy", "Hugging Face"},
		{"503 Service Unavailable", 503, "", "Ollama"},
		{"503 rows are wrong", 0, "", "not what the status is called"},
		{"200 OK", 0, "", "no failure"},
		{"429", 0, "", "just a number"},
		{"the API returned unexpected status code: 429", 0, "", "not at the beginning"},
		{"API returned unexpected status code: 4290", 0, "", "no status"},
		{"", 0, "", "empty"},
	}
	for _, test := range tests {
		status, message := splitStatus(test.text)
		if status != test.status || message != test.message {
			t.Errorf("%s: splitStatus(%q) = %d, %q", test.why, test.text, status, message)
		}
	}
}

func TestEdited(t *testing.T) {
	tests := []struct {
		why, body, want string
		topP            float64
		sent            bool
	}{
		{"OpenAI, Anthropic", `{"model":"m","temperature":0.5}`, `{"model":"m"}`, 0, false},
		{"Ollama", `{"options":{"temperature":0.5,"seed":1}}`, `{"options":{"seed":1}}`, 0, false},
		{"the word in a message stays", `{"messages":["temperature"]}`, `{"messages":["temperature"]}`, 0, false},
		{"no object", `[1]`, `[1]`, 0, false},
		{"null", `null`, `null`, 0.9, false},
		{"no JSON", `x=1`, `x=1`, 0.9, false},
		{"empty", ``, ``, 0.9, false},
		{"OpenAI's client drops top_p", `{"messages":[],"temperature":1}`, `{"top_p":0.9,"messages":[]}`, 0.9, true},
		{"Anthropic's has it", `{"messages":[],"top_p":0.5}`, `{"messages":[],"top_p":0.5}`, 0.9, true},
		{"Ollama's has it", `{"options":{"top_p":0.5},"messages":[]}`, `{"messages":[],"options":{"top_p":0.5}}`, 0.9, true},
		{"Google's has it", `{"generationConfig":{"topP":0.5}}`, `{"generationConfig":{"topP":0.5}}`, 0.9, true},
		{"another format", `{"inputs":"x"}`, `{"inputs":"x"}`, 0.9, false},
		{"options without it", `{"messages":[],"options":{}}`, `{"messages":[],"options":{}}`, 0.9, false},
	}
	for _, test := range tests {
		req, err := http.NewRequest(http.MethodPost, "http://provider.test", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		n := &notes{dropTemperature: true, topP: test.topP}
		changed, err := n.edited(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(changed.Body)
		if err != nil || n.sentTopP.Load() != test.sent || string(body) != test.want || changed.ContentLength != int64(len(test.want)) {
			t.Errorf("%s: got %s, %v, length %d", test.why, body, err, changed.ContentLength)
		}
	}
	get, err := http.NewRequest(http.MethodGet, "http://provider.test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := new(notes).edited(get); err != nil || changed.Body != nil {
		t.Errorf("without a body: %v", err)
	}
}

// FuzzParseProblem: what a failed response says is anybody's bytes.
func FuzzParseProblem(f *testing.F) {
	for _, seed := range []string{`{"error":{"message":"m","code":"c"}}`, `{"error":"m"}`, `[{"error":{}}]`, `<html>`, `{"error":null}`, `[[]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p := parseProblem(body)
		body = bytes.TrimSpace(body) // of blanks that are none to JSON, too
		if len(body) > 0 && !json.Valid(body) && !isPage(body) && p.message != string(body) {
			t.Errorf("the text %q of a body that is no JSON is %q", body, p.message)
		}
		for _, status := range []int{400, 429, 500} {
			classOf(status, p.codes)
		}
	})
}
