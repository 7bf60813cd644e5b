package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/texttosql/texttosql/internal/fields"
)

// Direct is the baseline: one greedy sample of a k-shot prompt, checked. Nothing confirms a single sample, so its
// confidence means little: 0.67 if the statement runs without a doubt.
//
// It makes one call per question, for a reply of at most 512 tokens. It rejects more than one sample and more than
// one model. Prompts hold sampled values of the database, unless texttosql.WithoutValues is given.
type Direct struct {
	Shots int // few-shot exemplars from Env.Exemplars; 0: up to 3
}

// Validate rejects negative shots and more than one sample.
func (d Direct) Validate(samples int) error {
	errs := []error{fields.Check("strategy: Direct.Shots", d.Shots, 0)}
	if samples > 1 {
		errs = append(errs,
			fmt.Errorf("strategy: Direct makes one sample and takes no samples, got %d; SelfConsistency votes over several",
				samples))
	}
	return errors.Join(errs...)
}

// ValidateModels refuses more than one model; see Strategy.
func (d Direct) ValidateModels(n int) error {
	if n > 1 {
		return &ConfigError{Field: "strategy: Direct", Problem: fmt.Sprintf(
			"it asks one model, and %d are given; SelfConsistency spreads samples over several", n)}
	}
	return nil
}

// Generate answers one question.
func (d Direct) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := d.Validate(t.Samples); err != nil {
		return nil, err
	}
	if env != nil {
		if err := d.ValidateModels(len(env.Models)); err != nil {
			return nil, err
		}
	}
	return Pipeline{
		Prompter: Prompt{Shots: d.Shots},
		Sampler:  Sampler{MaxTokens: 512},
	}.Generate(ctx, env, t)
}
