package setup

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/httpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// TestReadBudget: every field of llm.Budget is a member, and two have an older name.
func TestReadBudget(t *testing.T) {
	want := llm.Budget{Calls: 20, Tokens: 9, Money: 2, Timeout: 2 * time.Minute, ReasoningTokens: 7, InFlight: 3,
		Prices: map[string]llm.Price{"m": {Prompt: 1}}}
	for _, text := range []string{
		`{"Calls": 20, "Tokens": 9, "Money": 2, "Timeout": "2m", "ReasoningTokens": 7, "InFlight": 3, "Prices": {"m": {"Prompt": 1}}}`,
		`{"calls": 20, "Tokens": 9, "Money": 2, "Time": "2m", "Room": 7, "InFlight": 3, "Prices": {"m": {"prompt": 1}}}`,
	} {
		got, err := ReadBudget(strings.NewReader(text))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got)\n%s", text, err, diff)
		}
	}
}

// TestReadScope: what could mean another scope is an error.
func TestReadScope(t *testing.T) {
	got, err := readScope(
		strings.NewReader(
			`{"Key": "acme", "Params": {"tenant": 9007199254740993, "share": 0.5, "region": "EU", "none": null}}`))
	want := &exec.Scope{Key: "acme", Params: map[string]any{"tenant": int64(9007199254740993), "share": .5, "region": "EU",
		"none": nil}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for why, text := range map[string]string{
		"no key": `{"Params": {}}`, "a list": `{"Key": "a", "Params": {"x": [1]}}`,
		"a misspelt member": `{"Key": "a", "Parms": {}}`,
		"given twice":       `{"Key": "a", "Key": "b"}`, "nothing": ``,
	} {
		if s, err := readScope(strings.NewReader(text)); err == nil {
			t.Errorf("%s: %+v", why, s)
		}
	}
}

// TestByScope: each client reads as the scope of its user or token, and one that shows neither as nobody.
func TestByScope(t *testing.T) {
	const long, other = "0123456789abcdef-acme", "0123456789abcdef-globex"
	users := `{"Header": "X-User", "Users": {"ann": {"Key": "acme"}, "bob": {"Key": "globex"}}}`
	tokens := fmt.Sprintf(`{"Tokens": {%q: {"Key": "acme"}, %q: {"Key": "globex"}}}`, long, other)
	hash := fmt.Sprintf("%x", sha256.Sum256([]byte(long)))
	hashes := fmt.Sprintf(`{"Tokens": {"sha256:%s": {"Key": "acme"}, %q: {"Key": "globex"}}}`, hash, other)
	for _, tt := range []struct {
		why, file, token string
		header           http.Header
		says             string // "": refused
	}{
		{"a user", users, long, http.Header{"X-User": {"ann"}, "Authorization": {"Bearer " + long}}, "acme"},
		{"another user", users, long, http.Header{"X-User": {"bob"}, "Authorization": {"Bearer " + long}}, "globex"},
		{"a user without the proxy's token", users, long, http.Header{"X-User": {"ann"}}, ""},
		{"an unknown user without the proxy's token", users, long, http.Header{"X-User": {"eve"}}, ""},
		{"an unknown user with another token", users, long, http.Header{"X-User": {"eve"}, "Authorization": {"Bearer " +
			other}}, ""},
		{"two users", users, long, http.Header{"X-User": {"ann", "bob"}, "Authorization": {"Bearer " + long}}, ""},
		{"an unknown user", users, long, http.Header{"X-User": {"eve"}, "Authorization": {"Bearer " + long}}, ""},
		{"no user", users, long, http.Header{"Authorization": {"Bearer " + long}}, ""},
		{"a token", tokens, "", http.Header{"Authorization": {"Bearer " + other}}, "globex"},
		{"an unknown token", tokens, "", http.Header{"Authorization": {"Bearer 0123456789abcdef"}}, ""},
		{"a token by its hash", hashes, "", http.Header{"Authorization": {"Bearer " + long}}, "acme"},
		{"a plain token beside it", hashes, "", http.Header{"Authorization": {"Bearer " + other}}, "globex"},
		{"the hash itself", hashes, "", http.Header{"Authorization": {"Bearer " + hash}}, ""},
		{"the hash as the file has it", hashes, "", http.Header{"Authorization": {"Bearer sha256:" + hash}}, ""},
		{"no token", tokens, "", http.Header{"X-User": {"ann"}}, ""},
	} {
		file := filepath.Join(t.TempDir(), "scopes.json")
		testutil.OK(t, os.WriteFile(file, []byte(tt.file), 0o600))
		entry := httpserver.Door{Token: tt.token, Hosts: []string{"example.com"}}
		h, err := Serving{Scopes: file}.ByScope(entry, func(_ string, s *exec.Scope, d httpserver.Door) (http.Handler,
			error) {
			return d.Guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, s.Key) })), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest("GET", "http://example.com/", nil)
		r.Header = tt.header
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if said := w.Body.String(); (w.Code == http.StatusOK) != (tt.says != "") || tt.says != "" && said != tt.says {
			t.Errorf("%s: %d %s, want %q", tt.why, w.Code, said, tt.says)
		} else if shown := tt.header.Get("Authorization") == "Bearer "+long; tt.says == "" && tt.file == users &&
			(w.Code == http.StatusForbidden) != shown {
			t.Errorf("%s: %d %s, which tells who is a user", tt.why, w.Code, said)
		} else if tt.says == "" && tt.file != users && (w.Code != http.StatusUnauthorized ||
			!strings.Contains(said, "needs a token that it knows")) {
			t.Errorf("%s: %d %s", tt.why, w.Code, said)
		}
	}
	for why, text := range map[string]string{
		"a hash that is none":            `{"Tokens": {"sha256:9f86d081884c7d659a2f": {"Key": "a"}}}`,
		"a header that anybody may send": users, "a short token": `{"Tokens": {"short": {"Key": "a"}}}`,
		"both": `{"Header": "X", "Tokens": {"a": {"Key": "a"}}}`, "none": `{}`,
	} {
		file := filepath.Join(t.TempDir(), "scopes.json")
		testutil.OK(t, os.WriteFile(file, []byte(text), 0o600))
		if _, err := (Serving{Scopes: file}).ByScope(httpserver.Door{}, nil); err == nil {
			t.Errorf("%s is taken", why)
		}
	}
}

// TestUnknownUser: a browser of a user whom the file does not have gets a page that says what to do, a program a line.
func TestUnknownUser(t *testing.T) {
	file := filepath.Join(t.TempDir(), "scopes.json")
	testutil.OK(t, os.WriteFile(file, []byte(`{"Header": "X-User", "Users": {"ann": {"Key": "acme"}}}`), 0o600))
	entry := httpserver.Door{Token: "0123456789abcdef", Hosts: []string{"example.com"}}
	h := testutil.Value(Serving{Scopes: file}.ByScope(entry, func(string, *exec.Scope, httpserver.Door) (http.Handler,
		error) {
		return http.NotFoundHandler(), nil
	}))(t)
	for _, test := range []struct{ why, user, accept, says string }{
		{"a browser", "<b>eve</b>", "text/html,*/*", "signed in as &lt;b&gt;eve&lt;/b&gt;"},
		{"a browser without a name", "", "text/html", "did not say who you are"},
		{"a program", "eve", "application/json", "it is not known whose rows you may read\n"},
	} {
		r := httptest.NewRequest("GET", "http://example.com/", nil)
		r.Header.Set("X-User", test.user)
		r.Header.Set("Accept", test.accept)
		r.Header.Set("Authorization", "Bearer 0123456789abcdef")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), test.says) ||
			strings.Contains(w.Body.String(), "<b>") {
			t.Errorf("%s: %d %s", test.why, w.Code, w.Body)
		}
	}
}
