package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/trace"
)

// climbed is what came of one question.
type climbed struct {
	out      *strategy.Outcome
	report   agent.StagedReport
	err      error
	root     *trace.Span
	requests []llm.Request // in the order of samples
}

// replies answers requests.
type replies func(req llm.Request) (string, error)

// climb asks a stage about the customers in the USA.
func climb(ctx context.Context, t *testing.T, env *strategy.Env, stage agent.Staged, reply replies) (c climbed) {
	t.Helper()
	var mu sync.Mutex
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		mu.Lock()
		c.requests = append(c.requests, req)
		mu.Unlock()
		text, err := reply(req)
		return llm.Response{Text: text, StopReason: llm.StopEnd, Usage: llm.Usage{Calls: 1, Known: true}}, err
	})
	c.root = trace.Tracer{}.New("question")
	c.out, c.err = stage.Generate(trace.NewContext(ctx, c.root), strategytest.Asking(env, model), strategytest.USATask)
	slices.SortStableFunc(c.requests, func(a, b llm.Request) int { return a.Sample - b.Sample })
	if c.out != nil {
		var err error
		if c.report, err = strategy.ReadReport[agent.StagedReport](c.out.Report); err != nil {
			t.Error(err)
		}
	}
	return c
}

// always answers every sample so, and no repair.
func always(sql string) replies {
	return func(req llm.Request) (string, error) {
		if req.Purpose == "repair" {
			return "", errors.New("no repair")
		}
		return sql, nil
	}
}

// TestLadder: each stage does what the one before does, and one thing more.
func TestLadder(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	limited := usa + " LIMIT 5"
	var before climbed
	for stage, want := range []struct {
		sql      string
		calls    int
		clamped  bool
		repaired bool
	}{
		{limited, 2, false, false},
		{usa, 2, true, false},
		{usa, 8, true, false},
		{usa, 5, true, true},
	} {
		perStep := 1
		if stage >= 2 {
			perStep = 4
		}
		c := climb(t.Context(), t, env, agent.Staged{Stage: stage}, func(req llm.Request) (string, error) {
			if req.Purpose == "generate" && req.Sample < perStep {
				return broken, nil
			}
			return limited, nil
		})
		if c.err != nil || c.out.SQL != want.sql || len(c.requests) != want.calls || c.report.Clamped != want.clamped ||
			c.report.Repaired != want.repaired {
			t.Errorf("stage %d: %q, %v, %d calls, %+v", stage, c.out.SQL, c.err, len(c.requests), c.report)
		}
		if s := c.out.Steps; s[0].Name != "main" || s[0].Status != "rejected" || stage >= 2 && s[1].Name != "tabular" {
			t.Errorf("stage %d: %+v", stage, s)
		}
		if stage > 0 {
			if diff := cmp.Diff(before.requests[0].Messages, c.requests[0].Messages); diff != "" {
				t.Errorf("stage %d has another first prompt: %s", stage, diff)
			}
			for span := range before.root.All() {
				if name := span.Name(); !slices.ContainsFunc(slices.Collect(c.root.All()), func(s *trace.Span) bool {
					return s.Name() == name
				}) {
					t.Errorf("stage %d has no %q, which stage %d has", stage, name, stage-1)
				}
			}
		}
		before = c
	}
}

// TestBoundsOfCalls: whatever fails, calls stay within their bounds, no prompt is sent twice, and the error tells why.
func TestBoundsOfCalls(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	down := errors.New("out of service")
	for _, tt := range []struct {
		name  string
		reply replies
		want  [4]int // calls by stage
		sql   string
		is    error
	}{
		{"every statement fails in another way", func() replies {
			var mu sync.Mutex
			n := 0
			return func(llm.Request) (string, error) {
				mu.Lock()
				defer mu.Unlock()
				n++
				return fmt.Sprintf("SELECT c%d FROM customers", n), nil
			}
		}(), [4]int{3, 3, 12, 14}, "", strategy.ErrNoCandidate},
		{"the same failing statement for ever", func(llm.Request) (string, error) { return broken, nil }, [4]int{2, 2, 8, 10},
			"", strategy.ErrNoCandidate},
		{"replies without SQL", func(llm.Request) (string, error) { return "I cannot.", nil }, [4]int{2, 2, 8, 9}, "",
			strategy.ErrNoCandidate},
		{"empty replies", func(llm.Request) (string, error) {
			return "", nil
		}, [4]int{2, 2, 8, 9}, "", strategy.ErrNoCandidate},
		{"all samples fail", func(llm.Request) (string, error) { return "", down }, [4]int{1, 1, 4, 5}, "", down},
		{"one sample fails", func(req llm.Request) (string, error) {
			if req.Sample == 0 {
				return "", down
			}
			return usa, nil
		}, [4]int{1, 1, 4, 4}, usa, nil},
	} {
		for stage, calls := range tt.want {
			c := climb(t.Context(), t, env, agent.Staged{Stage: stage}, tt.reply)
			if len(c.requests) != calls || tt.sql == "" && !errors.Is(c.err, tt.is) {
				t.Errorf("%s, stage %d: %d calls, want %d; %v", tt.name, stage, len(c.requests), calls, c.err)
			}
			if stage >= 2 && tt.sql != "" && (c.out.SQL != tt.sql || len(c.out.Candidates) != 3) {
				t.Errorf("%s, stage %d: %q of %d candidates", tt.name, stage, c.out.SQL, len(c.out.Candidates))
			}
			sent := map[string]int{}
			for _, req := range c.requests {
				key := fmt.Sprint(*req.Temperature, req.Messages)
				if req.Purpose == "generate" && *req.Temperature == 0.5 {
					key += fmt.Sprint(req.Sample % 4) // of one step, with another seed
				}
				if sent[key]++; sent[key] > 1 {
					t.Errorf("%s, stage %d: a prompt is sent twice: %s", tt.name, stage, req.Messages[len(req.Messages)-1].Text)
				}
			}
		}
	}
}

// TestOutputOfStaged: at every stage a reply ends at the first semicolon of its statement, and what reads no table or
// groups by NULL is no answer.
func TestOutputOfStaged(t *testing.T) {
	env := strategytest.EnvOf(t, strategytest.ShopSQL+"; CREATE VIEW people AS SELECT name FROM customers;", nil)
	const quoted = "SELECT name FROM customers WHERE country = 'USA' AND name <> 'a;b'"
	for _, tt := range []struct {
		reply, want string // "" for no answer
		problem     string
		why         string
	}{
		{usa + ";", usa, "", "the end of a statement"},
		{usa + "; SELECT name FROM customers", usa, "", "a model that does not stop"},
		{"```sql\n" + quoted + ";\nSELECT 5;\n```", quoted, "", "a semicolon in a literal ends nothing"},
		{"SELECT 5", "", "reads no table", "a number"},
		{"SELECT 'Betaxol'", "", "reads no table", "a word of the model"},
		{"SELECT count(*) FROM customers GROUP BY NULL", "", "GROUP BY NULL makes one group", "a habit of MySQL"},
		{"SELECT count(*) FROM people", "SELECT count(*) FROM people", "", "a view of which only the rows are counted"},
	} {
		for stage := range 4 {
			c := climb(t.Context(), t, env, agent.Staged{Stage: stage, Steps: 1}, always(tt.reply))
			if c.out.SQL != tt.want || (tt.want == "") != errors.Is(c.err, strategy.ErrNoCandidate) ||
				!strings.Contains(c.out.Steps[0].Problem, tt.problem) {
				t.Errorf("%s, stage %d: %q, %v, %+v; want %q", tt.why, stage, c.out.SQL, c.err, c.out.Steps[0], tt.want)
			}
			for _, req := range c.requests {
				thinks := stage >= 2 && req.Sample%2 == 1 && req.Purpose == "generate"
				if stops := slices.Equal(req.Stop, []string{";"}); stops == thinks {
					t.Errorf("%s, stage %d: sample %d, %s stops at %q", tt.why, stage, req.Sample, req.Purpose, req.Stop)
				}
			}
		}
	}
}

// TestModelsOfTheEnv: the models of a question are those of its engine, which a run leaves as they are.
func TestModelsOfTheEnv(t *testing.T) {
	model := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(usa), Repeat: true}}}
	env := strategytest.ShopEnv(t, model)
	testutil.Value(agent.Staged{}.Generate(t.Context(), env, strategytest.USATask))(t)
	if env.Models[0] != llm.Model(model) {
		t.Errorf("the model is %T now", env.Models[0])
	}
}

// TestTargetOfRepair: the failing statement that most samples have is repaired.
func TestTargetOfRepair(t *testing.T) {
	c := climb(t.Context(), t, strategytest.ShopEnv(t, nil), agent.Staged{Stage: 3, Steps: 1},
		func(req llm.Request) (string, error) {
			switch {
			case req.Purpose == "repair":
				return usa, nil
			case req.Sample == 0:
				return broken, nil
			}
			return Other, nil
		})
	at := slices.IndexFunc(c.requests, func(req llm.Request) bool { return req.Purpose == "repair" })
	if text := strategytest.Written(c.requests[at].Messages); c.err != nil || !strings.Contains(text, Other) ||
		strings.Contains(text, broken) {
		t.Errorf("%v: repaired is\n%s", c.err, text)
	}
	if !c.report.Repaired || c.report.Clamped {
		t.Errorf("credited: %+v", c.report)
	}
}

// TestCreditOfStaged: a mechanism that changed another candidate than the answer did not decide.
func TestCreditOfStaged(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	for _, tt := range []struct {
		replies           [4]string
		clamped, repaired bool
		why               string
	}{
		{[4]string{"SELECT id FROM customers LIMIT 5", usa, usa, usa}, false, false,
			"a clamp changed the statement that lost"},
		{[4]string{usa + " LIMIT 5", broken, broken, broken}, true, false, "and here the one that won"},
	} {
		c := climb(t.Context(), t, env, agent.Staged{Stage: 2, Steps: 1}, func(req llm.Request) (string, error) {
			return tt.replies[req.Sample], nil
		})
		made := false
		for _, f := range c.report.Forms {
			made = made || f.Chosen && f.Variant != ""
		}
		if c.out.SQL != usa || !made || c.report.Clamped != tt.clamped || c.report.Repaired != tt.repaired {
			t.Errorf("%s: %q, %+v", tt.why, c.out.SQL, c.report)
		}
	}
	// The first step is repaired and its answer doubted; the second has the answer.
	c := climb(t.Context(), t, env, agent.Staged{Stage: 3, Steps: 2}, func(req llm.Request) (string, error) {
		switch {
		case req.Purpose == "repair":
			return "SELECT count(*) FROM customers", nil
		case req.Sample < 4:
			return broken, nil
		}
		return usa, nil
	})
	if c.out.SQL != usa || c.report.Repaired || c.report.Answer != 1 {
		t.Errorf("an answer of the second step: %q, %+v", c.out.SQL, c.report)
	}
}

// TestDoubtedWithinABudget: an answer that is doubted stands where the budget allows no step for a better one, which is
// told.
func TestDoubtedWithinABudget(t *testing.T) {
	const doubted = "SELECT count(*) FROM customers" // no list, and without the USA
	for calls, want := range map[int]string{4: doubted, 8: usa} {
		account := llm.Budget{Calls: calls}.Start()
		env := strategytest.ShopEnv(t, llm.Chain(strategytest.ExampleModel(doubted, doubted, doubted, doubted, usa, usa, usa,
			usa), account.Middleware()))
		env.Host.CallsLeft, env.Concurrency = account.CallsLeft, 1
		out, err := agent.Staged{Stage: 2}.Generate(t.Context(), env, strategytest.USATask)
		told := strings.Contains(strings.Join(out.Notes, "\n"), "the budget allowed no further step")
		if err != nil || out.SQL != want || told != (want == doubted) {
			t.Errorf("%d calls: %q, %v, %q", calls, out.SQL, err, out.Notes)
		}
	}
}

// TestSubsetOfStaged: up to 12 tables prompts show all, from 13 on those that words and values choose.
func TestSubsetOfStaged(t *testing.T) {
	for _, n := range []int{12, 13} {
		script := strategytest.ShopSQL
		for i := range n - 2 {
			script += fmt.Sprintf("; CREATE TABLE archive_%d (x TEXT)", i)
		}
		c := climb(t.Context(), t, strategytest.EnvOf(t, script, nil), agent.Staged{Stage: 1}, always(usa))
		last := c.requests[0].Messages[len(c.requests[0].Messages)-1].Text
		if shown := strings.Count(last, "CREATE TABLE "); c.err != nil || (n == 12) != (shown == n) ||
			!strings.Contains(last, "CREATE TABLE customers ") {
			t.Errorf("%d tables: %d are shown, %v", n, shown, c.err)
		}
	}
}

// TestRepairOfStaged: a repair is made where nothing of a step ran, once, and passes the same checks.
func TestRepairOfStaged(t *testing.T) {
	env := strategytest.ShopEnv(t, nil)
	for _, tt := range []struct {
		why      string
		reply    replies
		repairs  int
		sql      string
		repaired bool
		fallback bool
	}{
		{"one sample of the step runs, doubted as it is", func(req llm.Request) (string, error) {
			if req.Sample == 3 {
				return strategytest.Everyone, nil
			}
			return broken, nil
		}, 0, strategytest.Everyone, false, false},
		{"none runs: it is repaired, and clamped", func(req llm.Request) (string, error) {
			if req.Purpose == "repair" {
				return usa + " LIMIT 2", nil
			}
			return broken, nil
		}, 1, usa, true, false},
		{"no step runs: once, then the baseline", func(req llm.Request) (string, error) {
			switch {
			case req.Purpose == "repair":
				return "no idea", nil
			case req.Sample == 12:
				return usa, nil
			}
			return fmt.Sprintf("SELECT c%d FROM customers", req.Sample), nil
		}, 1, usa, false, true},
	} {
		c := climb(t.Context(), t, env, agent.Staged{Stage: 3}, tt.reply)
		repairs := 0
		for _, req := range c.requests {
			if req.Purpose == "repair" {
				repairs++
			}
		}
		if c.err != nil || c.out.SQL != tt.sql || repairs != tt.repairs || c.report.Repaired != tt.repaired ||
			c.report.Fallback != tt.fallback {
			t.Errorf("%s: %q, %d repairs, %v, %+v", tt.why, c.out.SQL, repairs, c.err, c.report)
		}
	}
}

// TestClampOfStaged: a variant is taken where it is doubted less, and both results are told.
func TestClampOfStaged(t *testing.T) {
	const perCountry = "SELECT country, count(*) FROM customers GROUP BY country ORDER BY 2"
	for _, tt := range []struct {
		question, sql, want string
		variants            []string
		why                 string
	}{
		{"Which customers live in the USA?", usa, usa, []string{""}, "nothing to change"},
		{"Which customers live in the USA?", usa + " ORDER BY name LIMIT 1", usa, []string{"", "without_limit"},
			"a limit nobody asked for"},
		{"Which are the first 2 customers in the USA?", usa + " ORDER BY name LIMIT 2", usa + " ORDER BY name LIMIT 2",
			[]string{""}, "one that was asked for"},
		{"Which customers live in the USA?", "SELECT name FROM customers WHERE country = 'usa'", usa,
			[]string{"", "stored_value"}, "letters of another case"},
		{"How many customers are there in a country?", perCountry, "SELECT count(*) FROM customers",
			[]string{"", "without_group"}, "one number"},
		{"How many customers are there in a country?", "SELECT count(*) FROM customers GROUP BY country HAVING count(*) > 1",
			"SELECT count(*) FROM customers GROUP BY country HAVING count(*) > 1", []string{""}, "a condition on groups"},
		{"How many customers are there in a country?", "SELECT country FROM customers GROUP BY country",
			"SELECT country FROM customers GROUP BY country", []string{""}, "nothing aggregated: GROUP BY is DISTINCT"},
		{"How many customers are there per country?", perCountry, perCountry, []string{""}, "a number a group"},
		{"How many customers are there per country?", "SELECT count(*) FROM customers GROUP BY country",
			"SELECT country, count(*) FROM customers GROUP BY country", []string{"", "group_key"}, "the group is missing"},
		{"List customers with their countries", "SELECT id, country, name FROM customers LIMIT 2",
			"SELECT name, country FROM customers",
			[]string{"", "without_limit", "projection", "without_limit+projection"}, "columns in the order of the question"},
		{"List the customers who live in Norway", "SELECT count(*) FROM customers WHERE country = 'Norway'",
			"SELECT count(*) FROM customers WHERE country = 'Norway'", []string{""}, "an expression is never dropped"},
		{"List the customers who live in Norway", "SELECT * FROM customers WHERE country = 'Norway'",
			"SELECT * FROM customers WHERE country = 'Norway'", []string{""}, "* is no plain column"},
	} {
		env := strategytest.Asking(strategytest.ShopEnv(t, nil), strategytest.ExampleModel(tt.sql, tt.sql, tt.sql))
		root := trace.Tracer{}.New("question")
		out, err := agent.Staged{Stage: 1, Steps: 1}.Generate(trace.NewContext(t.Context(), root), env,
			strategy.Task{Question: tt.question})
		if err != nil {
			t.Errorf("%s: %v", tt.why, err)
			continue
		}
		report, err := strategy.ReadReport[agent.StagedReport](out.Report)
		var variants []string
		for _, f := range report.Forms {
			variants = append(variants, f.Variant)
			if f.Chosen && f.Variant != "" && f.Penalty >= report.Forms[0].Penalty {
				t.Errorf("%s: %s is not doubted less", tt.why, f.Variant)
			}
		}
		events := 0
		for s := range root.All() {
			for _, e := range s.Events() {
				if e.Name == "form" {
					events++
				}
			}
		}
		if got := strings.Join(strings.Fields(out.SQL), " "); err != nil || got != tt.want ||
			!slices.Equal(variants, tt.variants) || events != len(variants) {
			t.Errorf("%s: %q by %q (%d events), %v; want %q by %q", tt.why, got, variants, events, err, tt.want, tt.variants)
		}
	}
}
