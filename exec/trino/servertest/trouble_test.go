package servertest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/trino"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
)

func asInvalid(err error) (*exec.InvalidError, bool) {
	var invalid *exec.InvalidError
	return invalid, errors.As(err, &invalid)
}

// guardedBy is a DB on a data source name.
func guardedBy(t testing.TB, dsn string, c exec.Config) *exec.DB {
	t.Helper()
	p, err := sql.Open("trino", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	db, err := exec.New(p, trino.Dialect{}, c)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// TestTwoCatalogs: one question whose statement joins a table of memory with one of tpch.
func TestTwoCatalogs(t *testing.T) {
	name := open(t, "CREATE TABLE offices(city VARCHAR, country VARCHAR);\n"+
		"INSERT INTO offices VALUES ('Lyon', 'FRANCE'), ('Lima', 'PERU'), ('Nice', 'FRANCE');\n")
	model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true, Replies: llmtest.Texts("```sql\nSELECT r.name, count(*) FROM offices AS o" +
		" JOIN tpch.tiny.nation AS n ON n.name = o.country JOIN tpch.tiny.region AS r ON r.regionkey = n.regionkey GROUP BY r.name ORDER BY r.name\n```")}}}
	e, err := texttosql.New(pool(t, "reader", name), model, texttosql.WithDialect(trino.Dialect{Catalogs: []string{"tpch"}}),
		texttosql.WithPolicy(exec.Policy{AllowTables: []string{"offices", "tpch.tiny.nation", "tpch.tiny.region"}}),
		texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: time.Minute}, Answer: exec.Bounds{Timeout: time.Minute}}), // of a busy machine
		texttosql.WithStrategy(strategy.SelfConsistency{Samples: 1}))
	if err != nil {
		t.Fatal(err)
	}
	res, err := e.Ask(t.Context(), "How many offices are in each region of the world?")
	if err != nil || res.Rows == nil || fmt.Sprint(res.Rows.Rows) != "[[AMERICA 1] [EUROPE 2]]" {
		t.Fatalf("%+v, %v", res, err)
	}
	var said strings.Builder
	for _, req := range model.Requests() {
		said.WriteString(strategytest.Written(req.Messages))
	}
	for _, word := range []string{"Trino", "offices", `"tpch"."tiny".nation`} {
		if !strings.Contains(said.String(), word) {
			t.Errorf("no prompt has %s:\n%s", word, said.String())
		}
	}
	if strings.Contains(said.String(), "orders") || strings.Contains(said.String(), "SQLite") {
		t.Errorf("a prompt has what is not allowed, or another engine:\n%s", said.String())
	}
}

// long is a statement that takes many minutes on both nodes, and no memory.
const long = "SELECT count(*) FROM tpch.sf100.lineitem AS a CROSS JOIN tpch.tiny.nation AS b WHERE a.comment < b.comment"

// running counts the statements with a mark that the server works on.
func running(t testing.TB, mark string) (n int) {
	t.Helper()
	p := pool(t, "admin", "default")
	defer p.Close()
	err := p.QueryRowContext(context.WithoutCancel(t.Context()), "SELECT count(*) FROM system.runtime.queries WHERE query LIKE '%"+mark+
		"%' AND query NOT LIKE '%system.runtime%' AND state NOT IN ('FINISHED', 'FAILED')").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// eventually waits until ok, for what a busy machine is slow at.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it is not so that %s", what)
		}
	}
}

// TestEnds: a statement that is over its time, or cancelled, is not worked on any more.
func TestEnds(t *testing.T) {
	d := guarded(t, "admin", "default", trino.Dialect{Catalogs: []string{"tpch"}}, exec.Config{})
	_, err := d.QueryWithin(t.Context(), long+" AND 'deadline' <> ''", exec.Bounds{Timeout: 4 * time.Second})
	var limit *exec.LimitError
	if !errors.As(err, &limit) || limit.Limit != "time" {
		t.Errorf("over its time: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := d.QueryWithin(ctx, long+" AND 'cancel' <> ''", exec.Bounds{Timeout: time.Minute})
		ended <- err
	}()
	eventually(t, "the statement runs", func() bool { return running(t, "''cancel''") > 0 })
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) || exec.IsRejection(err) {
		t.Errorf("cancelled: %v", err)
	}
	for _, mark := range []string{"''deadline''", "''cancel''"} {
		eventually(t, "the server ended "+mark, func() bool { return running(t, mark) == 0 })
	}
	if _, err := d.Query(t.Context(), "SELECT count(*) FROM tpch.tiny.nation"); err != nil {
		t.Errorf("a later statement: %v", err)
	}
}

// TestNodeEnds: a worker goes in the middle of a statement. That is nobody's fault but the cluster's, and later statements
// work on the other node.
func TestNodeEnds(t *testing.T) {
	d, err := exec.New(pool(t, "admin", "default"), trino.Dialect{Catalogs: []string{"tpch"}}, exec.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Query(t.Context(), "SELECT count(*) FROM tpch.tiny.nation"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	start := time.Now()
	go func() {
		_, err := d.QueryWithin(t.Context(), long+" AND 'node' <> ''", exec.Bounds{Timeout: 3 * time.Minute})
		ended <- err
	}()
	eventually(t, "the statement runs", func() bool { return running(t, "''node''") > 0 })
	time.Sleep(time.Second) // on both nodes
	if err := server.Get(t).EndWorker(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := server.Get(t).AddWorker(); err != nil {
			t.Error(err)
		}
	}()
	gone := time.Now()
	err = <-ended
	t.Logf("the worker ended after %v, and %v later: %v", gone.Sub(start), time.Since(gone), err)
	if err == nil || exec.IsRejection(err) || !strings.Contains(err.Error(), "the cluster failed") {
		t.Errorf("the worker is gone: %v", err)
	}
	// The coordinator takes some seconds to miss the node.
	eventually(t, "a later statement works", func() bool {
		_, err := d.QueryWithin(t.Context(), "SELECT count(*) FROM tpch.tiny.nation", exec.Bounds{Timeout: time.Minute})
		if exec.IsRejection(err) {
			t.Errorf("a later statement: %v", err)
		}
		return err == nil
	})
}

// TestNoServer: what is said without a server, of a user it does not let in, and of places that are not there. No error has
// the DSN.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := l.Addr().String()
	l.Close()
	strict := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "Invalid credentials", http.StatusUnauthorized)
	}))
	defer strict.Close()
	for _, c := range []struct{ why, dsn, want string }{
		{"nobody listens", "http://s3cret-user@" + nobody + "?catalog=memory&schema=default&request_retry_max_attempts=2", "connection refused"},
		{"wrong credentials", "http://s3cret-user@" + strict.Listener.Addr().String() + "?catalog=memory&schema=default", "Invalid credentials"},
		{"no such catalog", strings.Replace(dsn(t, "s3cret-user", "default"), "catalog=memory", "catalog=nix", 1), "nix"},
		{"no catalog", strings.Replace(dsn(t, "s3cret-user", "default"), "catalog=memory&", "", 1), "name both in the DSN"},
		{"no schema", strings.Replace(dsn(t, "s3cret-user", "default"), "&schema=default", "", 1), "name both in the DSN"},
	} {
		p, err := sql.Open("trino", c.dsn)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		db, err := exec.New(p, trino.Dialect{}, exec.Config{})
		if err != nil {
			t.Fatal(err)
		}
		_, schemaErr := db.Schema(t.Context())
		_, queryErr := db.Query(t.Context(), "SELECT 1 FROM t")
		model := &llmtest.Script{Rules: []llmtest.Rule{{Repeat: true, Replies: llmtest.Texts("SELECT 1 FROM t")}}}
		e, err := texttosql.New(p, llm.Model(model), texttosql.WithDialect(trino.Dialect{}), texttosql.WithStrategy(strategy.SelfConsistency{Samples: 1}))
		askErr := err
		if err == nil {
			_, askErr = e.Ask(t.Context(), "How many?")
		}
		for what, err := range map[string]error{"Schema": schemaErr, "Query": queryErr, "Ask": askErr} {
			switch text := fmt.Sprint(err); {
			case err == nil:
				t.Errorf("%s: %s: no error", c.why, what)
			case !strings.Contains(text, c.want):
				t.Errorf("%s: %s: %q, want %q", c.why, what, text, c.want)
			case strings.Contains(text, "s3cret") || strings.Contains(text, "request_retry_max_attempts=2&") || strings.Contains(text, c.dsn):
				t.Errorf("%s: %s: the error has the DSN: %s", c.why, what, text)
			}
		}
	}
}
