package strategy

import (
	"context"
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// isFailing reports whether the engine rejected c, so that a repair may help.
func isFailing(admission *Admission, c vote.Candidate) bool {
	return c.Rejected != "" && c.SQL != "" && admission.Invalid(c.SQL) != nil
}

// failing lists the indices of the candidates that the engine rejected, the
// most frequent statement first, then by draw; one index a statement.
func (p Pipeline) failing(admission *Admission, candidates []vote.Candidate) []int {
	copies := map[string]int{}
	var first []int
	for i, c := range candidates {
		if !isFailing(admission, c) {
			continue
		}
		if copies[c.SQL]++; copies[c.SQL] == 1 {
			first = append(first, i)
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return copies[candidates[b].SQL] - copies[candidates[a].SQL] })
	return first
}

// repair asks for other statements in place of those that the engine rejected,
// where their votes could change who wins.
func (p Pipeline) repair(ctx context.Context, env *Env, t Task, s *schema.Schema, admission *Admission, voter Voter, out *Outcome) error {
	if p.Repairer == nil {
		return nil
	}
	failing := p.failing(admission, out.Candidates)
	if len(failing) == 0 || !p.couldReach(voter, admission, out.Candidates) || !couldChange(voter, admission, out.Candidates) {
		return nil
	}
	most := p.Repairs
	if most == 0 {
		most = 2
	}
	for _, i := range failing[:min(most, len(failing))] {
		old := out.Candidates[i]
		repairCtx, span := trace.Start(ctx, "repair", trace.Attr{Key: "draw", Value: old.Draw}, trace.Attr{Key: "sql", Value: trace.SQL(old.SQL)})
		fixed, err := p.repairOne(repairCtx, env, t, s, admission, old)
		span.Fail(err)
		span.End()
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		if err != nil {
			// A model that cannot repair (a recorded one, a spent budget) is no
			// reason to lose the vote of the others.
			out.note("repair of draw %d failed: %v", old.Draw, err)
			continue
		}
		span.Set("repaired", trace.SQL(fixed.SQL))
		if fixed.Rejected != "" {
			out.note("repair of draw %d was rejected: %s", old.Draw, fixed.Rejected)
			continue
		}
		for j, c := range out.Candidates {
			if c.SQL == old.SQL && c.Rejected != "" {
				repaired := fixed
				repaired.Draw, repaired.Model = c.Draw, c.Model
				repaired.Findings = append(slices.Clip(repaired.Findings), vote.Finding{Rule: "repaired", Detail: old.Rejected})
				out.Candidates[j] = repaired
			}
		}
		if !couldChange(voter, admission, out.Candidates) {
			break
		}
	}
	return nil
}

func (p Pipeline) repairOne(ctx context.Context, env *Env, t Task, s *schema.Schema, admission *Admission, c vote.Candidate) (vote.Candidate, error) {
	reply, err := p.Repairer.Repair(ctx, env, RepairInput{Task: t, Schema: s, Draw: c.Draw, SQL: c.SQL, Err: admission.Invalid(c.SQL)})
	if err != nil {
		return c, err
	}
	return admission.Admit(ctx, c.Draw, c.Model, reply)
}

// couldReach reports whether there would be enough votes if every repair helped.
func (p Pipeline) couldReach(voter Voter, admission *Admission, candidates []vote.Candidate) bool {
	votes := p.votes(voter, candidates)
	for _, c := range candidates {
		if isFailing(admission, c) {
			votes++
		}
	}
	return votes >= p.Sampler.MinVotes
}

// couldChange reports whether the votes of the failed candidates could change
// who wins: whether the vote would be undecided if they were still to come.
func couldChange(voter Voter, admission *Admission, candidates []vote.Candidate) bool {
	settled := make([]vote.Candidate, 0, len(candidates))
	for _, c := range candidates {
		if !isFailing(admission, c) {
			settled = append(settled, c)
		}
	}
	lost := len(candidates) - len(settled)
	if lost == 0 {
		return false
	}
	if tallier, ok := voter.(Tallier); ok {
		tally, err := tallier.Tally(settled, len(candidates))
		return err != nil || !vote.Decided(tally)
	}
	ballot, err := voter.Count(settled)
	if err != nil {
		return true
	}
	leader, err := ballot.Winner()
	if err != nil {
		return true
	}
	second, _ := ballot.RunnerUp()
	return second.Weight+float64(lost) >= leader.Weight
}
