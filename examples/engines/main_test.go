package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

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

// made makes a database with the fixture and returns a pool and a DSN of the superuser.
func made(t *testing.T, engine string) (pool *sql.DB, dsn string) {
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
func try(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, &out, func(name string) string { return env[name] })
	return out.String(), err
}

func file(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFaults: what is wrong is told, and never with a password.
func TestFaults(t *testing.T) {
	for why, tt := range map[string]struct{ args, want string }{
		"an unknown flag":                 {"-dsn x", "-dsn"},
		"no model":                        {"-db postgres://u:p4ss@h/d q", "no model is configured"},
		"an unknown model":                {"-model x:y -db postgres://u:p4ss@h/d q", "unknown provider"},
		"no database":                     {"-model ollama:x q", "-db or TEXTTOSQL_DSN is needed"},
		"no server of PostgreSQL":         {"-model ollama:x -db postgres://u:p4ss@127.0.0.1:1/d q", "connection refused"},
		"no server of MariaDB":            {"-model ollama:x -db u:p4ss@tcp(127.0.0.1:1)/d q", "connection refused"},
		"a broken port":                   {"-model ollama:x -db postgres://u:p4ss@h:x/d q", "invalid port"},
		"a broken bracket":                {"-model ollama:x -db u:p4ss@tcp(h/d q", "invalid DSN"},
		"Trino without a catalog":         {"-model ollama:x -db https://u:p4ss@localhost:1 q", "want https://USER"},
		"a broken URL of Trino":           {"-model ollama:x -db https://u:p4ss@[::1 q", "want https://USER"},
		"another engine":                  {"-model ollama:x -db oracle://u:p4ss@h/d q", "no engine that is known"},
		"a DuckDB file that is not there": {"-model ollama:x -db nowhere.duckdb q", "nowhere.duckdb: there is no such file"},
		"a policy that is not there":      {"-model ollama:x -db nowhere.duckdb -policy nowhere.json q", "nowhere.json"},
		"a misspelt policy": {"-model ollama:x -db nowhere.duckdb -policy " + file(t, "p", `{"DenyTable":[]}`) +
			" q", `"DenyTable" is unknown`},
	} {
		out, err := try(t, nil, strings.Fields(tt.args)...)
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "p4ss") || out != "" {
			t.Errorf("%s: %v, want %q; written %q", why, err, tt.want, out)
		}
	}
}

// TestFolder: without arguments a folder of CSV files is asked, and is gone afterwards.
func TestFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	out, err := try(t, nil)
	if err != nil || !strings.Contains(out, "Ada  |      2") {
		t.Errorf("%v: %s", err, out)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestAsk: a live model is asked about a server, and what the policy denies is not in its prompt.
func TestAsk(t *testing.T) {
	for _, engine := range []string{"postgres", "mysql"} {
		t.Run(engine, func(t *testing.T) {
			_, dsn := made(t, engine)
			dsn = strings.NewReplacer("postgres@", "postgres:p4ss@").Replace(dsn)
			var last atomic.Value
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				last.Store(string(body))
				text, _ := json.Marshal("```sql\nSELECT COUNT(*) AS n FROM users\n```")
				fmt.Fprintf(w,
					`{"choices":[{"message":{"content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":8}}`, text)
			}))
			defer server.Close()
			env := map[string]string{"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL + "/v1", "TEXTTOSQL_DSN": dsn}
			out, err := try(t, env, "-model", "openai:x", "-policy",
				file(t, "p", `{"DenyColumns":["password"],"DenyTables":["t"]}`), "How many users are there?")
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"SELECT COUNT(*) AS n FROM users", "\n3\n", "All 7 samples agree."} {
				if !strings.Contains(strings.ReplaceAll(out, " ", ""), strings.ReplaceAll(want, " ", "")) {
					t.Errorf("no %q in\n%s", want, out)
				}
			}
			prompt, _ := last.Load().(string)
			title := map[string]string{"postgres": "PostgreSQL", "mysql": "MariaDB"}[engine]
			if !strings.Contains(prompt, title) || !strings.Contains(prompt, "users") || strings.Contains(prompt, "password") ||
				strings.Contains(prompt, "s3cret") {
				t.Errorf("the prompt: %s", prompt)
			}
			if strings.Contains(out, "p4ss") {
				t.Error("a password is told")
			}
		})
	}
}
