package strategy

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/vote"
)

// PlanVote draws one prompt n times at temperature 0.7 and elects the majority
// by execution plan: strategies M7 and M8 of galah92/egtts. A plan is a proxy
// for a result: it merges spellings without running them, but about a tenth of
// the pairs with equal plans return different rows. It is for databases where
// candidates must not run (texttosql.WithoutExecution); where they may,
// SelfConsistency votes by result and is right more often (docs/plans.md).
//
// Candidates are run for the checks and for one tie rule (a result with a value
// in it goes first), unless execution is off. Where every candidate fails the
// checks it is a *NoCandidateError, not the first of them as published.
//
// At most Samples calls a question, for replies of at most 512 tokens (Compat:
// 256); it stops when the leading plan cannot be overtaken, which need not settle
// which of its statements speaks for it. Confidence is the share of the votes that
// are for its answer: those of its plan with another result do not count, nor,
// where nothing is run, those with another text, which may halve it and more
// (vote.Ballot). Prompts hold sampled values of the database, unless
// texttosql.WithoutSampleValues is given. Specification: methods/plan-voting.md
// 2.5, 3.4, 3.5.
type PlanVote struct {
	Samples       int     // 0 means 15 (M7); 32 is M8; WithSamples overrides it
	Temperature   float64 // 0 means 0.7
	MinConfidence float64 // 0..1; a weaker answer is an ErrAbstained; 0: never
	ExpectColumns int     // rejects statements with another number of columns; 0: any
	DemoteEmpty   bool    // results without a value go last; see vote.Majority

	// Cheapest elects the valid candidate of the lowest plan cost instead of the
	// majority (M4, published with 5 draws). It lost 50 of 496 questions to
	// taking the first valid one where many systems compete (docs/plans.md): never
	// a default.
	Cheapest bool

	// Compat is the published form: its one-message prompt, its signature and
	// cost, all draws at once, nothing run, ties to the signature seen first.
	Compat bool
}

// Validate refuses numbers out of range.
func (v PlanVote) Validate(samples int) error {
	return v.options().validate("PlanVote", samples)
}

// Generate answers one question.
func (v PlanVote) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := v.Validate(t.Samples); err != nil {
		return nil, err
	}
	return v.Pipeline(env).Generate(ctx, env, t)
}

// Pipeline is the composition, to start a pipeline of your own from.
func (v PlanVote) Pipeline(env *Env) Pipeline {
	p := v.options().pipeline(env, v.Compat)
	if v.Compat {
		p.Prompter = compatDDL{}
	}
	if v.Cheapest {
		p.Voter, p.Key, p.Sampler.Until = Cheapest{}, vote.ByPlan, nil
	}
	return p
}

func (v PlanVote) options() planOptions {
	return planOptions{v.Samples, v.Temperature, v.MinConfidence, v.ExpectColumns, v.DemoteEmpty}
}

// AugmentedPlanVote is PlanVote on a schema with sample rows: strategy M10 of
// galah92/egtts. Its prompts hold stored values, unless
// texttosql.WithoutSampleValues is given; see Augmented. Confidence is that of
// PlanVote.
//
// At most Samples calls a question, for replies of at most 512 tokens, and with
// Probe one look-up for each distinct literal. Specification:
// methods/plan-voting.md 3.6, 3.8.
type AugmentedPlanVote struct {
	Samples       int     // 0 means 15; WithSamples overrides it
	Temperature   float64 // 0 means 0.7
	MinConfidence float64 // 0..1; a weaker answer is an ErrAbstained; 0: never
	ExpectColumns int     // rejects statements with another number of columns; 0: any
	DemoteEmpty   bool    // results without a value go last; see vote.Majority

	// Probe looks up whether the literals of candidates are stored where they are
	// compared (M13), and lets that decide between plans with as many votes; among
	// statements of one plan it decides nothing.
	Probe bool

	// Compat is the published form; see PlanVote. With Probe it is that of M13.
	Compat bool
}

// Validate refuses numbers out of range.
func (v AugmentedPlanVote) Validate(samples int) error {
	return v.options().validate("AugmentedPlanVote", samples)
}

// Generate answers one question.
func (v AugmentedPlanVote) Generate(ctx context.Context, env *Env, t Task) (*Outcome, error) {
	if err := v.Validate(t.Samples); err != nil {
		return nil, err
	}
	return v.Pipeline(env).Generate(ctx, env, t)
}

// Pipeline is the composition for one question of env: with Probe it remembers
// the look-ups of the question.
func (v AugmentedPlanVote) Pipeline(env *Env) Pipeline {
	p := v.options().pipeline(env, v.Compat)
	p.Prompter = Augmented{Compat: v.Compat}
	if !v.Probe || env.SkipExecution {
		return p
	}
	p.Checks = append(slices.Clip(p.Checks), &Probing{Compat: v.Compat})
	if v.Compat {
		p.Voter = ProbedVote{Voter: compatVote{}}
	} else {
		p.Voter = vote.Majority{Key: vote.ByPlan, Tie: vote.Ties(vote.PreferRows, MoreStored), DemoteEmpty: v.DemoteEmpty}
	}
	return p
}

func (v AugmentedPlanVote) options() planOptions {
	return planOptions{v.Samples, v.Temperature, v.MinConfidence, v.ExpectColumns, v.DemoteEmpty}
}

// planOptions is what the presets by plan have in common.
type planOptions struct {
	samples       int
	temperature   float64
	minConfidence float64
	expectColumns int
	demoteEmpty   bool
}

func (o planOptions) validate(preset string, samples int) error {
	return errors.Join(
		inRange(preset, draws("Samples", o.samples), number("Temperature", o.temperature), number("ExpectColumns", o.expectColumns)),
		Pipeline{MinConfidence: o.minConfidence}.Validate(samples))
}

func (o planOptions) pipeline(env *Env, compat bool) Pipeline {
	p := Pipeline{
		Sampler: Sampler{
			Samples: cmp.Or(o.samples, 15), Temperature: cmp.Or(o.temperature, 0.7), MaxTokens: 512,
			Until: vote.Decided,
		},
		Checks:        strict(env.Checks()),
		Voter:         vote.Majority{Key: vote.ByPlan, DemoteEmpty: o.demoteEmpty},
		MinConfidence: o.minConfidence,
	}
	if compat {
		p.Sampler.MaxTokens, p.Sampler.Until = 256, nil
		p.Checks = []exec.Check{exec.SingleRead{}, exec.Planned{}}
		p.Signature, p.Voter, p.Key = compatSignature, compatVote{}, vote.ByPlan
	}
	if o.expectColumns > 0 {
		p.Checks = append(p.Checks, ExpectColumns{o.expectColumns})
	}
	return p
}

// strict makes names that the engine takes for strings a reason to reject: a
// plan does not tell SELECT "nosuchcol" from SELECT col.
func strict(checks []exec.Check) []exec.Check {
	out := slices.Clone(checks)
	for i, c := range out {
		if _, ok := c.(exec.UnknownNames); ok {
			out[i] = exec.UnknownNames{Reject: true}
		}
	}
	return out
}

// Cheapest is a Voter that elects the candidate of the lowest plan cost; of
// several the earliest (M4). The clusters are those by plan, cheapest first, and
// the confidence is that of the first: a measure of agreement, which had no part
// in the choice.
type Cheapest struct{}

// Count orders the candidates.
func (Cheapest) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	b, err := countByCost(candidates)
	slices.SortStableFunc(b.Clusters, func(x, y vote.Cluster) int {
		return cmp.Or(cmp.Compare(candidates[x.Best].Cost, candidates[y.Best].Cost),
			cmp.Compare(candidates[x.Best].Draw, candidates[y.Best].Draw))
	})
	for i := range b.Clusters {
		b.Clusters[i].Score = -candidates[b.Clusters[i].Best].Cost
	}
	if len(b.Clusters) > 0 {
		b.Confidence = b.Clusters[0].Confidence
	}
	return b, err
}
