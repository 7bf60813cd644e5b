package web

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	_ "github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/session"
)

// attack is text that would run if it were markup.
const attack = `<img src=x onerror="window.ran=1"><script>window.ran=2</script></style>"'` + "`${window.ran=3}`\u202e"

// market is a database whose values, names and comments attack the page.
const market = `
CREATE TABLE sales (day TEXT, amount REAL, region TEXT, clerk_id INTEGER);
INSERT INTO sales VALUES ('2026-01-01', 120, 'North', 1), ('2026-01-02', 80.5, 'South', 2), ('2026-01-04', 210, 'North', 1),
	('2026-01-05', 95, 'East', 2), ('2026-01-09', 160, 'West', 1), ('2026-01-10', 40, 'South', 1);
CREATE TABLE clerks (id INTEGER PRIMARY KEY, name TEXT, town TEXT);
INSERT INTO clerks VALUES (1, '<img src=x onerror="window.ran=1">', 'NULL'), (2, 'Grete', NULL);
CREATE TABLE "<b onclick=alert(1)>items</b>" ("<i>x</i>" TEXT);
INSERT INTO "<b onclick=alert(1)>items</b>" VALUES ('</td><script>window.ran=2</script>');`

// The questions that the model of the tests can answer, and what it says to each, by sample.
var replies = map[string][]string{
	"What was sold each day?":   {"SELECT day, amount FROM sales ORDER BY day"},
	"How much did each region?": {"SELECT region, sum(amount) AS amount FROM sales GROUP BY region ORDER BY 2 DESC"},
	"Who are the clerks?":       {`SELECT name, town FROM clerks`},
	"Which sale was the largest?": {"SELECT max(amount) FROM sales",
		"SELECT day FROM sales ORDER BY amount DESC LIMIT 1",
		"SELECT region, amount FROM sales ORDER BY amount DESC LIMIT 1"},
	"How many in the north?": {"SELECT count(*) FROM sales WHERE region = 'North'"},
	"And in the south?":      {"SELECT count(*) FROM sales WHERE region = 'South'"},
	"only those of clerk 1":  {"SELECT count(*) FROM sales WHERE region = 'South' AND clerk_id = 1"},
	"What is the weather?":   {"I cannot tell."},
	attack: {`SELECT "<i>x</i>" AS "<u onclick=alert(1)>head</u>",
		'</script><script>window.ran=4</script>' AS b FROM "<b onclick=alert(1)>items</b>"`},
}

// clerk is the model of the tests. It answers the question that stands last in the prompt. While it is held, calls
// wait.
type clerk struct {
	mu    sync.Mutex
	calls int
	held  chan struct{} // nil: calls do not wait
	err   error         // in place of a reply
}

func (m *clerk) Complete(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.mu.Lock()
	m.calls++
	held, err := m.held, m.err
	m.mu.Unlock()
	if held != nil {
		select {
		case <-held:
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		}
	}
	if err != nil {
		return llm.Response{}, err
	}
	prompt := ""
	for _, msg := range req.Messages {
		prompt += msg.Text + "\n"
	}
	best, reply := -1, "I cannot tell."
	for question, all := range replies {
		at := strings.LastIndex(prompt, strings.ReplaceAll(question, "\u202e", ""))
		if at >= 0 && strings.HasPrefix(question, "only") {
			at = len(prompt) // a correction stands before the question
		}
		if at > best {
			best, reply = at, all[req.Sample%len(all)]
		}
	}
	return llm.Response{Text: reply, StopReason: llm.StopEnd}, nil
}

// hold lets calls wait until release is called.
func (m *clerk) hold() (release func()) {
	held := make(chan struct{})
	m.mu.Lock()
	m.held = held
	m.mu.Unlock()
	return sync.OnceFunc(func() {
		m.mu.Lock()
		m.held = nil
		m.mu.Unlock()
		close(held)
	})
}

func (m *clerk) fails(err error) {
	m.mu.Lock()
	m.err = err
	m.mu.Unlock()
}

func (m *clerk) called() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.calls
}

// shop is a server of the page with all that it needs.
type shop struct {
	*httptest.Server
	server    *Server
	model     *clerk
	db        *sql.DB
	dialect   exec.Dialect
	store     *session.FileStore
	confirmed *memory.VerifiedAnswers
	dir       string
	at        string // its address
}

// open serves a new market.
func open(t *testing.T, change func(*Config)) *shop {
	t.Helper()
	return openWith(t, market, change)
}

// openWith serves another database.
func openWith(t *testing.T, script string, change func(*Config)) *shop {
	t.Helper()
	dir := t.TempDir()
	db := testutil.Value(sql.Open("sqlite3", "file:"+filepath.Join(dir, "s3cret-market.sqlite")+"?_sync=OFF"))(t)
	t.Cleanup(func() { db.Close() })
	testutil.Value(db.Exec(script))(t)
	s := &shop{model: &clerk{}, db: db, dialect: sqlite.Dialect{}, dir: dir}
	s.start(t, change)
	return s
}

// start serves the conversations of the folder, as a program that was started again does.
func (s *shop) start(t *testing.T, change func(*Config)) {
	t.Helper()
	s.store = testutil.Value(session.OpenFiles(filepath.Join(s.dir, "sessions")))(t)
	s.confirmed = testutil.Value(memory.OpenVerifiedAnswers(filepath.Join(s.dir, "confirmed.jsonl")))(t)
	told := &Progress{}
	engine := testutil.Value(texttosql.New(s.db, llm.Named("clerk", s.model), texttosql.WithDialect(s.dialect),
		texttosql.WithSamples(3), texttosql.WithClarifyBelow(0.6),
		texttosql.WithMemory(memory.Options{VerifiedAnswers: s.confirmed}), texttosql.WithRetry(llm.Retry{Attempts: 1}),
		texttosql.WithProgress(told.Tell)))(t)
	access := testutil.Value(exec.New(s.db, s.dialect, exec.Config{}))(t)
	config := Config{Engine: engine, DB: access, Store: s.store, Confirmed: s.confirmed, Progress: told,
		Database: "market"}
	if change != nil {
		change(&config)
	}
	s.server = testutil.Value(New(config))(t)
	s.Server = httptest.NewUnstartedServer(s.server.Handler())
	if s.at != "" { // where it was before
		s.Listener.Close()
		s.Listener = testutil.Value(net.Listen("tcp", s.at))(t)
	}
	s.at = s.Listener.Addr().String()
	s.Start()
	t.Cleanup(s.end)
}

// end stops serving, gracefully.
func (s *shop) end() {
	s.server.Close()
	s.Server.CloseClientConnections()
	s.Server.Close()
	s.confirmed.Close()
}

// do sends a request of the page: a GET, or a POST of a body. It returns the status and the reply.
func (s *shop) do(t *testing.T, path string, body any, change func(*http.Request)) (int, map[string]any) {
	t.Helper()
	method, text := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		text = testutil.Value(json.Marshal(body))(t)
	}
	req := testutil.Value(http.NewRequestWithContext(t.Context(), method, s.URL+path, bytes.NewReader(text)))(t)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("X-Texttosql", "1")
	}
	if change != nil {
		change(req)
	}
	resp := testutil.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	raw := testutil.Value(io.ReadAll(resp.Body))(t)
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
	} {
		if got := resp.Header.Get(name); got != want {
			t.Errorf("%s: %s is %q", path, name, got)
		}
	}
	if policy := resp.Header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") ||
		!strings.Contains(policy, "frame-ancestors 'none'") ||
		strings.Contains(policy, "unsafe") {
		t.Errorf("%s: the policy is %q", path, policy)
	}
	if strings.Contains(string(raw), "s3cret") {
		t.Errorf("%s tells where the database is: %s", path, raw)
	}
	reply := map[string]any{"text": string(raw)}
	json.Unmarshal(raw, &reply) // a page is no JSON
	return resp.StatusCode, reply
}

// view returns the conversation when it does not run any more.
func (s *shop) settled(t *testing.T, id string) conversation {
	t.Helper()
	stream := s.stream(t, id)
	defer stream.close()
	for stream.next().Running {
	}
	return s.view(t, id)
}

func (s *shop) view(t *testing.T, id string) (c conversation) {
	t.Helper()
	status, reply := s.do(t, "/api/conversations/"+id, nil, nil)
	if err := json.Unmarshal([]byte(reply["text"].(string)), &c); err != nil || status != 200 {
		t.Fatal(status, reply, err)
	}
	return c
}

// say does something in a conversation, a new one for "", and returns it when it does not run any more.
func (s *shop) say(t *testing.T, id, call string, body map[string]any) conversation {
	t.Helper()
	path := "/api/conversations"
	if id != "" {
		path += "/" + id + "/" + call
	}
	status, reply := s.do(t, path, body, nil)
	if status != http.StatusAccepted {
		t.Fatal(call, status, reply)
	}
	return s.settled(t, reply["id"].(string))
}

func (s *shop) asked(t *testing.T, id, question string) conversation {
	t.Helper()
	return s.say(t, id, "ask", map[string]any{"question": question})
}
