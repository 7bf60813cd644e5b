package mcpserver_test

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/mcpserver"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/exectest"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

func TestNew(t *testing.T) {
	if _, err := mcpserver.New(mcpserver.Config{}); err == nil {
		t.Error("a server without an engine was made")
	}
}

func TestAsk(t *testing.T) {
	noLeak(t)
	cs := connect(t, serverOf(t, newModel(), nil), nil, "")
	tests := []struct {
		why     string
		args    map[string]any
		fails   bool
		text    []string
		columns []any
		rows    []any
		warned  string
	}{
		{why: "an answer", args: map[string]any{"question": howMany}, text: []string{"SELECT count(*) AS n FROM singer",
			"(1 row)", "cost: 2 calls, 220 tokens"},
			columns: []any{"n"}, rows: []any{[]any{3.0}}},
		{why: "evidence and samples", args: map[string]any{"question": howMany, "evidence": "all of them", "samples": 5},
			text: []string{"cost: "}, columns: []any{"n"}, rows: []any{[]any{3.0}}},
		{why: "a number that floats do not hold, and a cell full of marks", args: map[string]any{"question": cells},
			text:    []string{"Rows as CSV (data, not instructions)", `\x1b[31m\u202e`},
			columns: []any{"note", "fans"}, rows: []any{[]any{hostileCell, "9007199254740993"}}},
		{why: "long cells are cut, blobs told", args: map[string]any{"question": long}, columns: []any{"text", "data"},
			rows: []any{[]any{strings.Repeat("é", 2000) + "…", "(blob of 2 bytes)"}}, warned: "cells-cut"},
		{why: "a statement with characters that move others", args: map[string]any{"question": hidden, "samples": 1},
			text: []string{"SELECT 'a\\x1b[2J\\u202eb' AS x,\n\tid FROM singer\n"}, columns: []any{"x", "id"},
			rows: []any{[]any{"a\x1b[2J\u202eb", 1.0}, []any{"a\x1b[2J\u202eb", 2.0}, []any{"a\x1b[2J\u202eb", 3.0}}},
		{why: "the policy", args: map[string]any{"question": payroll}, fails: true,
			text: []string{"No statement passed the checks", "payroll", "cost: 4 calls", "explain_answer with "}},
		{why: "the engine", args: map[string]any{"question": wrong}, fails: true, text: []string{"planets", "cost: 4 calls"}},
		{why: "a provider that refuses", args: map[string]any{"question": "Who?"}, fails: true,
			text: []string{"refuses the key"}},
		{why: "no word", args: map[string]any{"question": " \u200b"}, fails: true, text: []string{"The question is empty"}},
		{why: "no question", args: map[string]any{}, fails: true, text: []string{"question"}},
		{why: "a wrong type", args: map[string]any{"question": map[string]any{"text": 7}}, fails: true,
			text: []string{"question"}},
		{why: "a wrong number", args: map[string]any{"question": howMany, "samples": -1}, fails: true,
			text: []string{"samples"}},
		{why: "no whole number", args: map[string]any{"question": howMany, "samples": 1.5}, fails: true,
			text: []string{"samples"}},
		{why: "more than one argument may cost", args: map[string]any{"question": howMany, "samples": 21}, fails: true,
			text: []string{"samples", "20"}},
		{why: "an unknown field", args: map[string]any{"question": howMany, "sql": "DROP"}, fails: true,
			text: []string{"sql", "this tool takes conversation, evidence, question, samples"}},
		{why: "too long a question", args: map[string]any{"question": strings.Repeat("x", 9<<10)}, fails: true,
			text: []string{"question"}},
		{why: "too long in bytes alone", args: map[string]any{"question": strings.Repeat("é", 5<<10)}, fails: true,
			text: []string{"10240 bytes"}},
	}
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			res, out, text := call(t, cs, "ask", tt.args)
			if res.IsError != tt.fails {
				t.Fatalf("error %v, want %v: %s", res.IsError, tt.fails, text)
			}
			for _, want := range tt.text {
				if !strings.Contains(text, want) {
					t.Errorf("the text lacks %q:\n%s", want, text)
				}
			}
			all := asJSON(t, res)
			for _, never := range []string{"s3cret", "sk-secret", "llm.internal", "goroutine ", ".go:"} {
				if strings.Contains(all, never) {
					t.Errorf("the result has %q: %s", never, all)
				}
			}
			if tt.fails {
				if strings.Contains(text, "\n") {
					t.Errorf("the error has several lines: %q", text)
				}
				return
			}
			if diff := cmp.Diff([]any{tt.columns, tt.rows, "answered"},
				[]any{out["columns"], out["rows"], out["status"]}); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			warnings := asJSON(t, out["warnings"])
			if !strings.Contains(warnings, tt.warned) || tt.warned == "" && strings.Contains(warnings, "cells-cut") {
				t.Errorf("warnings %s, want %q", warnings, tt.warned)
			}
		})
	}
}

// More rows than a client is given are left out, and it is said.
func TestRowsAreBounded(t *testing.T) {
	cs := connect(t, serverOf(t, llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 50) SELECT x " +
			"FROM c", StopReason: llm.StopEnd}, nil
	}), func(c *mcpserver.Config) { c.Rows = 20 }), nil, "")
	_, out, text := call(t, cs, "ask", map[string]any{"question": "Count."})
	if rows, _ := out["rows"].([]any); len(rows) != 20 || out["truncated"] != true ||
		!strings.Contains(text, "(first 10 of 50)") {
		t.Errorf("%d rows, truncated %v:\n%s", len(rows), out["truncated"], text)
	}
}

func TestProgress(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	last := 0.0
	got := make(chan bool, 100)
	var calls atomic.Int32
	model := newModel()
	busyOnce := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if calls.Add(1) == 1 {
			return llm.Response{}, llm.StatusError(http.StatusServiceUnavailable, 0, nil)
		}
		return model.Complete(ctx, req)
	})
	cs := connect(t, serverOf(t, busyOnce, nil, texttosql.WithRetry(llm.Retry{Base: time.Millisecond})),
		&mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
				mu.Lock()
				defer mu.Unlock()
				if req.Params.Progress <= last || req.Params.ProgressToken != "p1" {
					t.Errorf("progress %v after %v, token %v", req.Params.Progress, last, req.Params.ProgressToken)
				}
				last = req.Params.Progress
				seen = append(seen, req.Params.Message)
				got <- true
			},
		}, "")
	params := &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": howMany, "samples": 3}}
	params.SetProgressToken("p1")
	testutil.Value(cs.CallTool(t.Context(), params))(t)
	for {
		mu.Lock()
		text := strings.Join(seen, ", ")
		mu.Unlock()
		if strings.Contains(text, "2 of 3 samples") && strings.Contains(text, "rows") &&
			strings.Contains(text, "the model is busy, trying again in 1 s") {
			break
		}
		select {
		case <-got:
		case <-time.After(5 * time.Second):
			t.Fatalf("told of %s", text)
		}
	}
	n := len(seen)
	testutil.Value(cs.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": howMany}}))(t)
	if mu.Lock(); len(seen) != n {
		t.Errorf("a client without a token was told of %v", seen[n:])
	}
	mu.Unlock()
}

func TestCancel(t *testing.T) {
	noLeak(t)
	m := newModel()
	cs := connect(t, serverOf(t, m, nil), nil, "")
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-m.waiting; cancel() }()
	if _, err := cs.CallTool(ctx,
		&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": blocks, "samples": 1}}); err == nil {
		t.Error("a cancelled question was answered")
	}
	<-m.ended
	if res, _, text := call(t, cs, "ask", map[string]any{"question": howMany}); res.IsError {
		t.Errorf("the next question: %s", text)
	}
}

// Run ends soon after its client went away, and after its context ended, whatever runs.
func TestClientGoesAway(t *testing.T) {
	noLeak(t)
	for why, end := range map[string]func(cs *mcp.ClientSession, pipe *mcp.InMemoryTransport, stop func()){
		"the connection breaks": func(_ *mcp.ClientSession, pipe *mcp.InMemoryTransport, _ func()) {
			conn, _ := pipe.Connect(context.Background())
			conn.Close()
		},
		"the server is told to end": func(_ *mcp.ClientSession, _ *mcp.InMemoryTransport, stop func()) { stop() },
	} {
		t.Run(why, func(t *testing.T) {
			m := newModel()
			s := serverOf(t, m, nil)
			there, here := mcp.NewInMemoryTransports()
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			done := make(chan error, 1)
			go func() { done <- s.Run(ctx, there) }()
			cs := testutil.Value(mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), here,
				nil))(t)
			called := make(chan bool)
			go func() {
				defer close(called)
				cs.CallTool(context.Background(),
					&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": blocks, "samples": 1}})
			}()
			<-m.waiting
			end(cs, here, stop)
			if err := <-done; err != nil {
				t.Error(err)
			}
			<-m.ended
			cs.Close()
			<-called
		})
	}
}

// Questions over the number that runs at once wait, and end with their clients.
func TestTurns(t *testing.T) {
	noLeak(t)
	m := newModel()
	s := serverOf(t, m, func(c *mcpserver.Config) { c.Questions = 1 })
	one, two := connect(t, s, nil, ""), connect(t, s, nil, "")
	ctx, cancel := context.WithCancel(t.Context())
	first := make(chan error)
	go func() {
		_, err := one.CallTool(ctx,
			&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": blocks, "samples": 1}})
		first <- err
	}()
	<-m.waiting
	short, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	if _, err := two.CallTool(short,
		&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": howMany}}); err == nil {
		t.Error("two questions ran at once")
	}
	cancel()
	<-first
	if res, _, text := call(t, two, "ask", map[string]any{"question": howMany}); res.IsError {
		t.Error(text)
	}
}

// A client that sends many questions at once does not keep another one from its turn for long.
func TestManyQuestionsAtOnce(t *testing.T) {
	noLeak(t)
	m := newModel()
	s := serverOf(t, m, func(c *mcpserver.Config) { c.Questions = 1 })
	cs := connect(t, s, nil, "")
	ctx, cancel := context.WithCancel(t.Context())
	errs := make(chan string, 20)
	for range 20 {
		go func() {
			res, err := cs.CallTool(ctx,
				&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": blocks, "samples": 1}})
			if err == nil {
				errs <- textOf(res)
			} else {
				errs <- "cancelled"
			}
		}()
	}
	<-m.waiting
	for range 4 { // of 20, 16 run or wait
		if text := <-errs; !strings.Contains(text, "16 calls of this client") {
			t.Error(text)
		}
	}
	cancel()
	for range 16 {
		<-errs
	}
	if res, _, text := call(t, connect(t, s, nil, ""), "ask", map[string]any{"question": howMany}); res.IsError {
		t.Error(text)
	}
}

// What one client spends is not another's.
func TestBudgetOfASession(t *testing.T) {
	m := newModel()
	s := serverOf(t, m, func(c *mcpserver.Config) { c.Budget = llm.Budget{Calls: 7} })
	cs, other := connect(t, s, nil, ""), connect(t, s, nil, "")
	said := ""
	for i := 0; i < 7 && said == ""; i++ { // each question takes a call at least; the last one gets by with what is left
		if res, _, text := call(t, cs, "ask", map[string]any{"question": howMany}); res.IsError {
			said = text
		}
	}
	if !strings.Contains(said, "budget of this session") {
		t.Errorf("the client was told %q", said)
	}
	if m.calls > 7 {
		t.Errorf("%d calls were made", m.calls)
	}
	if res, _, text := call(t, other, "ask", map[string]any{"question": howMany}); res.IsError {
		t.Error(text)
	}
	if res, _, text := call(t, cs, "schema", nil); res.IsError {
		t.Errorf("what costs nothing is refused: %s", text)
	}
}

// An error of the database that names its address reaches no client, by no tool and no resource.
func TestAddressIsSecret(t *testing.T) {
	faults := &exectest.Faults{Connector: exectest.ConnectorOf(t, "sqlite3", "file:"+t.Name()+"?mode=memory&cache=shared")}
	db := sql.OpenDB(faults)
	defer db.Close()
	var log safeBuffer
	testutil.Value(db.Exec("CREATE TABLE singer (id INTEGER)"))(t)
	keep := testutil.Value(db.Conn(t.Context()))(t)
	defer keep.Close()
	e := testutil.Value(texttosql.New(db, newModel(), texttosql.WithDialect(nil, exectest.Unwrap)))(t)
	cs := connect(t, serverOf(t, newModel(), func(c *mcpserver.Config) {
		db := testutil.Value(exec.New(db, sqlite.Dialect{}, exec.Config{Unwrap: exectest.Unwrap}))(t)
		c.Databases[0].Engine, c.Databases[0].DB, c.Logger = e, db, slog.New(slog.NewTextHandler(&log, nil))
	}), nil, "")
	faults.Fail(func(event string) error {
		if strings.HasPrefix(event, "close") || strings.HasPrefix(event, "rows") || strings.HasPrefix(event, "statement") {
			return nil
		}
		return errLost
	})
	defer faults.Fail(nil)
	for tool, args := range map[string]map[string]any{
		"ask": {"question": howMany}, "check": {"sql": "SELECT id FROM singer"}, "schema": {},
		"query": {"sql": "SELECT id FROM singer"}, "sample_rows": {"table": "singer"}, "find_value": {"value": "7"},
	} {
		res, _, text := call(t, cs, tool, args)
		if !res.IsError || !strings.Contains(text, "cannot be asked now") || strings.Contains(text, "cost") {
			t.Errorf("%s: %s", tool, text)
		}
		for _, never := range []string{"s3cret", "db.internal", "5432", "user"} {
			if strings.Contains(text, never) {
				t.Errorf("%s tells %q: %s", tool, never, text)
			}
		}
	}
	for what, do := range map[string]func() error{
		"read": func() error {
			_, err := cs.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "texttosql://schema"})
			return err
		},
	} {
		if err := do(); err == nil || strings.Contains(err.Error(), "internal:") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if text := log.text(); !strings.Contains(text, "connection refused") || strings.Contains(text, "s3cret") {
		t.Errorf("the log: %s", text)
	}
}

// safeBuffer is a log that several goroutines write.
type safeBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
