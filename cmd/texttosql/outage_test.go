package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestOutageOverHTTP: an outage of a real server costs time and no vote. TestOutageThatEnds has the whole grid.
func TestOutageOverHTTP(t *testing.T) {
	type told struct {
		SQL        string
		Confidence float64
		Ballot     any
		Warnings   any
	}
	db, want := shopFile(t), told{}
	for _, tt := range []struct {
		lasts  time.Duration
		status int
		after  string
	}{
		{0, 0, ""}, // no outage
		{time.Second, http.StatusTooManyRequests, ""},
		{200 * time.Millisecond, http.StatusTooManyRequests, "1"},
		{200 * time.Millisecond, http.StatusServiceUnavailable, ""},
		{time.Second, http.StatusInternalServerError, ""},
	} {
		var refused atomic.Int64
		provider := &fake{reply: always(neverOrdered)}
		ends := sync.OnceValue(func() time.Time { return time.Now().Add(tt.lasts) }) // from the first request on
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if ends := ends(); !time.Now().Before(ends) {
				provider.ServeHTTP(w, r)
				return
			}
			refused.Add(1)
			if tt.after != "" {
				w.Header().Set("Retry-After", tt.after)
			}
			w.WriteHeader(tt.status)
			fmt.Fprint(w, `{"error":{"message":"no"}}`)
		}))
		defer server.Close()
		env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "HOME": t.TempDir()}
		code, out, failed := try(t, env, "", "ask", "-d", db, "-m", "openai:fake", "--json",
			"Which customers in the USA never ordered?")
		var reply struct{ Result told }
		if err := json.Unmarshal([]byte(out), &reply); err != nil || code != exitAnswer || reply.Result.Confidence == 0 {
			t.Errorf("%v: code %d, %v: %s", tt, code, err, failed)
			continue
		}
		got := reply.Result
		if tt.lasts == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || refused.Load() > 0 != (tt.lasts > 0) {
			t.Errorf("%v: %d requests refused (-without +with):\n%s", tt, refused.Load(), diff)
		}
	}
}

// TestWrongKeyOnThePage: a question whose key the provider refuses makes one call, as the command does. Where the key
// was right before, that holds from the second question on: the calls of the first are on their way together.
func TestWrongKeyOnThePage(t *testing.T) {
	var calls atomic.Int64
	var wrong atomic.Bool
	provider := &fake{reply: always(neverOrdered)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if !wrong.Load() {
			provider.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"error":{"message":"Incorrect API key provided"}}`)
	}))
	defer server.Close()
	env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DSN": shopFile(t),
		"HOME": t.TempDir()}
	address, stop := servePage(t, env, "--model", "openai:fake", "--sessions", t.TempDir())
	defer stop()
	for i, tt := range []struct {
		why   string
		wrong bool
		most  int64
	}{
		{"a wrong key from the start", true, 1},
		{"asked again", true, 1},
		{"the right key", false, 99},
		{"a key that was withdrawn", true, 12},
		{"the question after it", true, 1},
	} {
		wrong.Store(tt.wrong)
		before := calls.Load()
		var c struct{ ID, State string }
		_, text := send(t, address, "/api/conversations",
			fmt.Sprintf(`{"question": "Which customers in the USA never ordered, %d?"}`, i))
		testutil.OK(t, json.Unmarshal([]byte(text), &c), text)
		for c.State == "" || c.State == "running" {
			time.Sleep(20 * time.Millisecond)
			_, text = send(t, address, "/api/conversations/"+c.ID, "")
			testutil.OK(t, json.Unmarshal([]byte(text), &c), text)
		}
		n := calls.Load() - before
		t.Logf("%s: %s, %d calls", tt.why, c.State, n)
		if n < 1 || n > tt.most || (c.State == "answered") == tt.wrong {
			t.Errorf("%s: %s after %d calls, want %d at most", tt.why, c.State, n, tt.most)
		}
	}
}
