package qasql_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/trace"
)

// TestValidate: what is wrong is told before a model is asked.
func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		preset qasql.Strategy
		want   string // part of the error; "": none
		why    string
	}{
		{qasql.Strategy{}, "", "the zero value is the default"},
		{qasql.Strategy{Contexts: []qasql.Context{}}, "qasql: Strategy.Contexts: the list is empty", "no context"},
		{qasql.Strategy{Contexts: []qasql.Context{{Name: "a"}, {Name: "a"}}}, `Contexts[1].Name: it is "a"`,
			"the same context twice"},
		{qasql.Strategy{Contexts: []qasql.Context{{}}}, `Contexts[0].Name: it is ""`, "a context without a name"},
		{qasql.Strategy{Linker: linker.MapReduce{Threshold: 1.5}}, "linker: MapReduce.Threshold", "threshold above 1"},
		{qasql.Strategy{Linker: linker.MapReduce{Threshold: math.NaN()}}, "linker: MapReduce.Threshold",
			"threshold that is no number"},
		{qasql.Strategy{MinShare: 2}, "qasql: Strategy.MinShare", "a share above 1"},
		{qasql.Strategy{MaxContextTokens: -1}, "qasql: Strategy.MaxContextTokens", "a negative budget"},
		{qasql.Strategy{Judge: strategy.Rubric{Votes: -1}}, "strategy: Rubric.Votes", "negative votes"},
		{qasql.Strategy{Refine: strategy.Refine{Executions: -1}}, "strategy: Refine.Executions", "negative executions"},
	} {
		err := tt.preset.Validate(0)
		if (err != nil) != (tt.want != "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.why, err, tt.want)
		}
		env := strategytest.ShopEnv(t, llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
			if tt.want != "" {
				t.Errorf("%s: the model was asked", tt.why)
			}
			return llm.Response{}, llm.ErrBudget
		}))
		if _, got := tt.preset.Generate(t.Context(), env, strategytest.USATask); (err != nil) &&
			(got == nil || got.Error() != err.Error()) {
			t.Errorf("%s: Generate: %v, want %v", tt.why, got, err)
		}
	}
	if err := (qasql.Strategy{}).Validate(fields.MaxSamples/5 + 1); err == nil {
		t.Error("more statements than may be asked for: no error")
	}
	only := qasql.Strategy{Contexts: []qasql.Context{{Name: "model", Prompt: strategy.Prompt{WithoutExpertText: true}}}}
	model, _ := agent{decompose: `{"entity": "x"}`, score: relevant}.model()
	var wrong *strategy.ConfigError
	if _, err := only.Generate(t.Context(), strategytest.ShopEnv(t, model), strategytest.USATask); !errors.As(err,
		&wrong) {
		t.Errorf("no context is left: %v", err)
	}
}

// TestBudget: with any number of calls the answer is the best so far, or the error says that the budget is spent.
func TestBudget(t *testing.T) {
	script := agent{decompose: `{"entity": "customers"}`, score: relevant,
		generate: []string{broken, usa, everyone, usa, broken}, repair: []string{"no", usaJoin}, judge: verdicts("A", "B")}
	const all = 1 + 2 + 5 + 2*2 + 2
	for calls := 1; calls <= all; calls++ {
		model, _ := script.model()
		account := llm.Budget{Calls: calls}.Start()
		env := described(t, llm.Chain(model, account.Middleware()))
		env.Host.CallsLeft, env.Concurrency = account.CallsLeft, 1
		root := trace.Tracer{}.New("question")
		out, err := qasql.Strategy{Linker: linker.MapReduce{Workers: 1}}.Generate(trace.NewContext(t.Context(), root), env,
			strategytest.USATask)
		switch {
		case err == nil && out.SQL == "":
			t.Errorf("%d calls: no answer and no error", calls)
		case err != nil && !errors.Is(err, llm.ErrBudget):
			t.Errorf("%d calls: %v", calls, err)
		case err == nil && calls < all && !strings.Contains(codes(root), "budget-spent"):
			t.Errorf("%d calls of %d: nothing is told: %s", calls, all, codes(root))
		}
		if answered := calls > 1; (err == nil) != answered {
			t.Errorf("%d calls: %v; a statement that runs is there from 2 on, which no correction takes", calls, err)
		}
		if report, err := strategy.ReadReport[qasql.Report](out.Report); err != nil ||
			(len(report.Linking.Components) > 0) != (calls >= 1+2+5) {
			t.Errorf("%d calls: %v; components %v, for which all tables and contexts must be covered", calls, err,
				report.Linking.Components)
		}
	}
}

// TestLinkFails: without links all contexts show the whole schema, and the answer says so.
func TestLinkFails(t *testing.T) {
	for _, tt := range []struct {
		score func(string) string
		warn  string
		why   string
	}{
		{func(string) string { return "no idea" }, "no-links", "more than half of the tables fail"},
		{func(p string) string {
			if strings.Contains(p, "CREATE TABLE orders (") {
				return "no idea"
			}
			return `{"score": 1}`
		}, "no-verdict", "half of them"},
	} {
		model, _ := agent{decompose: "none", score: tt.score, generate: []string{usa, usa, usa, usa, usa}}.model()
		root := trace.Tracer{}.New("question")
		out, err := qasql.Strategy{}.Generate(trace.NewContext(t.Context(), root), described(t, model), strategytest.USATask)
		if err != nil || out.SQL != usa || codes(root) != tt.warn {
			t.Errorf("%s: %v, %s", tt.why, err, codes(root))
		}
		told := strings.Join(out.Notes, "\n")
		failed := strings.Contains(told, "linking failed, the whole schema is used") && out.Links.Whole
		if tt.warn == "no-links" && !failed || tt.warn != "no-links" && len(out.Links.Tables) != 2 {
			t.Errorf("%s: links %+v, notes %q", tt.why, out.Links, told)
		}
	}
}

// TestLinkerIsTold: the linker sees the evidence, and looks for no stored value where none may be shown.
func TestLinkerIsTold(t *testing.T) {
	for _, without := range []bool{false, true} {
		script, _ := agent{decompose: `{"entity": "x"}`, score: relevant, generate: []string{usa, usa, usa, usa, usa}}.model()
		asked := ""
		env := described(t, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == "decompose" {
				asked = req.Messages[1].Text
			}
			return script.Complete(ctx, req)
		}))
		env.WithoutValues = without
		out, err := qasql.Strategy{}.Generate(t.Context(), env, strategytest.USATask)
		if err != nil || len(out.Links.Tables) == 0 || !strings.Contains(asked, "Notes: "+strategytest.USATask.Evidence) {
			t.Fatalf("%+v, %v; asked\n%s", out.Links, err, asked)
		}
		if found := out.Links.Tables[0].Values; (len(found) == 0) != without {
			t.Errorf("without values %v: found %v", without, found)
		}
	}
}

// TestJudgeFirstTells: what failed on the way is in the notes.
func TestJudgeFirstTells(t *testing.T) {
	model, _ := agent{decompose: `{"entity": "x"}`, score: relevant, generate: []string{broken, "", broken, broken,
		everyone}}.model()
	account := llm.Budget{Calls: 9}.Start() // 1 + 2 + 5 and one call of the judge, which fails
	out, err := qasql.Strategy{JudgeFirst: true}.Generate(t.Context(),
		described(t, llm.Chain(model, account.Middleware())), strategytest.USATask)
	if err != nil || out.SQL != everyone {
		t.Fatal(out, err)
	}
	told := strings.Join(out.Notes, "\n")
	for _, want := range []string{"sample 1 failed: ", "the judge could not be asked, the largest answer is taken: ",
		"the correction of sample 0 failed: "} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in the notes:\n%s", want, told)
		}
	}
}

// TestLastResortPrompt: the last call is told that nothing runs, however long the last error is, and of no statement
// that was not tried.
func TestLastResortPrompt(t *testing.T) {
	long := "SELECT \"" + strings.Repeat("a", 400) + "\".x FROM customers"
	for _, tt := range []struct {
		generate []string
		preset   qasql.Strategy
		attempts int
		why      string
	}{
		{[]string{typo(1), typo(2), typo(3), broken, long}, qasql.Strategy{}, 4, "five that failed"},
		{[]string{typo(1), typo(2), long, typo(3), usa}, qasql.Strategy{JudgeFirst: true, WithoutJudge: true}, 2,
			"three picks, and two that nobody tried"},
	} {
		script, _ := agent{decompose: `{"entity": "x"}`, score: relevant, generate: tt.generate, last: everyone}.model()
		prompt := ""
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == "repair" && req.Sample == 5 {
				prompt = req.Messages[len(req.Messages)-1].Text
			}
			return script.Complete(ctx, req)
		})
		out, err := tt.preset.Generate(t.Context(), described(t, model), strategytest.USATask)
		if err != nil || out.SQL != everyone {
			t.Fatalf("%s: %v", tt.why, err)
		}
		earlier, last, _ := strings.Cut(prompt, "### Error\n")
		if !strings.Contains(last, "write the simplest one") || !strings.Contains(last, "no such column: aaaa") ||
			strings.Count(earlier, "```sql") != tt.attempts || strings.Contains(earlier, "\nok\n") {
			t.Errorf("%s: want %d earlier attempts:\n%s", tt.why, tt.attempts, prompt)
		}
	}
}

// TestCancelledJudge: the time is up while the judge is asked. The best answer so far is there beside the error.
func TestCancelledJudge(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	mine := errors.New("mine")
	script, _ := agent{decompose: `{"entity": "x"}`, score: relevant, generate: []string{usa, usa, everyone, everyone,
		usa}}.model()
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Purpose == "judge" {
			cancel(mine)
			<-ctx.Done()
			return llm.Response{}, ctx.Err()
		}
		return script.Complete(ctx, req)
	})
	out, err := qasql.Strategy{}.Generate(ctx, described(t, model), strategytest.USATask)
	if !errors.Is(err, context.Canceled) || out == nil || out.SQL != usa || !errors.Is(context.Cause(ctx), mine) {
		t.Errorf("%v: %+v", err, out)
	}
	if _, err := strategy.ReadReport[qasql.Report](out.Report); err != nil {
		t.Error(err)
	}
}

// TestSameWhateverTheLatency: equal replies give equal bytes.
func TestSameWhateverTheLatency(t *testing.T) {
	script := agent{decompose: `{"entity": "customers"}`, score: relevant,
		generate: []string{broken, usa, everyone, everyone, chile}, repair: []string{usaJoin}, judge: verdicts("A", "B")}
	for _, workers := range []int{1, 16} {
		env := described(t, nil)
		env.Schema, env.Profiles = strategytest.Profiled(t, env), false
		s := qasql.Strategy{Linker: linker.MapReduce{Workers: workers}}
		strategytest.SameWhateverTheLatency(t, s, env, strategytest.USATask, func() []llm.Model {
			model, _ := script.model()
			return []llm.Model{model}
		}, 1, 4, 16)
	}
}

// TestRequests: what is sent beside the prompts, and what judge and last resort are shown.
func TestRequests(t *testing.T) {
	for _, tt := range []struct {
		samples     int
		temperature float64
		why         string
	}{{0, 0, "one statement a context is greedy"}, {2, 0.7, "several are not"}} {
		var mu sync.Mutex
		prompts := map[string]string{}
		script, _ := agent{decompose: `{"entity": "x"}`, score: relevant,
			generate: []string{usa, usa, "SELECT total FROM orders", usa, usa,
				usa, usa, usa, usa, usa}, judge: verdicts("C", "C")}.model()
		model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
			mu.Lock()
			prompts[req.Purpose] += strategytest.Written(req.Messages)
			mu.Unlock()
			if req.Seed == nil || req.Temperature == nil {
				t.Errorf("%s: a request to %s without seed or temperature", tt.why, req.Purpose)
			} else if req.Purpose == "generate" && (*req.Temperature != tt.temperature || *req.MaxTokens != 2048) {
				t.Errorf("%s: temperature %v, %d tokens", tt.why, *req.Temperature, *req.MaxTokens)
			}
			return script.Complete(ctx, req)
		})
		env := described(t, model)
		env.Seed = 7
		task := strategytest.USATask
		task.Samples = tt.samples
		out := testutil.Value(qasql.Strategy{}.Generate(t.Context(), env, task))(t)
		judged := prompts["judge"]
		for _, want := range []string{"CREATE TABLE orders", task.Evidence} {
			if !strings.Contains(judged, want) {
				t.Errorf("%s: %q is not in what the judge is shown, who may choose what was not linked:\n%s", tt.why, want, judged)
			}
		}
		report := testutil.Value(strategy.ReadReport[qasql.Report](out.Report))(t)
		if got := report.Candidate(6); tt.samples == 2 && got != "Q2.2 sme_metadata" {
			t.Errorf("sample 6 is %s", got)
		}
	}
}

// TestLastResortSeesFailures: the last five candidates that failed, whatever their number.
func TestLastResortSeesFailures(t *testing.T) {
	script, _ := agent{decompose: `{"entity": "x"}`, score: relevant, generate: []string{typo(1), typo(2), typo(3),
		typo(4), typo(5), typo(6)}}.model()
	shown := ""
	env := described(t, llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Purpose == "repair" && req.Sample == 6 {
			shown = strategytest.Written(req.Messages)
		}
		return script.Complete(ctx, req)
	}))
	contexts := append(qasql.Strategy{}.DefaultContexts(),
		qasql.Context{Name: "another", Prompt: strategy.Prompt{Form: schema.MSchema}})
	out, err := qasql.Strategy{Contexts: contexts}.Generate(t.Context(), env, strategytest.USATask)
	if !errors.Is(err, strategy.ErrNoCandidate) || !strings.Contains(shown, strategytest.USATask.Evidence) {
		t.Errorf("%v; shown:\n%s", err, shown)
	}
	for n := 1; n <= 6; n++ {
		if got := strings.Contains(shown, typo(n)); got != (n <= 5) {
			t.Errorf("statement %d is shown: %v", n, got)
		}
	}
	var none *strategy.NoCandidateError
	if !errors.As(err, &none) || len(none.Rejected) != 6 || out.Report == nil {
		t.Errorf("the error has not the last words on each of the six: %v", err)
	}
}

// TestCancelledSuspect: judge first, a statement that runs stands, though ctx ended while it was asked about once more.
func TestCancelledSuspect(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	script, _ := agent{decompose: `{"entity": "x"}`, score: relevant, generate: []string{chile, chile, chile, chile,
		chile}}.model()
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Purpose == "repair" {
			cancel()
			return llm.Response{}, ctx.Err()
		}
		return script.Complete(ctx, req)
	})
	out, err := qasql.Strategy{JudgeFirst: true}.Generate(ctx, described(t, model), strategytest.USATask)
	if !errors.Is(err, context.Canceled) || out == nil || out.SQL != chile {
		t.Errorf("%v: %+v", err, out)
	}
}
