// Package planvote elects a statement by execution plan: the strategies of galah92/egtts. Plain is its M7, M8 and M9,
// and M4 with Cheapest; Augmented is M10, and M13 with Probe; Feedback is M12. Each also has its published form.
//
//	engine, err := texttosql.New(db, model, texttosql.WithStrategy(planvote.Plain{}), texttosql.WithoutExecution())
//
// A plan replaces a result. It merges spellings of a statement without running them, but about a tenth of the pairs
// with equal plans return different rows. Use it for databases on which candidates must not run. Otherwise
// strategy.SelfConsistency votes by result and is right more often (docs/lab/plans.md).
package planvote

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/fields"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// Plain takes n samples of one prompt at temperature 0.7 and elects the majority by plan: M7 and M8 of galah92/egtts.
//
// Unless execution is off, candidates run for the checks and for one tie rule (a result with a value in it goes
// first). Sampling stops when the leading plan cannot be overtaken; the statement that represents it may still
// change. Confidence is the share of the votes for the answer. Votes of its plan with another result do not count,
// nor, without execution, votes with another text (vote.Ballot).
//
// At most Samples calls per question, for replies of at most 512 tokens. Prompts hold sampled values of the database,
// unless texttosql.WithoutValues is given.
type Plain struct {
	Samples       int     // 0 means 15 (M7); 32 is M8; WithSamples overrides it
	Temperature   float64 // 0 means 0.7
	MinConfidence float64 // 0..1; an answer below it is an *AbstainedError; 0: never
	ExpectColumns int     // rejects statements with another number of columns (M9); 0: any

	// Cheapest elects the candidate with the lowest plan cost instead of the majority (M4, published with 5 samples).
	// With candidates from many systems it lost 50 of 496 questions against taking the first valid candidate
	// (docs/lab/plans.md). Do not use it as a default.
	Cheapest bool

	published bool
}

// Validate refuses numbers out of range.
func (v Plain) Validate(samples int) error { return v.validate("planvote: Plain", samples) }

func (v Plain) validate(preset string, samples int) error {
	return errors.Join(
		fields.Check(preset+".Samples", v.Samples, fields.MaxSamples),
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

// Pipeline returns the composition, as a starting point for your own pipeline.
func (v Plain) Pipeline(env *strategy.Env) strategy.Pipeline {
	p := strategy.Pipeline{
		Sampler: strategy.Sampler{
			Samples: cmp.Or(v.Samples, 15), Temperature: cmp.Or(v.Temperature, 0.7), MaxTokens: 512,
			Stop: vote.Decided,
		},
		Checks:        env.StrictChecks(),
		Voter:         vote.Majority{Key: vote.ByPlan, Prior: 1},
		MinConfidence: v.MinConfidence,
	}
	if v.published {
		p.Prompter = egtts.AugmentedPrompt{MaxChars: -1, Rows: -1, Published: true}
		p.Sampler.MaxTokens, p.Sampler.Stop, p.Sampler.Plain = 256, nil, true
		p.Checks = publishedChecks()
		p.Signature, p.Voter, p.Key = egtts.PublishedSignature, publishedVote{}, vote.ByPlan
	}
	if v.ExpectColumns > 0 {
		p.Checks = append(p.Checks, expectColumns{v.ExpectColumns})
	}
	if v.Cheapest {
		p.Voter, p.Key, p.Sampler.Stop = byCost{}, vote.ByPlan, nil
	}
	return p
}

// Augmented is Plain on a schema with sample rows: M10 of galah92/egtts. Its prompt shows the engine's CREATE text of
// each table and up to three of its rows. A schema over 8,000 characters loses the rows of its longest tables.
// Prompts hold stored values, unless texttosql.WithoutValues is given.
//
// At most Samples calls per question, for replies of at most 512 tokens, and with Probe one look-up for each distinct
// literal. Confidence is computed as for Plain.
type Augmented struct {
	Samples       int     // 0 means 15; WithSamples overrides it
	Temperature   float64 // 0 means 0.7
	MinConfidence float64 // 0..1; an answer below it is an *AbstainedError; 0: never
	ExpectColumns int     // rejects statements with another number of columns; 0: any

	// Probe looks up whether the literals of candidates are stored in the columns that they are compared with
	// (M13). The look-ups break ties between plans. They do not choose among the statements of one plan.
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

// Pipeline returns the composition for one question of env. With Probe it caches the look-ups of the question.
func (v Augmented) Pipeline(env *strategy.Env) strategy.Pipeline {
	p := v.plain().Pipeline(env)
	p.Prompter = egtts.AugmentedPrompt{Published: v.published}
	if !v.Probe || env.WithoutExecution {
		return p
	}
	p.Checks = append(slices.Clip(p.Checks), &egtts.Probing{Published: v.published})
	p.Voter = vote.Majority{Key: vote.ByPlan, Prior: 1, Tie: vote.Ties(vote.PreferRows, egtts.MoreStored)}
	if v.published {
		p.Voter = probedVote{}
	}
	return p
}

func (v Augmented) plain() Plain {
	return Plain{
		Samples: v.Samples, Temperature: v.Temperature, MinConfidence: v.MinConfidence,
		ExpectColumns: v.ExpectColumns, published: v.published,
	}
}

// byCost is a Voter that elects the candidate with the lowest plan cost, the earliest of several (M4). The
// clusters are by plan, cheapest first. The confidence is the first cluster's: a measure of agreement, which did
// not affect the choice.
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
	ballot, err := vote.Majority{Key: vote.ByPlan, Tie: vote.Ties()}.Count(candidates)
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
