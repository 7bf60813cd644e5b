package strategy_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/memory"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
)

// TestPromptExemplars: exemplars are those like the question, by default three.
func TestPromptExemplars(t *testing.T) {
	at := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	pairs := []memory.Exemplar{
		{Question: "How many orders are there?", SQL: "SELECT count(*) FROM orders"},
		{Question: "Which customers live in Norway?", SQL: "SELECT name FROM customers WHERE country = 'Norway'"},
		{Question: "What is the total of an order?", SQL: "SELECT total FROM orders", By: "Ann"},
		{Question: "Where do customers live?", SQL: "SELECT country FROM customers", At: &at},
	}
	for _, tt := range []struct {
		why    string
		prompt strategy.Prompt
		pairs  []memory.Exemplar
		want   []string
	}{
		{"one: the one that is most like it", strategy.Prompt{Shots: 1}, pairs, []string{"live in Norway"}},
		{"two", strategy.Prompt{Shots: 2}, pairs, []string{"live in Norway", "Where do customers live"}},
		{"no number: three", strategy.Prompt{}, pairs,
			[]string{"live in Norway", "Where do customers live", "total of an order"}},
		{"fewer than three", strategy.Prompt{}, pairs[:2], []string{"live in Norway", "How many orders are there"}},
		{"statements of a log teach words only", strategy.Prompt{}, []memory.Exemplar{
			{Question: "Which customers live in Norway?", SQL: "SELECT name FROM customers", Past: true}}, nil},
		{"turned off", strategy.Prompt{Shots: -1}, pairs, nil},
		{"no pool", strategy.Prompt{Shots: 2}, nil, nil},
	} {
		env := shopEnv(t, nil)
		if tt.pairs != nil {
			env.Exemplars = &memory.Pool{Pairs: tt.pairs}
		}
		messages := testutil.Value(tt.prompt.Prompt(t.Context(), env, strategy.PromptInput{
			Task: strategy.Task{Question: "Which customers live in the USA?"}, Schema: env.Schema,
		}))(t)
		shown := messages[1 : len(messages)-1]
		if len(shown) != 2*len(tt.want) {
			t.Errorf("%s: %d exemplars, want %d", tt.why, len(shown)/2, len(tt.want))
			continue
		}
		for i, want := range tt.want {
			if !strings.Contains(shown[2*i].Text, want) {
				t.Errorf("%s: exemplar %d is\n%s\nwant %q", tt.why, i, shown[2*i].Text, want)
			}
		}
	}
}

// TestPromptSections: a program's own section stands before the question.
func TestPromptSections(t *testing.T) {
	env := shopEnv(t, nil)
	own := strategy.PrompterFunc(func(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message,
		error) {
		in.Sections = append(in.Sections, "### Fiscal year\nIt begins in July.")
		return strategy.Prompt{}.Prompt(ctx, env, in)
	})
	messages := testutil.Value(own.Prompt(t.Context(), env, strategy.PromptInput{Task: usaTask, Schema: env.Schema}))(t)
	last := messages[len(messages)-1].Text
	section, question := strings.Index(last, "\n\n### Fiscal year\nIt begins in July.\n\n"),
		strings.Index(last, "### Question")
	if section < 0 || section > question {
		t.Errorf("the section is not before the question:\n%s", last)
	}
}

// TestReasoningPrompts: three prompts differ in how they reason, and only behind all else: what is before it is read
// once where a provider or a server keeps it.
func TestReasoningPrompts(t *testing.T) {
	env := shopEnv(t, nil)
	var before []string
	for i, p := range strategy.ReasoningPrompts() {
		messages := testutil.Value(p.Prompt(t.Context(), env, strategy.PromptInput{Task: usaTask, Schema: env.Schema,
			Sample: i}))(t)
		shared, steps, _ := strings.Cut(strategytest.Written(messages), "### How to answer\n")
		before = append(before, shared)

		want := []string{"Do not explain anything.", strategy.PartsFirst, strategy.PlanFirst}[i] +
			" Then give the statement in one ```sql block at the very end.\n"
		if !strings.HasPrefix(steps, want) {
			t.Errorf("prompt %d: %q, want %q", i, steps, want)
		}
	}
	if slices.Sort(before); len(slices.Compact(before)) != 1 {
		t.Error("they differ in more than how they reason")
	}
}

// TestRepairSeesItsPrompt: a repair goes on from the prompt of its sample: the same form of the schema, the same
// values.
func TestRepairSeesItsPrompt(t *testing.T) {
	for why, p := range map[string]strategy.Pipeline{
		"decisive": strategy.Consensus{Samples: 3}.Pipeline(),
		"each": {Prompter: strategy.Prompt{Form: schema.Code}, Sampler: strategy.Sampler{Samples: 1},
			Refine: &strategy.Refine{}},
	} {
		var mu sync.Mutex
		sent := map[string]map[int]string{}
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			mu.Lock()
			defer mu.Unlock()
			if sent[req.Purpose] == nil {
				sent[req.Purpose] = map[int]string{}
			}
			sent[req.Purpose][req.Sample] = strategytest.Written(req.Messages)
			if req.Purpose == "repair" {
				return llm.Response{Text: usa}, nil
			}
			return llm.Response{Text: strings.ReplaceAll(broken, "customers", "customers AS c"+
				strings.Repeat(" ", req.Sample))}, nil
		})
		out, err := p.Generate(t.Context(), shopEnv(t, model), usaTask)
		if err != nil || out.SQL != usa || len(sent["repair"]) == 0 {
			t.Fatalf("%s: %v, %v, %v", why, out, err, sent)
		}
		for sample, text := range sent["repair"] {
			if prompt := sent["generate"][sample]; !strings.HasPrefix(text, strings.TrimSpace(prompt)) {
				t.Errorf("%s: the repair of sample %d has\n%s\nafter\n%s", why, sample, text, prompt)
			}
		}
	}
}

// TestConsensusJudge: nobody decides about a weak vote unless a program sets a judge.
func TestConsensusJudge(t *testing.T) {
	for want, s := range map[bool]strategy.Strategy{false: strategy.Consensus{Samples: 3}, true: judged(3)} {
		var asked atomic.Bool
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			if req.Purpose == "judge" {
				asked.Store(true)
				return llm.Response{Text: `{"selected_option": "A"}`}, nil
			}
			return llm.Response{Text: []string{usa, everyone, usa}[req.Sample]}, nil
		})
		out, err := s.Generate(t.Context(), shopEnv(t, model), usaTask)
		if err != nil || asked.Load() != want {
			t.Errorf("judged %v, want %v: %v, %v", asked.Load(), want, out, err)
		}
	}
}
