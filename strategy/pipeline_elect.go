package strategy

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/schema"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// elect counts the votes and fills in the outcome.
func (p Pipeline) elect(ctx context.Context, env *Env, t Task, s *schema.Schema, voter Voter, failed []error, out *Outcome) error {
	voteCtx, span := trace.Start(ctx, "vote")
	defer span.End()
	ballot, err := voter.Count(out.Candidates)
	if err == nil {
		err = checkBallot(ballot, out.Candidates)
	}
	if err != nil {
		// Nothing was elected, and a wrong ballot is nothing to look at.
		ballot = vote.Ballot{Drawn: len(out.Candidates), Clusters: []vote.Cluster{}, Abstained: ballot.Abstained}
	}
	out.Ballot = ballot
	if errors.Is(err, vote.ErrNoVote) {
		err = noCandidate(out.Candidates, ballot, failed, 0, 0)
	}
	if err != nil {
		span.Fail(err)
		return err
	}
	quorum, votes := max(p.Sampler.MinVotes, 1), p.votes(voter, out.Candidates)
	if votes >= quorum {
		if err := p.judge(voteCtx, env, t, s, out); err != nil {
			return err
		}
	}
	winner := out.Ballot.Clusters[0]
	out.SQL, out.Confidence = winner.SQL, out.Ballot.Confidence
	span.Set("explanation", out.Ballot.Explain())
	span.Set("confidence", out.Confidence)
	switch {
	case votes < quorum: // the best so far is there to be looked at
		err = noCandidate(out.Candidates, out.Ballot, failed, votes, quorum)
	case out.Confidence < p.MinConfidence:
		return &AbstainedError{Confidence: out.Confidence, Min: p.MinConfidence}
	}
	span.Fail(err)
	return err
}

// judge lets the judge choose between the two leading clusters of a weak ballot.
func (p Pipeline) judge(ctx context.Context, env *Env, t Task, s *schema.Schema, out *Outcome) error {
	second, ok := out.Ballot.RunnerUp()
	if p.Judge == nil || !out.Ballot.Weak || !ok {
		return nil
	}
	first := out.Ballot.Clusters[0]
	judgeCtx, span := trace.Start(ctx, "judge")
	defer span.End()
	choice, err := p.Judge.Choose(judgeCtx, env, JudgeInput{
		Task: t, Schema: s, Pair: [2]vote.Candidate{out.Candidates[first.Best], out.Candidates[second.Best]},
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
