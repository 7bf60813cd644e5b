package strategy

import (
	"cmp"
	"context"
	"errors"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/linker"
	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/vote"
)

// Consensus is the default strategy. It combines the parts of this module as the measurements suggest.
//
// It uses three prompt forms (M-Schema, DDL, one-line code), each with the stored values that the question names,
// or Prompts. Samples go out in waves until the leader cannot be overtaken. Candidates vote by result; broken
// doubt rules (doubt.Rules) cost votes and confidence. A statement that the engine rejected is repaired only if
// its vote could change the winner. With metrics (texttosql.WithKnowledge) every second sample is a metric
// request; see Sampler.Requests.
//
// Confidence is (share of credited votes, one more on either side) × e^(−doubts/2), see vote.Ballot, or the value of
// Calibrate. No judge decides a close vote: 82 calls about 120 questions made one answer right and a right one wrong
// (docs/lab/live.md). For your own model, set Pipeline.Judge.
//
// A question takes at most Samples samples of at most 1,024 tokens, and 2 repairs. Prompts hold stored values, unless
// texttosql.WithoutValues is given. Sources: Wang et al. 2023, M-Schema (XiYan-SQL); doubts are our own.
type Consensus struct {
	Samples       int                       // 0 means 12; WithSamples overrides it
	Temperature   float64                   // 0 means 0.7; sample 0 is greedy
	Shots         int                       // few-shot exemplars; 0: up to 3
	Prompts       RotatePrompts             // used in turn, as ReasoningPrompts; nil: the three forms
	Stop          vote.Stop                 // stops earlier, as vote.AheadBy(3).Every(4); nil: when it is decided
	MinConfidence float64                   // 0..1; an answer below it is an *AbstainedError; 0: never
	Doubts        *doubt.Rules              // nil: &doubt.Rules{}, the default rules; an empty List turns them off
	Calibrate     func(raw float64) float64 // maps the confidence to the chance of being right; nil: no change
	AtOnce        bool                      // see Sampler.AtOnce
}

// Validate rejects numbers out of range.
func (c Consensus) Validate(samples int) error {
	errs := []error{fields.Check("strategy: Consensus.Samples", c.Samples, fields.MaxSamples),
		fields.Check("strategy: Consensus.Temperature", c.Temperature, 0), fields.Check("strategy: Consensus.Shots",
			c.Shots, 0)}
	if c.Prompts != nil {
		errs = append(errs, validPrompter(c.Prompts))
	}
	return errors.Join(append(errs, Pipeline{MinConfidence: c.MinConfidence}.Validate(samples))...)
}

// Generate answers one question.
func (c Consensus) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := c.Validate(t.Samples); err != nil {
		return nil, err
	}
	return c.Pipeline().Generate(ctx, env, t)
}

// Pipeline returns the composition, as a starting point for your own pipeline.
func (c Consensus) Pipeline() Pipeline {
	p := Pipeline{
		Linker: linker.Values{},
		Prompter: RotatePrompts{
			Prompt{Form: schema.MSchema, Shots: c.Shots},
			Prompt{Form: schema.DDL, Shots: c.Shots},
			Prompt{Form: schema.Code, Shots: c.Shots},
		},
		Sampler: Sampler{
			Samples: cmp.Or(c.Samples, 12), Temperature: cmp.Or(c.Temperature, 0.7), FirstGreedy: true,
			Stop: vote.Stop(vote.Decided).AfterAgreeing(5), AtOnce: c.AtOnce, Requests: 2,
		},
		Doubts:        c.Doubts,
		Refine:        &Refine{Decisive: true},
		Voter:         c.Voter(),
		MinConfidence: c.MinConfidence,
	}
	if c.Prompts != nil {
		p.Prompter = c.Prompts
	}
	if p.Doubts == nil {
		p.Doubts = &doubt.Rules{}
	}
	if c.Stop != nil {
		p.Sampler.Stop = c.Stop.Or(vote.Decided)
	}
	return p
}

// ReasoningPrompts returns three prompts of one form that differ in reasoning: a direct answer, the parts first, and
// a plan first. Use them as Consensus.Prompts to compare with its three forms: no live run has shown a gain yet.
func ReasoningPrompts() RotatePrompts {
	ask := func(steps string) Prompt { return Prompt{Form: schema.MSchema, Steps: steps} }
	return RotatePrompts{ask(directly), ask(PartsFirst), ask(PlanFirst)}
}

// Voter returns the vote of Consensus, for replay and for your own strategy.
func (c Consensus) Voter() vote.Majority {
	m := vote.Majority{Penalty: 1, MaxDoubt: maxDoubt(c.Doubts), Prior: 1, MinShare: 0.8}
	m.Calibrate = c.Calibrate
	return m
}
