package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/texttosql/texttosql/internal/engines"
	"github.com/texttosql/texttosql/internal/servers"
)

var (
	pg = servers.Lazy{Start: servers.Postgres}
	my = servers.Lazy{Start: servers.MariaDB}
)

type runs func() int

func (r runs) Run() int { return r() }

func TestMain(m *testing.M) {
	os.Exit(pg.Run(runs(func() int { return my.Run(m) })))
}

// fixture has what the statements of these tests name.
const fixture = `
CREATE TABLE t(a INTEGER, b TEXT);
CREATE TABLE users(id INTEGER, name TEXT, password TEXT);
INSERT INTO t VALUES (1,'alpha'),(2,'beta;gamma'),(3,NULL),(4,'it''s'),(5,'北京');
INSERT INTO users VALUES (1,'ann','s3cret-1'),(2,'bob','s3cret-2'),(3,'cyd','s3cret-3');`

var databases int

// open makes a database with the fixture and returns a pool and a DSN of the superuser.
func open(t *testing.T, engine string) (pool *sql.DB, dsn string) {
	t.Helper()
	databases++
	name := fmt.Sprintf("d%d", databases)
	driver, parameters := "pgx", "?sslmode=disable"
	form := func(database string) string {
		return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s", pg.Get(t).Port, database)
	}
	if engine == "mysql" {
		driver, parameters = "mysql", "?multiStatements=true"
		form = func(database string) string {
			return fmt.Sprintf("root@tcp(127.0.0.1:%d)/%s", my.Get(t).Port, database)
		}
	}
	for _, database := range []string{map[string]string{"postgres": "postgres"}[engine], name} {
		var err error
		if pool, err = sql.Open(driver, form(database)+parameters); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { pool.Close() })
		script := "CREATE DATABASE " + name
		if engine == "mysql" {
			script += " CHARACTER SET utf8mb4"
		}
		if database == name {
			script = fixture
		}
		if _, err := pool.Exec(script); err != nil {
			t.Fatal(err)
		}
	}
	return pool, form(name) + parameters
}

// try runs the program with an environment of its own.
func try(t *testing.T, env map[string]string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, told bytes.Buffer
	err = run(t.Context(), args, &out, &told, func(name string) string { return env[name] })
	return out.String(), told.String(), err
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// clear fails the test if err is not one line that holds want and no password.
func clear(t *testing.T, why string, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%s: %v, want %q", why, err, want)
		return
	}
	if text := err.Error(); strings.Contains(text, "\n") || strings.Contains(text, "p4ss") || len(text) > 300 {
		t.Errorf("%s: no clear line, or a password: %q", why, text)
	}
}

// TestBrokenInputs: one clear line each, without a server, and never a password.
func TestBrokenInputs(t *testing.T) {
	const pgDSN, myDSN = "postgres://u:p4ss@127.0.0.1:1/d", "u:p4ss@tcp(127.0.0.1:1)/d"
	list := file(t, "list.jsonl", `{"id":"one","text":"SELECT 1"}`)
	ollama := []string{"-model", "ollama:x", "q"}
	ask := func(args ...string) []string { return slices.Concat([]string{"ask"}, args, ollama) }
	safety := func(args ...string) []string { return append([]string{"safety", "-statements", list}, args...) }
	for _, tt := range []struct {
		why  string
		env  map[string]string
		args []string
		want string
	}{
		{"nothing", nil, nil, "want a verb"},
		{"an unknown verb", nil, []string{"sing"}, `unknown verb "sing"`},
		{"no engine", nil, ask("-dsn", pgDSN), "-engine is needed: postgres, mysql, duckdb or trino"},
		{"an unknown engine", nil, ask("-engine", "oracle", "-dsn", pgDSN), `unknown engine "oracle": want postgres, mysql, duckdb or trino`},
		{"no database", nil, ask("-engine", "postgres"), "-dsn or TEXTTOSQL_DSN is needed: postgres://"},
		{"no database to try on", nil, safety("-engine", "mysql"), "-dsn and -statements are needed"},
		{"no question", nil, []string{"ask", "-engine", "postgres", "-dsn", pgDSN}, "a question is needed"},
		{"a blank question", nil, []string{"ask", "-engine", "postgres", "-dsn", pgDSN, " "}, "the question is empty"},
		{"no model", nil, []string{"ask", "-engine", "postgres", "-dsn", pgDSN, "q"}, "no model is configured"},
		{"an unknown model", nil, []string{"ask", "-engine", "postgres", "-dsn", pgDSN, "-model", "x:y", "q"}, "unknown provider"},
		{"a DSN behind the question", nil, []string{"ask", "-engine", "postgres", "q", "-dsn=" + pgDSN}, "the flag -dsn stands behind the question"},
		{"a DSN without its flag", nil, safety("-engine", "postgres", pgDSN), "1 unexpected arguments"},
		{"the DSN of another engine", nil, ask("-engine", "postgres", "-dsn", myDSN), "the DSN cannot be read, or names no database: want postgres://"},
		{"and the other way round", nil, ask("-engine", "mysql", "-dsn", pgDSN), "the DSN cannot be read, or names no database: want USER"},
		{"a broken port", nil, ask("-engine", "postgres", "-dsn", "postgres://u:p4ss@h:x/d"), "the DSN cannot be read"},
		{"a broken bracket", nil, ask("-engine", "mysql", "-dsn", "u:p4ss@tcp(h/d"), "the DSN cannot be read"},
		{"a server without a database", nil, ask("-engine", "mysql", "-dsn", "u:p4ss@tcp(127.0.0.1:1)/"), "names no database"},
		{"no server", nil, ask("-engine", "postgres", "-dsn", pgDSN), "database 127.0.0.1:1/d: no server: connect: connection refused"},
		{"no server by the variable", map[string]string{"TEXTTOSQL_DSN": myDSN}, ask("-engine", "mysql"), "database 127.0.0.1:1/d: no server: connect: "},
		{"no server to try on", nil, safety("-engine", "mysql", "-dsn", myDSN), "database 127.0.0.1:1/d: no server: connect: "},
		{"no statements", nil, []string{"safety", "-engine", "mysql", "-dsn", myDSN, "-statements", "nowhere.jsonl"}, "nowhere.jsonl: no such file"},
		{"none for this engine", nil, safety("-engine", "mysql", "-dsn", myDSN, "-statements", file(t, "a", `{"engine":"sqlite","text":"x"}`)),
			"no statement for mysql"},
		{"no time", nil, safety("-engine", "mysql", "-dsn", myDSN, "-deadline", "0"), "-deadline must be positive"},
		{"no policy", nil, safety("-engine", "mysql", "-dsn", myDSN, "-policy", "nowhere.json"), "-policy: no such file"},
		{"a broken policy", nil, ask("-engine", "mysql", "-dsn", myDSN, "-policy", file(t, "p", `{"DenyTable":[]}`)), `"DenyTable" is unknown`},
		{"a demonstration of nothing", nil, []string{"demo"}, "demo needs an engine behind it: postgres, mysql or duckdb"},
		{"of an engine without one", nil, []string{"demo", "trino"}, `unknown engine "trino": want postgres, mysql or duckdb`},
		{"one of an unknown engine", nil, []string{"demo", "oracle"}, `unknown engine "oracle"`},
		{"with a script that is not there", nil, []string{"demo", "mysql", "-script", "nowhere.sql"}, "script nowhere.sql: no such file"},
		{"a DuckDB file that is not there", nil, ask("-engine", "duckdb", "-dsn", "nowhere.duckdb"), "database nowhere.duckdb: no such file"},
		{"a file that is none", nil, safety("-engine", "duckdb", "-dsn", list), "list.jsonl is no DuckDB file"},
		{"a folder without tables", nil, ask("-engine", "duckdb", "-dsn", t.TempDir()), "it has no Parquet, CSV or JSON file"},
		{"a script for DuckDB", nil, []string{"demo", "duckdb", "-script", list}, "asks about the shop only"},
		{"of a question that nobody scripted", nil, []string{"demo", "mysql", "-script", list, "How many?"}, "no model is configured"},
	} {
		out, _, err := try(t, tt.env, tt.args...)
		clear(t, tt.why, err, tt.want)
		if strings.Contains(out, "──") {
			t.Errorf("%s: an answer: %s", tt.why, out)
		}
	}
	t.Setenv("TEXTTOSQL_POSTGRES", t.TempDir())
	_, _, err := try(t, nil, "demo", "postgres", "-script", list)
	clear(t, "no programs of a server", err, "the server is not installed: no program initdb (apt-get install postgresql")
	for _, args := range [][]string{{"-h"}, {"ask", "-h"}, {"safety", "-h"}, {"demo", "-h"}} {
		if _, told, err := try(t, nil, args...); !errors.Is(err, flag.ErrHelp) || told == "" {
			t.Errorf("%v: %v, %q", args, err, told)
		}
	}
}

// TestRefusedByServer: what a server says of a user, a password or a database is one line; so is its silence.
func TestRefusedByServer(t *testing.T) {
	_, pgDSN := open(t, "postgres")
	_, myDSN := open(t, "mysql")
	s := pg.Get(t)
	hba := filepath.Join(s.Dir, "data", "pg_hba.conf")
	trusting, err := os.ReadFile(hba)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hba, append([]byte("host all asked 127.0.0.1/32 scram-sha-256\n"), trusting...), 0o600); err != nil {
		t.Fatal(err)
	}
	admin, err := sql.Open("pgx", pgDSN)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	if _, err := admin.Exec("CREATE ROLE asked LOGIN PASSWORD 'right'; SELECT pg_reload_conf()"); err != nil {
		t.Fatal(err)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			c.Close()
		}
	}()
	place := fmt.Sprintf("127.0.0.1:%d", s.Port)
	for _, tt := range []struct{ why, engine, dsn, want string }{
		{"a wrong password", "postgres", "postgres://asked:p4ss@" + place + "/d1?sslmode=disable", `password authentication failed for user "asked"`},
		{"an unknown user", "postgres", "postgres://nobody:p4ss@" + place + "/d1?sslmode=disable", `role "nobody" does not exist`},
		{"an unknown database", "postgres", "postgres://postgres:p4ss@" + place + "/gone?sslmode=disable", place + `/gone: database "gone" does not exist`},
		{"a wrong password", "mysql", strings.Replace(myDSN, "root@", "root:p4ss@", 1), "Access denied for user 'root'"},
		{"an unknown database", "mysql", strings.Replace(myDSN, "/d", "/gone", 1), "Unknown database 'gone"},
		{"no server of PostgreSQL", "postgres", "postgres://u:p4ss@" + silent.Addr().String() + "/d?sslmode=disable", "database " + silent.Addr().String()},
		{"no server of MariaDB", "mysql", "u:p4ss@tcp(" + silent.Addr().String() + ")/d", "database " + silent.Addr().String()},
	} {
		_, _, err := try(t, nil, "ask", "-engine", tt.engine, "-dsn", tt.dsn, "-model", "ollama:x", "q")
		clear(t, tt.why, err, tt.want)
	}
}

// TestSafety: both engines have the verdicts and the summary of examples/safety.
func TestSafety(t *testing.T) {
	list := file(t, "list.jsonl", `
{"id":"read","expect":"accept","text":"SELECT a FROM t","rows":5}
{"id":"write","expect":"refuse","text":"DELETE FROM t"}
{"id":"two","expect":"refuse","text":"SELECT 1; DROP TABLE t"}
{"id":"typo","text":"SELECT a FROM tt"}
{"id":"denied here","expect":"refuse","text":"SELECT password FROM users","policy":{"deny_columns":["users.password"]}}
{"id":"denied by the file","expect":"refuse","text":"SELECT name FROM users"}
{"id":"lock","engine":"postgres","expect":"refuse","text":"SELECT (42::bigint).pg_advisory_lock"}
{"id":"sleep","engine":"mysql","expect":"refuse","text":"SELECT SLEEP(9)"}
{"id":"other","engine":"sqlite","text":"SELECT 1"}
`)
	policy := file(t, "policy.json", `{"DenyColumns": ["users.name"]}`)
	for _, engine := range []string{"postgres", "mysql"} {
		t.Run(engine, func(t *testing.T) {
			_, dsn := open(t, engine)
			out, told, err := try(t, map[string]string{"TEXTTOSQL_DSN": dsn}, "safety", "-engine", engine, "-statements", list, "-policy", policy, "-json")
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for line := range strings.Lines(out) {
				var v struct{ ID, Verdict, Rule string }
				if err := json.Unmarshal([]byte(line), &v); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				got = append(got, v.ID+": "+v.Verdict+" "+v.Rule)
			}
			want := []string{"read: answered ", "write: refused not-read-only", "two: refused several-statements", "typo: refused",
				"denied here: refused column", "denied by the file: refused column", ": refused function"}
			for i := range want {
				if i >= len(got) || !strings.Contains(got[i], want[i]) {
					t.Errorf("%q, want %q", got, want)
					break
				}
			}
			var s struct {
				Statements, Skipped, Expected int
				Unexpected                    []string
				Unchanged                     bool
			}
			if err := json.Unmarshal([]byte(told), &s); err != nil || s.Statements != 7 || s.Skipped != 2 || s.Expected != 6 || len(s.Unexpected) > 0 || !s.Unchanged {
				t.Errorf("%v: %s", err, told)
			}
			_, told, err = try(t, nil, "safety", "-engine", engine, "-dsn", dsn, "-statements", list)
			if err != nil || !strings.Contains(told, "the schema and the number of rows of each table, up to 100000, are unchanged") {
				t.Errorf("%v: %s", err, told)
			}
		})
	}
}

// TestLook: the text changes with the schema and with the number of rows.
func TestLook(t *testing.T) {
	for _, name := range []string{"postgres", "mysql"} {
		pool, dsn := open(t, name)
		e, err := engines.Of(name, all...)
		if err != nil {
			t.Fatal(err)
		}
		target, err := target(t.Context(), e, dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer target.Pool.Close()
		seen := map[string]bool{}
		for i, change := range []string{"SELECT 1", "INSERT INTO t VALUES (6, 'x')", "ALTER TABLE users ADD COLUMN age INTEGER", "CREATE TABLE more(a INTEGER)"} {
			if _, err := pool.Exec(change); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				text, err := target.Look(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				seen[text] = true
			}
			if len(seen) != i+1 {
				t.Errorf("%s: %d different texts after %q, want %d", name, len(seen), change, i+1)
			}
		}
	}
}

// TestAsk: a live model is asked about a server, what the policy denies is not in its prompt, and no page has the password.
func TestAsk(t *testing.T) {
	for _, engine := range []string{"postgres", "mysql"} {
		t.Run(engine, func(t *testing.T) {
			_, dsn := open(t, engine)
			dsn = strings.NewReplacer("postgres@", "postgres:p4ss@").Replace(dsn)
			var last atomic.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				last.Store(string(body))
				text, _ := json.Marshal("```sql\nSELECT COUNT(*) AS n FROM users\n```")
				fmt.Fprintf(w, `{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, text)
			}))
			defer server.Close()
			page := filepath.Join(t.TempDir(), "page.html")
			env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DSN": dsn}
			out, _, err := try(t, env, "ask", "-engine", engine, "-model", "openai:x", "-policy", file(t, "p", `{"DenyColumns":["password"],"DenyTables":["t"]}`),
				"-trace", page, "-trace-rows", "How many users are there?")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"── How many users are there?", "SELECT COUNT(*) AS n FROM users", "\n3\n", "confidence"} {
				if !strings.Contains(strings.ReplaceAll(out, " ", ""), strings.ReplaceAll(want, " ", "")) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			prompt, _ := last.Load().(string)
			title := map[string]string{"postgres": "PostgreSQL", "mysql": "MariaDB"}[engine]
			if !strings.Contains(prompt, title) || !strings.Contains(prompt, "users") || strings.Contains(prompt, "password") || strings.Contains(prompt, "s3cret") {
				t.Errorf("the prompt: %s", prompt)
			}
			html, err := os.ReadFile(page)
			if err != nil || !bytes.Contains(html, []byte("<html")) {
				t.Errorf("page: %v", err)
			}
			if strings.Contains(out+string(html), "p4ss") {
				t.Error("a password is told")
			}
		})
	}
}

// TestDemo: the shop, on a server of its own, and everything is gone afterwards.
func TestDemo(t *testing.T) {
	for engine, lazy := range map[string]*servers.Lazy{"postgres": &pg, "mysql": &my, "duckdb": nil} {
		t.Run(engine, func(t *testing.T) {
			want := []string{"Mina Jansen", "Chef's Knife |     48", "Kitchen", "50.475", "Chess Set", "was repaired"}
			if lazy != nil {
				lazy.Get(t) // skips where there is none
			} else { // it groups by names, not by keys
				want = []string{"Mina Jansen", "Chef's Knife |              48", "Kitchen", "50.475", "Chess Set", "(compile): column \"name\" must appear in the GROUP BY"}
			}
			dir, err := os.MkdirTemp("/tmp", "t2sdemo") // a folder of the test has too long a path for a socket
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			if err := os.Chmod(dir, 0o755); err != nil { // the server has a user of its own
				t.Fatal(err)
			}
			t.Setenv("TMPDIR", dir)
			out, _, err := try(t, map[string]string{}, "demo", engine)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(want, "none is called", "had no vote: not-read-only") {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			if strings.Contains(out, "no answer") || strings.Contains(out, "warning") || strings.Contains(out, "failed") {
				t.Errorf("a question without an answer, or a warning:\n%s", out)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}

// TestProgram is the whole program, which the test itself is once more: status 1 and one line on standard error.
func TestProgram(t *testing.T) {
	if os.Getenv("ENGINES_TEST_MAIN") != "" {
		os.Args = []string{"engines", "ask", "-engine", "postgres", "-model", "ollama:x", "How many?"}
		main()
	}
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProgram$")
	program.Env = append(os.Environ(), "ENGINES_TEST_MAIN=1", "TEXTTOSQL_DSN=postgres://u:p4ss@127.0.0.1:1/d")
	var stdout, stderr bytes.Buffer
	program.Stdout, program.Stderr = &stdout, &stderr
	err := program.Run()
	want := "engines: database 127.0.0.1:1/d: no server: connect: connection refused\n"
	if program.ProcessState.ExitCode() != 1 || stderr.String() != want || stdout.Len() > 0 {
		t.Errorf("%v, %q, %q, want %q", err, &stdout, &stderr, want)
	}
}

// TestInterrupted ends at once.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	args := []string{"ask", "-engine", "postgres", "-dsn", "postgres://u@127.0.0.1:1/d", "-model", "ollama:x", "q"}
	err := run(ctx, args, io.Discard, io.Discard, func(string) string { return "" })
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
