// Package planvote elects a statement by execution plan: the strategies of
// galah92/egtts. Plain is its M7, M8 and M9, and M4 with Cheapest; Augmented is M10,
// and M13 with Probe; Feedback is M12. Each is also there as published.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(planvote.Plain{}), texttosql.WithoutExecution())
//
// A plan is a proxy for a result: it merges spellings of a statement without running
// them, but about a tenth of the pairs with equal plans return different rows. It is
// for databases where candidates must not run; elsewhere strategy.SelfConsistency
// votes by result and is right more often (docs/lab/plans.md).
package planvote

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Plain samples n samples of one prompt at temperature 0.7 and elects the majority by plan: M7 and M8 of galah92/egtts.
//
// Candidates are run for the checks and for one tie rule (a result with a value in it goes first), unless execution is
// off. Sampling stops when the leading plan cannot be overtaken; which of its statements speaks for it may still be
// open. Confidence is the share of the votes that are for the answer: votes of its plan with another result do not
// count, nor, where nothing is run, votes with another text (vote.Ballot).
//
// At most Samples calls a question, for replies of at most 512 tokens. Prompts hold sampled values of the database,
// unless texttosql.WithoutValues is given.
type Plain struct {
	Samples       int     // 0 means 15 (M7); 32 is M8; WithSamples overrides it
	Temperature   float64 // 0 means 0.7
	MinConfidence float64 // 0..1; a weaker answer is an ErrAbstained; 0: never
	ExpectColumns int     // rejects statements with another number of columns (M9); 0: any
	DemoteEmpty   bool    // results without a value go last; see vote.Majority

	// Cheapest elects the candidate of the lowest plan cost instead of the majority (M4, published with 5 samples). It
	// lost 50 of 496 questions to taking the first valid candidate where many systems compete (docs/lab/plans.md):
	// never a default.
	Cheapest bool

	published bool
}

// Validate refuses numbers out of range.
func (v Plain) Validate(samples int) error { return v.validate("planvote: Plain", samples) }

func (v Plain) validate(preset string, samples int) error {
	return errors.Join(
		fields.Check(preset+".Samples", v.Samples, strategy.MaxSamples),
		fields.Check(preset+".Temperature", v.Temperature, 0),
		fields.Check(preset+".ExpectColumns", v.ExpectColumns, 0),
		strategy.Pipeline{MinConfidence: v.MinConfidence}.Validate(samples))
}

// Generate answers one question.
func (v Plain) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := v.Validate(t.Samples); err != nil {
		return nil, err
	}
	return v.Pipeline(env).Generate(ctx, env, t)
}

// Pipeline is the composition, to start a pipeline of your own from.
func (v Plain) Pipeline(env *strategy.Env) strategy.Pipeline {
	p := strategy.Pipeline{
		Sampler: strategy.Sampler{
			Samples: cmp.Or(v.Samples, 15), Temperature: cmp.Or(v.Temperature, 0.7), MaxTokens: 512,
			Stop: vote.Decided,
		},
		Checks:        env.StrictChecks(),
		Voter:         vote.Majority{Key: vote.ByPlan, Prior: 1, DemoteEmpty: v.DemoteEmpty},
		MinConfidence: v.MinConfidence,
	}
	if v.published {
		p.Prompter = AugmentedPrompt{MaxChars: -1, Rows: -1, published: true}
		p.Sampler.MaxTokens, p.Sampler.Stop = 256, nil
		p.Checks = publishedChecks()
		p.Signature, p.Voter, p.Key = PublishedSignature, publishedVote{}, vote.ByPlan
	}
	if v.ExpectColumns > 0 {
		p.Checks = append(p.Checks, expectColumns{v.ExpectColumns})
	}
	if v.Cheapest {
		p.Voter, p.Key, p.Sampler.Stop = byCost{}, vote.ByPlan, nil
	}
	return p
}

// Augmented is Plain on a schema with sample rows: M10 of galah92/egtts. Its prompts hold stored values, unless
// texttosql.WithoutValues is given; see AugmentedPrompt.
//
// At most Samples calls a question, for replies of at most 512 tokens, and with Probe one look-up for each distinct
// literal. Confidence is that of Plain.
type Augmented struct {
	Samples       int     // 0 means 15; WithSamples overrides it
	Temperature   float64 // 0 means 0.7
	MinConfidence float64 // 0..1; a weaker answer is an ErrAbstained; 0: never
	ExpectColumns int     // rejects statements with another number of columns; 0: any
	DemoteEmpty   bool    // results without a value go last; see vote.Majority

	// Probe looks up whether the literals of candidates are stored where they are compared (M13), and lets that decide
	// between plans with as many votes. Among statements of one plan it decides nothing.
	Probe bool

	published bool
}

// Validate refuses numbers out of range.
func (v Augmented) Validate(samples int) error {
	return v.plain().validate("planvote: Augmented", samples)
}

// Generate answers one question.
func (v Augmented) Generate(ctx context.Context, env *strategy.Env, t strategy.Task) (*strategy.Outcome, error) {
	if err := v.Validate(t.Samples); err != nil {
		return nil, err
	}
	return v.Pipeline(env).Generate(ctx, env, t)
}

// Pipeline is the composition for one question of env: with Probe it remembers the look-ups of the question.
func (v Augmented) Pipeline(env *strategy.Env) strategy.Pipeline {
	p := v.plain().Pipeline(env)
	p.Prompter = AugmentedPrompt{published: v.published}
	if !v.Probe || env.WithoutExecution {
		return p
	}
	p.Checks = append(slices.Clip(p.Checks), &Probing{published: v.published})
	p.Voter = vote.Majority{Key: vote.ByPlan, Prior: 1, Tie: vote.Ties(vote.PreferRows, MoreStored), DemoteEmpty: v.DemoteEmpty}
	if v.published {
		p.Voter = probedVote{}
	}
	return p
}

func (v Augmented) plain() Plain {
	return Plain{
		Samples: v.Samples, Temperature: v.Temperature, MinConfidence: v.MinConfidence,
		ExpectColumns: v.ExpectColumns, DemoteEmpty: v.DemoteEmpty, published: v.published,
	}
}

// byCost is a Voter that elects the candidate of the lowest plan cost, of several the earliest (M4). The clusters are
// those by plan, cheapest first. The confidence is that of the first cluster: a measure of agreement, which had no part
// in the choice.
type byCost struct{}

// Count orders the candidates.
func (byCost) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	b, err := countByCost(candidates)
	slices.SortStableFunc(b.Clusters, func(x, y vote.Cluster) int {
		return cmp.Or(cmp.Compare(candidates[x.Best].Cost, candidates[y.Best].Cost),
			cmp.Compare(candidates[x.Best].Sample, candidates[y.Best].Sample))
	})
	for i := range b.Clusters {
		b.Clusters[i].Score = -candidates[b.Clusters[i].Best].Cost
	}
	if len(b.Clusters) > 0 {
		b.Confidence = b.Clusters[0].Confidence
	}
	return b, err
}

// countByCost counts by plan. The member of the lowest cost represents a cluster, whatever the others answer.
func countByCost(candidates []vote.Candidate) (vote.Ballot, error) {
	ballot, err := vote.Majority{Key: vote.ByPlan, Tie: vote.Earliest}.Count(candidates)
	for i := range ballot.Clusters {
		c := &ballot.Clusters[i]
		c.Best, c.Split = cheapest(candidates, c.Members), 0
		c.SQL = candidates[c.Best].SQL
	}
	return ballot, err
}

// cheapest returns the member of the lowest cost; of several the earliest.
func cheapest(candidates []vote.Candidate, members []int) int {
	return slices.MinFunc(members, func(a, b int) int { return cmp.Compare(candidates[a].Cost, candidates[b].Cost) })
}
