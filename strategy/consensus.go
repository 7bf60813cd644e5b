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

// Consensus is the default strategy: the parts of this module put together as the measurements suggest.
//
// Three prompt forms (M-Schema, DDL, one-line code), each with the stored values that the question names, go out in
// waves until the leader cannot be overtaken. Candidates vote by result; broken doubt rules (doubt.DefaultRules) cost
// votes and confidence. A statement that the engine rejected is repaired only where its vote could change the winner.
// If the leading cluster holds less than 0.6 of the votes, a judge (Rubric) sees the two best. Confidence is (share of
// credited votes, one more on either side) × e^(−doubts/2), see vote.Ballot, or Calibration of it.
//
// With metrics (texttosql.WithKnowledge) every second sample is a metric request; see Sampler.Requests.
//
// Calls a question: Samples samples of at most 1,024 tokens, 2 repairs and 2 of the judge at most, one more for each
// reply of the judge that is no JSON. Prompts hold stored
// values, unless texttosql.WithoutValues is given. Sources: Wang et al. 2023, M-Schema (XiYan-SQL), a judge below 0.6
// (DeepEye-SQL); doubts are our own.
type Consensus struct {
	Samples       int               // 0 means 12; WithSamples overrides it
	Temperature   float64           // 0 means 0.7; sample 0 is greedy
	Shots         int               // few-shot exemplars; 0: none
	Stop          vote.Stop         // ends sampling before it is decided, as vote.AheadBy(3).Every(4) does; nil: only when it is decided
	MinConfidence float64           // 0..1; a weaker answer is an ErrAbstained; 0: never
	Doubts        *doubt.Rules      // nil means &doubt.Rules{}, the default rules; one with an empty list of Rules turns them off
	Calibration   *vote.Calibration // fitted by eval; nil: the formula above
	WithoutJudge  bool              // a weak vote is not put to the model
	AtOnce        bool              // see Sampler.AtOnce
}

// Validate refuses numbers out of range and a Calibration that is none.
func (c Consensus) Validate(samples int) error {
	errs := []error{fields.Check("strategy: Consensus.Samples", c.Samples, MaxSamples), fields.Check("strategy: Consensus.Temperature", c.Temperature, 0), fields.Check("strategy: Consensus.Shots", c.Shots, 0)}
	if c.Calibration != nil {
		errs = append(errs, c.Calibration.Validate())
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

// Pipeline is the composition, to start a pipeline of your own from.
func (c Consensus) Pipeline() Pipeline {
	p := Pipeline{
		Linker: linker.Values{},
		Prompter: Alternate{
			Prompt{Form: schema.MSchema, Shots: c.Shots},
			Prompt{Form: schema.DDL, Shots: c.Shots},
			Prompt{Form: schema.Code, Shots: c.Shots},
		},
		Sampler: Sampler{
			Samples: cmp.Or(c.Samples, 12), Temperature: cmp.Or(c.Temperature, 0.7), FirstGreedy: true,
			Stop: vote.Decided, AtOnce: c.AtOnce, Requests: 2,
		},
		Doubts:        c.Doubts,
		Refine:        &Refine{Whom: Deciding},
		Voter:         c.Voter(),
		Judge:         Rubric{Form: schema.MSchema, Options: 2},
		MinConfidence: c.MinConfidence,
	}
	if p.Doubts == nil {
		p.Doubts = &doubt.Rules{}
	}
	if c.Stop != nil {
		p.Sampler.Stop = c.Stop.Or(vote.Decided)
	}
	if c.WithoutJudge {
		p.Judge = nil
	}
	return p
}

// Voter is the vote of Consensus, for replay and for a strategy of your own.
func (c Consensus) Voter() vote.Majority {
	m := vote.Majority{Penalty: 1, MaxDoubt: maxDoubt(c.Doubts), Prior: 1, MinShare: 0.6}
	if c.Calibration != nil {
		m.Calibrate = c.Calibration.At
	}
	return m
}
