package replay

import (
	"slices"

	"github.com/texttosql/texttosql/internal/checks"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/strategy/planvote"
	"github.com/texttosql/texttosql/vote"
)

// planned holds what is known of a statement before it runs.
type planned struct {
	compiles bool
	strict   string // plan signature, and the cost of the plan
	cost     float64
	compat   planForm
}

// planForm holds the same by the published rules of plan voting.
type planForm struct {
	signature string
	cost      float64
	findings  []vote.Finding // from looking up its literals
}

// Plans returns the voters of the strategies that vote by plan, and of those that look literals up. They are not among
// Voters. Those that say "nothing runs" see candidates like an engine WithoutExecution.
func Plans() []Voter {
	return []Voter{
		{
			Name: "first", About: "the first statement that compiles; nothing runs",
			start: simple(func(q *Question) (Decision, error) {
				for i, c := range q.unrun() {
					if c.Rejected == "" {
						return q.decision(vote.Ballot{Clusters: []vote.Cluster{{Key: c.SQL, Best: i}}}, i+1, nil)
					}
				}
				return Decision{Calls: len(q.Candidates)}, nil
			}),
		},
		{
			Name: "cost", About: "the cheapest plan (planvote.Plain.Cheapest, M4); nothing runs",
			start: by((*Question).unrun, planvote.Plain{Cheapest: true}),
		},
		{
			Name: "cost-compat", About: "cost with the published costs; nothing runs",
			start: by((*Question).published, planvote.Plain{Cheapest: true}.Published()),
		},
		{
			Name: "plan-unrun", About: "plan where nothing runs (planvote.Plain under WithoutExecution)",
			start: by((*Question).unrun, planvote.Plain{}),
		},
		{
			Name: "text-unrun", About: "text, of the statements that compile; nothing runs",
			start: simple(func(q *Question) (Decision, error) {
				return q.count(vote.Majority{Key: vote.ByText, Prior: 1}, q.unrun())
			}),
		},
		{
			Name: "plan-probing", About: "plan with ties to the stored literals (planvote.Augmented.Probe, M13)",
			start: by((*Question).strict, planvote.Augmented{Probe: true}),
		},
		{
			Name: "plan-probing-compat", About: "plan-compat in which absent literals cost votes (M13 as published)",
			start: by((*Question).published, planvote.Augmented{Probe: true}.Published()),
		},
		{
			Name: "result-probing", About: "result-bag with ties to the stored literals",
			start: plainly(func(*Question) vote.Majority {
				return vote.Majority{Prior: 1, Tie: vote.Ties(vote.PreferRows, egtts.MoreStored)}
			}),
		},
	}
}

// piped is a preset that is a pipeline.
type piped interface {
	Pipeline(*strategy.Env) strategy.Pipeline
}

// by starts a voter that counts candidates as a preset does.
func by(candidates func(*Question) []vote.Candidate, preset piped) start {
	voter := preset.Pipeline(&strategy.Env{}).Voter
	return simple(func(q *Question) (Decision, error) { return q.count(voter, candidates(q)) })
}

// strict returns the candidates that the presets by plan admit. They do not admit a name that the engine takes for a
// string.
func (q *Question) strict() []vote.Candidate {
	candidates := q.plain()
	for i := range candidates {
		if c := &candidates[i]; c.Rejected == "" && misread(*c) {
			c.Rejected, c.Invalid = checks.String, true
		}
	}
	return candidates
}

// unrun returns the same candidates when nothing runs.
func (q *Question) unrun() []vote.Candidate {
	candidates := q.plain()
	for i, c := range candidates {
		known := q.answers[i].planned
		candidates[i] = vote.Candidate{
			SQL: c.SQL, Sample: c.Sample, Model: c.Model, Statement: c.Statement,
			Plan: known.strict, Cost: known.cost,
			Findings: slices.DeleteFunc(slices.Clone(c.Findings), func(f vote.Finding) bool {
				return f.Rule == checks.Absent || f.Rule == "absent_value"
			}),
		}
		switch {
		case !known.compiles:
			candidates[i].Rejected, candidates[i].Invalid = "does not compile", true
		case misread(c):
			candidates[i].Rejected, candidates[i].Invalid = checks.String, true
		}
	}
	return candidates
}

// published returns the candidates of the published strategies: every statement that compiles, without running it.
func (q *Question) published() []vote.Candidate {
	candidates := q.unrun()
	for i := range candidates {
		known := q.answers[i].planned
		c := &candidates[i]
		c.Plan, c.Cost, c.Findings = known.compat.signature, known.compat.cost, known.compat.findings
		if known.compiles {
			c.Rejected, c.Invalid = "", false
		}
	}
	return candidates
}

func misread(c vote.Candidate) bool {
	return slices.ContainsFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == checks.String })
}
