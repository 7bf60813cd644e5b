package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/dialogue"
	"github.com/texttosql/texttosql/internal/sessionscope"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/session"
)

// TestConversation: a question, a follow-up, a correction and a confirmation, each in its record and on the page.
func TestConversation(t *testing.T) {
	s := open(t, nil)
	c := s.asked(t, "", "What was sold each day?")
	a := c.Turns[0].Answer
	if c.State != answered || a == nil || a.SQL != "SELECT day, amount FROM sales ORDER BY day" ||
		a.Rows.Count != "6 rows" || len(a.Rows.Charts) != 1 ||
		len(a.Votes) != 1 || a.Votes[0].Votes != "3 of 3" || a.Why == "" || !a.Trace || a.Confidence <= 0 ||
		!strings.Contains(a.Cost, "3 model calls") {
		t.Fatalf("%+v %+v", c, a)
	}
	if status, page := s.do(t, "/trace/"+c.ID+"/0", nil, nil); status != 200 ||
		!strings.Contains(page["text"].(string), "SELECT day, amount") {
		t.Error(status, page)
	}
	c = s.asked(t, c.ID, "How many in the north?")
	c = s.asked(t, c.ID, "And in the south?")
	if at := c.Turns[2]; at.Kind != dialogue.TurnFollowUp || *at.Answer.Rows.Rows[0][0] != "2" ||
		c.Turns[0].Answer == nil ||
		c.Title != "What was sold each day?" {
		t.Fatalf("%+v", c)
	}
	c = s.say(t, c.ID, "correct", map[string]any{"text": "only those of clerk 1"})
	// prose is not counted
	if at := c.Turns[3]; at.Kind != dialogue.TurnCorrection || *at.Answer.Rows.Rows[0][0] != "1" || c.Left != 3 {
		t.Fatalf("%+v", c)
	}
	c = s.say(t, c.ID, "correct", map[string]any{"correction": map[string]any{"type": "column", "user_term": "south",
		"actual_column": `"sales".region`}})
	if c.Turns[4].Meaning != "“south” means sales.region" || c.Left != 2 {
		t.Errorf("%+v", c.Turns[4])
	}
	if status, refused := s.do(t, "/api/conversations/"+c.ID+"/confirm", input{}, nil); status != 422 ||
		refused["code"] != "input" {
		t.Error(status, refused)
	}
	c = s.say(t, c.ID, "confirm", map[string]any{"text": "How many sales of clerk 1 were in the south?"})
	pairs, err := s.confirmed.Pairs()
	if err != nil || len(pairs) != 1 || pairs[0].Question != "How many sales of clerk 1 were in the south?" ||
		!c.Turns[4].Confirmed || len(c.Turns) != 5 {
		t.Errorf("%+v %v %+v", pairs, err, c)
	}
	_, all := s.do(t, "/api/conversations", nil, nil)
	if got := all["conversations"].([]any)[0].(map[string]any); got["title"] != "What was sold each day?" ||
		got["state"] != answered ||
		all["database"] != "market" {
		t.Errorf("%v", all)
	}
	_, start := s.do(t, "/api/start", nil, nil)
	if last := start["last"].([]any); len(last) != 1 || last[0].(map[string]any)["figure"] != "1" ||
		last[0].(map[string]any)["id"] != c.ID {
		t.Errorf("%v", start)
	}
	if rec, err := s.store.Load(t.Context(), c.ID); err != nil || rec.Revision != c.Revision || len(rec.Turns) != 6 {
		t.Errorf("the record is another one: %+v, %v", rec, err)
	}
}

// TestRefusals: each request that cannot be done is refused with a status and a word.
func TestRefusals(t *testing.T) {
	s := open(t, nil)
	done := s.asked(t, "", "How many in the north?").ID
	missing := "/api/conversations/" + session.NewID()
	testutil.OK(t, os.WriteFile(filepath.Join(s.dir, "sessions", strings.Repeat("b", 32)+".json"), []byte("{"), 0o600))
	ask := map[string]any{"question": "How many in the north?"}
	for _, tt := range []struct {
		path   string
		body   any // nil: a GET
		change func(*http.Request)
		status int
		code   string // "": the reply is that of the door
		why    string
	}{
		{"/api/conversations", ask, func(r *http.Request) { r.Header.Del("X-Texttosql") }, 403, "foreign",
			"a form of another page has no header of ours"},
		{"/api/conversations", ask, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415, "request",
			"nor this type"},
		{"/api/conversations", ask, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403, "",
			"another page"},
		{"/api/conversations", ask, func(r *http.Request) {
			r.Header.Set("Origin", "null")
		}, 403, "", "a page in a frame without an origin"},
		{"/api/conversations", ask, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "",
			"another page that hides its origin"},
		{"/api/conversations", nil, func(r *http.Request) {
			r.Host = "evil.example"
		}, 403, "", "a name that was bent to this machine"},
		{"/", nil, func(r *http.Request) { r.Host = "evil.example" }, 403, "", "not even the page"},
		{"/api/conversations", nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403, "",
			"a script of another page that reads"},
		{"/api/conversations", map[string]any{"question": strings.Repeat("x", maxBody)}, nil, 413, "", "a body without end"},
		{"/api/conversations", map[string]any{"question": strings.Repeat("x", 8<<10+1)}, nil, 422, "input",
			"too long a question"},
		{"/api/conversations", map[string]any{"question": " "}, nil, 422, "input", "no word"},
		{"/api/conversations", map[string]any{"sql": "SELECT 1"}, nil, 400, "request", "a member that is not known"},
		{"/api/conversations", "no object", nil, 400, "request", "no object"},
		{"/api/conversations", ask, func(r *http.Request) {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(`{"question": "Who?"} {"question": "How many?"}`)), -1
		}, 400, "request", "two questions, of which one would be lost"},
		{missing, nil, nil, 404, "missing", "no such conversation"},
		{missing + "/events", nil, nil, 404, "missing", "nor its events"},
		{missing + "/ask", ask, nil, 404, "missing", "nor a follow-up"},
		{"/api/conversations/..%2f..%2fetc/ask", ask, nil, 404, "missing", "no id"},
		{"/api/conversations/..%2f..%2fetc", nil, nil, 404, "missing", "no id"},
		{"/api/conversations/" + strings.Repeat("b", 32), nil, nil, 500, "internal", "a record that is no JSON"},
		{"/api/conversations/" + done + "/drop", map[string]any{}, nil, 404, "missing", "no such call"},
		{"/api/conversations/" + done + "/choose", map[string]any{"option": "r1"}, nil, 409, "conflict", "nothing is asked"},
		{"/api/conversations/" + done + "/correct",
			map[string]any{"correction": map[string]any{"type": "table", "selected_tables": []string{"sails"}}}, nil,
			422, "input", "no such table"},
		{"/api/conversations/" + done + "/correct", map[string]any{"text": ""}, nil, 422, "input", "nothing said"},
		{"/trace/" + done + "/7", nil, nil, 404, "missing", "no such turn"},
		{"/trace/" + done + "/x", nil, nil, 404, "missing", "no turn"},
	} {
		status, reply := s.do(t, tt.path, tt.body, tt.change)
		if status != tt.status || tt.code != "" && (reply["code"] != tt.code || reply["error"] == "") {
			t.Errorf("%s %.60v: %s: %d %v, want %d %s", tt.path, tt.body, tt.why, status, reply, tt.status, tt.code)
		}
	}
	if s.asked(t, done, "How many in the north?").State != answered {
		t.Error("the conversation did not go on")
	}
}

// TestOneAtATime: a conversation answers one question.
func TestOneAtATime(t *testing.T) {
	s := open(t, func(c *Config) { c.Parallel = 2 })
	release := s.model.hold()
	defer release()
	ask := map[string]any{"question": "How many in the north?"}
	_, first := s.do(t, "/api/conversations", ask, nil)
	_, second := s.do(t, "/api/conversations", ask, nil)
	id := first["id"].(string)
	for _, call := range []string{"ask", "resume", "restart", "confirm"} { // as from another tab
		if status, refused := s.do(t, "/api/conversations/"+id+"/"+call, ask, nil); status != 409 ||
			refused["code"] != "busy" {
			t.Error(call, status, refused)
		}
	}
	s.do(t, "/api/conversations/"+second["id"].(string)+"/cancel", map[string]any{}, nil)
	if c := s.settled(t, second["id"].(string)); c.State != stopped || c.Active || c.Turns[0].Failure == nil {
		t.Errorf("%+v", c)
	}
	release()
	if c := s.settled(t, id); c.State != answered {
		t.Errorf("%+v", c)
	}
	if c := s.say(t, second["id"].(string), "resume", map[string]any{}); c.State != answered {
		t.Errorf("%+v", c)
	}
}

// TestLine: the server works on a bounded number of questions. Others are kept, wait in the order of coming and are
// told their place; one that is cancelled leaves the line, and what was asked can go on.
func TestLine(t *testing.T) {
	s := open(t, func(c *Config) { c.Parallel = 1 })
	release := s.model.hold()
	defer release()
	ask := map[string]any{"question": "How many in the north?"}
	var ids []string
	for range 4 {
		status, r := s.do(t, "/api/conversations", ask, nil)
		if status != http.StatusAccepted {
			t.Fatal(status, r)
		}
		ids = append(ids, r["id"].(string))
		stream := s.stream(t, ids[len(ids)-1])
		stream.until(func(n news) bool { return n.Running && n.Line == len(ids)-1 })
		stream.close()
	}
	if c := s.view(t, ids[2]); c.State != running || c.Turns[0].Text != "How many in the north?" {
		t.Errorf("%+v", c)
	}
	s.do(t, "/api/conversations/"+ids[1]+"/cancel", map[string]any{}, nil)
	if c := s.settled(t, ids[1]); c.State != stopped || c.Active {
		t.Errorf("%+v", c)
	}
	last := s.stream(t, ids[3])
	last.until(func(n news) bool { return n.Line == 2 })
	last.close()
	waiting := make(chan int) // a statement of a person waits too
	go func() {
		status, _ := s.do(t, "/api/query", map[string]any{"sql": "SELECT count(*) FROM sales"}, nil)
		waiting <- status
	}()
	release()
	for _, i := range []int{0, 2, 3} {
		if c := s.settled(t, ids[i]); c.State != answered {
			t.Errorf("%d: %+v", i, c)
		}
	}
	if status := <-waiting; status != http.StatusOK {
		t.Error(status)
	}
	if c := s.say(t, ids[1], "resume", map[string]any{}); c.State != answered {
		t.Errorf("%+v", c)
	}
	if s.server.jobs != 0 || len(s.server.line) != 0 {
		t.Errorf("%d work, %d wait", s.server.jobs, len(s.server.line))
	}
}

// TestLineIsBounded: beyond a hundred a question is kept and stopped; it can be asked to go on.
func TestLineIsBounded(t *testing.T) {
	s := open(t, func(c *Config) { c.Parallel = 1 })
	release := s.model.hold()
	defer release()
	ask := map[string]any{"question": "How many in the north?"}
	s.do(t, "/api/conversations", ask, nil)
	s.server.mu.Lock()
	for range maxLine {
		s.server.line = append(s.server.line, waiter{&topic{}, make(chan struct{})})
	}
	s.server.mu.Unlock()
	_, r := s.do(t, "/api/conversations", ask, nil)
	if c := s.settled(t, r["id"].(string)); c.State != stopped {
		t.Errorf("%+v", c)
	}
	if status, refused := s.do(t, "/api/query", map[string]any{"sql": "SELECT 1"}, nil); status != 503 ||
		refused["code"] != "full" {
		t.Error(status, refused)
	}
}

// TestBusy: while a call waits to be tried again, the page says so.
func TestBusy(t *testing.T) {
	s := open(t, nil)
	s.model.fails(&llm.Error{Class: llm.ClassRateLimit, RetryAfter: 30 * time.Second})
	s.end()
	s.start(t, func(c *Config) {
		c.Engine = testutil.Value(texttosql.New(s.db, s.model, texttosql.WithSamples(1),
			texttosql.WithProgress(c.Progress.Tell)))(t)
	})
	_, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"}, nil)
	stream := s.stream(t, r["id"].(string))
	defer stream.close()
	stream.until(func(n news) bool { return n.Busy > 20 && n.Busy <= 31 })
	s.do(t, "/api/conversations/"+r["id"].(string)+"/cancel", map[string]any{}, nil)
	stream.until(func(n news) bool { return !n.Running && n.Busy == 0 })
}

// TestClientGoesAway: who leaves ends a stream and no question.
func TestClientGoesAway(t *testing.T) {
	s := open(t, nil)
	release := s.model.hold()
	defer release()
	_, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"}, nil)
	id := r["id"].(string)
	watching := s.stream(t, id)
	now := watching.until(sampling)
	if now.Revision < 1 || now.Steps[0] != (step{Name: "schema", Begun: 1, Ended: 1}) {
		t.Errorf("%+v", now)
	}
	watching.close()
	if c := s.view(t, id); c.State != running {
		t.Errorf("%+v", c)
	}
	release()
	if c := s.settled(t, id); c.State != answered {
		t.Errorf("%+v", c)
	}
}

// TestStops: a server that is stopped or killed in the middle leaves a conversation that goes on.
func TestStops(t *testing.T) {
	for _, killed := range []bool{false, true} {
		s := open(t, nil)
		s.asked(t, "", "What was sold each day?")
		release := s.model.hold()
		_, r := s.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"}, nil)
		id := r["id"].(string)
		stream := s.stream(t, id)
		stream.until(sampling)
		if killed { // what a killed program leaves is what its files hold now
			rec, err := s.store.Load(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			s.dir = t.TempDir()
			s.store = testutil.Value(session.OpenFiles(filepath.Join(s.dir, "sessions")))(t)
			rec.Revision = 0
			testutil.OK(t, s.store.Save(t.Context(), rec))
		}
		s.end()
		if n := goroutines(); n != "" {
			t.Errorf("after the end there run:\n%s", n)
		}
		release()
		s.start(t, nil)
		if c := s.view(t, id); c.State != stopped || c.Active != killed || c.Turns[0].Failure == nil {
			t.Errorf("killed %v: %+v", killed, c)
		}
		if c := s.say(t, id, "resume", map[string]any{}); c.State != answered {
			t.Errorf("killed %v: %+v", killed, c)
		}
	}
}

// goroutines are the stacks of goroutines of a Server, once those that have done their work are gone.
func goroutines() string {
	var own []string
	for range 1000 {
		all := make([]byte, 1<<20)
		own = nil
		for _, stack := range strings.Split(string(all[:runtime.Stack(all, true)]), "\n\n") {
			if strings.Contains(stack, "web.(*Server)") {
				own = append(own, stack)
			}
		}
		if len(own) == 0 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	return strings.Join(own, "\n\n")
}

// TestTwoServers: another program is told to wait for a conversation that the first one works on, and pays nothing for
// it.
func TestTwoServers(t *testing.T) {
	one := open(t, nil)
	release := one.model.hold()
	defer release()
	_, r := one.do(t, "/api/conversations", map[string]any{"question": "How many in the north?"}, nil)
	id := r["id"].(string)
	held := one.stream(t, id)
	held.until(sampling)
	held.close()
	other := &shop{model: &clerk{}, db: one.db, dialect: one.dialect, dir: one.dir}
	other.start(t, nil)
	if c := other.view(t, id); c.State != stopped || !c.Active {
		t.Errorf("%+v", c)
	}
	for call, in := range map[string]map[string]any{"resume": {}, "restart": {},
		"ask": {"question": "And in the south?"}} {
		if status, refused := other.do(t, "/api/conversations/"+id+"/"+call, in, nil); status != 503 ||
			refused["code"] != "busy" {
			t.Errorf("%s: %d %v", call, status, refused)
		}
	}
	release()
	if mine, c := one.settled(t, id), other.settled(t, id); c.State != answered || mine.State != answered ||
		mine.Revision != c.Revision {
		t.Errorf("%+v\n%+v", c, mine)
	}
	if c := other.say(t, id, "ask", map[string]any{"question": "And in the south?"}); c.State != answered {
		t.Errorf("afterwards: %+v", c)
	}
}

// TestFailures: what the model, the provider or the database breaks is told without what nobody may see.
func TestFailures(t *testing.T) {
	s := open(t, func(c *Config) {
		// also where a user has the name of a tag
		c.Hide = strings.NewReplacer("s3cret-host", "…", "root", "…", "main", "…").Replace
	})
	c := s.asked(t, "", "What is the weather?")
	if f := c.Turns[0].Failure; c.State != failed || f == nil || len(f.Advice) == 0 || !f.Trace {
		t.Errorf("%+v", c)
	}
	s.model.fails(&llm.Error{Class: llm.ClassPermanent, Err: errors.New("dial tcp: lookup s3cret-host"),
		Message: "no server at s3cret-host, api_key=sk-s3cret012345"})
	c = s.asked(t, "", "How many in the north?")
	if f := c.Turns[0].Failure; c.State != stopped || f == nil || f.Error != unavailable || len(f.Advice) != 0 || f.Final {
		t.Errorf("%+v %+v", c, c.Turns[0].Failure) // its own words are for who runs it
	}
	if status, page := s.do(t, "/trace/"+c.ID+"/0", nil, nil); status != 200 ||
		!strings.Contains(page["text"].(string), "does not take the request") ||
		!strings.Contains(page["text"].(string), "<main>") || !strings.Contains(page["text"].(string), ":root {") {
		t.Error(status, page)
	}
	s.model.fails(nil)
	if c = s.say(t, c.ID, "resume", map[string]any{}); c.State != answered {
		t.Errorf("%+v", c)
	}
	again := map[string]any{"text": "only those of clerk 1"}
	testutil.Value(s.db.Exec("ALTER TABLE clerks ADD COLUMN born TEXT"))(t)
	if status, refused := s.do(t, "/api/conversations/"+c.ID+"/correct", again, nil); status != 409 ||
		refused["code"] != "stale" {
		t.Error(status, refused)
	}
	if c = s.say(t, c.ID, "restart", map[string]any{}); c.State != answered {
		t.Errorf("%+v", c)
	}
	s.db.Close()
	if status, refused := s.do(t, "/api/schema", nil, nil); status != 503 || refused["code"] != "database" {
		t.Error(status, refused)
	}
	if c = s.asked(t, c.ID, "How many in the north?"); c.State == answered || c.Turns[1].Failure == nil {
		t.Errorf("%+v", c)
	}
}

// TestToken: with a token nothing but the page itself comes without it, and it comes in no address.
func TestToken(t *testing.T) {
	const token = "a token of the tests"
	s := open(t, func(c *Config) { c.Door.Token = token })
	for _, path := range []string{
		"/api/conversations", "/api/schema", "/api/conversations/" + session.NewID() + "/events", "/trace/x/0",
		"/api/nothing",
	} {
		if status, _ := s.do(t, path, nil, nil); status != 401 {
			t.Error(path, status)
		}
	}
	if status, page := s.do(t, "/", nil, nil); status != 200 || strings.Contains(page["text"].(string), "market") {
		t.Error(status)
	}
	if status, refused := s.do(t, "/api/login", map[string]any{"Token": "another"}, nil); status != 401 ||
		refused["code"] != "token" {
		t.Error(status, refused)
	}
	if status, _ := s.do(t, "/api/conversations", nil, func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+token)
	}); status != 200 {
		t.Error(status)
	}
	body := strings.NewReader(`{"Token": "` + token + `"}`)
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/api/login", body)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Texttosql", "1")
	resp := testutil.Value(http.DefaultClient.Do(req))(t)
	resp.Body.Close()
	given := resp.Cookies()
	if len(given) != 1 || !given[0].HttpOnly || given[0].SameSite != http.SameSiteStrictMode ||
		strings.Contains(given[0].Value, token) {
		t.Fatal(given)
	}
	if status, _ := s.do(t, "/api/conversations", nil, func(r *http.Request) { r.AddCookie(given[0]) }); status != 200 {
		t.Error(status)
	}
	given[0].Value = strings.Repeat("0", len(given[0].Value))
	if status, _ := s.do(t, "/api/conversations", nil, func(r *http.Request) { r.AddCookie(given[0]) }); status != 401 {
		t.Error(status)
	}
}

// TestNew: what is missing is said at once.
func TestNew(t *testing.T) {
	s := open(t, nil)
	for _, c := range []Config{{}, {Engine: s.server.Engine}, {Engine: s.server.Engine, Store: s.store, Parallel: -1}} {
		if _, err := New(c); err == nil {
			t.Errorf("%+v", c)
		}
	}
}

// TestAsset: the page is one document. It has no handler and no style in its markup, and its script makes no markup.
func TestAsset(t *testing.T) {
	markup := regexp.MustCompile(`(?i)\son\w+\s*=|\sstyle\s*=|\ssrc\s*=|https?:`)
	if found := markup.Find(part("page.html")); found != nil {
		t.Errorf("%q in the markup", found)
	}
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
		"eval(", "new Function", "localStorage", "sessionStorage", "javascript:"} {
		if bytes.Contains(script(), []byte(word)) {
			t.Errorf("%s in the script", word)
		}
	}
	if page := assembled(strings.NewReplacer()); bytes.Contains(page.text, []byte("/* s")) ||
		!strings.Contains(page.policy, "trusted-types 'none'") {
		t.Errorf("%s", page.policy)
	}
}

// TestBusyOfAnother: whether a conversation of another scope is busy nobody learns.
func TestBusyOfAnother(t *testing.T) {
	s := open(t, func(c *Config) { c.Store = sessionscope.Of(c.Store, "mine") })
	for _, tt := range []struct {
		why, scope string
		saved      bool
		locked     bool
		want       int
	}{
		{"one's own", "mine", true, false, 200},
		{"one's own that is busy", "mine", true, true, 409},
		{"one of another", "other", true, false, 404},
		{"one of another that is busy", "other", true, true, 404},
		{"none", "", false, false, 404},
	} {
		rec := session.New(session.NewID(), time.Now())
		if rec.Scope = tt.scope; tt.saved {
			testutil.OK(t, s.store.Save(t.Context(), rec))
		}
		if tt.locked {
			defer testutil.Value(s.store.Lock(t.Context(), rec.ID))(t)()
		}
		if status, reply := s.do(t, "/api/conversations/"+rec.ID+"/rename", map[string]any{"title": "x"},
			nil); status != tt.want {
			t.Errorf("%s: %d %v, want %d", tt.why, status, reply, tt.want)
		}
	}
}
