package enginetest_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-sqlite3"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/trace"
)

const whoInUSA = "Which customers live in the USA?"

// answers checks that e answers the question about the USA.
func answers(t *testing.T, e *texttosql.Engine) {
	t.Helper()
	r := testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
	if diff := cmp.Diff([][]any{{"Ada"}, {"Cyd"}}, r.Rows.Rows); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
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

// TestCancel at every stage: the question ends soon, with the identity of the
// context's error, and leaves nothing running. What would go on without it takes
// an hour or for ever.
func TestCancel(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("CREATE TABLE big (a TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n " +
		"LIMIT 20000) INSERT INTO big SELECT 'row ' || i " +
		"FROM n;")
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
	samples := func(replies ...string) *llmtest.Script {
		return &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(replies...), Repeat: true}}}
	}
	patient := texttosql.WithLimits(exec.Limits{Candidate: exec.Bounds{Timeout: time.Hour},
		Answer: exec.Bounds{Timeout: time.Hour}})
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
		{"sample", "sample", waiting, nil},
		{"model call", "model call", waiting, nil},
		{"waiting for a retry", "!model call", retried,
			[]texttosql.Option{texttosql.WithRetry(llm.Retry{Base: 10 * time.Hour, Max: 10 * time.Hour})}},
		{"check", "check", samples(endless), []texttosql.Option{texttosql.WithSamples(4)}},
		{"endless candidate", "exec.query", samples(endless), []texttosql.Option{texttosql.WithSamples(4)}},
		{"repair", "repair", by("repair", samples("SELECT nme FROM customers")),
			[]texttosql.Option{texttosql.WithSamples(2)}},
		{"vote", "vote", always(usa), nil},
		{"judge", "judge", by("judge", samples(usa, "SELECT 1", "SELECT 2")),
			[]texttosql.Option{texttosql.WithStrategy(judged(3))}},
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
				if string(p.Step) == step && (p.Kind == "ended") == end {
					once.Do(func() { at = time.Now(); cancel() })
				}
			})}, tt.opts...)
			e := testutil.Value(texttosql.New(db, tt.model, opts...))(t)
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
		{
			Purpose: "generate",
			Replies: llmtest.Texts(usa, "SELECT c.name FROM customers AS c WHERE c.country IN ('USA')",
				"SELECT total FROM orders", "SELECT id FROM orders"),
		},
		{Purpose: "judge", Replies: llmtest.Texts(`{"selected_option": "B"}`, `{"selected_option": "A"}`)},
	}}
	var mu sync.Mutex
	steps := map[texttosql.Step]int{}
	consensus := texttosql.WithStrategy(strategy.Consensus{Samples: 4})
	e := engine(t, script, texttosql.WithoutExecution(), consensus, texttosql.WithProgress(func(p texttosql.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if p.Kind == "ended" {
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

// TestWithoutExecutionRunsNothing, whatever a strategy and its parts are made of:
// the model's statements call a function that counts.
func TestWithoutExecutionRunsNothing(t *testing.T) {
	const counting = "SELECT witness(name) FROM customers"
	own := exec.CheckFunc(func(_ context.Context, _ *exec.Runner, c *exec.Checked) error {
		if c.Plan == nil || c.Table != nil {
			return fmt.Errorf("plan %v, table %v", c.Plan, c.Table)
		}
		return nil
	})
	querying := exec.CheckFunc(func(ctx context.Context, s *exec.Runner, c *exec.Checked) error {
		_, err := s.Query(ctx, c.SQL)
		return err
	})
	shared := strategy.Func(func(ctx context.Context, env *strategy.Env, task strategy.Task) (*strategy.Outcome, error) {
		a := strategy.NewChecker(ctx, env, task, append(exec.DefaultChecks(), own), nil)
		defer a.Close()
		return strategy.Pipeline{Examiner: a}.Generate(ctx, env, task)
	})
	direct := strategy.Func(func(ctx context.Context, env *strategy.Env, _ strategy.Task) (*strategy.Outcome, error) {
		_, err := env.DB.Query(ctx, counting)
		return nil, err
	})
	tests := []struct {
		name string
		s    strategy.Strategy
		want error
	}{
		{"one sample", strategy.Direct{}, nil},
		{"votes", strategy.SelfConsistency{}, nil},
		{"votes and a judge", strategy.Consensus{}, nil},
		{"by plan", planvote.Plain{ExpectColumns: 1}, nil},
		{"by plan, published", planvote.Plain{}.Published(), nil},
		{"the cheapest", planvote.Plain{Cheapest: true}, nil},
		{"augmented", planvote.Augmented{Probe: true}, nil},
		{"augmented, published", planvote.Augmented{Probe: true}.Published(), nil},
		{"feedback", planvote.Feedback{}, nil},
		{"feedback, published", planvote.Feedback{}.Published(), nil},
		{"in phases", maker.Strategy{}, nil},
		{"in phases, published", maker.Strategy{}.Published(), nil},
		{"two rounds", petsql.Strategy{}, nil},
		{"no checks said", strategy.Pipeline{}, nil},
		{"an empty list of checks", strategy.Pipeline{Checks: []exec.Check{}}, nil},
		{"an examiner of its own", shared, nil},
		{"a check that queries", strategy.Pipeline{Checks: []exec.Check{exec.ReadOnly{}, querying}}, exec.ErrNoExecution},
		{"a strategy that queries", direct, exec.ErrNoExecution},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var ran atomic.Int64
			path := filepath.Join(t.TempDir(), "test.sqlite")
			db := sql.OpenDB(opener{&sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
				return c.RegisterFunc("witness", func(s string) string { ran.Add(1); return s }, false)
			}}, path})
			defer db.Close()
			testutil.Value(db.Exec(shop))(t)
			for _, without := range []bool{true, false} {
				opts := []texttosql.Option{texttosql.WithStrategy(tt.s),
					texttosql.WithPolicy(exec.Policy{AllowFunctions: []string{"witness"}})}
				if without {
					opts = append(opts, texttosql.WithoutExecution())
				}
				e := testutil.Value(texttosql.New(db, always(counting), opts...))(t)
				r, err := e.Ask(t.Context(), whoInUSA)
				switch {
				case !without:
					if ran.Load() == 0 {
						t.Error("nothing ran where it may")
					}
				case ran.Load() > 0 || warned(r, "profile-incomplete") || !errors.Is(err, tt.want) || r.Rows != nil ||
					tt.want == nil && r.SQL != counting:
					t.Errorf("%d rows were computed: %+v, %v", ran.Load(), r, err)
				}
			}
		})
	}
}

// TestWithoutValues end to end: no stored value is in any prompt of any
// purpose, though errors, exemplars of the caller and the question may name some.
func TestWithoutValues(t *testing.T) {
	for _, without := range []bool{false, true} {
		script := &llmtest.Script{Rules: []llmtest.Rule{
			{Purpose: "generate", Replies: llmtest.Texts(usa, "SELECT name FROM customers", "SELECT nme FROM customers",
				"SELECT nme FROM customers")},
			{Purpose: "repair", Replies: llmtest.Texts("SELECT country FROM customers"), Repeat: true},
			{Purpose: "judge", Replies: llmtest.Texts(`{"selected_option": "A"}`, `{"selected_option": "B"}`)},
		}}
		opts := []texttosql.Option{texttosql.WithStrategy(judged(4))}
		if without {
			opts = append(opts, texttosql.WithoutValues())
		}
		testutil.Value(engine(t, script, opts...).Ask(t.Context(), "How much did Cyd order?"))(t)
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
		{Purpose: "generate", Replies: llmtest.Texts("SELECT password FROM customers", "SELECT * FROM orders", usa, usa),
			Repeat: true},
		{Purpose: "repair", Replies: llmtest.Texts(usa), Repeat: true},
	}}
	e := engine(t, script, texttosql.WithSamples(4),
		texttosql.WithPolicy(exec.Policy{DenyTables: []string{"orders"}, DenyColumns: []string{"customers.password"}}))
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
		repaired := len(c.Findings) > 0 && strings.HasPrefix(c.Findings[0].Detail, "exec: refused (column): password: ")
		if !strings.Contains(c.Rejected, "refused") && !repaired {
			t.Errorf("%s was not refused: %+v", c.SQL, c)
		}
	}
	s, err := e.Schema(t.Context())
	if err != nil || len(s.Tables) != 1 || len(s.Tables[0].Columns) != 3 {
		t.Errorf("schema %+v, %v", s, err)
	}
}

// TestWithModels: samples go round the models, repairs go to the one that erred,
// and a candidate knows its model.
func TestWithModels(t *testing.T) {
	a := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
	b := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "repair", Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true},
		{Purpose: "generate", Replies: llmtest.Texts("SELECT nme FROM customers"), Repeat: true},
	}}
	e := engine(t, llm.Named("a", a), texttosql.WithModels(llm.Named("b", b)), texttosql.WithSamples(2))
	r := testutil.Value(e.Ask(t.Context(), whoInUSA))(t)
	var models []string
	for _, c := range r.Candidates {
		models = append(models, c.Model)
	}
	if !slices.Equal(models, []string{"a", "b"}) || len(b.RequestsFor("repair")) == 0 || len(a.RequestsFor("repair")) > 0 {
		t.Errorf("models %v, repairs %d by a and %d by b", models, len(a.RequestsFor("repair")), len(b.RequestsFor("repair")))
	}
}

// TestDirectExemplars shows k solved questions, but none that is the question.
func TestDirectExemplars(t *testing.T) {
	script := always(usa)
	e := engine(t, script, texttosql.WithStrategy(strategy.Direct{Shots: 2}), texttosql.WithSeed(3),
		texttosql.WithMemory(memory.Options{Exemplars: []memory.Exemplar{
			{Question: whoInUSA, SQL: usa},
			{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"},
			{Question: "What did each customer spend?", SQL: "SELECT customer_id, sum(total) FROM orders GROUP BY customer_id"},
		}}))
	r, err := e.Ask(t.Context(), whoInUSA)
	if err != nil || r.Usage.Calls != 1 {
		t.Fatalf("got %+v, %v", r, err)
	}
	messages := script.Requests()[0].Messages
	var roles []string
	for _, m := range messages {
		roles = append(roles, m.Role)
	}
	if diff := cmp.Diff([]string{"system", "user", "assistant", "user", "assistant", "user"}, roles); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if whole := fmt.Sprint(messages); strings.Count(whole, whoInUSA) != 1 || strings.Count(whole, usa) > 0 {
		t.Errorf("the answer is among the exemplars:\n%s", whole)
	}
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
		if r.SQL != "" || r.Confidence != 0 || fails == nil && !errors.Is(err, exec.ErrNotReadOnly) || fails != nil &&
			!errors.Is(err, fails) {
			t.Errorf("got %q, %v", r.SQL, err)
		}
	}
	s := strategy.Func(func(context.Context, *strategy.Env, strategy.Task) (*strategy.Outcome, error) { return nil, nil })
	if r, err := engine(t, always(usa), texttosql.WithStrategy(s)).Ask(t.Context(), "q"); err == nil || r == nil ||
		!strings.Contains(err.Error(),
			"no statement and no error") {
		t.Errorf("nothing at all: %+v, %v", r, err)
	}
}

// TestModelMisbehaves: a model that panics fails its sample, and nobody waits for one that ignores its context.
func TestModelMisbehaves(t *testing.T) {
	panics := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		if req.Sample%2 == 1 {
			panic("a model's own bug")
		}
		return llm.Response{Text: usa}, nil
	})
	r, err := engine(t, panics, texttosql.WithSamples(4), texttosql.WithRetry(llm.Retry{Attempts: 1})).Ask(t.Context(),
		whoInUSA)
	if err != nil || len(r.Rows.Rows) == 0 {
		t.Errorf("a model that panics: %v", err)
	}
	release := make(chan struct{})
	defer close(release)
	deaf := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		<-release
		return llm.Response{Text: usa}, nil
	})
	e := engine(t, deaf)
	late := time.Hour
	for range 5 { // the best of them: other work on the machine makes any one of them late
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		start := time.Now()
		r, err = e.Ask(ctx, whoInUSA)
		late = min(late, time.Since(start)-100*time.Millisecond)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a model that ignores its context: %v", err)
		}
		// else its time was over before the model was called
		if late < 200*time.Millisecond && warned(r, "model-still-running") {
			break
		}
	}
	if late > 200*time.Millisecond {
		t.Errorf("a model that ignores its context: %v late", late)
	}
	if r == nil || !warned(r, "model-still-running") {
		t.Errorf("warnings of a model that ignores its context: %+v", r)
	}
}

func warned(r *texttosql.Result, code string) bool {
	return slices.ContainsFunc(r.Warnings, func(w trace.Warning) bool { return w.Code == code })
}

// judged is the default strategy with a judge of weak votes.
func judged(samples int) strategy.Pipeline {
	p := strategy.Consensus{Samples: samples}.Pipeline()
	p.Judge = strategy.Rubric{}
	return p
}
