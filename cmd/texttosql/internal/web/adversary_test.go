package web

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
)

// TestCookieOfAnother: a program on another port of the host may set a cookie of the same name; it neither opens the
// page nor locks out who has the right one.
func TestCookieOfAnother(t *testing.T) {
	s := open(t, func(c *Config) { c.Door.Token = "a token of the tests" })
	own := &http.Cookie{Name: cookie, Value: s.server.pass()}
	foreign := &http.Cookie{Name: cookie, Value: strings.Repeat("f", 64)}
	for _, tt := range []struct {
		why     string
		cookies []*http.Cookie
		status  int
	}{
		{"the foreign one alone", []*http.Cookie{foreign}, 401},
		{"the foreign one first", []*http.Cookie{foreign, own}, 200},
		{"the foreign one last", []*http.Cookie{own, foreign}, 200},
		{"the token itself is no cookie",
			[]*http.Cookie{{Name: cookie, Value: strings.ReplaceAll(s.server.Door.Token, " ", "+")}}, 401},
		{"an empty one", []*http.Cookie{{Name: cookie}}, 401},
	} {
		status, _ := s.do(t, "/api/conversations", nil, func(r *http.Request) {
			for _, c := range tt.cookies {
				r.AddCookie(c)
			}
		})
		if status != tt.status {
			t.Errorf("%s: %d, want %d", tt.why, status, tt.status)
		}
	}
}

// TestAddressIsNoPath: what stands behind the # of a link that somebody sent is the id of a conversation, or nothing.
// The page asks for no other address because of it.
func TestAddressIsNoPath(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How many in the north?").ID
	b := s.tab(t, desk, "/#c/"+strings.Repeat("0", 31))
	for _, hash := range []string{
		"../schema", "..%2fschema", "../login?", id + "/../../schema", id + "/events?", id + "%2Fcancel", id + "?x",
		strings.ToUpper(id), "%", "",
	} {
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(
			"addEventListener('hashchange', () => { window.came = %q; }, {once: true}); location.hash = %[1]q; undefined",
			"c/"+hash)))
		b.until(fmt.Sprintf("window.came === %q && document.body.innerText.includes('here is no such conversation')",
			"c/"+hash))
		asked := eval[[]string](b, "performance.getEntriesByType('resource').map((e) => e.name)")
		for _, url := range asked {
			if !strings.HasSuffix(url, "/api/conversations") && !strings.Contains(url, "favicon") {
				t.Errorf("#c/%s asks for %s", hash, url)
			}
		}
	}
	b.clean()
}

// TestStreamsAreBounded: many streams whose clients go away, or never read, leave nothing behind and lock nobody out.
func TestStreamsAreBounded(t *testing.T) {
	s := open(t, nil)
	id := s.asked(t, "", "How many in the north?").ID
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: 0}}
	var open []io.Closer
	full := 0
	for range maxWatchers + 10 {
		resp := testutil.Value(client.Get(s.URL + "/api/conversations/" + id + "/events"))(t)
		if resp.StatusCode == http.StatusServiceUnavailable {
			full++
		}
		open = append(open, resp.Body)
	}
	if full != 10 {
		t.Errorf("%d streams were refused, want 10", full)
	}
	for _, body := range open {
		body.Close()
	}
	client.CloseIdleConnections()
	status := 0
	for range 200 {
		resp := testutil.Value(client.Get(s.URL + "/api/conversations/" + id + "/events"))(t)
		resp.Body.Close()
		if status = resp.StatusCode; status == 200 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if status != 200 {
		t.Errorf("the streams that ended still count: %d", status)
	}
	client.CloseIdleConnections()
	s.end()
	if left := goroutines(); left != "" {
		t.Errorf("after the end there run:\n%s", left)
	}
}

// TestNothingBesideTheDoor: with a token no address but the page and the login answers anything, however it is written.
func TestNothingBesideTheDoor(t *testing.T) {
	s := open(t, func(c *Config) { c.Door.Token = "a token of the tests" })
	for _, path := range []string{
		"/api/schema", "/api//schema", "//api/schema", "/api/./schema", "/api/x/../schema", "/api/%73chema", "/API/schema",
		"/api/schema/", "/api/schema?x=/",
		"/%61pi/schema", "/api%2fschema", "/x/../api/schema", "/api/login/../schema", "/trace/" + session.NewID() + "/0",
		"/index.html", "/page.js", "/.git/config",
	} {
		for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "TRACE"} {
			req := testutil.Value(http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader("{}")))(t)
			req.Header.Set("X-Texttosql", "1")
			client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
			resp := testutil.Value(client.Do(req))(t)
			text, _ := io.ReadAll(resp.Body)
			resp.Body.Close()
			said := fmt.Sprintf("%s %s: %d %.100s", method, path, resp.StatusCode, text)
			if resp.StatusCode < 300 || strings.Contains(string(text), "sales") ||
				resp.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error(said)
			}
		}
	}
}
