package strategy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/golden"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
)

// TestPipelineRefine: each sample is corrected by itself, and votes with what runs.
func TestPipelineRefine(t *testing.T) {
	budget := func(context.Context, llm.Request) (llm.Response, error) { return llm.Response{}, llm.ErrBudget }
	tests := []struct {
		samples  []string
		repairs  [][]string // by sample; where they end the budget is spent
		refine   strategy.Refine
		want     string   // the answer; "": none
		votes    int      // for it
		steps    []string // "sample.try action status"
		warnings []string // codes
		is       error
		why      string
	}{
		{samples: []string{usa, everyone, broken}, repairs: [][]string{2: {usaJoin}}, want: usa, votes: 2,
			steps: []string{"0.0 generate ok", "1.0 generate ok", "2.0 generate rejected", "2.1 repair ok"},
			why:   "a corrected sample decides, and the steps are in the order of samples"},
		{samples: []string{broken, "I cannot."}, repairs: [][]string{{typo, syntax}, {"No.", typo}},
			is: strategy.ErrNoCandidate,
			steps: []string{"0.0 generate rejected", "0.1 repair rejected", "0.2 repair rejected", "1.0 generate no-sql",
				"1.1 repair no-sql", "1.2 repair rejected"},
			why: "three statements each, and none runs"},
		{samples: []string{broken, usa}, want: usa, votes: 1, warnings: []string{"budget-spent", "one-voter"},
			steps: []string{"0.0 generate rejected", "0.1 repair failed", "1.0 generate ok"},
			why:   "a spent budget leaves what runs"},
		{samples: []string{broken}, is: llm.ErrBudget, steps: []string{"0.0 generate rejected", "0.1 repair failed"},
			warnings: []string{"budget-spent"}, why: "and is the error where nothing does"},
		{samples: []string{nobody}, repairs: [][]string{{nobody}}, refine: strategy.Refine{EmptyResult: true}, want: nobody,
			votes: 1,
			steps: []string{"0.0 generate suspect", "0.1 repair no-progress"}, warnings: []string{"empty-result"},
			why: "an empty answer is told"},
		{samples: []string{nobody}, repairs: [][]string{{usa}}, refine: strategy.Refine{EmptyResult: true}, want: usa,
			votes: 1,
			steps: []string{"0.0 generate suspect", "0.1 repair ok"}, why: "unless another one has rows"},
	}
	var told strings.Builder
	for _, tt := range tests {
		t.Run(tt.why, func(t *testing.T) {
			asked := make([]int, len(tt.samples))
			model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
				if req.Purpose == "generate" {
					return llm.Response{Text: tt.samples[req.Sample], StopReason: llm.StopEnd}, nil
				}
				k := asked[req.Sample]
				if asked[req.Sample]++; req.Sample >= len(tt.repairs) || k >= len(tt.repairs[req.Sample]) {
					return budget(ctx, req)
				}
				return llm.Response{Text: tt.repairs[req.Sample][k], StopReason: llm.StopEnd}, nil
			})
			root := trace.Tracer{}.New("question")
			p := strategy.Pipeline{Sampler: strategy.Sampler{Samples: len(tt.samples)}, Refine: &tt.refine}
			out, err := p.Generate(trace.NewContext(t.Context(), root), shopEnv(t, model), usaTask)
			told.WriteString("== " + tt.why + "\n" + strategytest.Told(out, err))
			if !errors.Is(err, tt.is) {
				t.Fatalf("error %v, want %v", err, tt.is)
			}
			var steps []string
			for _, s := range out.Steps {
				steps = append(steps, fmt.Sprintf("%d.%d %s %s", s.Sample, s.Try, s.Action, s.Status))
			}
			golden.Equal(t, tt.steps, steps, "steps")
			var warned []string
			for _, w := range root.Warnings() {
				warned = append(warned, w.Code)
			}
			golden.Equal(t, tt.warnings, warned, "warnings")
			if out.SQL != tt.want {
				t.Errorf("the answer is %q, want %q", out.SQL, tt.want)
			}
			if len(out.Ballot.Clusters) > 0 && len(out.Ballot.Clusters[0].Members) != tt.votes {
				t.Errorf("%d votes, want %d", len(out.Ballot.Clusters[0].Members), tt.votes)
			}
		})
	}
	golden.Check(t, "refine.golden", told.String())
}

// TestRefineByIndex: which corrections the last calls of a budget pay for is no matter of time, and none takes the call
// of another sample.
func TestRefineByIndex(t *testing.T) {
	replies, repairs := []string{broken, typo, usa, broken, syntax, everyone},
		[]string{usa, "No.", "", usaJoin, everyone, ""}
	for _, tt := range []struct {
		calls, voters int
		why           string
	}{
		{6, 2, "each sample has a call, and no correction has one"},
		{7, 3, "sample 0 is corrected"},
		{8, 3, "sample 1 is not by one call"},
		{9, 3, "nor by two"},
		{10, 4, "sample 3 is corrected"},
		{11, 5, "sample 4 is corrected"},
		{18, 5, "every correction may be made"},
	} {
		var first string
		for seed := range uint64(20) {
			env := shopEnv(t, nil)
			synctest.Test(t, func(t *testing.T) {
				took := rand.New(rand.NewPCG(seed, 1)).Perm(len(replies))
				account := llm.Budget{Calls: tt.calls}.Start()
				env := asking(env, llm.Chain(llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
					time.Sleep(time.Duration(took[req.Sample]) * time.Millisecond)
					text := replies[req.Sample]
					if req.Purpose == "repair" {
						text = repairs[req.Sample]
					}
					return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
				}), account.Middleware()))
				env.Host.CallsLeft = account.CallsLeft
				out, err := strategy.Pipeline{Sampler: strategy.Sampler{Samples: len(replies)},
					Refine: &strategy.Refine{}}.Generate(t.Context(), env, usaTask)
				if err != nil {
					t.Fatal(err)
				}
				if voters := len(out.Candidates) - len(out.WithoutVote()); voters != tt.voters {
					t.Errorf("%d calls, order %v: %d votes, want %d: %s", tt.calls, took, voters, tt.voters, tt.why)
				}
				got := testutil.Value(json.Marshal(out))(t)
				if first == "" {
					first = string(got)
				}
				if first != string(got) {
					t.Errorf("%d calls, order %v:\n%s\n%s", tt.calls, took, first, got)
				}
			})
		}
	}
}

// TestRefineSeesTheWholeSchema: a missing column is often outside of what was linked.
func TestRefineSeesTheWholeSchema(t *testing.T) {
	for _, tt := range []struct {
		budget int
		want   bool
		why    string
	}{{0, true, "the whole schema fits"}, {40, false, "a schema over its budget is not shown without its columns"}} {
		shown := ""
		model := llm.Func(func(_ context.Context, req llm.Request) (llm.Response, error) {
			text := broken
			if req.Purpose == "repair" {
				text, shown = usa, req.Messages[1].Text
			} else if strings.Contains(req.Messages[1].Text, "orders") {
				t.Error("the sample was shown what was not linked")
			}
			return llm.Response{Text: text, StopReason: llm.StopEnd}, nil
		})
		env := shopEnv(t, model)
		env.SchemaBudget = tt.budget
		p := strategy.Pipeline{Refine: &strategy.Refine{},
			Linker: linker.Func(func(context.Context, linker.Input) (schema.Links, error) {
				return schema.Links{Tables: []schema.TableLink{{Table: "customers"}}}, nil
			})}
		testutil.Value(p.Generate(t.Context(), env, strategy.Task{Question: "Which names are of the country USA?"}))(t)
		if got := strings.Contains(shown, "orders"); got != tt.want {
			t.Errorf("%s: orders shown is %v", tt.why, got)
		}
	}
}

// TestPromptWhole: what a prompt shows of the whole schema and of the linked part.
func TestPromptWhole(t *testing.T) {
	env := shopEnv(t, nil)
	whole, _ := env.Schema.Describe(schema.Descriptions{
		"customers.country": {Text: "where the customer lives", Described: "the country"},
		"orders.total":      {Described: "the amount paid"},
	})
	env.Schema = whole
	whole = strategytest.Profiled(t, env)
	links := schema.Links{Tables: []schema.TableLink{{Table: "customers",
		Values: []schema.ValueMatch{{Column: "country", Value: "USA"}}}}}
	linked, _ := whole.Restrict(links)
	const orders, person, model, example, named = "orders", "where the customer lives", "the amount paid", `"Norway"`,
		`customers.country has "USA"`
	for _, tt := range []struct {
		prompt strategy.Prompt
		whole  *schema.Schema
		budget int
		shows  []string
		why    string
	}{
		{strategy.Prompt{}, whole, 0, []string{person, example, named}, "what was linked"},
		{strategy.Prompt{Whole: true}, whole, 0, []string{orders, person, model, example, named}, "all of it"},
		{strategy.Prompt{Whole: true}, nil, 0, []string{person, example, named}, "a caller who gives no whole schema"},
		{strategy.Prompt{Whole: true}, whole, 45, []string{person, example, named},
			"not without columns: what was linked, shortened in its turn"},
		{strategy.Prompt{Whole: true, WithoutExpertText: true, WithoutModelText: true, Examples: -1}, whole, 0,
			[]string{orders}, "structure alone"},
		{strategy.Prompt{Whole: true, WithoutModelText: true, Examples: -1}, whole, 0, []string{orders, person},
			"a person's words"},
		{strategy.Prompt{Whole: true, WithoutExpertText: true, Examples: -1}, whole, 0, []string{orders, model}, "a model's"},
	} {
		env.SchemaBudget = tt.budget
		got := testutil.Value(tt.prompt.Prompt(t.Context(), env, strategy.PromptInput{Task: usaTask, Schema: linked,
			Whole: tt.whole, Links: links}))(t)
		var shows []string
		for _, part := range []string{orders, person, model, example, named} {
			if strings.Contains(got[1].Text, part) {
				shows = append(shows, part)
			}
		}
		if !slices.Equal(shows, tt.shows) {
			t.Errorf("%s: shows %q, want %q:\n%s", tt.why, shows, tt.shows, got[1].Text)
		}
		if literal := strings.Contains(got[0].Text, "literally"); literal != (tt.prompt.WithoutModelText &&
			!tt.prompt.WithoutExpertText) {
			t.Errorf("%s: the rule to take descriptions literally is there: %v", tt.why, literal)
		}
	}
}

// TestRefineEnds: a statement that runs stands, though ctx ended while the model was asked about it once more.
func TestRefineEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	model := llm.Func(func(ctx context.Context, req llm.Request) (llm.Response, error) {
		if req.Purpose == "repair" {
			cancel()
			return llm.Response{}, ctx.Err()
		}
		return llm.Response{Text: nobody, StopReason: llm.StopEnd}, nil
	})
	p := strategy.Pipeline{Sampler: strategy.Sampler{Purpose: "mine"}, Refine: &strategy.Refine{EmptyResult: true}}
	out, err := p.Generate(ctx, shopEnv(t, model), usaTask)
	if !errors.Is(err, context.Canceled) || out.SQL != nobody || len(out.Steps) == 0 || out.Steps[0].Action != "mine" {
		t.Errorf("%v: %+v", err, out)
	}
}
