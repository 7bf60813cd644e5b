package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/internal/servers"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
)

var server = servers.Lazy{Start: servers.Postgres}

func TestMain(m *testing.M) {
	if os.Getenv("BATCH_CHILD") != "" {
		if err := child(os.Getenv("BATCH_CHILD"), os.Getenv("BATCH_SHOP")); err != nil {
			fmt.Fprintln(os.Stderr, "a worker: ", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(server.Run(m))
}

var databases int

func newDSN(t *testing.T) string {
	t.Helper()
	base := fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%%s?sslmode=disable", server.Get(t).Port)
	databases++
	name := fmt.Sprint("d", databases)
	root, err := pgx.Connect(t.Context(), fmt.Sprintf(base, "postgres"))
	if err == nil {
		_, err = root.Exec(t.Context(), "CREATE DATABASE "+name)
		root.Close(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(base, name)
}

func opened(t *testing.T, dsn, depends string) *batch {
	t.Helper()
	b, err := open(t.Context(), dsn, depends, deadline)
	if err != nil {
		t.Fatal(err)
	}
	b.rescue = time.Second
	t.Cleanup(b.pool.Close)
	return b
}

func newEngine(db *sql.DB, model llm.Model) (*texttosql.Engine, error) {
	return texttosql.New(db, llm.Chain(model, replied), texttosql.WithStrategy(strategy.SelfConsistency{}),
		texttosql.WithSamples(samples))
}

// customers makes a database to ask about.
func customers(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "shop.sqlite")
	db, err := sql.Open("sqlite3", path)
	if err == nil {
		_, err = db.Exec("CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, " +
			"'Ada'), (2, 'Bo')")
		t.Cleanup(func() { db.Close() })
	}
	if err != nil {
		t.Fatal(err)
	}
	return path, db
}

// What the workers of TestKills do; each is a process of its own.
const (
	deadline = 5 * time.Second
	samples  = 3
	parallel = 4 // questions of a worker
)

var number = regexp.MustCompile(`an id over (\d+)\?`)

func asked(i int) (text, sql string) {
	return fmt.Sprintf("How many customers have an id over %d?", i),
		fmt.Sprintf("SELECT count(*) FROM customers WHERE id > %d", i)
}

// paidModel replies to asked, after it has written down that the call is to be paid for.
func paidModel(pool *pgxpool.Pool) llm.Model {
	return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		found := number.FindStringSubmatch(req.Messages[len(req.Messages)-1].Text)
		if found == nil {
			return llm.Response{}, &llm.Error{Class: llm.ClassPermanent, Message: "no such question"}
		}
		_, err := pool.Exec(ctx, "INSERT INTO paid VALUES ($1, $2, $3, $4)", found[1], req.Hash(), req.Sample, os.Getpid())
		if err != nil {
			return llm.Response{}, err
		}
		time.Sleep(time.Duration(5+rand.IntN(20)) * time.Millisecond)
		return llm.Response{Text: "SELECT count(*) FROM customers WHERE id > " + found[1]}, nil
	})
}

func child(dsn, path string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	b, err := open(ctx, dsn, "kills", deadline)
	if err != nil {
		return err
	}
	defer b.pool.Close()
	b.rescue = time.Second
	db, err := sql.Open("sqlite3", "file:"+path+"?mode=ro")
	if err != nil {
		return err
	}
	defer db.Close()
	e, err := newEngine(db, paidModel(b.pool))
	if err != nil {
		return err
	}
	if err := b.work(ctx, e, parallel); ctx.Err() == nil {
		return err
	}
	return nil
}

// TestKills: three processes work and are killed again and again. Each question is answered once, nothing is lost, and
// what is paid again are the calls that were in flight at a kill. BATCH_KILLS=1 makes it 5,000 questions and 20 kills
// without a restart at the end.
func TestKills(t *testing.T) {
	questions, kills, full := 200, 4, os.Getenv("BATCH_KILLS") != ""
	if full {
		questions, kills = 5000, 20
	}
	dsn := newDSN(t)
	path, _ := customers(t)
	b := opened(t, dsn, "kills")
	exec1(t, b, "CREATE TABLE paid (question text, hash text, sample int, pid int)")
	var file strings.Builder
	for i := range questions {
		text, _ := asked(i)
		fmt.Fprintf(&file, "{\"id\": \"%d\", \"question\": %q}\n", i, text)
	}
	for _, want := range [][2]int{{questions, 0}, {0, questions}} { // the second finds them
		if added, known, err := b.add(t.Context(), strings.NewReader(file.String())); err != nil || added != want[0] ||
			known != want[1] {
			t.Fatalf("%d added, %d known, %v", added, known, err)
		}
	}
	started := 0
	start := func() *exec.Cmd {
		started++
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), fmt.Sprintf("BATCH_CHILD=%s&application_name=w%d", dsn, started), "BATCH_SHOP="+path)
		c.Stderr = os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		return c
	}
	begin := time.Now()
	workers := []*exec.Cmd{start(), start(), start()}
	names := []int{1, 2, 3}
	inFlight := 0
	for kill := range kills {
		for one(t, b, "SELECT count(*) FROM batch_answers") < questions*(kill+1)/(kills+2) {
			time.Sleep(2 * time.Millisecond)
		}
		i := kill % 3
		pid := workers[i].Process.Pid
		workers[i].Process.Kill()
		workers[i].Wait()
		for one(t, b, fmt.Sprintf("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'w%d'", names[i])) > 0 {
			time.Sleep(time.Millisecond) // the server ends what it had been sent
		}
		inFlight += one(t, b,
			fmt.Sprintf(`SELECT count(*) FROM (SELECT DISTINCT question, hash, sample FROM paid WHERE pid = %d) AS p
			WHERE NOT EXISTS (SELECT FROM batch_answers AS a WHERE a.id = p.question)
			AND NOT EXISTS (SELECT FROM batch_replies AS r WHERE r.id = p.question
				AND convert_from(r.line, 'UTF8')::json ->> 'hash' = p.hash AND (convert_from(r.line, 'UTF8')::json ->> 'draw')::int = p.sample)`, pid))
		workers[i] = start()
		names[i] = started
	}
	killed := time.Since(begin)
	if !full { // a new leader looks for jobs of the dead at once, an old one within 30 seconds
		time.Sleep(deadline + 2*time.Second)
		for i, w := range workers {
			w.Process.Signal(syscall.SIGTERM)
			w.Wait()
			workers[i] = start()
		}
	}
	for _, w := range workers {
		if err := w.Wait(); err != nil {
			t.Error(err)
		}
	}
	rows, err := b.pool.Query(t.Context(), "SELECT id, sql, failure, answer->'rows' IS NOT NULL "+
		"AND answer->'trace' IS NOT NULL FROM batch_answers")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]bool{}
	var id, sql, failure string
	var whole bool
	if _, err := pgx.ForEachRow(rows, []any{&id, &sql, &failure, &whole}, func() error {
		var i int
		fmt.Sscan(id, &i)
		if _, want := asked(i); sql != want || failure != "" || !whole || answers[id] {
			t.Errorf("question %s: %s, failure %q, whole %v", id, sql, failure, whole)
		}
		answers[id] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	paid, needed := one(t, b, "SELECT count(*) FROM paid"),
		one(t, b, "SELECT count(*) FROM (SELECT DISTINCT question, hash, sample FROM paid) AS p")
	again := paid - needed
	completed := one(t, b, "SELECT count(*) FROM river_job WHERE state = 'completed'")
	left := one(t, b, "SELECT count(*) FROM batch_replies")
	// two equal ones of three settle a vote
	if len(answers) != questions || completed != questions || left != 0 || needed != 2*questions {
		t.Errorf("%d answers, %d jobs completed, %d replies left, %d calls needed", len(answers), completed, left, needed)
	}
	if again > inFlight {
		t.Errorf("%d calls paid again, %d were in flight at the kills", again, inFlight)
	}
	t.Logf("%d questions, %d kills: %d calls needed, %d paid again (%d in flight at the kills, at most %d possible), "+
		"%d questions taken over; last kill after %v, all after %v", questions, kills, needed, again, inFlight,
		kills*parallel*samples,
		one(t, b, "SELECT count(*) FROM batch_answers WHERE attempt > 1"), killed.Round(time.Second/10),
		time.Since(begin).Round(time.Second/10))
}

func one(t *testing.T, b *batch, query string) (n int) {
	t.Helper()
	if err := b.pool.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func exec1(t *testing.T, b *batch, statement string) {
	t.Helper()
	if _, err := b.pool.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

// TestClasses: what becomes of a question whose model fails.
func TestClasses(t *testing.T) {
	b := opened(t, newDSN(t), "classes")
	calls := map[string]int{}
	fails := map[string]func(n int) error{
		"rate":     func(n int) error { return &llm.Error{Class: llm.ClassRateLimit, RetryAfter: time.Millisecond} },
		"down":     func(n int) error { return &llm.Error{Class: llm.ClassOverloaded, Status: 503} },
		"declined": func(n int) error { return &llm.Error{Class: llm.ClassRefused} },
		"wrong":    func(n int) error { return &llm.Error{Class: llm.ClassPermanent, Status: 400} },
		"key":      func(n int) error { return &llm.Error{Class: llm.ClassPermanent, Status: 401} },
	}
	_, db := customers(t)
	fixed := false
	e, err := texttosql.New(db, llm.Chain(llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		for name, fail := range fails {
			if !strings.Contains(req.Messages[len(req.Messages)-1].Text, name+" customers") {
				continue
			}
			calls[name]++
			temporary := name == "rate" || name == "down"
			if !(temporary && calls[name] > 1 || name == "key" && fixed) {
				return llm.Response{}, fail(calls[name])
			}
		}
		return llm.Response{Text: "SELECT count(*) FROM customers"}, nil
	}), replied), texttosql.WithStrategy(strategy.Direct{}))
	if err != nil {
		t.Fatal(err)
	}
	add := func(name string, want int) {
		t.Helper()
		file := strings.NewReader(fmt.Sprintf(`{"id": %q, "question": "How many %s customers?"}`, name, name))
		if added, _, err := b.add(t.Context(), file); err != nil || added != want {
			t.Fatalf("%s: %d added, want %d: %v", name, added, want, err)
		}
	}
	for _, tt := range []struct {
		name, failure string
		calls         int
	}{{"rate", "", 2}, {"down", "", 2}, {"declined", "no-answer", 1}, {"wrong", "provider", 1}} {
		add(tt.name, 1)
		if err := b.work(t.Context(), e, 1); err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		add(tt.name, 0)
		var failure string
		err := b.pool.QueryRow(t.Context(), "SELECT failure FROM batch_answers WHERE id = $1", tt.name).Scan(&failure)
		if err != nil || failure != tt.failure || calls[tt.name] != tt.calls {
			t.Errorf("%s: failure %q after %d calls, %v", tt.name, failure, calls[tt.name], err)
		}
	}
	// A wrong key is tried once, and nothing else is until somebody adds the questions again.
	add("key", 1)
	if err := b.work(t.Context(), e, 1); !errors.Is(err, errPaused) {
		t.Fatalf("a wrong key: %v", err)
	}
	if n := one(t, b, "SELECT count(*) FROM batch_answers WHERE id = 'key'"); n != 0 || calls["key"] != 1 {
		t.Errorf("%d answers, %d calls", n, calls["key"])
	}
	fixed = true
	add("key", 1)
	if err := b.work(t.Context(), e, 1); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := b.status(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	want := "1 jobs cancelled\n5 jobs completed\n3 answered\n1 without an answer: no-answer\n1 without an answer: " +
		"provider\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// TestLeases: a question that another process works on stays with it for its own deadline, whatever that of the process
// is which looks for the dead; and work goes on over connections that break.
func TestLeases(t *testing.T) {
	dsn := newDSN(t)
	slow, quick := opened(t, dsn, "slow"), opened(t, dsn, "quick")
	slow.deadline, quick.deadline = 20*time.Second, time.Second
	two := strings.NewReader(`{"id": "3", "question": "How many customers?"} {"id": "30", "question": "How many?"}`)
	if _, _, err := slow.add(t.Context(), two); err != nil {
		t.Fatal(err)
	}
	_, db := customers(t)
	e, err := newEngine(db, llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		time.Sleep(time.Second)
		return llm.Response{Text: "SELECT count(*) FROM customers"}, nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	// Another process has worked on the jobs for as many seconds as their IDs say.
	exec1(t, slow, "UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '1 s' * (args "+
		"->> 'id')::int, attempted_by = '{other}'")
	c, err := quick.client(&worker{b: quick, engine: e}, 1)
	if err == nil {
		err = c.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	// else the test ends by its deadline
	for one(t, slow, "SELECT count(*) FROM river_job WHERE args ->> 'id' = '30' AND state = 'running'") > 0 {
		time.Sleep(10 * time.Millisecond)
	}
	if one(t, slow, "SELECT count(*) FROM river_job WHERE args ->> 'id' = '3' AND state = 'running'") != 1 {
		t.Error("a job was taken from a process that has 20 seconds for it")
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	exec1(t, slow, "UPDATE river_job SET state = 'available', scheduled_at = now()")
	ended := make(chan error)
	go func() { ended <- slow.work(context.WithoutCancel(t.Context()), e, 1) }()
	for range 5 {
		time.Sleep(500 * time.Millisecond)
		quick.pool.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "+
			"WHERE datname = current_database() AND pid <> pg_backend_pid()")
	}
	if err := <-ended; err != nil {
		t.Errorf("connections that broke: %v", err)
	}
	var left string
	err = slow.pool.QueryRow(t.Context(),
		`SELECT coalesce(string_agg(concat_ws(' ', j.args ->> 'id', j.state, a.failure, j.errors), '; '), '')
		FROM river_job j LEFT JOIN batch_answers a ON a.id = j.args ->> 'id' WHERE a.failure IS DISTINCT FROM ''`).Scan(&left)
	if err != nil || left != "" {
		t.Errorf("without an answer: %s %v", left, err)
	}
}

// TestReplied: an attempt pays only for what no earlier attempt had a reply to, and no other question has its replies.
func TestReplied(t *testing.T) {
	b := opened(t, newDSN(t), "replies")
	var calls []string
	model := llm.Chain(llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		calls = append(calls, fmt.Sprint(req.Sample))
		if req.Sample == 2 {
			return llm.Response{}, &llm.Error{Class: llm.ClassOverloaded}
		}
		return llm.Response{Text: fmt.Sprint("reply ", len(calls))}, nil
	}), replied)
	for _, attempt := range []struct {
		id      string
		samples []int
		calls   string
	}{{"a", []int{0}, "0"}, {"a", []int{0, 1, 2}, "1 2"}, {"a", []int{0, 1, 2}, "2"}, {"b", []int{0}, "0"}} {
		calls = nil
		recorded, err := b.replies(t.Context(), question{ID: attempt.id, Key: "k"})
		if err != nil {
			t.Fatal(err)
		}
		for _, sample := range attempt.samples {
			model.Complete(context.WithValue(t.Context(), replies{}, recorded), llm.Request{Sample: sample})
		}
		if got := strings.Join(calls, " "); got != attempt.calls {
			t.Errorf("question %s, samples %v: calls %q, want %q", attempt.id, attempt.samples, got, attempt.calls)
		}
	}
}

// TestRun: the verbs, and that another configuration asks the same questions anew.
func TestRun(t *testing.T) {
	dsn := newDSN(t)
	file := filepath.Join(t.TempDir(), "questions.jsonl")
	var text strings.Builder
	for i := range 2 {
		fmt.Fprintf(&text, "{\"id\": \"%d\", \"question\": \"How many customers have an id over %d?\"}\n", i, i)
	}
	path, _ := customers(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"choices":[{"message":{"content":"SELECT count(*) FROM customers"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"BATCH_DSN": dsn, "OPENAI_API_KEY": "k", "OPENAI_BASE_URL": server.URL}
	getenv := func(name string) string { return env[name] }
	flags := func(args string) []string {
		return append([]string{"-db", path, "-model", "openai:x"}, strings.Fields(args)...)
	}
	for _, tt := range []struct{ args, says string }{
		{"add " + file, "2 added, 0 were there\n"},
		{"add " + file, "0 added, 2 were there\n"},
		{"work", ""},
		{"status", "2 jobs completed\n2 answered\n"},
		{"-n 3 add " + file, "2 added, 0 were there\n"},
	} {
		var out strings.Builder
		if err := run(t.Context(), flags(tt.args), &out, getenv); err != nil || out.String() != tt.says {
			t.Fatalf("%s: %v\n%s", tt.args, err, out.String())
		}
	}
	var out strings.Builder
	if err := run(t.Context(), flags("results"), &out, getenv); err != nil || strings.Count(out.String(), "\n") != 2 ||
		!strings.Contains(out.String(), `"sql" : "SELECT count(*) FROM customers`) {
		t.Errorf("%v\n%s", err, out.String())
	}
	for why, args := range map[string]string{"no verb": "", "another verb": "play", "no file": "add",
		"a file that is not there": "add /none"} {
		if err := run(t.Context(), flags(args), io.Discard, getenv); err == nil {
			t.Errorf("%s is no error", why)
		}
	}
	if err := run(t.Context(), []string{"status"}, io.Discard, func(string) string { return "" }); err == nil ||
		!strings.Contains(err.Error(), "BATCH_DSN") {
		t.Errorf("without a DSN: %v", err)
	}
}
