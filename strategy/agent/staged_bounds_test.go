package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/trace"
)

// TestStagedValidate: what is wrong is told before a model is asked.
func TestStagedValidate(t *testing.T) {
	two := &memory.Pool{Pairs: []memory.Exemplar{{Question: "Who?", SQL: usa}, {Question: "Where?", SQL: usa}}}
	for _, tt := range []struct {
		stage  agent.Staged
		change func(*strategy.Env, *strategy.Task)
		want   string
		why    string
	}{
		{agent.Staged{Stage: 4}, nil, "agent: Staged.Stage: it is 4; want 0 to 3", "no such stage"},
		{agent.Staged{Stage: -1}, nil, "agent: Staged.Stage: it is -1", "below the ladder"},
		{agent.Staged{Steps: -1}, nil, "agent: Staged.Steps", "negative"},
		{agent.Staged{Shots: -1}, nil, "agent: Staged.Shots", "negative"},
		{agent.Staged{Candidates: -1}, nil, "Samples", "negative"},
		{agent.Staged{Stage: 1}, func(_ *strategy.Env, t *strategy.Task) {
			t.Samples = 2
		}, "stage 1 takes one sample a step, got 2", "samples"},
		{agent.Staged{Stage: 3, Shots: 3}, func(e *strategy.Env, _ *strategy.Task) { e.Exemplars = two },
			"3 solved questions are to be shown and the pool has 2", "a pool that is too small"},
		{agent.Staged{}, func(e *strategy.Env, _ *strategy.Task) {
			e.Schema = &schema.Schema{}
		}, "agent: Env.Schema: it has no table",
			"nothing to ask about"},
		{agent.Staged{}, func(_ *strategy.Env, t *strategy.Task) { t.Question = " " }, "the question is empty",
			"no question"},
	} {
		env := strategytest.ShopEnv(t, llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			t.Errorf("%s: the model was asked", tt.why)
			return llm.Response{}, llm.ErrBudget
		}))
		task := strategytest.USATask
		if tt.change != nil {
			tt.change(env, &task)
		}
		if _, err := tt.stage.Generate(t.Context(), env, task); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
	}
	// A pool that grows by confirmed answers is small at first: the baseline shows what there is, and says so.
	env := strategytest.ShopEnv(t, nil)
	env.Exemplars = two
	c := climb(t.Context(), t, env, agent.Staged{Stage: 3}, func(req llm.Request) (string, error) {
		if req.Sample == 12 {
			return usa, nil
		}
		return "", nil
	})
	told := strings.Contains(strings.Join(c.out.Notes, " "), "the pool has 2")
	if last := c.requests[len(c.requests)-1]; c.err != nil || !c.report.Fallback || len(last.Messages) != 6 || !told {
		t.Errorf("%v, %+v, %v", c.err, c.report, c.out.Notes)
	}
}

// TestStagedCancelled: the time is up in the second step. The best answer so far is there beside the error.
func TestStagedCancelled(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		started := time.Now()
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Sample < 4 {
				return llm.Response{Text: "SELECT id, name FROM orders JOIN customers USING (id)", StopReason: llm.StopEnd}, nil
			}
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		})
		out, err := agent.Staged{Stage: 2}.Generate(ctx, strategytest.Asking(env, model),
			strategy.Task{Question: "How many customers live in the USA?"})
		if !errors.Is(err, context.DeadlineExceeded) || out == nil || out.SQL == "" || len(out.Candidates) != 4 {
			t.Errorf("%v: %+v", err, out)
		}
		if late := time.Since(started) - time.Minute; late > 100*time.Millisecond {
			t.Errorf("%v too late", late)
		}
	})
}

// TestStagedBudget: with any number of calls the answer is the best so far, or the error says that the budget is spent.
func TestStagedBudget(t *testing.T) {
	doubted := "SELECT name FROM customers LIMIT 5" // asked again for a better one
	for calls := 1; calls <= 9; calls++ {
		account := llm.Budget{Calls: calls}.Start()
		model := strategytest.ExampleModel(broken, broken, broken, broken, doubted, doubted, doubted, doubted, usa)
		env := strategytest.ShopEnv(t, llm.Chain(model, account.Middleware()))
		env.Host.CallsLeft, env.Concurrency = account.CallsLeft, 1
		out, err := agent.Staged{Stage: 2}.Generate(t.Context(), env, strategytest.USATask)
		if want := calls > 4; (err == nil) != want || err != nil && !errors.Is(err, llm.ErrBudget) || err == nil &&
			out.SQL == "" {
			t.Errorf("%d calls: %v; an answer is there from 5 on", calls, err)
		}
	}
}

// TestStagedSame: equal replies give equal bytes, whatever the latency and the concurrency.
func TestStagedSame(t *testing.T) {
	texts := []string{broken, usa + " LIMIT 5", "no", strategytest.Everyone, usa, strategytest.USAJoin, strategytest.Chile,
		broken}
	model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
		return llm.Response{Text: texts[req.Sample%len(texts)], StopReason: llm.StopEnd,
			Usage: llm.Usage{Calls: 1, Known: true}}, nil
	})
	for stage := range 4 {
		strategytest.SameWhateverTheLatency(t, agent.Staged{Stage: stage}, strategytest.ShopEnv(t, nil), strategytest.USATask,
			func() []llm.Model { return []llm.Model{model} }, 1, 2, 16)
	}
}

// TestStagedWithoutExecution: forms are planned and never run, and no stored value is in a prompt.
func TestStagedWithoutExecution(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	env.DB, env.WithoutExecution, env.WithoutValues = env.DB.WithoutExecution(), true, true
	c := climb(t.Context(), t, env, agent.Staged{Stage: 3}, always(usa+" LIMIT 5"))
	if c.err != nil || c.out.SQL != usa || c.out.Candidates[0].Fingerprint != "" {
		t.Errorf("%v: %+v", c.err, c.out)
	}
	// near "'Ada'": syntax error
	c = climb(t.Context(), t, env, agent.Staged{Stage: 1}, always("SELECT name FROM customers 'a' 'Ada'"))
	last := c.requests[len(c.requests)-1].Messages
	_, told, _ := strings.Cut(last[len(last)-1].Text, "### Earlier attempts")
	if _, problem, found := strings.Cut(told, "'Ada'\n```\n"); !found || !strings.Contains(problem, "syntax error") ||
		strings.Contains(problem, "Ada") {
		t.Errorf("what is wrong is not told, or with a stored value: %q", told)
	}
}

// TestStagedBest: the best answer so far is kept, and only one that is doubted less takes its place.
func TestStagedBest(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	const other, all = "SELECT id FROM customers WHERE country = 'USA'", "SELECT id FROM customers"
	for _, tt := range []struct {
		replies []string
		want    string
		steps   int
		why     string
	}{
		{[]string{usa, all, all}, usa, 3, "the later ones are doubted more"},
		{[]string{usa, other, all}, usa, 3, "as much is not less"},
		{[]string{all, usa, all}, usa, 3, "less is"},
		{[]string{all, "SELECT count(*) FROM customers WHERE country = 'USA'", usa},
			"SELECT count(*) FROM customers WHERE country = 'USA'", 2, "no doubt ends it"},
		{[]string{all, all, usa}, all, 2, "nothing new: the next prompt would be the same"},
	} {
		model := strategytest.ExampleModel(tt.replies...)
		out, err := agent.Staged{Stage: 1}.Generate(t.Context(), strategytest.Asking(env, model),
			strategy.Task{Question: "How many customers live in the USA?"})
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		if report, err := strategy.ReadReport[agent.StagedReport](out.Report); err != nil || out.SQL != tt.want ||
			report.Steps != tt.steps {
			t.Errorf("%s: %q after %d steps, %v", tt.why, out.SQL, report.Steps, err)
		}
	}
}

// TestNoBaselineAfterTheBudget: where a budget of calls is spent, the baseline is not tried.
func TestNoBaselineAfterTheBudget(t *testing.T) {
	for calls, tried := range map[int]bool{4: false, 40: true} {
		account := llm.Budget{Calls: calls}.Start()
		model := llm.Chain(llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			return llm.Response{Text: "no idea", StopReason: llm.StopEnd}, nil
		}), account.Middleware())
		env := strategytest.ShopEnv(t, model)
		env.Host.CallsLeft, env.Concurrency = account.CallsLeft, 1
		root := trace.Tracer{}.New("question")
		if _, err := (agent.Staged{Stage: 3}).Generate(trace.NewContext(t.Context(), root), env,
			strategytest.USATask); err == nil {
			t.Error("an answer of nothing")
		}
		found := false
		for s := range root.All() {
			found = found || s.Name() == "fallback"
		}
		if found != tried {
			t.Errorf("%d calls: the baseline was tried: %v, want %v", calls, found, tried)
		}
	}
}
