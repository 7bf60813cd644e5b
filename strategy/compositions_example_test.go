package strategy_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/llm/llmtest"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// preSQL links what a first statement reads, asked for with the prompt of PET-SQL.
func preSQL(env *strategy.Env, t strategy.Task) linker.PreSQL {
	return linker.PreSQL{Model: env.Models[0], Prompt: func(ctx context.Context, in linker.Input) ([]llm.Message, error) {
		return petsql.REp{}.Prompt(ctx, env, strategy.PromptInput{Task: t, Schema: in.Schema})
	}}
}

// MAKER's consensus over the links of PET-SQL, with the judge of QA-SQL where its last vote is not of one mind.
func ExampleOutcome_JudgeOptions() {
	judged := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		out, err := maker.Strategy{Linker: preSQL(env, t), Samples: 3}.Generate(ctx, env, t)
		if err != nil || len(out.Ballot.Clusters) < 2 {
			return out, err
		}
		in := strategy.JudgeInput{Task: t, Schema: env.Schema, Options: out.JudgeOptions()}
		verdict, err := strategy.Rubric{}.Choose(ctx, env, in)
		if err == nil && verdict.Choice > 0 {
			out.Ballot.Overrule(verdict.Choice)
			out.SQL = out.Ballot.Clusters[0].SQL
		}
		return out, err
	})

	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "link", Replies: llmtest.Texts("SELECT name FROM customers"), Repeat: true},
		{Purpose: "maker.scope", Replies: llmtest.Texts("Tables: customers"), Repeat: true},
		{Purpose: "maker.filter", Replies: llmtest.Texts("country = 'USA'"), Repeat: true},
		{Purpose: "maker.projection", Replies: llmtest.Texts(strategytest.Everyone, strategytest.USA, strategytest.Everyone)},
		{Purpose: "judge", Replies: llmtest.Texts(`{"selected_option": "A"}`, `{"selected_option": "B"}`)},
	}}
	out, err := judged.Generate(context.Background(), strategytest.ExampleEnv(model), strategytest.USATask)
	fmt.Println(out.SQL, out.Links.Tables[0].Table, err)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' customers <nil>
}

// A vote by plan, and where no statement has one the repair of the staged agent: the statement that most samples have
// is refined once.
func ExampleRefine_Failing() {
	repaired := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		p := planvote.Plain{Samples: 3}.Pipeline(env)
		p.Examiner = strategy.NewChecker(ctx, env, t, p.Checks, nil)
		defer p.Examiner.Close()
		out, err := p.Generate(ctx, env, t)
		if !errors.Is(err, strategy.ErrNoCandidate) || out == nil {
			return out, err
		}
		failing := strategy.Refine{}.Failing(out.Candidates)
		if len(failing) == 0 {
			return out, err
		}
		refined, rerr := strategy.Refine{Executions: 2}.Run(ctx, env, strategy.RefineInput{
			Task: t, Schema: env.Schema, Examiner: p.Examiner, Candidate: out.Candidates[failing[0]],
		})
		if rerr != nil || refined.Candidate.Rejected != "" {
			return out, errors.Join(err, rerr, refined.Err)
		}
		out.SQL, out.Steps = refined.Candidate.SQL, append(out.Steps, refined.Steps...)
		return out, nil
	})

	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "repair", Replies: llmtest.Texts(strategytest.USA)},
		{Replies: llmtest.Texts("SELECT nam FROM customers"), Repeat: true},
	}}
	out, err := repaired.Generate(context.Background(), strategytest.ExampleEnv(model), strategytest.USATask)
	fmt.Println(out.SQL, len(out.Steps), err)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' 2 <nil>
}

// Cross-consistency: two models, each with a prompt of its own, write statements over the links of a first one, and
// equal results are equal votes.
func ExampleRotatePrompts_models() {
	cross := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		return strategy.Pipeline{
			Linker: preSQL(env, t),
			Prompter: strategy.RotatePrompts{
				strategy.Variant{Model: "large", Prompter: strategy.Prompt{}},
				strategy.Variant{Model: "small", Prompter: petsql.REp{}},
			},
			Sampler: strategy.Sampler{Samples: 2},
		}.Generate(ctx, env, t)
	})

	first := &llmtest.Script{Rules: []llmtest.Rule{{Replies: llmtest.Texts(strategytest.USA), Repeat: true}}}
	second := &llmtest.Script{
		Rules: []llmtest.Rule{{Replies: llmtest.Texts("SELECT name FROM customers WHERE country LIKE 'USA'"), Repeat: true}}}
	env := strategytest.ExampleEnv(nil)
	env.Models = []llm.Model{llm.Named("large", first), llm.Named("small", second)}
	out, err := cross.Generate(context.Background(), env, strategytest.USATask)
	fmt.Println(out.SQL, len(out.Ballot.Clusters[0].Members), "votes", err)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' 2 votes <nil>
}

// PET-SQL with a repair that its source does not have: one stage of its pipeline is changed.
func ExamplePipeline_petsql() {
	repaired := strategy.Func(func(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
		p := petsql.Strategy{}.Pipeline(env)
		p.Refine = &strategy.Refine{Decisive: true}
		return p.Generate(ctx, env, t)
	})

	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "link", Replies: llmtest.Texts("SELECT name FROM customers")},
		{Purpose: "repair", Replies: llmtest.Texts(strategytest.USA)},
		{Replies: llmtest.Texts("SELECT nam FROM customers"), Repeat: true},
	}}
	out, err := repaired.Generate(context.Background(), strategytest.ExampleEnv(model), strategytest.USATask)
	fmt.Println(out.SQL, out.Links.Tables[0].Table, err)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' customers <nil>
}

// A vote by result whose failed statements are repaired: one stage of a preset is changed.
func ExampleSelfConsistency_Pipeline() {
	p := strategy.SelfConsistency{Samples: 3}.Pipeline()
	p.Refine = &strategy.Refine{Decisive: true}
	model := &llmtest.Script{Rules: []llmtest.Rule{
		{Purpose: "repair", Replies: llmtest.Texts(strategytest.USA), Repeat: true},
		{Replies: llmtest.Texts("SELECT nam FROM customers"), Repeat: true},
	}}
	out, err := p.Generate(context.Background(), strategytest.ExampleEnv(model), strategytest.USATask)
	fmt.Println(out.SQL, err)
	// Output:
	// SELECT name FROM customers WHERE country = 'USA' <nil>
}
