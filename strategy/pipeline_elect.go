package strategy

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/texttosql/texttosql/internal/replies"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// elect counts the votes and fills in the outcome.
func (r *pipelineRun) elect(ctx context.Context) error {
	out := r.out
	voteCtx, span := trace.Start(ctx, "vote")
	defer span.End()
	voter, _ := r.counting(r.env, r.examiner, r.missing())
	ballot, err := voter.Count(out.Candidates)
	if err == nil {
		err = checkBallot(ballot, out.Candidates)
	}
	if err != nil {
		// Nothing was elected, and a wrong ballot is nothing to look at.
		ballot = vote.Ballot{Sampled: len(out.Candidates), Clusters: []vote.Cluster{}, Abstained: ballot.Abstained}
	}
	out.Ballot = ballot
	if errors.Is(err, vote.ErrNoVote) {
		err = r.noCandidate(0, 0)
	}
	if err != nil {
		span.Fail(err)
		return err
	}
	quorum, votes := max(r.Sampler.MinVotes, 1), r.votes()
	var ended error // a question to the user, or ctx.Err()
	if votes >= quorum {
		if ended = r.env.AskUser(voteCtx, r.task, out); ended == nil {
			ended = r.judge(voteCtx)
		}
	}
	winner := out.Ballot.Clusters[0]
	out.SQL, out.Confidence, out.MinConfidence = winner.SQL, out.Ballot.Confidence, r.MinConfidence
	r.noteMetrics(out.Candidates[winner.Best])
	if best := out.Candidates[winner.Best]; r.Refine != nil && r.Refine.EmptyResult && (best.Empty || best.AllNull) {
		out.Warn(ctx, "empty-result", "the answer has no value in it, and no statement that has one was proposed instead")
	}
	if votes == 1 && r.asked > 1 {
		out.Warn(ctx, "one-voter", "1 of %d samples has a vote: nothing confirms the answer", r.asked)
	}
	span.Set("explanation", trace.PrivateSQL.Secret(out.Ballot.Explain()))
	span.Set("confidence", out.Confidence)
	switch {
	case ended != nil:
		return ended
	case votes < quorum: // the best so far is there to be looked at
		err = r.noCandidate(votes, quorum)
	case out.Confidence < r.MinConfidence:
		return &AbstainedError{Confidence: out.Confidence, Min: r.MinConfidence, Closing: out.Ballot.Closing()}
	}
	span.Fail(err)
	return err
}

// declined reports whether models had only words for an answer: a question about other data, thanks, a greeting.
func declined(candidates []vote.Candidate) bool {
	return len(candidates) > 1 && !slices.ContainsFunc(candidates, func(c vote.Candidate) bool {
		return c.Reason != replies.ReasonRefusal && c.Reason != replies.ReasonNoSQL
	})
}

// missing is how many samples were asked for and failed. One that a budget forbade was not asked for, and one whose
// correction failed has a candidate.
func (r *pipelineRun) missing() int {
	n := 0
	for _, err := range r.failed {
		corrects := func(c Refined) bool { return c.Err != nil && errors.Is(err, c.Err) }
		if !forbidden(err) && !slices.ContainsFunc(r.refined, corrects) {
			n++
		}
	}
	return n
}

// noCandidate tells why nothing was elected, of so many votes where a quorum is needed.
func (r *pipelineRun) noCandidate(votes, needed int) error {
	all := *r.out
	if votes == 0 {
		all.Ballot.Abstained = slices.Clip(all.Ballot.Abstained)
		for i := range all.Candidates {
			all.Ballot.Abstained = append(all.Ballot.Abstained,
				vote.Abstention{Candidate: i, Why: "the voter did not count it and gave no reason"})
		}
	}
	return &NoCandidateError{Rejected: all.WithoutVote(), Failed: r.failed, Votes: votes, Needed: needed}
}

// judge lets the judge choose between the answers of a weak ballot.
func (r *pipelineRun) judge(ctx context.Context) error {
	out := r.out
	if r.Judge == nil || len(out.Ballot.Clusters) < 2 {
		return nil
	}
	if weak := out.Ballot.Weak || out.Ballot.Clusters[0].Share < r.JudgeBelow-1e-9; !weak {
		return nil
	}
	in := JudgeInput{Task: r.task, Schema: r.schema, Samples: r.asked, Options: out.JudgeOptions()}
	judgeCtx, span := trace.Start(ctx, "judge")
	defer span.End()
	verdict, err := r.Judge.Choose(judgeCtx, r.env, in)
	if verdict.Report != nil {
		out.Report = verdict.Report
	}
	choice := verdict.Choice
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		span.Fail(err)
		out.NoteError(ctx, err, "the judge could not be asked, the vote stands")
	case choice > 0 && choice < len(in.Options):
		out.Ballot.Overrule(choice)
		out.Note("the judge preferred %s", place(choice))
	case choice == 0:
		out.Note("the judge agreed with the vote")
	default:
		out.Note("the judge could not tell, the vote stands")
	}
	if choice >= 0 {
		span.Set("choice", choice)
	}
	return nil
}

// place names the option at an index above 0.
func place(option int) string {
	if option == 1 {
		return "the runner-up"
	}
	return fmt.Sprintf("answer %d of the vote", option+1)
}
