package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/agent"
	"github.com/texttosql/texttosql/strategy/maker"
	"github.com/texttosql/texttosql/strategy/petsql"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/strategy/qasql"
	"github.com/texttosql/texttosql/strategy/threephase"
	"github.com/texttosql/texttosql/vote"
)

// preset is a strategy by name.
type preset struct {
	Name, About string
	Strategy    strategy.Strategy
}

// presets returns the presets, the plainest first.
func presets() []preset {
	mended := strategy.SelfConsistency{}.Pipeline()
	mended.Refine = &strategy.Refine{Executions: 1}
	return []preset{
		{"direct", "one greedy sample, checked", strategy.Direct{}},
		{"direct-refine", "direct, and one repair of a statement that does not run", refined(strategy.Prompt{})},
		{"rep-refine", "direct-refine with PET-SQL's prompt, in our form", refined(petsql.REp{})},
		{"direct-code", "direct with the schema of a line for each table", direct(strategy.Prompt{Form: schema.Code})},
		{"direct-definitions", "direct with evidence under \"Follow these definitions\", not \"Notes\"",
			direct(definitions{})},
		{"self-consistency", "samples of one prompt, majority by result, stopped when decided", strategy.SelfConsistency{}},
		{"self-consistency-mended", "self-consistency with columns taken from another table, without a call", mended},
		{"consensus", "the default: three prompt forms, values, doubts, repair", strategy.Consensus{}},
		{"consensus-reasoning", "consensus of three prompts that reason differently: directly, parts first, plan first",
			strategy.Consensus{Prompts: strategy.ReasoningPrompts()}},
		{"consensus-judge8", "consensus with a judge below .8 of the votes", judged(0.8)},
		{"consensus-judge6", "consensus with a judge below .6 of the votes", judged(0.6)},
		{"consensus-ahead3", "consensus that also stops when 3 votes ahead",
			strategy.Consensus{Stop: vote.AheadBy(3).Every(4)}},
		{"plan-vote", "samples of one prompt, majority by plan (M7)", planvote.Plain{}},
		{"augmented-plan-vote", "plan-vote on a schema with sample rows (M10)", planvote.Augmented{}},
		{"execution-feedback", "rounds of augmented-plan-vote that see what failed (M12)", planvote.Feedback{}},
		{"maker", "consensus on tables, then filters, then the statement (M15)", maker.Strategy{}},
		{"maker-compat", "maker as published", maker.Strategy{}.Published()},
		{"petsql", "two rounds: a first statement links the schema, then every model votes", petsql.Strategy{}},
		{"petsql-compat", "petsql with its published prompt", petsql.Strategy{}.Published()},
		{"qasql", "five views of the schema, each refined, and a judge (QA-SQL)", qasql.Strategy{}},
		{"qasql-document", "qasql as its document has it: one call of the judge, no last resort",
			qasql.Strategy{Judge: strategy.Rubric{Votes: 1}, WithoutLastResort: true}},
		{"staged0", "the first statement that runs, of three steps of one sample", agent.Staged{}},
		{"staged1", "staged0, and forms of a statement that break fewer checks", agent.Staged{Stage: 1}},
		{"staged2", "staged1, and four samples a step, doubts before votes", agent.Staged{Stage: 2}},
		{"staged3", "staged2, and a repair where nothing runs, and a baseline", agent.Staged{Stage: 3}},
		{"threephase", "tables one by one, then together, joins, a statement of three attempts", threephase.Strategy{}},
		{"react", "the tool loop: thought, action and observation until a statement runs", agent.ReAct{}},
		{"react-document", "react as published: until a second statement runs, or finish", agent.ReAct{}.Published()},
	}
}

// direct returns strategy.Direct with another prompt.
func direct(p strategy.Prompter) strategy.Strategy {
	return strategy.Pipeline{Prompter: p, Sampler: strategy.Sampler{MaxTokens: 512}}
}

// refined is direct with one repair.
func refined(p strategy.Prompter) strategy.Strategy {
	return strategy.Pipeline{Prompter: p, Sampler: strategy.Sampler{MaxTokens: 512},
		Refine: &strategy.Refine{Executions: 2}}
}

// judged is Consensus with a judge of votes whose winner has less than a share.
func judged(below float64) strategy.Strategy {
	p, voter := strategy.Consensus{}.Pipeline(), strategy.Consensus{}.Voter()
	voter.MinShare = below
	p.Voter, p.Judge = voter, strategy.Rubric{Form: schema.MSchema, Options: 2}
	return p
}

// definitions is strategy.Prompt with another heading of the evidence.
type definitions struct{}

// Prompt writes the messages.
func (definitions) Prompt(ctx context.Context, env *strategy.Env, in strategy.PromptInput) ([]llm.Message, error) {
	messages, err := strategy.Prompt{}.Prompt(ctx, env, in)
	for i := range messages {
		messages[i].Text = strings.Replace(messages[i].Text, "\n### Notes\n", "\n### Follow these definitions\n", 1)
	}
	return messages, err
}

// prompts returns one greedy sample of PET-SQL's prompt and of two others, to be held side by side.
func prompts() []preset {
	var plain petsql.REp
	plain.Without.Rule, plain.Without.Values, plain.Without.ForeignKeys = true, true, true
	return []preset{
		{"rep", "one greedy sample of PET-SQL's prompt, as published", strategy.Pipeline{Prompter: petsql.REp{}.Published()}},
		{"odp", "the same of the prompt that it extends: names of tables and columns",
			strategy.Pipeline{Prompter: plain.Published()}},
		{"crp", "the same of CREATE statements", strategy.Pipeline{Prompter: strategy.Prompt{Form: schema.DDL}}},
	}
}

// strategyNamed returns the preset with the name, one that asks nobody back.
func strategyNamed(name string) (preset, error) {
	var names []string
	for _, p := range slices.Concat(presets(), prompts()) {
		if p.Name == name {
			if s, ok := p.Strategy.(threephase.Strategy); ok {
				s.OnAmbiguity = "pick"
				p.Strategy = s
			}
			return p, nil
		}
		names = append(names, p.Name)
	}
	return preset{}, fmt.Errorf("strategy %q: unknown; want one of %s", name, strings.Join(names, ", "))
}

// presetsHelp lists the presets for a help text, a line each.
func presetsHelp() string {
	var text strings.Builder
	for _, p := range slices.Concat(presets(), prompts()) {
		fmt.Fprintf(&text, "  %-20s %s\n", p.Name, p.About)
	}
	return text.String()
}
