package strategy

import (
	"cmp"
	"context"
	"slices"

	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// isFailing reports whether the engine rejected c, so that a repair may help.
func (r *pipelineRun) isFailing(c vote.Candidate) bool {
	return c.Rejected != "" && c.SQL != "" && r.admission.Invalid(c.SQL) != nil
}

// failing lists the indices of the candidates that the engine rejected, the
// most frequent statement first, then by draw; one index a statement.
func (r *pipelineRun) failing() []int {
	copies := map[string]int{}
	var first []int
	for i, c := range r.out.Candidates {
		if !r.isFailing(c) {
			continue
		}
		if copies[c.SQL]++; copies[c.SQL] == 1 {
			first = append(first, i)
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return copies[r.out.Candidates[b].SQL] - copies[r.out.Candidates[a].SQL] })
	return first
}

// repair asks for other statements in place of those that the engine rejected,
// where their votes could change who wins.
func (r *pipelineRun) repair(ctx context.Context) error {
	if r.Repairer == nil {
		return nil
	}
	out, failing := r.out, r.failing()
	if len(failing) == 0 || !r.couldReach() || !r.couldChange() {
		return nil
	}
	most := cmp.Or(r.Repairs, 2)
	for _, i := range failing[:min(most, len(failing))] {
		old := out.Candidates[i]
		repairCtx, span := trace.Start(ctx, "repair", trace.Attr{Key: "draw", Value: old.Draw}, trace.Attr{Key: "sql", Value: trace.SQL(old.SQL)})
		fixed, err := r.repairOne(repairCtx, old)
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
		if !r.couldChange() {
			break
		}
	}
	return nil
}

func (r *pipelineRun) repairOne(ctx context.Context, c vote.Candidate) (vote.Candidate, error) {
	reply, err := r.Repairer.Repair(ctx, r.env, RepairInput{Task: r.task, Schema: r.schema, Draw: c.Draw, SQL: c.SQL, Err: r.admission.Invalid(c.SQL)})
	if err != nil {
		return c, err
	}
	return r.admission.Admit(ctx, c.Draw, c.Model, reply)
}

// couldReach reports whether there would be enough votes if every repair helped.
func (r *pipelineRun) couldReach() bool {
	votes := r.votes()
	for _, c := range r.out.Candidates {
		if r.isFailing(c) {
			votes++
		}
	}
	return votes >= r.Sampler.MinVotes
}

// couldChange reports whether the votes of the failed candidates could change
// who wins: whether the vote would be undecided if they were still to come.
func (r *pipelineRun) couldChange() bool {
	settled := make([]vote.Candidate, 0, len(r.out.Candidates))
	for _, c := range r.out.Candidates {
		if !r.isFailing(c) {
			settled = append(settled, c)
		}
	}
	lost := len(r.out.Candidates) - len(settled)
	if lost == 0 {
		return false
	}
	if tallier, ok := r.voter.(Tallier); ok {
		tally, err := tallier.Tally(settled, len(r.out.Candidates))
		return err != nil || !vote.Decided(tally)
	}
	ballot, err := r.voter.Count(settled)
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
