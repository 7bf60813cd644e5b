package web

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
)

// stream is the events of a conversation.
type stream struct {
	t     *testing.T
	lines *bufio.Scanner
	close func()
}

func (s *shop) stream(t *testing.T, id string) *stream {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	req := testutil.Value(http.NewRequestWithContext(ctx, http.MethodGet, s.URL+"/api/conversations/"+id+"/events",
		nil))(t)
	resp := testutil.Value(http.DefaultClient.Do(req))(t)
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
		t.Fatal(resp.Status, kind)
	}
	return &stream{t, bufio.NewScanner(resp.Body), func() { cancel(); resp.Body.Close() }}
}

// next returns the next news.
func (s *stream) next() (n news) {
	s.t.Helper()
	for s.lines.Scan() {
		if data, ok := strings.CutPrefix(s.lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &n); err != nil {
				s.t.Fatal(err)
			}
			return n
		}
	}
	s.t.Fatalf("the stream has ended: %v", s.lines.Err())
	return n
}

// until returns the first news for which is holds.
func (s *stream) until(is func(news) bool) news {
	s.t.Helper()
	for {
		if n := s.next(); is(n) {
			return n
		}
	}
}

// sampling reports that the model is asked.
func sampling(n news) bool {
	return n.Running && slices.ContainsFunc(n.Steps, func(s step) bool { return s.Name == "sample" })
}
