package strategy

import (
	"cmp"
	"context"
	"errors"

	"github.com/texttosql/texttosql/vote"
)

// SelfConsistency draws one prompt n times at temperature 0.7 and elects the
// majority by result: Wang et al. 2023 on result sets, with the vote rules of
// methods/plan-voting.md 3.5. It stops as soon as the leader cannot be
// overtaken, which never changes the winner.
//
// At most Samples calls a question, for replies of at most 1,024 tokens;
// WithSamples overrides it. Prompts hold sampled values of the database, unless
// texttosql.WithoutSampleValues is given.
type SelfConsistency struct {
	Samples     int     // 0 means 12
	Temperature float64 // 0 means 0.7
	Shots       int     // few-shot exemplars; 0: none
}

// Validate refuses numbers out of range.
func (s SelfConsistency) Validate(samples int) error {
	return errors.Join(
		inRange("SelfConsistency", draws("Samples", s.Samples), number("Temperature", s.Temperature), number("Shots", s.Shots)),
		checkSamples(samples))
}

// Generate answers one question.
func (s SelfConsistency) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := s.Validate(t.Samples); err != nil {
		return nil, err
	}
	return Pipeline{
		Prompter: Prompt{Shots: s.Shots},
		Sampler: Sampler{
			Samples: cmp.Or(s.Samples, 12), Temperature: cmp.Or(s.Temperature, 0.7),
			Until: vote.Decided,
		},
		Voter: vote.Majority{},
	}.Generate(ctx, env, t)
}
