package strategy

import (
	"cmp"
	"context"
	"errors"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/vote"
)

// SelfConsistency samples n samples of one prompt at temperature 0.7 and elects the majority by result: the
// self-consistency of Wang et al. (ICLR 2023) on result sets. It stops as soon as the leader cannot be overtaken, which
// never changes the winner.
//
// With metrics (texttosql.WithKnowledge) every second sample is a metric request; see Sampler.Requests.
//
// It makes at most Samples calls per question, for replies of at most 1,024 tokens. Prompts hold sampled values of
// the database, unless texttosql.WithoutValues is given.
type SelfConsistency struct {
	Samples     int     // 0 means 12; WithSamples overrides it
	Temperature float64 // 0 means 0.7
	Shots       int     // few-shot exemplars; 0: up to 3
	AtOnce      bool    // see Sampler.AtOnce
}

// Validate rejects numbers out of range.
func (s SelfConsistency) Validate(samples int) error {
	return errors.Join(
		fields.Check("strategy: SelfConsistency.Samples", s.Samples, fields.MaxSamples),
		fields.Check("strategy: SelfConsistency.Temperature", s.Temperature, 0),
		fields.Check("strategy: SelfConsistency.Shots", s.Shots, 0),
		checkSamples(samples))
}

// Generate answers one question.
func (s SelfConsistency) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := s.Validate(t.Samples); err != nil {
		return nil, err
	}
	return s.Pipeline().Generate(ctx, env, t)
}

// Pipeline returns the composition, as a starting point for your own pipeline.
func (s SelfConsistency) Pipeline() Pipeline {
	return Pipeline{
		Prompter: Prompt{Shots: s.Shots},
		Sampler: Sampler{
			Samples: cmp.Or(s.Samples, 12), Temperature: cmp.Or(s.Temperature, 0.7),
			Stop: vote.Stop(vote.Decided).AfterAgreeing(5), AtOnce: s.AtOnce, Requests: 2,
		},
		Voter: vote.Majority{Prior: 1},
	}
}
