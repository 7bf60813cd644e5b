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
	return c.Rejected != "" && c.SQL != "" && c.Metrics == nil && r.admission.Invalid(c.SQL) != nil
}

// Failing lists the rejected candidates that have a statement, by place, one a statement: the statement that most of them
// have first, then by place. It is the order in which statements are worth a repair.
func Failing(candidates []vote.Candidate) (first []int) {
	copies := map[string]int{}
	for i, c := range candidates {
		if c.Rejected == "" || c.SQL == "" {
			continue
		}
		if copies[c.SQL]++; copies[c.SQL] == 1 {
			first = append(first, i)
		}
	}
	slices.SortStableFunc(first, func(a, b int) int { return copies[candidates[b].SQL] - copies[candidates[a].SQL] })
	return first
}

// repair asks for other statements in place of those that the engine rejected, where their votes could change who wins
// and make up a quorum.
func (r *pipelineRun) repair(ctx context.Context) error {
	if r.Repairer == nil {
		return nil
	}
	out := r.out
	failing := slices.DeleteFunc(Failing(out.Candidates), func(i int) bool { return !r.isFailing(out.Candidates[i]) })
	lost := 0
	for _, c := range out.Candidates {
		if r.isFailing(c) {
			lost++
		}
	}
	if lost == 0 || r.votes()+lost < r.Sampler.MinVotes || !r.couldChange() {
		return nil
	}
	for _, i := range failing[:min(cmp.Or(r.Repairs, 2), len(failing))] {
		old := out.Candidates[i]
		repairCtx, span := trace.Start(ctx, "repair", trace.Attr{Key: "sample", Value: old.Sample}, trace.Attr{Key: "sql", Value: trace.SQL(old.SQL)})
		fixed, err := r.repairOne(repairCtx, old)
		span.Fail(err)
		span.End()
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		step := NewStep(fixed, 1, PurposeRepair)
		if err != nil {
			step = Step{Sample: old.Sample, Try: 1, Action: PurposeRepair, Status: "failed", Problem: brief(err.Error())}
		}
		out.Steps = append(out.Steps, NewStep(old, 0, PurposeGenerate), step)
		if err != nil {
			// A model that cannot repair (a recorded one, a spent budget) does not take the vote from the others.
			if out.NoteError(ctx, err, "repair of sample %d failed", old.Sample) {
				break
			}
			continue
		}
		span.Set("repaired", trace.SQL(fixed.SQL))
		if fixed.Rejected != "" {
			out.Note("repair of sample %d was rejected: %s", old.Sample, fixed.Rejected)
			continue
		}
		for j, c := range out.Candidates {
			if c.SQL == old.SQL && c.Rejected != "" {
				repaired := fixed
				repaired.Sample, repaired.Model, repaired.ReplyGroup = c.Sample, c.Model, old.Sample+1
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
	reply, err := r.Repairer.Repair(ctx, r.env, RepairInput{Task: r.task, Schema: r.schema, Sample: c.Sample, SQL: c.SQL, Err: r.admission.Invalid(c.SQL)})
	if err != nil {
		return c, err
	}
	return r.admission.Examine(ctx, c.Sample, c.Model, reply)
}

// couldChange reports whether the votes of the failed candidates could change who wins: whether the vote would be
// undecided if they were still to come.
func (r *pipelineRun) couldChange() bool {
	settled := slices.DeleteFunc(slices.Clone(r.out.Candidates), r.isFailing)
	lost := len(r.out.Candidates) - len(settled)
	if lost == 0 {
		return false
	}
	if tallier, ok := r.voter.(Stater); ok {
		tally, err := tallier.State(settled, len(r.out.Candidates))
		return err != nil || !vote.Decided(tally)
	}
	ballot, err := r.voter.Count(settled)
	leader, werr := ballot.Winner()
	if err != nil || werr != nil {
		return true
	}
	second, _ := ballot.RunnerUp()
	return second.Weight+float64(lost) >= leader.Weight
}
