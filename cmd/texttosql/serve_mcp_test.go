package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/texttosql/texttosql/internal/testutil"
)

// TestProgramMCP is the program where a test runs it as a process of its own.
func TestProgramMCP(t *testing.T) {
	args := os.Getenv("TEXTTOSQL_TEST_ARGS")
	if args == "" {
		t.Skip("the other tests start this one")
	}
	testutil.OK(t, json.Unmarshal([]byte(args), &os.Args))
	main()
}

// fakeProvider speaks as much of OpenAI's protocol as a question needs. Calls for the question that never ends wait for
// their end, and are counted by ended.
type fakeProvider struct {
	*httptest.Server
	waiting, ended chan bool
}

func newFakeProvider(t *testing.T) *fakeProvider {
	f := &fakeProvider{waiting: make(chan bool, 100), ended: make(chan bool, 100)}
	replies := map[string][]string{
		"How many singers are there?": {"SELECT count(*) AS n FROM singer"},
		"Which singers are the best?": {"SELECT name FROM singer WHERE id = 1", "SELECT name FROM singer WHERE id = 2",
			"SELECT count(*) FROM singer"},
	}
	var calls = make(chan int, 1)
	calls <- 0
	f.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if bytes.Contains(body, []byte("Which question never ends?")) {
			f.waiting <- true
			<-r.Context().Done()
			f.ended <- true
			return
		}
		// The last question counts: earlier ones of the conversation stand before it.
		asked, at := "", -1
		for question := range replies {
			if i := bytes.LastIndex(body, []byte(question)); i > at {
				asked, at = question, i
			}
		}

		if list := replies[asked]; list != nil {
			n := <-calls
			calls <- n + 1
			fmt.Fprintf(w,
				`{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant",`+
					`"content":%q}}],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}`, list[n%len(list)])
			return
		}
		http.Error(w, `{"error":{"message":"no reply"}}`, http.StatusBadRequest)
	}))
	t.Cleanup(f.Close)
	return f
}

// serveProgram is a command that serves a small database, and asks the fake provider.
func serveProgram(t *testing.T, f *fakeProvider, more ...string) *exec.Cmd {
	t.Helper()
	policy := filepath.Join(t.TempDir(), "policy.json")
	testutil.OK(t, os.WriteFile(policy, []byte(`{"DenyTables": ["payroll"]}`), 0o600))
	return asProgram(f, append([]string{"serve-mcp", "--db", singers(t), "--policy", policy, "--model", "openai:m",
		"--samples", "3", "--ask-below", "0.6"}, more...)...)
}

// asProgram is the program with arguments.
func asProgram(f *fakeProvider, args ...string) *exec.Cmd {
	text, _ := json.Marshal(append([]string{"texttosql"}, args...))
	cmd := exec.Command(os.Args[0], "-test.run=^TestProgramMCP$")
	cmd.Env = append(os.Environ(), "TEXTTOSQL_TEST_ARGS="+string(text), "OPENAI_API_KEY=sk-testtesttesttest",
		"OPENAI_BASE_URL="+f.URL)
	return cmd
}

// singers makes a small database and returns its path.
func singers(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "singers.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec("CREATE TABLE singer (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE payroll (salary INTEGER); " +
			"INSERT INTO singer VALUES (1, 'Ann'), (2, 'Bo')")
		db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// notes collects what a process writes to standard error.
type notes struct {
	*os.File
	t *testing.T
}

func newNotes(t *testing.T) notes {
	f := testutil.Value(os.Create(filepath.Join(t.TempDir(), "stderr")))(t)
	t.Cleanup(func() { f.Close() })
	return notes{f, t}
}

func (n notes) text() string {
	text, err := os.ReadFile(n.Name())
	if err != nil {
		n.t.Fatal(err)
	}
	return string(text)
}

func TestServeMCPOverStdio(t *testing.T) {
	f := newFakeProvider(t)
	cmd := serveProgram(t, f)
	errs := newNotes(t)
	cmd.Stderr = errs.File
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"choice": "r1"}}, nil
		},
	})
	in := testutil.Value(cmd.StdinPipe())(t)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	cs, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: out, Writer: in}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.text())
	}
	ask := func(ctx context.Context, question string) (*mcp.CallToolResult, error) {
		return cs.CallTool(ctx, &mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": question}})
	}
	for _, question := range []string{"How many singers are there?", "Which singers are the best?"} {
		res, err := ask(t.Context(), question)
		if err != nil || res.IsError {
			t.Fatalf("%v %+v\n%s", err, res, errs.text())
		}
		if out, _ := res.StructuredContent.(map[string]any); out["status"] != "answered" {
			t.Errorf("%v", out)
		}
	}
	res, err := cs.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "check", Arguments: map[string]any{"sql": "SELECT * FROM payroll"}})
	if out, _ := res.StructuredContent.(map[string]any); err != nil || out["verdict"] != "refused" {
		t.Errorf("the policy of the file: %v %v", out, err)
	}
	// The client goes away in the middle: the program ends by itself, and with it the calls.
	go ask(context.Background(), "Which question never ends?")
	<-f.waiting
	in.Close()
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
	if _, err := cmd.Process.Wait(); err != nil || !late.Stop() {
		t.Errorf("the program did not end by itself: %v\n%s", err, errs.text())
	}
	<-f.ended
	cs.Close()
	if text := errs.text(); text != "" {
		t.Errorf("standard error: %s", text)
	}
}

var served = regexp.MustCompile(`at (http://[^\s,]+)[,\n]`)

// serveHTTP starts the server on HTTP and returns its URL. stop ends it as a service manager does.
func serveHTTP(t *testing.T, f *fakeProvider, more ...string) (url string, stop func()) {
	t.Helper()
	cmd := serveProgram(t, f, append([]string{"--http", "127.0.0.1:0"}, more...)...)
	errs := newNotes(t)
	cmd.Stderr = errs.File
	return startHTTP(t, cmd, errs)
}

// startHTTP starts a program whose errors are notes.
func startHTTP(t *testing.T, cmd *exec.Cmd, errs notes) (url string, stop func()) {
	t.Helper()
	testutil.OK(t, cmd.Start())
	done := make(chan bool)
	go func() { cmd.Wait(); close(done) }()
	stop = func() {
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-done:
		case <-time.After(time.Minute):
			cmd.Process.Kill()
			t.Error("the program did not end")
		}
		// Where it is, where conversations are stored, and a warning.
		if text := errs.text(); strings.Count(text, "\n") > 3 || strings.Contains(text, "sk-test") {
			t.Errorf("standard error: %s", text)
		}
	}
	t.Cleanup(stop)
	for range 3000 {
		if m := served.FindStringSubmatch(errs.text()); m != nil {
			return m[1], stop
		}
		select {
		case <-done:
			t.Fatalf("the program ended: %s", errs.text())
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatalf("the program does not serve: %s", errs.text())
	return "", nil
}

const testToken = "0123456789abcdef0123456789abcdef"

func tokenFile(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "token")
	testutil.OK(t, os.WriteFile(path, []byte(testToken+"\n"), 0o600))
	return path
}

func TestServeMCPOverHTTP(t *testing.T) {
	f := newFakeProvider(t)
	url, stop := serveHTTP(t, f, "--token-file", tokenFile(t))
	client := func(token string) (*mcp.ClientSession, error) {
		transport := &mcp.StreamableClientTransport{Endpoint: url, MaxRetries: -1,
			HTTPClient: &http.Client{Transport: bearer(token)}}
		return mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	}
	if _, err := client("wrong"); err == nil {
		t.Error("a wrong token opens")
	}
	cs := testutil.Value(client(testToken))(t)
	res, err := cs.CallTool(t.Context(),
		&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "How many singers are there?"}})
	if err != nil || res.IsError {
		t.Fatalf("%v %v", err, res)
	}
	go cs.CallTool(context.Background(),
		&mcp.CallToolParams{Name: "ask", Arguments: map[string]any{"question": "Which question never ends?"}})
	<-f.waiting
	stop()
	<-f.ended
	cs.Close()
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Every command line of MCP.md that serves does so.
func TestMCPCommands(t *testing.T) {
	text := testutil.Value(os.ReadFile("MCP.md"))(t)
	lines := regexp.MustCompile(`(?m)^    .*\btexttosql (serve-mcp .*)$`).FindAllStringSubmatch(string(text), -1)
	listed := regexp.MustCompile(`"args": (\[.*\]),`).FindSubmatch(text)
	var commands [][]string
	for _, line := range lines {
		commands = append(commands, strings.Fields(line[1]))
	}
	var args []string
	if listed == nil || json.Unmarshal(listed[1], &args) != nil || len(commands) != 5 {
		t.Fatalf("%q and %q are not all of MCP.md", commands, listed)
	}
	f, path := newFakeProvider(t), singers(t)
	for _, command := range append(commands, args) {
		t.Run(strings.Join(command, " "), func(t *testing.T) {
			for old, present := range map[string]string{
				"/data/shop.db": path, "shop.db": path, "shop=shop.db": "shop=" + path, "crm=crm.db": "crm=" + path,
				"/etc/texttosql/token": tokenFile(t), "127.0.0.1:8808": "127.0.0.1:0",
				"postgres://keeper@host/kept": filepath.Join(t.TempDir(), "kept"),
			} {
				if i := slices.Index(command, old); i >= 0 {
					command[i] = present
				}
			}
			cmd := asProgram(f, command...)
			cmd.Env = append(cmd.Env, "TEXTTOSQL_DSN="+path)
			errs := newNotes(t)
			cmd.Stderr = errs.File
			if slices.Contains(command, "--http") {
				startHTTP(t, cmd, errs)
				return
			}
			transport := &mcp.CommandTransport{Command: cmd, TerminateDuration: time.Minute}
			cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, errs.text())
			}
			if list, err := cs.ListTools(t.Context(), nil); err != nil ||
				len(list.Tools) != map[bool]int{true: 10, false: 5}[slices.Contains(command, "--model")] {
				t.Errorf("%v %v", list, err)
			}
			if err := cs.Close(); err != nil {
				t.Errorf("%v\n%s", err, errs.text())
			}
		})
	}
}

func TestServeMCPRefusesToStart(t *testing.T) {
	f := newFakeProvider(t)
	empty := filepath.Join(t.TempDir(), "empty")
	os.WriteFile(empty, nil, 0o600)
	budget := filepath.Join(t.TempDir(), "budget")
	os.WriteFile(budget, []byte(`{"Cals": 3}`), 0o600)
	three := file(t, "three.json", `{"Calls": 3}`)
	for _, tt := range []struct {
		why, want string
		args      []string
	}{
		{"an address for others without a token", "give a token", []string{"--http", "0.0.0.0:0"}},
		{"an empty file of a token", "empty", []string{"--http", "127.0.0.1:0", "--token-file", empty}},
		{"no file of a token", "no such file", []string{"--http", "127.0.0.1:0", "--token-file", empty + "x"}},
		{"a budget with a slip", "Cals", []string{"--session-budget", budget}},
		{"a budget of a client without sessions", "needs sessions", []string{"--http", "127.0.0.1:0", "--stateless",
			"--session-budget", three}},
		{"no sessions on standard input", "need --http", []string{"--stateless"}},
		{"a negative number", "below 0", []string{"--questions=-1"}},
		{"two databases without names", "names of their own", []string{"--db", singers(t)}},
		{"a policy of no database", "no --db has the name", []string{"--policy", "crm=x.json"}},
	} {
		t.Run(tt.why, func(t *testing.T) {
			cmd := serveProgram(t, f, tt.args...)
			text, err := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(string(text), tt.want) ||
				strings.Count(string(text), "\n") != 1 {
				t.Errorf("code %d, %v: %s", code, err, text)
			}
		})
	}
}

// clientOfOthers installs the client of another SDK, once for a user, and returns its script.
func clientOfOthers(t *testing.T) string {
	t.Helper()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm, which has the client of another SDK, is not installed")
	}
	cache := testutil.Value(os.UserCacheDir())(t)
	spec := testutil.Value(os.ReadFile("testdata/mcp-client/package.json"))(t)
	dir := filepath.Join(cache, "texttosql", "mcp-client")
	if had, _ := os.ReadFile(filepath.Join(dir, "installed.json")); !bytes.Equal(had, spec) {
		if os.Getenv("CI") == "" {
			t.Skipf("the client of another SDK is not installed: CI=true go test installs it in %s", dir)
		}
		testutil.OK(t, os.MkdirAll(dir, 0o755))
		testutil.OK(t, os.WriteFile(filepath.Join(dir, "package.json"), spec, 0o644))
		npm := exec.CommandContext(t.Context(), "npm", "install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts")
		npm.Dir = dir
		if text, err := npm.CombinedOutput(); err != nil {
			t.Fatalf("npm: %v\n%s", err, text)
		}
		testutil.OK(t, os.WriteFile(filepath.Join(dir, "installed.json"), spec, 0o644))
	}
	script := testutil.Value(os.ReadFile("testdata/mcp-client/client.mjs"))(t)
	path := filepath.Join(dir, "client.mjs") // beside its modules, where Node looks for them
	testutil.OK(t, os.WriteFile(path, script, 0o644))
	return path
}

// TestServeMCPWithoutAModel: no key, two databases, of which one has a policy of its own; the model is asked for
// nothing.
func TestServeMCPWithoutAModel(t *testing.T) {
	f := newFakeProvider(t)
	policy := filepath.Join(t.TempDir(), "policy.json")
	testutil.OK(t, os.WriteFile(policy, []byte(`{"DenyTables": ["payroll"]}`), 0o600))
	cmd := asProgram(f, "serve-mcp", "--db", "a="+singers(t), "-d", "b="+singers(t), "--policy", "b="+policy)
	cs, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer cs.Close()
	if got := cs.InitializeResult().ServerInfo.Version; got != version() {
		t.Errorf("version %q, want that of the command, %q", got, version())
	}
	for name, refused := range map[string]bool{"a": false, "b": true} {
		res, err := cs.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "query", Arguments: map[string]any{"sql": "SELECT count(*) FROM payroll",
				"database": name}})
		if err != nil || res.IsError != refused {
			t.Errorf("%s: %v %+v", name, err, res)
		}
	}
}

// counts reports whether numbers are 1 to 2,144, which a client reads in pages.
func counts(numbers []int) bool {
	for i, n := range numbers {
		if n != i+1 {
			return false
		}
	}
	return len(numbers) == 2144
}

// The client of another SDK, over standard input and output and over HTTP.
func TestServeMCPToAnotherSDK(t *testing.T) {
	script := clientOfOthers(t)
	f := newFakeProvider(t)
	for _, over := range []string{"stdio", "HTTP"} {
		t.Run(over, func(t *testing.T) {
			var node *exec.Cmd
			if over == "stdio" {
				program := serveProgram(t, f)
				node = exec.CommandContext(t.Context(), "node", append([]string{script, "--"}, program.Args...)...)
				node.Env = program.Env
			} else {
				url, _ := serveHTTP(t, f, "--token-file", tokenFile(t))
				node = exec.CommandContext(t.Context(), "node", script, url, testToken)
			}
			errs := newNotes(t)
			node.Stderr = errs.File
			text, err := node.Output()
			if err != nil {
				t.Fatalf("%v\n%s\n%s", err, text, errs.text())
			}
			type result struct {
				Structured map[string]any `json:"structuredContent"`
				IsError    bool           `json:"isError"`
				Content    []struct{ Text string }
			}
			var seen struct {
				Tools, Resources, Templates, Progress []string
				Schema, Cancelled                     string
				Numbers                               []int
				Form                                  struct{ Message string }
				Answer, Chosen, Check, Why, Wrong     result
				Query, Page, Refused, Follow          result
			}
			if err := json.Unmarshal(text, &seen); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			slices.Sort(seen.Tools)
			for _, check := range []struct {
				what string
				ok   bool
			}{
				{"tools", slices.Equal(seen.Tools, []string{
					"ask", "check", "choose", "confirm", "correct", "explain_answer", "find_value", "query", "sample_rows", "schema",
				})},
				{"resources", slices.Contains(seen.Resources, "texttosql://schema") &&
					slices.Contains(seen.Templates, "texttosql://schema/{+table}")},
				{"a statement", fmt.Sprint(seen.Query.Structured["rows"]) == "[[Ann]]" &&
					seen.Query.Structured["truncated"] == true},
				{"its next page", fmt.Sprint(seen.Page.Structured["rows"]) == "[[Bo]]"},
				{"2,144 rows", counts(seen.Numbers)},
				{"a refusal", seen.Refused.IsError && strings.Contains(seen.Refused.Content[0].Text, "This only reads.")},
				{"a follow-up", seen.Follow.Structured["status"] == "answered" &&
					seen.Follow.Structured["conversation"] == seen.Answer.Structured["conversation"]},
				{"the schema", strings.Contains(seen.Schema, "singer") && !strings.Contains(seen.Schema, "payroll")},
				{"the answer", fmt.Sprint(seen.Answer.Structured["rows"]) == "[[2]]"},
				{"progress", slices.Contains(seen.Progress, "schema")}, // that client drops what comes right before the result
				{"the form", strings.Contains(seen.Form.Message, "r2")},
				{"the choice", seen.Chosen.Structured["status"] == "answered"},
				{"the check", seen.Check.Structured["verdict"] == "refused"},
				{"why", seen.Why.Structured["question"] == "How many singers are there?"},
				{"a wrong type", seen.Wrong.IsError},
				{"cancelling", seen.Cancelled == "cancelled"},
			} {
				if !check.ok {
					t.Errorf("%s is wrong", check.what)
				}
			}
			if t.Failed() {
				t.Logf("%s", text)
			}
			<-f.waiting
			<-f.ended
		})
	}
}
