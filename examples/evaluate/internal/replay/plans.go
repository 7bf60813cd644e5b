package replay

import (
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/vote"
)

// planned is what is known of a statement before it runs.
type planned struct {
	compiles bool
	strict   string // plan signature, and the cost of the plan
	cost     float64
	compat   planForm
}

// planForm is the same by the rules that plan voting was published with.
type planForm struct {
	signature string
	cost      float64
	findings  []vote.Finding // of looking up its literals
}

// Plans returns the votes of the strategies by plan, and of looking literals up.
// They are not among Voters. Those that say "nothing runs" see a candidate as a
// database sees it that may only be asked for plans.
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
			Name: "cost", About: "the cheapest plan (PlanVote.Cheapest, M4); nothing runs",
			start: by((*Question).unrun, strategy.PlanVote{Cheapest: true}),
		},
		{
			Name: "cost-compat", About: "cost with the published costs; nothing runs",
			start: by((*Question).published, strategy.PlanVote{Cheapest: true, Compat: true}),
		},
		{
			Name: "plan-unrun", About: "plan where nothing runs (PlanVote under WithoutExecution)",
			start: by((*Question).unrun, strategy.PlanVote{}),
		},
		{
			Name: "text-unrun", About: "text, of the statements that compile; nothing runs",
			start: simple(func(q *Question) (Decision, error) { return q.count(vote.Majority{Key: vote.ByText}, q.unrun()) }),
		},
		{
			Name: "plan-probing", About: "plan with ties to the stored literals (AugmentedPlanVote.Probe, M13)",
			start: by((*Question).strict, strategy.AugmentedPlanVote{Probe: true}),
		},
		{
			Name: "plan-probing-compat", About: "plan-compat in which absent literals cost votes (M13 as published)",
			start: by((*Question).published, strategy.AugmentedPlanVote{Probe: true, Compat: true}),
		},
		{
			Name: "result-probing", About: "result-bag with ties to the stored literals",
			start: plainly(func(*Question) vote.Majority {
				return vote.Majority{Tie: vote.Ties(vote.PreferRows, strategy.MoreStored)}
			}),
		},
		{
			Name: "result-demote", About: "result-bag with results without a value behind all others (DemoteEmpty)",
			start: plainly(func(*Question) vote.Majority { return vote.Majority{DemoteEmpty: true} }),
		},
	}
}

// piped is a preset that is a pipeline.
type piped interface {
	Pipeline(*strategy.Env) strategy.Pipeline
}

// by is the start of a voter that counts candidates as a preset does.
func by(candidates func(*Question) []vote.Candidate, preset piped) start {
	voter := preset.Pipeline(&strategy.Env{}).Voter
	return simple(func(q *Question) (Decision, error) { return q.count(voter, candidates(q)) })
}

// strict are the candidates as the presets by plan admit them: without those that
// the engine reads a string in where a column was meant.
func (q *Question) strict() []vote.Candidate {
	candidates := q.plain()
	for i := range candidates {
		if c := &candidates[i]; c.Rejected == "" && misread(*c) {
			c.Rejected = exec.FindingString
		}
	}
	return candidates
}

// unrun are the same where nothing runs.
func (q *Question) unrun() []vote.Candidate {
	candidates := q.plain()
	for i, c := range candidates {
		known := q.answers[i].planned
		candidates[i] = vote.Candidate{
			SQL: c.SQL, Draw: c.Draw, Model: c.Model, Position: c.Position,
			Plan: known.strict, Cost: known.cost, Findings: c.Findings,
		}
		switch {
		case !known.compiles:
			candidates[i].Rejected = "does not compile"
		case misread(c):
			candidates[i].Rejected = exec.FindingString
		}
	}
	return candidates
}

// published are the candidates of the published strategies: whatever compiles,
// and nothing runs.
func (q *Question) published() []vote.Candidate {
	candidates := q.unrun()
	for i := range candidates {
		known := q.answers[i].planned
		c := &candidates[i]
		c.Plan, c.Cost, c.Findings = known.compat.signature, known.compat.cost, known.compat.findings
		if known.compiles {
			c.Rejected = ""
		}
	}
	return candidates
}

func misread(c vote.Candidate) bool {
	return slices.ContainsFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == exec.FindingString })
}
