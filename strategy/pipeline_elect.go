package strategy

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// elect counts the votes and fills in the outcome.
func (r *pipelineRun) elect(ctx context.Context) error {
	out := r.out
	voteCtx, span := trace.Start(ctx, "vote")
	defer span.End()
	ballot, err := r.voter.Count(out.Candidates)
	if err == nil {
		err = checkBallot(ballot, out.Candidates)
	}
	if err != nil {
		// Nothing was elected, and a wrong ballot is nothing to look at.
		ballot = vote.Ballot{Drawn: len(out.Candidates), Clusters: []vote.Cluster{}, Abstained: ballot.Abstained}
	}
	out.Ballot = ballot
	if errors.Is(err, vote.ErrNoVote) {
		err = noCandidate(out.Candidates, ballot, r.failed, 0, 0)
	}
	if err != nil {
		span.Fail(err)
		return err
	}
	quorum, votes := max(r.Sampler.MinVotes, 1), r.votes()
	if votes >= quorum {
		if err := r.judge(voteCtx); err != nil {
			return err
		}
	}
	winner := out.Ballot.Clusters[0]
	out.SQL, out.Confidence = winner.SQL, out.Ballot.Confidence
	span.Set("explanation", out.Ballot.Explain())
	span.Set("confidence", out.Confidence)
	switch {
	case votes < quorum: // the best so far is there to be looked at
		err = noCandidate(out.Candidates, out.Ballot, r.failed, votes, quorum)
	case out.Confidence < r.MinConfidence:
		return &AbstainedError{Confidence: out.Confidence, Min: r.MinConfidence}
	}
	span.Fail(err)
	return err
}

// judge lets the judge choose between the two leading clusters of a weak ballot.
func (r *pipelineRun) judge(ctx context.Context) error {
	out := r.out
	second, ok := out.Ballot.RunnerUp()
	if r.Judge == nil || !out.Ballot.Weak || !ok {
		return nil
	}
	first := out.Ballot.Clusters[0]
	judgeCtx, span := trace.Start(ctx, "judge")
	defer span.End()
	choice, err := r.Judge.Choose(judgeCtx, r.env, JudgeInput{
		Task: r.task, Schema: r.schema, Pair: [2]vote.Candidate{out.Candidates[first.Best], out.Candidates[second.Best]},
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		span.Fail(err)
		out.note("the judge could not be asked, the vote stands: %v", err)
	case choice == 1:
		out.Ballot.Overrule(1)
		out.note("the judge preferred the runner-up")
	case choice == 0:
		out.note("the judge agreed with the vote")
	default:
		out.note("the judge could not tell, the vote stands")
	}
	span.Set("choice", choice)
	return nil
}
