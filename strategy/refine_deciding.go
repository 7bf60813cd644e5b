package strategy

import (
	"cmp"
	"context"
	"slices"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// isFailing reports whether the engine rejected c, so that a repair may help.
func isFailing(c vote.Candidate) bool {
	return c.Rejected != "" && c.SQL != "" && c.Metrics == nil && c.Invalid
}

// Failing lists the rejected candidates that have a statement, by index, one per statement. The statement of most
// candidates is first, then by index. This is the order in which statements are worth a repair.
func (Refine) Failing(candidates []vote.Candidate) (first []int) {
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

// Copies refines the candidate in.Candidate. The statement that runs replaces the rejected statement in all
// candidates that have it. Each candidate keeps its sample and model, is in one ReplyGroup with the others,
// and has a finding "repaired" with the problem. If no statement runs, the candidates stay unchanged. It
// returns the errors of Run.
func (r Refine) Copies(ctx context.Context, env *Env, in RefineInput, candidates []vote.Candidate) (Refined, error) {
	old := in.Candidate
	ctx, span := trace.Start(ctx, "repair", trace.Attr{Key: "sample", Value: old.Sample},
		trace.Attr{Key: "sql", Value: trace.PrivateSQL.Secret(old.SQL)})
	defer span.End()

	refined, err := r.Run(ctx, env, in)
	span.Fail(cmp.Or(err, refined.Err))
	if err != nil || refined.Candidate.Rejected != "" {
		return refined, err
	}

	span.Set("repaired", trace.PrivateSQL.Secret(refined.Candidate.SQL))
	for i, c := range candidates {
		if c.SQL != old.SQL || c.Rejected == "" {
			continue
		}
		fixed := refined.Candidate
		fixed.Sample, fixed.Model, fixed.ReplyGroup = c.Sample, c.Model, old.Sample+1
		fixed.Findings = append(slices.Clip(fixed.Findings), vote.Finding{Rule: "repaired", Detail: old.Rejected})
		candidates[i] = fixed
	}
	return refined, nil
}

// refinesEach reports whether each sample is refined before it votes.
func (r *pipelineRun) refinesEach() bool { return r.Refine != nil && !r.Refine.Decisive }

// refineDeciding refines the statements that the engine rejected, where their votes could change who wins and make up a
// quorum.
func (r *pipelineRun) refineDeciding(ctx context.Context) error {
	if r.Refine == nil || !r.Refine.Decisive {
		return nil
	}
	out := r.out
	lost := 0
	for _, c := range out.Candidates {
		if isFailing(c) {
			lost++
		}
	}
	if r.votes()+lost < r.Sampler.MinVotes {
		return nil
	}

	failing := slices.DeleteFunc(r.Refine.Failing(out.Candidates), func(i int) bool {
		return !isFailing(out.Candidates[i])
	})
	for _, i := range failing[:min(cmp.Or(r.Refine.Statements, 2), len(failing))] {
		if !r.couldChange() {
			break
		}
		old := out.Candidates[i]
		refined, err := r.Refine.Copies(ctx, r.env, r.refining(r.schema, old), out.Candidates)
		if cerr := ctx.Err(); cerr != nil {
			return cerr
		}
		out.Steps = append(out.Steps, refined.Steps...)
		// A model that cannot repair (a recorded one, a spent budget) does not take the vote from the others.
		if err = cmp.Or(err, refined.Err); err != nil && out.NoteError(ctx, err, "repair of sample %d failed", old.Sample) {
			break
		}
		if err == nil && refined.Candidate.Rejected != "" {
			out.Note("repair of sample %d was rejected: %s", old.Sample, refined.Steps[len(refined.Steps)-1].Problem)
		}
	}
	return nil
}

// refining is what a Refine gets of a candidate: the input of its prompt, over s.
func (r *pipelineRun) refining(s *schema.Schema, c vote.Candidate) RefineInput {
	return RefineInput{
		Task: r.task, Schema: s, Links: r.links, Prompter: r.Prompter, Examiner: r.examiner, Candidate: c,
		Action: r.Sampler.Purpose,
	}
}

// couldChange reports whether the votes of the failed candidates could change who wins: whether the vote would be
// undecided if they were still to come.
func (r *pipelineRun) couldChange() bool {
	settled := slices.DeleteFunc(slices.Clone(r.out.Candidates), isFailing)
	lost := len(r.out.Candidates) - len(settled)
	if lost == 0 {
		return false
	}
	if counter, ok := r.voter.(stater); ok {
		state, err := counter.State(settled, len(r.out.Candidates))
		return err != nil || !vote.Decided(state)
	}
	ballot, err := r.voter.Count(settled)
	leader, werr := ballot.Winner()
	if err != nil || werr != nil {
		return true
	}
	second, _ := ballot.RunnerUp()
	return second.Weight+float64(lost) >= leader.Weight
}
