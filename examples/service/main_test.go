package main

import (
	"bufio"
	"bytes"
	"context"
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
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/texttosql/texttosql/examples/shop"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/llm"
)

const names = "SELECT name FROM customers WHERE id = 1"

// serve serves two tenants: the shop as it is, and a file of which nobody may read the orders.
func serve(t *testing.T, model llm.Model, deadline time.Duration) *httptest.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.sqlite")
	if err := shop.Write(path); err != nil {
		t.Fatal(err)
	}
	tenants := map[string]tenant{"demo": {}, "other": {DB: path, Policy: json.RawMessage(`{"DenyTables": ["orders"]}`)}}
	s, closeAll, err := open(t.Context(), model, tenants, deadline)
	t.Cleanup(closeAll)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(s.routes())
	t.Cleanup(server.Close)
	return server
}

type event struct {
	name string
	data struct {
		ID, Step, Closing, Explanation string
		Error                          struct{ Class, Message, Advice string }
		Result                         *struct {
			SQL        string
			Confidence float64
			Usage      struct{ Calls int }
			Rows       struct{ Rows [][]any }
		}
	}
}

// post asks a question and reads the events of the reply.
func post(t *testing.T, ctx context.Context, server *httptest.Server, token, body string) (status int, events []event) {
	t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/ask", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := server.Client().Do(req)
	if err != nil {
		return 0, nil
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
			events = append(events, event{name: name})
		}
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(data), &events[len(events)-1].data); err != nil {
				t.Fatalf("%s: %v", data, err)
			}
		}
	}
	return resp.StatusCode, events
}

func TestAsk(t *testing.T) {
	says := func(sql string) llm.Func {
		return func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{Text: sql}, nil }
	}
	half := func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Sample%2 == 1 {
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		}
		return llm.Response{Text: names}, nil
	}
	tests := []struct {
		name, token, body string
		model             llm.Func
		deadline          time.Duration
		status            int
		sql, err          string // of the answer; the class of its error
		why               string
	}{
		{"an answer", "demo", `{"id": "7", "question": "Who is first?"}`, says(names), time.Minute, 200, names, "",
			"with progress before it"},
		{"a stranger", "nobody", `{"question": "Who is first?"}`, says(names), time.Minute, 401, "", "", "nothing is asked"},
		{"no JSON", "demo", `question=who`, says(names), time.Minute, 400, "", "", "nothing is asked"},
		{"two questions", "demo", `{"question": "who"} {"question": "how many"}`, says(names), time.Minute, 400, "", "",
			"nothing is asked"},
		{"no question", "demo", `{"question": " "}`, says(names), time.Minute, 400, "", "", "nothing is asked"},
		{"a megabyte", "demo", `{"question": "` + strings.Repeat("x", 1<<20) + `"}`, says(names), time.Minute, 400, "", "",
			"it is not read"},
		{"a table of the shop", "demo", `{"question": "How many orders?"}`, says("SELECT count(*) FROM orders"), time.Minute,
			200,
			"SELECT count(*) FROM orders", "", "it may be read"},
		{"denied to another tenant", "other", `{"question": "How many orders?"}`, says("SELECT count(*) FROM orders"),
			time.Minute, 200,
			"", "refused", "by its policy"},
		{"a function", "demo", `{"question": "Who is first?"}`, says("SELECT load_extension('x')"), time.Minute, 200, "",
			"refused", "no name of Go"},
		{"a deadline", "demo", `{"question": "Who is first?"}`, half, 3 * time.Second, 200, names, "time",
			"the best answer so far"},
		{"a provider that is down", "demo", `{"question": "Who is first?"}`, func(context.Context, llm.Request) (llm.Response,
			error) {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "wrong key"}
		}, time.Minute, 200, "", "provider", "once, not for each sample"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, events := post(t, t.Context(), serve(t, tt.model, tt.deadline), tt.token, tt.body)
			if status != tt.status || status != 200 {
				if status != tt.status || len(events) > 0 {
					t.Errorf("status %d, %d events: %s", status, len(events), tt.why)
				}
				return
			}
			last := events[len(events)-1]
			steps := 0
			for _, e := range events[:len(events)-1] {
				if e.name == "progress" && e.data.Step == "sample" && e.data.ID == last.data.ID {
					steps++
				}
			}
			r := last.data.Result
			if told := last.data.Error.Message + last.data.Error.Advice + last.data.Explanation; strings.Contains(told,
				"AllowFunctions") {
				t.Errorf("a visitor reads %q", told)
			}
			if last.name != "answer" || r == nil || r.SQL != tt.sql || last.data.Error.Class != tt.err ||
				(last.data.Error.Message == "") != (tt.err == "") {
				t.Fatalf("%+v, %+v: %s", last, r, tt.why)
			}
			if steps < 5 || r.Usage.Calls == 0 || r.Usage.Calls > 20 || tt.err == "" &&
				(len(r.Rows.Rows) != 1 || last.data.Closing == "") {
				t.Errorf("%d samples were told of; %+v: %s", steps, r, tt.why)
			}
		})
	}
}

var server = servers.Lazy{Start: servers.Postgres}

func TestMain(m *testing.M) { os.Exit(server.Run(m)) }

// TestPool: a tenant with a DSN is answered from a pool of pgx, under its policy.
func TestPool(t *testing.T) {
	const tables = "CREATE TABLE customers(id int, name text); INSERT INTO customers VALUES (1, 'Ada'); " +
		"CREATE TABLE orders(id int)"
	dsn := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres", server.Get(t).Port)
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), tables); err != nil {
		t.Fatal(err)
	}
	replies := []string{names, "SELECT count(*) FROM orders", "DELETE FROM customers"}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: replies[req.Sample%3]}, nil
	})
	s, closeAll, err := open(t.Context(), model,
		map[string]tenant{"a": {DB: dsn, Policy: json.RawMessage(`{"DenyTables": ["orders"]}`)}}, time.Minute)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.routes())
	defer web.Close()
	_, events := post(t, t.Context(), web, "a", `{"question": "Who is first?"}`)
	if r := events[len(events)-1].data.Result; r == nil || r.SQL != names || len(r.Rows.Rows) != 1 {
		t.Errorf("%+v", events)
	}
	wrong := map[string]tenant{"a": {DB: "postgres://me:s3cret@127.0.0.1:1/shop"}}
	if _, closeAll, err := open(t.Context(), model, wrong, time.Minute); err == nil ||
		strings.Contains(err.Error(), "s3cret") {
		t.Errorf("no server: %v", err)
	} else {
		closeAll()
	}
}

// TestClientGoesAway: nobody pays for an answer that nobody reads.
func TestClientGoesAway(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var calls, ended atomic.Int32
	server := serve(t, llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		if calls.Add(1) == 1 {
			cancel()
		}
		<-ctx.Done()
		ended.Add(1)
		return llm.Response{}, ctx.Err()
	}), time.Hour)
	post(t, ctx, server, "demo", `{"question": "Who is first?"}`)
	server.Close() // it waits for the handler
	if n := calls.Load(); n != ended.Load() || n > 16 {
		t.Errorf("%d calls, %d ended", n, ended.Load())
	}
}

func TestRun(t *testing.T) {
	broken := filepath.Join(t.TempDir(), "tenants.json")
	for name, tt := range map[string]struct {
		tenants string
		args    []string
		want    string
	}{
		"no tenants":        {`{}`, nil, "want {"},
		"two tenants files": {`{"a": {}} {"b": {}}`, nil, "want {"},
		"broken tenants":    {`{"a": `, nil, "want {"},
		"misspelt policy":   {`{"a": {"policy": {"DenyTable": ["orders"]}}}`, nil, `"DenyTable" is unknown`},
		"no policy":         {`{"a": {"policy": null}}`, nil, "want an object"},
		"missing database":  {`{"a": {"db": "/does/not/exist.sqlite"}}`, nil, "exist.sqlite"},
		"unknown table":     {`{"a": {"policy": {"DenyTables": ["order"]}}}`, nil, `"order"`},
		"unknown provider":  {`{"a": {}}`, []string{"-model", "nothing:at-all"}, "unknown provider"},
		"no port":           {`{"a": {}}`, []string{"-addr", "127.0.0.1:-1"}, "invalid port"},
	} {
		if err := os.WriteFile(broken, []byte(tt.tenants), 0o600); err != nil {
			t.Fatal(err)
		}
		err := run(t.Context(), append([]string{"-tenants", broken}, tt.args...), io.Discard, func(string) string {
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := run(ctx, []string{"-addr", "127.0.0.1:0"}, writer(func(line []byte) {
		if !bytes.HasPrefix(line, []byte("listening on http://127.0.0.1:")) {
			t.Errorf("it says %q", line)
		}
		cancel()
	}), func(string) string { return "" })
	if err != nil {
		t.Errorf("stopped while idle: %v", err)
	}
}

type writer func([]byte)

func (w writer) Write(b []byte) (int, error) { w(b); return len(b), nil }

// TestTenantsOfOneDatabase: tenants of one database share an engine, and each reads its own rows.
func TestTenantsOfOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.sqlite")
	if err := shop.Write(path); err != nil {
		t.Fatal(err)
	}
	var tenants map[string]tenant
	const row = `{"db": %q, "policy": {"Rows": {"customers": "country = :country"}}, "scope": {"Key": %q, "Params": {"country": %[2]q}}}`
	file := fmt.Sprintf(`{"usa": `+row+`, "norway": `+fmt.Sprintf(row, path, "Norway")+`}`, path, "USA")
	if err := json.Unmarshal([]byte(file), &tenants); err != nil {
		t.Fatal(err)
	}
	model := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{Text: "SELECT DISTINCT country FROM customers"}, nil
	})
	s, closeAll, err := open(t.Context(), model, tenants, time.Minute)
	defer closeAll()
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]string{"usa": "[[USA]]", "norway": "[[Norway]]"} {
		if r, err := s.engines[token].Ask(t.Context(), "Which countries have customers?"); err != nil ||
			fmt.Sprint(r.Rows.Rows) != want {
			t.Errorf("%s: %+v, %v", token, r, err)
		}
	}
	nobody := tenants["usa"]
	nobody.Scope = nil
	if _, closeAll, err := open(t.Context(), model, map[string]tenant{"nobody": nobody}, time.Minute); err == nil {
		closeAll()
		t.Error("a tenant without a scope is served")
	}
}
