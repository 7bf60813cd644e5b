package texttosql_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

const whoInUSA = "Which customers live in the USA?"

// answers checks that e answers the question about the USA.
func answers(t *testing.T, e *texttosql.Engine) {
	t.Helper()
	r, err := e.Ask(t.Context(), whoInUSA)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]any{{"Ada"}, {"Cyd"}}, r.Rows.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// TestMemoryDatabase: a database in memory lives in its one connection, which is
// given back as it was, also after a statement that ran into its time limit.
func TestMemoryDatabase(t *testing.T) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec(shop + "CREATE TEMP TABLE mine (x)"); err != nil {
		t.Fatal(err)
	}
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Contains: "endless", Replies: llmtest.Texts(endless, usa, usa), Repeat: true},
		{Replies: llmtest.Texts(usa), Repeat: true},
	}}
	e, err := texttosql.New(db, script, texttosql.WithSamples(3), texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: 500 * time.Millisecond}}))
	if err != nil {
		t.Fatal(err)
	}
	answers(t, e)
	if r, err := e.Ask(t.Context(), "an endless one?"); err != nil || r.SQL != usa {
		t.Errorf("with an endless candidate: %+v, %v", r, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := e.Ask(ctx, "an endless one?"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a question that was cancelled: %v", err)
	}
	answers(t, e)
	// The caller's own work goes on, with its temp table.
	if _, err := db.Exec("INSERT INTO mine VALUES (1); INSERT INTO customers VALUES (9,'Eve','Peru',NULL)"); err != nil {
		t.Errorf("the connection was not given back as it was: %v", err)
	}
}

// TestPoolOfOne: everything works on one connection, for many questions at once,
// and a connection that the caller keeps ends in an error and not in silence.
func TestPoolOfOne(t *testing.T) {
	db := open(t, shop)
	db.SetMaxOpenConns(1)
	e, err := texttosql.New(db, always(usa), texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: 2 * time.Second}, Answer: exec.Bounds{Timeout: 2 * time.Second}}))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() { answers(t, e) })
	}
	all.Wait()
	held, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := e.Ask(ctx, whoInUSA); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, exec.ErrBusy) {
		t.Errorf("with the connection held: %v", err)
	}
	held.Close()
	answers(t, e)
}

// TestSameEngineAtOnce asks one engine from many goroutines; each gets its own
// answer.
func TestSameEngineAtOnce(t *testing.T) {
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		text := strings.TrimSpace(req.Messages[len(req.Messages)-1].Text)
		return llm.Response{Text: "SELECT '" + text[strings.LastIndexByte(text, ' ')+1:] + "' FROM customers LIMIT 1"}, nil
	})
	e := engine(t, model)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			r, err := e.Ask(t.Context(), fmt.Sprintf("say %d", i))
			if err != nil || r.Rows.Rows[0][0] != fmt.Sprint(i) {
				t.Errorf("question %d: %+v, %v", i, r.Rows, err)
			}
		})
	}
	all.Wait()
}

// wrapping is a driver as tracing libraries make them: its connections have only
// what database/sql asks for.
type wrapping struct{ driver.Driver }

func (w wrapping) Open(name string) (driver.Conn, error) {
	conn, err := w.Driver.Open(name)
	if err != nil {
		return nil, err
	}
	return &wrappedConn{conn}, nil
}

type wrappedConn struct{ inner driver.Conn }

func (c *wrappedConn) Prepare(query string) (driver.Stmt, error) { return c.inner.Prepare(query) }
func (c *wrappedConn) Close() error                              { return c.inner.Close() }
func (c *wrappedConn) Begin() (driver.Tx, error)                 { return c.inner.Begin() } //nolint:staticcheck // the interface has it
func (c *wrappedConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	return c.inner.(driver.ConnPrepareContext).PrepareContext(ctx, query)
}
func (c *wrappedConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	return c.inner.(driver.QueryerContext).QueryContext(ctx, query, args)
}

type opener struct {
	driver driver.Driver
	name   string
}

func (o opener) Connect(context.Context) (driver.Conn, error) { return o.driver.Open(o.name) }
func (o opener) Driver() driver.Driver                        { return o.driver }

// TestWrappedDriver is unwrapped by a hook; without one it is refused, with what
// to do about it.
func TestWrappedDriver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.sqlite")
	plain, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	if _, err := plain.Exec(shop); err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(opener{wrapping{&sqlite3.SQLiteDriver{}}, "file:" + path})
	defer db.Close()
	unwrap := texttosql.WithDriverHook(func(conn any) any {
		if c, ok := conn.(*wrappedConn); ok {
			return c.inner
		}
		return conn
	})
	tests := []struct {
		name string
		opts []texttosql.Option
		want string // part of the error; "" for none
		why  string
	}{
		{"nothing said", nil, "WithDialect", "nobody knows what it wraps"},
		{"dialect without hook", []texttosql.Option{texttosql.WithDialect(sqlite.Dialect{})}, "Unwrap", "the guard has nothing to hold on to"},
		{"hook that does not unwrap", []texttosql.Option{texttosql.WithDialect(sqlite.Dialect{}), texttosql.WithDriverHook(func(conn any) any { return conn })}, "RegisterAuthorizer", "the same"},
		{"hook", []texttosql.Option{texttosql.WithDialect(sqlite.Dialect{}), unwrap}, "", "guarded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e, err := texttosql.New(db, always(usa), tt.opts...)
			if tt.want != "" {
				if !errors.Is(err, texttosql.ErrUnguarded) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q: %s", err, tt.want, tt.why)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			answers(t, e)
			if _, err := e.Check(t.Context(), "DROP TABLE orders"); !errors.Is(err, texttosql.ErrNotReadOnly) {
				t.Errorf("not guarded: %v", err)
			}
		})
	}
}

// TestReadOnlyHandle: nothing is written, so a handle that cannot write will do.
func TestReadOnlyHandle(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.sqlite")
	writer, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writer.Exec(shop); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"?mode=ro", "?mode=ro&immutable=1", "?mode=ro&_query_only=1"} {
		db, err := sql.Open("sqlite3", "file:"+path+mode)
		if err != nil {
			t.Fatal(err)
		}
		e, err := texttosql.New(db, always(usa))
		if err != nil {
			t.Fatal(err)
		}
		answers(t, e)
		db.Close()
	}
}

// TestLockedDatabase: while somebody else holds the lock there is no answer but an
// error that says so, and no candidate is blamed for it; afterwards there is one.
func TestLockedDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.sqlite")
	db, err := sql.Open("sqlite3", "file:"+path+"?_busy_timeout=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(shop); err != nil {
		t.Fatal(err)
	}
	e, err := texttosql.New(db, always(usa), texttosql.WithSamples(3), texttosql.WithLimits(exec.Limits{
		Candidate: exec.Bounds{Timeout: 2 * time.Second}, Answer: exec.Bounds{Timeout: 2 * time.Second},
	}))
	if err != nil {
		t.Fatal(err)
	}
	answers(t, e)
	other, err := sql.Open("sqlite3", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if _, err := lock.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}
	r, err := e.Ask(t.Context(), whoInUSA)
	if err == nil || !strings.Contains(err.Error(), "locked") || r == nil || r.Trace == nil || len(r.Candidates) > 0 {
		t.Errorf("got %+v, %v", r, err)
	}
	if _, err := lock.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	answers(t, e)
}

// TestDatabaseVanishes in the middle of a question: an error about the database,
// with the trace of what was done until then.
func TestDatabaseVanishes(t *testing.T) {
	for name, vanish := range map[string]func(db *sql.DB, path string){
		"closed":  func(db *sql.DB, _ string) { db.Close() },
		"deleted": func(db *sql.DB, path string) { db.SetMaxIdleConns(0); os.Remove(path) },
		"overwritten": func(db *sql.DB, path string) {
			db.SetMaxIdleConns(0)
			os.WriteFile(path, []byte(strings.Repeat("no database at all ", 1000)), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.sqlite")
			db, err := sql.Open("sqlite3", "file:"+path+"?mode=rw")
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			maker, err := sql.Open("sqlite3", "file:"+path)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := maker.Exec(shop); err != nil {
				t.Fatal(err)
			}
			maker.Close()
			var once sync.Once
			e, err := texttosql.New(db, llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
				once.Do(func() { vanish(db, path) })
				return llm.Response{Text: usa}, nil
			}), texttosql.WithStrategy(strategy.SelfConsistency{}), texttosql.WithSamples(3))
			if err != nil {
				t.Fatal(err)
			}
			r, err := e.Ask(t.Context(), whoInUSA)
			if err == nil || r == nil || r.Usage.Calls == 0 || r.Rows != nil {
				t.Fatalf("got %+v, %v", r, err)
			}
			for _, c := range r.Candidates {
				t.Errorf("a candidate is blamed: %+v", c)
			}
		})
	}
}

// TestCancel at every stage: the question ends soon, with the identity of the
// context's error, and leaves nothing running. What would go on without it takes
// an hour or for ever.
func TestCancel(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("CREATE TABLE big (a TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000) INSERT INTO big SELECT 'row ' || i FROM n;")
	endless := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
	waiting := llm.Func(func(ctx context.Context, _ llm.Request) (llm.Response, error) {
		<-ctx.Done()
		return llm.Response{}, errors.New("network error: failed to reach API server") // as a client that loses the cause
	})
	by := func(purpose string, otherwise *llmtest.Script) llm.Model {
		return llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == purpose {
				return waiting(ctx, req)
			}
			return otherwise.Complete(ctx, req)
		})
	}
	draws := func(replies ...string) *llmtest.Script {
		return &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(replies...), Repeat: true}}}
	}
	patient := texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: time.Hour}, Answer: exec.Bounds{Timeout: time.Hour}})
	retried := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: llm.ClassOverloaded}
	})
	tests := []struct {
		name  string
		step  string // the span whose start ends the context; with "!" in front its end
		model llm.Model
		opts  []texttosql.Option
	}{
		{"schema", "schema", always(usa), nil},
		{"profile", "profile", always(usa), nil},
		{"link", "link", always(usa), nil},
		{"draw", "draw", waiting, nil},
		{"model call", "model call", waiting, nil},
		{"waiting for a retry", "!model call", retried, []texttosql.Option{texttosql.WithRetry(llm.Retry{Base: 10 * time.Hour, Max: 10 * time.Hour})}},
		{"check", "check", draws(endless), []texttosql.Option{texttosql.WithSamples(4)}},
		{"endless candidate", "exec.query", draws(endless), []texttosql.Option{texttosql.WithSamples(4)}},
		{"repair", "repair", by("repair", draws("SELECT nme FROM customers")), []texttosql.Option{texttosql.WithSamples(2)}},
		{"vote", "vote", always(usa), nil},
		{"judge", "judge", by("judge", draws(usa, "SELECT 1", "SELECT 2")), []texttosql.Option{texttosql.WithSamples(3)}},
		{"rows", "rows", always(endless), []texttosql.Option{texttosql.WithStrategy(planned{})}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := open(t, shop+rows.String())
			step, end := strings.CutPrefix(tt.step, "!")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var once sync.Once
			var at time.Time
			opts := append([]texttosql.Option{patient, texttosql.WithProgress(func(p texttosql.Progress) {
				if p.Step == step && (p.Kind.String() == "ended") == end {
					once.Do(func() { at = time.Now(); cancel() })
				}
			})}, tt.opts...)
			e, err := texttosql.New(db, tt.model, opts...)
			if err != nil {
				t.Fatal(err)
			}
			before := runtime.NumGoroutine()
			r, err := e.Ask(ctx, "How much did \"Ada\" order in Norway?")
			if at.IsZero() {
				t.Fatalf("there was no %s: %v", tt.step, err)
			}
			t.Logf("ended after %v", time.Since(at))
			if !errors.Is(err, context.Canceled) || r == nil || r.Trace == nil || strings.Contains(err.Error(), "network") {
				t.Errorf("got %+v, %v", r, err)
			}
			settled(t, before)
			if db.Stats().InUse > 0 {
				t.Errorf("%d connections are still in use", db.Stats().InUse)
			}
		})
	}
}

// TestWithoutExecution end to end: nothing is run, votes go by plan, and there
// are no rows for anybody.
func TestWithoutExecution(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: llmtest.Texts(usa, "SELECT c.name FROM customers AS c WHERE c.country IN ('USA')", "SELECT total FROM orders", "SELECT id FROM orders")},
		{Purpose: "judge", Replies: llmtest.Texts("A", "B")},
	}}
	var mu sync.Mutex
	steps := map[string]int{}
	e := engine(t, script, texttosql.WithoutExecution(), texttosql.WithStrategy(strategy.Consensus{Samples: 4}), texttosql.WithProgress(func(p texttosql.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Kind.String() == "ended" {
			steps[p.Step]++
		}
	}))
	r, err := e.Ask(t.Context(), whoInUSA)
	if err != nil || r.SQL != usa || r.Rows != nil {
		t.Fatalf("got %+v, %v", r, err)
	}
	if steps["exec.query"] > 0 || steps["rows"] > 0 || steps["check"] == 0 {
		t.Errorf("steps: %v", steps)
	}
	for _, c := range r.Candidates {
		if c.Fingerprint != "" || c.Rows != 0 || c.Plan == "" {
			t.Errorf("candidate %+v", c)
		}
	}
	for _, req := range script.RequestsFor("judge") {
		if strings.Contains(req.Messages[1].Text, "Its result") {
			t.Errorf("the judge sees rows:\n%s", req.Messages[1].Text)
		}
	}
}

// TestWithoutSampleValues end to end: no stored value is in any prompt of any
// purpose, though errors, exemplars of the caller and the question may name some.
func TestWithoutSampleValues(t *testing.T) {
	for _, without := range []bool{false, true} {
		script := &llmtest.Script{Rules: []llmtest.Rule{
			{Purpose: "generate", Replies: llmtest.Texts(usa, "SELECT name FROM customers", "SELECT nme FROM customers", "SELECT nme FROM customers")},
			{Purpose: "repair", Replies: llmtest.Texts("SELECT country FROM customers"), Repeat: true},
			{Purpose: "judge", Replies: llmtest.Texts("A", "B")},
		}}
		opts := []texttosql.Option{texttosql.WithStrategy(strategy.Consensus{Samples: 4})}
		if without {
			opts = append(opts, texttosql.WithoutSampleValues())
		}
		if _, err := engine(t, script, opts...).Ask(t.Context(), "How much did Cyd order?"); err != nil {
			t.Fatal(err)
		}
		purposes := map[string]bool{}
		seen := ""
		for _, req := range script.Requests() {
			purposes[req.Purpose] = true
			for _, m := range req.Messages {
				if m.Role != llm.Assistant {
					seen += m.Text
				}
			}
		}
		if !purposes["generate"] || !purposes["repair"] || !purposes["judge"] {
			t.Errorf("purposes: %v", purposes)
		}
		for _, value := range []string{`"Ada"`, `"Norway"`, "s3cret-1", "10.5", `has "Cyd"`} {
			if strings.Contains(seen, value) == without {
				t.Errorf("without values %v: %s in the prompts is %v", without, value, !without)
			}
		}
	}
}

// TestDeniedIsNowhere: what the policy denies is in no prompt, by name or by
// value, and cannot be read.
func TestDeniedIsNowhere(t *testing.T) {
	script := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "generate", Replies: llmtest.Texts("SELECT password FROM customers", "SELECT * FROM orders", usa, usa), Repeat: true},
		{Purpose: "repair", Replies: llmtest.Texts(usa), Repeat: true},
	}}
	e := engine(t, script, texttosql.WithSamples(4), texttosql.WithPolicy(exec.Policy{DenyTables: []string{"orders"}, DenyColumns: []string{"customers.password"}}))
	r, err := e.Ask(t.Context(), `Who has the password "s3cret-1"?`)
	if err != nil || r.SQL != usa {
		t.Fatalf("got %+v, %v", r, err)
	}
	for _, req := range script.RequestsFor("generate") {
		text := req.Messages[1].Text
		text = text[:strings.Index(text, "### Question")]
		for _, denied := range []string{"orders", "password", "s3cret", "total"} {
			if strings.Contains(text, denied) {
				t.Errorf("%q is in the prompt:\n%s", denied, text)
			}
		}
	}
	for _, c := range r.Candidates[:2] {
		if !strings.Contains(c.Rejected, "refused") {
			t.Errorf("%s was not refused: %+v", c.SQL, c)
		}
	}
	s, err := e.Schema(t.Context())
	if err != nil || len(s.Tables) != 1 || len(s.Tables[0].Columns) != 3 {
		t.Errorf("schema %+v, %v", s, err)
	}
}

// TestWithModels: draws go round the models, repairs go to the one that erred,
// and a candidate knows its model.
func TestWithModels(t *testing.T) {
	a := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
	b := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "repair", Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true},
		{Purpose: "generate", Replies: llmtest.Texts("SELECT nme FROM customers"), Repeat: true},
	}}
	e := engine(t, llm.Named("a", a), texttosql.WithModels(llm.Named("b", b)), texttosql.WithSamples(2))
	r, err := e.Ask(t.Context(), whoInUSA)
	if err != nil {
		t.Fatal(err)
	}
	var models []string
	for _, c := range r.Candidates {
		models = append(models, c.Model)
	}
	if !slices.Equal(models, []string{"a", "b"}) || len(b.RequestsFor("repair")) == 0 || len(a.RequestsFor("repair")) > 0 {
		t.Errorf("models %v, repairs %d by a and %d by b", models, len(a.RequestsFor("repair")), len(b.RequestsFor("repair")))
	}
}

// TestDirectWithExemplars shows k solved questions, but none that is the question.
func TestDirectWithExemplars(t *testing.T) {
	script := always(usa)
	e := engine(t, script, texttosql.WithStrategy(strategy.Direct{Shots: 2}), texttosql.WithSeed(3), texttosql.WithExemplars(
		strategy.Pair{Question: whoInUSA, SQL: usa},
		strategy.Pair{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"},
		strategy.Pair{Question: "What did each customer spend?", SQL: "SELECT customer_id, sum(total) FROM orders GROUP BY customer_id"},
	))
	r, err := e.Ask(t.Context(), whoInUSA)
	if err != nil || r.Usage.Calls != 1 {
		t.Fatalf("got %+v, %v", r, err)
	}
	messages := script.Requests()[0].Messages
	var roles []string
	for _, m := range messages {
		roles = append(roles, string(m.Role))
	}
	if diff := cmp.Diff([]string{"system", "user", "assistant", "user", "assistant", "user"}, roles); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if whole := fmt.Sprint(messages); strings.Count(whole, whoInUSA) != 1 || strings.Count(whole, usa) > 0 {
		t.Errorf("the answer is among the exemplars:\n%s", whole)
	}
}

// TestBudgetOfMoney ends a question when the prices say so.
func TestBudgetOfMoney(t *testing.T) {
	prices := map[string]llm.Price{"m": {Prompt: 1000, Completion: 1000}} // a prompt of some hundred tokens is some tenths
	for _, tt := range []struct {
		money float64
		calls int
	}{{100, 8}, {1, 0}} {
		e := engine(t, llm.Named("m", always(usa)), texttosql.WithBudget(llm.Budget{Money: tt.money, Prices: prices}))
		r, err := e.Ask(t.Context(), whoInUSA)
		switch {
		case tt.calls > 0:
			if err != nil || r.Usage.Calls != tt.calls || r.Usage.Money <= 0 || r.Usage.Money > tt.money {
				t.Errorf("%v: %+v, %v", tt.money, r.Usage, err)
			}
		case r == nil || r.Usage.Money > tt.money || r.Usage.Calls == 0 || r.Usage.Calls > 7:
			t.Errorf("%v: %+v, %v", tt.money, r.Usage, err)
		}
	}
	e := engine(t, always(usa), texttosql.WithBudget(llm.Budget{Money: 1}))
	if _, err := e.Ask(t.Context(), whoInUSA); err == nil || !strings.Contains(err.Error(), "prices") {
		t.Errorf("a budget of money without prices: %v", err)
	}
}

// TestProfileGaps: a table that cannot be profiled costs its own profile and a
// warning, not those of the others, and it is not tried again.
func TestProfileGaps(t *testing.T) {
	const broken = "CREATE TABLE odd (a TEXT); INSERT INTO odd VALUES ('no json'); ALTER TABLE odd ADD COLUMN b TEXT AS (json_extract(a, '$')) VIRTUAL;"
	script := always(usa)
	e, err := texttosql.New(open(t, shop+broken), script, texttosql.WithSamples(1))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		r, err := e.Ask(t.Context(), whoInUSA)
		if err != nil {
			t.Fatal(err)
		}
		prompt := script.Requests()[i].Messages[1].Text
		if !strings.Contains(prompt, `Examples: ["Norway", "USA"]`) {
			t.Errorf("question %d: the other tables lost their profiles:\n%s", i, prompt)
		}
		if len(r.Warnings) != 1 || r.Warnings[0].Code != "profile-incomplete" || !strings.Contains(r.Warnings[0].Message, "odd") {
			t.Errorf("question %d: warnings %+v", i, r.Warnings)
		}
	}
}

// TestProfileIsShared: questions that come at the same time profile the database
// once, and one that gives up leaves it to the next.
func TestProfileIsShared(t *testing.T) {
	db := open(t, shop)
	e, err := texttosql.New(db, always(usa), texttosql.WithSamples(1))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Ask(ended, whoInUSA); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { answers(t, e) })
	}
	all.Wait()
}

// TestUncheckedIsNoAnswer: a statement that did not pass the checks is not in the
// result, whatever else a strategy says.
func TestUncheckedIsNoAnswer(t *testing.T) {
	stop := errors.New("stop")
	for _, fails := range []error{nil, stop} {
		s := strategy.Func(func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) {
			return &strategy.Outcome{SQL: "DROP TABLE orders", Confidence: 1}, fails
		})
		r, err := engine(t, always(usa), texttosql.WithStrategy(s)).Ask(t.Context(), "q")
		if r.SQL != "" || fails == nil && !errors.Is(err, texttosql.ErrNotReadOnly) || fails != nil && !errors.Is(err, fails) {
			t.Errorf("got %q, %v", r.SQL, err)
		}
	}
	s := strategy.Func(func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) { return nil, nil })
	if r, err := engine(t, always(usa), texttosql.WithStrategy(s)).Ask(t.Context(), "q"); err == nil || r == nil || !strings.Contains(err.Error(), "no statement and no error") {
		t.Errorf("nothing at all: %+v, %v", r, err)
	}
}

// TestNothingToRead: a database without a table that may be read is told as such.
func TestNothingToRead(t *testing.T) {
	for name, opts := range map[string][]texttosql.Option{"CREATE TABLE t (x)": {texttosql.WithPolicy(exec.Policy{DenyTables: []string{"t"}})}, "SELECT 1": nil} {
		e, err := texttosql.New(open(t, name), always(usa), opts...)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := e.Ask(t.Context(), "q"); !errors.Is(err, texttosql.ErrNoTables) || r == nil {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

// TestGivenSchema: prompts are written from the caller's schema, the guard goes by
// the database.
func TestGivenSchema(t *testing.T) {
	script := always("SELECT total FROM orders")
	given := &schema.Schema{Dialect: "sqlite", Tables: []schema.Table{{Name: "orders", Kind: schema.BaseTable, Columns: []schema.Column{{Name: "total", Type: "REAL"}}}}}
	r, err := engine(t, script, texttosql.WithSchema(given), texttosql.WithStrategy(strategy.Direct{})).Ask(t.Context(), "What are the totals?")
	if err != nil || len(r.Rows.Rows) != 3 {
		t.Fatalf("got %+v, %v", r, err)
	}
	if prompt := script.Requests()[0].Messages[1].Text; strings.Contains(prompt, "customers") || !strings.Contains(prompt, "total REAL") {
		t.Errorf("prompt:\n%s", prompt)
	}
}

// TestGivenSchemaUnderPolicy: what the policy denies is in no prompt, although the
// caller's schema names it.
func TestGivenSchemaUnderPolicy(t *testing.T) {
	column := func(name string) schema.Column { return schema.Column{Name: name, Type: "TEXT"} }
	given := &schema.Schema{Dialect: "sqlite", Tables: []schema.Table{
		{Name: "customers", Kind: schema.BaseTable, Columns: []schema.Column{column("id"), column("name"), column("country")}},
		{Name: "orders", Kind: schema.BaseTable, Columns: []schema.Column{column("total")}},
	}}
	script := always(usa)
	e := engine(t, script, texttosql.WithSchema(given), texttosql.WithStrategy(strategy.Direct{}),
		texttosql.WithDescriptions(schema.Descriptions{"customers.name": {Text: "as they call themselves"}}),
		texttosql.WithPolicy(exec.Policy{DenyTables: []string{"orders"}, DenyColumns: []string{"customers.id"}}))
	for range 2 { // the second from the cache
		if _, err := e.Ask(t.Context(), whoInUSA); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range script.Requests() {
		prompt := r.Messages[1].Text
		if strings.Contains(prompt, "orders") || strings.Contains(prompt, "id TEXT") || !strings.Contains(prompt, "country TEXT") || !strings.Contains(prompt, "call themselves") {
			t.Errorf("prompt:\n%s", prompt)
		}
	}
}

// TestModelPanics: the panic of a model ends the program with its own stack, also
// where the caller recovers. The test runs itself as that program.
func TestModelPanics(t *testing.T) {
	if os.Getenv("TEXTTOSQL_TEST_PANIC") != "" {
		defer func() { recover() }()
		engine(t, llm.Func(func(context.Context, llm.Request) (llm.Response, error) { panic("a model's own bug") })).Ask(t.Context(), "q")
		return
	}
	program := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestModelPanics$")
	program.Env = append(os.Environ(), "TEXTTOSQL_TEST_PANIC=1")
	out, err := program.CombinedOutput()
	if _, ended := err.(*osexec.ExitError); !ended || !strings.Contains(string(out), "panic: a model's own bug") {
		t.Errorf("%v:\n%s", err, out)
	}
}
