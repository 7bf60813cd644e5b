package main

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/texttosql/texttosql/cmd/texttosql/internal/engines"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/providers"
	"github.com/texttosql/texttosql/cmd/texttosql/internal/setup"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

// silent is the address of a server that ends every connection at once.
func silent(t *testing.T) string {
	t.Helper()
	l := testutil.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	return l.Addr().String()
}

// TestStatementMessages: what a person reads of a statement that does not run, and what to do.
func TestStatementMessages(t *testing.T) {
	folder := t.TempDir()
	open := func(name, script string) string {
		path := filepath.Join(folder, name)
		pool := testutil.Value(sql.Open("sqlite3", path))(t)
		defer pool.Close()
		testutil.Value(pool.Exec(script))(t)
		return path
	}
	columns := make([]string, 2000)
	for i := range columns {
		columns[i] = fmt.Sprint("c", i)
	}
	db := open("shop.db", "CREATE TABLE wide("+strings.Join(columns, ",")+
		"); CREATE TABLE customers(id INT, tenant INT); CREATE TABLE orderz(id INT)")
	wal := open("wal.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(a)")
	testutil.OK(t, os.Mkdir(wal+"-wal", 0o700)) // as on a read-only disk, it cannot be opened
	rules := file(t, "rules", `{"Rows": {"customers": "tenant = :tenant"}, "AllowTables": ["customers"]}`)
	scope := file(t, "scope", `{"Key": "acme", "Params": {"tenant": 42}}`)
	for _, tt := range []struct {
		why  string
		args []string
		code int
		want string
	}{
		{"a star over a wide table", []string{db, "SELECT * FROM wide"}, exitBudget,
			"2,000 columns; at most 500 are returned. Name the columns you want."},
		{"its alias, and more", []string{db, "SELECT w.*, 1 FROM wide w, customers"}, exitBudget,
			"2,001 columns; at most 500"},
		{"a star of a subquery", []string{db, "SELECT * FROM (SELECT * FROM wide)"}, exitBudget,
			"more than 500 columns; at most 500"},
		{"two statements", []string{db, "SELECT 1; SELECT 2"}, exitRefused,
			"one statement only: remove what follows the first semicolon."},
		{"a keyword as a table", []string{db, "SELECT * FROM order"}, exitError,
			"syntax error. Did you mean orderz? Correct the statement."},
		{"no table near the keyword", []string{db, "SELECT * FROM where"}, exitError, "syntax error. Correct the statement."},
		{"a function", []string{db, "SELECT load_extension('x')"}, exitRefused,
			"load_extension is not allowed here. Write the statement without it, or"},
		{"a misspelt table under rules", []string{db, "SELECT * FROM customer", "--policy", rules, "--scope", scope},
			exitRefused,
			"customer: no such table, or you may not read it. Did you mean customers? "},
		{"near one that is hidden", []string{db, "SELECT * FROM orders", "--policy", rules, "--scope", scope}, exitRefused,
			"orders: no such table, or you may not read it. Read other"},
		{"the hidden one", []string{db, "SELECT * FROM orderz", "--policy", rules, "--scope", scope}, exitRefused,
			"orderz: no such table, or you may not read it. Read other"},
		{"rules and no scope", []string{db, "SELECT * FROM customers", "--policy", rules}, exitRefused,
			"Name the user with --scope"},
		{"a WAL", []string{wal, "SELECT 1"}, exitError,
			"the file is there, but SQLite cannot open its WAL on a read-only disk: add ?immutable=1 to --db"},
		{"a WAL that nobody writes", []string{wal + "?immutable=1", "SELECT a FROM t"}, exitAnswer, ""},
	} {
		code, _, told := try(t, map[string]string{"HOME": folder}, "", append([]string{"sql", "--db"}, tt.args...)...)
		if code != tt.code || !strings.Contains(told, tt.want) {
			t.Errorf("%s: code %d, want %d, and %q, want %q", tt.why, code, tt.code, told, tt.want)
		}
	}
}

// TestNoDatabase: what cannot be opened is one line that says what to do. That none has the password is checked by try.
func TestNoDatabase(t *testing.T) {
	gone := silent(t)
	folder := t.TempDir()
	for _, tt := range []struct {
		why, dsn string
		code     int
		want     string
	}{
		{"none", "", exitUsage, "give --db or TEXTTOSQL_DSN"},
		{"a file that is not there", filepath.Join(folder, "nowhere.db"), exitUsage,
			"nowhere.db cannot be opened: no such file"},
		{"a file named like a password", file(t, "passwd", strings.Repeat("x:0", 99)), exitUsage,
			"passwd cannot be opened: is no SQLite"},
		{"a folder", folder, exitUsage, "is a folder"},
		{"a file that is not a database of SQLite", file(t, "x.db", "not a database, "+strings.Repeat("0", 200)), exitUsage,
			"is no SQLite database"},
		{"no server of PostgreSQL", "postgres://u:" + secret + "@127.0.0.1:1/d", exitError,
			"database 127.0.0.1:1/d: no server: connect: connection refused"},
		{"the same in words", "host=127.0.0.1 port=1 user=u password=" + secret + " dbname=d", exitError,
			"127.0.0.1:1/d: no server"},
		{"a server that hangs up", "postgres://u:" + secret + "@" + gone + "/d?sslmode=disable", exitError, "database " +
			gone + "/d: "},
		{"no server of MySQL, a URL", "mysql://u:" + secret + "@127.0.0.1:1/d?charset=utf8mb4", exitError,
			"database 127.0.0.1:1/d: no server"},
		{"no server of MySQL, the driver's form", "u:" + secret + "@tcp(127.0.0.1:1)/d", exitError,
			"database 127.0.0.1:1/d: no server"},
		{"a socket of MySQL in a URL", "mysql://u:" + secret + "@localhost/d?socket=/nowhere.sock&charset=utf8mb4", exitError,
			"database /nowhere.sock/d: no server"},
		{"a password of Trino in the clear", "http://u:" + secret + "@127.0.0.1:1?catalog=c", exitUsage, "needs https://"},
		{"Trino without a catalog", "https://u:" + secret + "@127.0.0.1:1", exitError,
			"names no database: want https://USER@HOST"},
		{"a broken URL of PostgreSQL", "postgres://u:" + secret + "@[::1/d", exitError, "the DSN cannot be read"},
		{"a broken URL of MySQL", "mysql://u:" + secret + "@[::1/d", exitUsage, "the DSN cannot be read"},
		{"a broken URL of Trino", "https://u:" + secret + "@[::1", exitUsage, "the DSN cannot be read"},
		{"MySQL without a database", "mysql://u:" + secret + "@127.0.0.1:1", exitError, "names no database"},
		{"a slip of the pen", "postgres:/u:" + secret + "@h/d", exitUsage, "neither a file that is there nor a DSN"},
		{"another engine", "oracle://u:" + secret + "@h/d", exitUsage, "neither a file that is there nor a DSN"},
		{"a slip of the pen in words", "hots=h password=" + secret, exitUsage, "neither a file that is there nor a DSN"},
		{"no file of DuckDB", "duckdb:" + filepath.Join(folder, "nowhere.duckdb"), exitUsage,
			"nowhere.duckdb: there is no such file"},
	} {
		t.Run(tt.why, func(t *testing.T) {
			if _, _, err := engines.DuckDB("x"); strings.HasPrefix(tt.dsn, "duckdb:") &&
				strings.Contains(err.Error(), "no_duckdb") {
				t.Skip(err)
			}
			env := asking(t, always("SELECT 1"))
			for _, args := range [][]string{{"schema"}, {"ask", "Who?"}, {"describe", "-o", filepath.Join(folder, "d.json")}} {
				code, out, told := try(t, with(env, "TEXTTOSQL_DSN", tt.dsn), "", args...)
				if code != tt.code || !strings.Contains(told, tt.want) || strings.Count(told, "\n") != 1 || out != "" {
					t.Errorf("%q: code %d, %q%s, want %d, %q", args, code, told, out, tt.code, tt.want)
				}
				if tt.why == "a server that hangs up" {
					break
				}
			}
			if tt.dsn == "" {
				return
			}
			if code, _, told := try(t, env, "", "schema", "--db="+tt.dsn); code != tt.code || !strings.Contains(told, tt.want) {
				t.Errorf("by a flag: code %d, %q", code, told)
			}
			if !setup.IsDSN(tt.dsn) && !strings.Contains(tt.dsn, secret) {
				return
			}
			for _, args := range [][]string{
				{tt.dsn}, {"schema", "--bd", tt.dsn}, {"--db", tt.dsn, "schema"}, {"completion", tt.dsn},
				{"schema", "-d" + tt.dsn, "--form", tt.dsn},
			} {
				if code, _, told := try(t, env, "", args...); code != exitUsage || told == "" { // try looks for the password
					t.Errorf("at a wrong place, %d: code %d, %q", len(args), code, told)
				}
			}
		})
	}
}

// TestFiles: a file of settings with a mistake, or one that cannot be written, ends the program before a model is
// asked.
func TestFiles(t *testing.T) {
	db, folder := shopFile(t), t.TempDir()
	var calls atomic.Int64
	env := with(asking(t, func(string, int) string { calls.Add(1); return "SELECT 1" }), "TEXTTOSQL_DSN", db)
	missing := filepath.Join(folder, "no", "such", "folder", "x")
	for _, tt := range []struct {
		why  string
		args []string
		want string
	}{
		{"limits with an unknown member", []string{"--limits", file(t, "l", `{"Answers": {}}`)},
			`unknown field "Answers", did you mean "Answer"?`},
		{"limits with a member at a wrong place", []string{"--limits", file(t, "l", `{"Rows": 3}`)},
			"unknown field \"Rows\"\n"},
		{"limits with a word for a number", []string{"--limits", file(t, "l", `{"Answer": {"Rows": "all"}}`)},
			"Answer.Rows: a string stands where it wants a whole number"},
		{"limits with a number for a time", []string{"--limits", file(t, "l", `{"Answer": {"Timeout": 3}}`)},
			`"30s" or "5m"`},
		{"limits that are torn", []string{"--limits", file(t, "l", `{"Answer": {`)}, "ends in the middle"},
		{"limits that are a list", []string{"--limits", file(t, "l", `[]`)}, "want an object"},
		{"limits twice", []string{"--limits", file(t, "l", `{"Answer": {"Rows": 3, "rows": 30}}`)}, `"rows" is given twice`},
		{"limits and more", []string{"--limits", file(t, "l", `{} {}`)}, "something stands behind"},
		{"negative limits", []string{"--limits", file(t, "l", `{"Answer": {"Rows": -3}}`)}, "negative"},
		{"no file of limits", []string{"--limits", missing}, "no such file"},
		{"a budget with an unknown member", []string{"--budget", file(t, "b", `{"Call": 3}`)},
			`unknown field "Call", did you mean "Calls"?`},
		{"a budget with an unknown price", []string{"--budget", file(t, "b", `{"Prices": {"": {"promt": 3}}}`)},
			`"promt", did you mean "Prompt"?`},
		{"a budget with a number for a time", []string{"--budget", file(t, "b", `{"Timeout": 3}`)}, `"30s" or "5m"`},
		{"a budget of money without prices", []string{"--budget", file(t, "b", `{"Money": 3}`)}, "rice"},
		{"a negative budget", []string{"--calls=-3"}, "must not be negative"},
		{"a policy with an unknown member", []string{"--policy", file(t, "p", `{"DenyTable": ["orders"]}`)},
			`twice, did you mean "DenyTables"?`},
		{"a policy about nothing", []string{"--policy", file(t, "p", `{"DenyTables": ["ordes"]}`)}, "ordes"},
		{"no descriptions", []string{"--descriptions", missing}, "no such file"},
		{"broken exemplars", []string{"--exemplars", file(t, "e", "{\"question\": 3}\n")}, "--exemplars: "},
		{"broken lessons", []string{"--lessons", file(t, "l", "{")}, "--lessons: "},
		{"a folder of confirmed answers", []string{"--confirmed", folder}, "--confirmed: "},
		{"a page that cannot be written", []string{"--trace", missing}, "--trace " + missing},
		{"a page over the database", []string{"--trace", db}, "is the database"},
		{"a page that is a folder", []string{"--trace", folder}, "no regular file"},
	} {
		code, out, told := try(t, env, "", append(append([]string{"ask"}, tt.args...), "Who?")...)
		if code != exitUsage || !strings.Contains(told, tt.want) || strings.Count(told, "\n") != 1 || out != "" {
			t.Errorf("%s: code %d, %q, want %q", tt.why, code, told, tt.want)
		}
	}
	for _, tt := range []struct {
		why  string
		args []string
		code int
		want string
	}{
		{"descriptions that cannot be written", []string{"describe", "-o", missing}, exitError, "no such file"},
		{"no place for descriptions", []string{"describe"}, exitUsage, "--out"},
		{"sessions on a server that is not there", []string{"talk", "--sessions", "postgres://me:" + secret +
			"@127.0.0.1:1/x"}, exitUsage, "--sessions: pgstore"},
		{"sessions that cannot be written", []string{"talk", "--sessions", filepath.Join(db, "x")}, exitUsage,
			"not a directory"},
		{"an id that is none", []string{"talk", "--resume", "../x"}, exitError, "no such conversation"},
		{"no questions", []string{"eval", missing}, exitUsage, "no such file"},
		{"questions without answers", []string{"eval", file(t, "q.jsonl", `{"question": "Who?"}`)}, exitUsage, "sql"},
		{"no workers", []string{"eval", "--workers", "0", missing}, exitUsage, "--workers"},
	} {
		code, _, told := try(t, env, "", tt.args...)
		if code != tt.code || !strings.Contains(told, tt.want) {
			t.Errorf("%s: code %d, %q, want %d, %q", tt.why, code, told, tt.code, tt.want)
		}
	}
	if n := calls.Load(); n > 0 {
		t.Errorf("a model was asked %d times", n)
	}
}

// TestProviders: every provider names the variable that is missing, and asks the server of its variable with its key.
func TestProviders(t *testing.T) {
	var got http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r.Header
		if strings.HasPrefix(r.URL.Path, "/model/") { // Bedrock
			fmt.Fprint(w,
				`{"content":[{"type":"text","text":"SELECT 1"}],"stop_reason":"end_turn","usage":{"input_tokens":20,"output_tokens":8}}`)
			return
		}
		fmt.Fprint(w,
			`{"choices":[{"message":{"content":"SELECT 1"},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`)
	}))
	defer server.Close()
	db := shopFile(t)
	if all := providers.All(); len(all) != 14 {
		t.Errorf("%d providers", len(all))
	}
	for _, p := range providers.All() {
		if p.Name == "ollama" || p.Name == "anthropic" {
			continue // without a key, and of another protocol: llm/providers tests them
		}
		model := p.Name + ":anthropic.model"
		code, _, told := try(t, nil, "", "ask", "-d", db, "-m", model, "Who?")
		if code != exitUsage || !strings.Contains(told, p.Variables[0]) && !strings.Contains(told, "CLOUDFLARE_ACCOUNT_ID") ||
			!strings.Contains(told, "is not set") {
			t.Errorf("%s: code %d, %q", p.Name, code, told)
		}
		env := map[string]string{}
		for _, v := range p.Variables {
			switch {
			case strings.HasSuffix(v, "BASE_URL"):
				env[v] = server.URL + "/v1"
			case strings.HasPrefix(v, "AWS_ENDPOINT"):
				env[v] = server.URL
			default:
				env[v] = secret
			}
		}
		got = nil
		code, out, told := try(t, env, "", "ask", "-d", db, "-s", "direct", "-m", model, "Who?")
		if code != exitAnswer || !strings.Contains(out, "SELECT 1") {
			t.Errorf("%s: code %d, %q", p.Name, code, told)
		}
		if auth := got.Get("Authorization"); !strings.Contains(auth, secret) {
			t.Errorf("%s: no key: %q", p.Name, auth)
		}
	}
	code, _, told := try(t, map[string]string{"MISTRAL_API_KEY": "k", "MISTRAL_BASE_URL": "http://u:" + secret +
		"@127.0.0.1:1/v1"}, "", "ask", "-d", db, "-m", "mistral:x", "Who?")
	if code != exitError || !strings.Contains(told, "cannot reach http:") {
		t.Errorf("no server of a model: code %d, %q", code, told)
	}
}

// TestProviderMessages: what a person reads of a provider that does not answer has its words and an advice, and no
// count of samples.
func TestProviderMessages(t *testing.T) {
	const again = "Ask again in a while, or check the name of the model."
	p := &program{getenv: func(string) string { return "" }}
	for _, tt := range []struct {
		err  llm.Error
		want string
	}{
		{llm.Error{Class: llm.ClassOverloaded, Status: 503}, "The model cannot be asked: overloaded (status 503). " + again},
		{llm.Error{Class: llm.ClassOverloaded, Status: 500, Message: "nope (attempt 7)"},
			"The model cannot be asked: overloaded (status 500): nope (attempt 7). " + again},
		{llm.Error{Class: llm.ClassPermanent, Status: 404, Message: "no such model.", Advice: "look at OPENAI_BASE_URL"},
			"The provider does not take the request (status 404): no such model. Look at OPENAI_BASE_URL."},
		{llm.Error{Class: llm.ClassPermanent, Status: 400, Message: "temperature: not\nsupported"},
			"The provider does not take the request (status 400): temperature: not supported. " + again},
		{llm.Error{Class: llm.ClassPermanent, Message: "connection refused", Advice: "cannot reach http://127.0.0.1:1/v1"},
			"cannot reach http://127.0.0.1:1/v1: connection refused"},
		{llm.Error{Class: llm.ClassContextTooLong, Status: 400, Message: "at most 8192 tokens"},
			"The prompt does not fit the model: at most 8192 tokens. Use a model with a larger context, " +
				"or show it fewer tables."},
		{llm.Error{Class: llm.ClassRateLimit, Status: 429, Message: "org-123 has no more"},
			"The provider of the model takes no more requests now. Ask again in a while."},
		{llm.Error{Class: llm.ClassPermanent, Status: 401, Message: "sk-1"},
			"The provider of the model refuses the key or the account. Check the key."},
	} {
		none := &strategy.NoCandidateError{Failed: []error{&tt.err, &tt.err}}
		if got := p.line(fmt.Errorf("texttosql: %w", none)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

// TestServers: questions on PostgreSQL and MariaDB, wrong credentials, and a server that dies while the model thinks.
func TestServers(t *testing.T) {
	for engine, lazy := range map[string]*servers.Lazy{"postgres": &pg, "mysql": &my} {
		t.Run(engine, func(t *testing.T) {
			port := lazy.Get(t).Port
			driver, admin := "pgx", fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port)
			make := []string{"CREATE ROLE asked LOGIN SUPERUSER PASSWORD '" + secret + "'", "CREATE TABLE t(a INTEGER)",
				"INSERT INTO t VALUES (7)"}
			dsn := fmt.Sprintf("postgres://asked:%s@127.0.0.1:%d/postgres?sslmode=disable", secret, port)
			if engine == "mysql" {
				driver, admin = "mysql", fmt.Sprintf("root@tcp(127.0.0.1:%d)/?multiStatements=true", port)
				make = []string{"CREATE DATABASE d", "CREATE TABLE d.t(a INTEGER)", "INSERT INTO d.t VALUES (7)",
					"CREATE USER asked@'%' IDENTIFIED BY '" + secret + "'; GRANT ALL ON d.* TO asked@'%'"}
				dsn = fmt.Sprintf("mysql://asked:%s@127.0.0.1:%d/d", secret, port)
			}
			pool := testutil.Value(sql.Open(driver, admin))(t)
			defer pool.Close()
			for _, text := range make {
				testutil.Value(pool.Exec(text))(t)
			}
			env := with(asking(t, always("SELECT a FROM t")), "TEXTTOSQL_DSN", dsn)
			page := filepath.Join(t.TempDir(), "page.html")
			code, out, told := try(t, env, "", "ask", "-s", "direct", "--trace", page, "--trace-rows", "Which?")
			// what an operator should know the doctor says
			if code != exitAnswer || !strings.Contains(out, "7\n") || told != "" {
				t.Errorf("code %d, %s%s", code, out, told)
			}
			if html, err := os.ReadFile(page); err != nil || bytes.Contains(html, []byte(secret)) {
				t.Errorf("page: %v, or it has the password", err)
			}
			if code, out, told := try(t, env, "", "check", "DROP TABLE t"); code != exitRefused {
				t.Errorf("code %d, %s%s", code, out, told)
			}
			if engine == "mysql" { // the server of PostgreSQL trusts every password
				code, _, told := try(t, with(env, "TEXTTOSQL_DSN", strings.Replace(dsn, secret, secret+"-wrong", 1)), "", "schema")
				if code != exitError || !strings.Contains(told, "Access denied") {
					t.Errorf("a wrong password: code %d, %s", code, told)
				}
			}
			code, _, told = try(t, with(env, "TEXTTOSQL_DSN", strings.Replace(dsn, "asked:", "nobody:", 1)), "", "schema")
			if code != exitError || !strings.Contains(told, "nobody") {
				t.Errorf("an unknown user: code %d, %s", code, told)
			}
			server := lazy.Get(t)
			killed := asking(t, func(_ string, call int) string {
				if call == 1 {
					if err := server.Kill(); err != nil {
						t.Error(err)
					}
				}
				return "SELECT a FROM t"
			})
			code, _, told = try(t, with(killed, "TEXTTOSQL_DSN", dsn), "", "ask", "-s", "direct", "Which?")
			if cost, why, _ := strings.Cut(told, "\n"); code != exitError || !strings.HasPrefix(cost, "1 call, ") ||
				strings.Contains(why, "samples") || strings.Count(why, "\n") != 1 {
				t.Errorf("a server that died: code %d, %q", code, told)
			}
			testutil.OK(t, server.Resume())
		})
	}
}

// TestInterrupted: a signal while the model thinks ends the process with 130 and one line; talk says how to go on.
func TestInterrupted(t *testing.T) {
	for _, args := range []string{"ask Who?", "talk --sessions sessions"} {
		asked := make(chan bool, 100)
		hanging := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body) // or the server does not see that the client went away
			asked <- true
			<-r.Context().Done()
		}))
		env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": hanging.URL + "/v1", "TEXTTOSQL_DSN": shopFile(t)}
		c := shell(t, t.TempDir(), env, "exec texttosql "+args+" -m openai:x")
		var out, told bytes.Buffer
		c.Stdout, c.Stderr, c.Stdin = &out, &told, strings.NewReader("Who?\n")
		testutil.OK(t, c.Start())
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		select {
		case <-asked:
			testutil.OK(t, c.Process.Signal(syscall.SIGINT))
			<-ended
		case <-ended: // before it asked
		}
		hanging.CloseClientConnections()
		hanging.Close()
		if code := c.ProcessState.ExitCode(); code != exitInterrupted || told.String() != "texttosql: interrupted\n" {
			t.Errorf("%s: code %d, %q", args, code, &told)
		}
		if strings.HasPrefix(args, "talk") &&
			!strings.Contains(out.String(), "stopped; to go on: --sessions sessions --resume ") {
			t.Errorf("%s", &out)
		}
	}
}

// TestBrokenPipe: nobody reads on, and the program ends without a word, as others do.
func TestBrokenPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	c := exec.CommandContext(t.Context(), os.Args[0], "schema", "--db", shopFile(t))
	c.Env = []string{"TEXTTOSQL_TEST_PROGRAM=1"}
	var told bytes.Buffer
	c.Stdout, c.Stderr = w, &told
	err = c.Run()
	w.Close()
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	if err == nil || told.Len() > 0 || status.Signal() != syscall.SIGPIPE {
		t.Errorf("%v, %q", err, &told)
	}
}

// TestCancelled: an interrupt before the first call.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env := asking(t, always("SELECT 1"))
	for _, dsn := range []string{shopFile(t), "postgres://u:" + secret + "@127.0.0.1:1/d"} {
		code, _, told := tryWithin(t, ctx, with(env, "TEXTTOSQL_DSN", dsn), "", "ask", "Who?")
		if code != exitInterrupted || told != "texttosql: interrupted\n" {
			t.Errorf("code %d, %q", code, told)
		}
	}
}
