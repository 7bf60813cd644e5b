package maker

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// projection is phase 3. why says that it led nowhere.
func (r *run) projection(ctx context.Context, s tableScope, f rowFilter) (why string, err error) {
	ctx, span := trace.Start(ctx, phaseProjection)
	defer span.End()
	if r.left() < min(3, r.Samples) {
		r.end(ctx, Phase{Phase: phaseProjection, Stop: "budget", Fallback: whyBudget})
		return whyBudget, nil
	}
	count := r.last(r.env)
	examiner := strategy.NewChecker(ctx, r.env, r.task, count.Checks, nil)
	defer examiner.Close()
	examiner.Signature = count.Signature
	messages := r.prompts.projection(s, f)
	election := strategy.Election[vote.Candidate]{
		Key: func(c vote.Candidate) (string, bool) {
			if c.Rejected != "" {
				return "", false
			}
			return count.Key(c)
		},
		Sample: func(ctx context.Context, i int) (vote.Candidate, error) {
			reply, err := r.ask(ctx, purposeProjection, messages, i)
			if err != nil {
				return vote.Candidate{Sample: i}, err
			}
			_, name := r.env.Model(i)
			_, most := r.maxTokens(purposeProjection)
			if flag := flagReply(reply, most); flag != nil {
				trace.FromContext(ctx).Set("rejected", trace.PrivateSQL.Secret(flag.Error()))
				return vote.Candidate{Sample: i, Model: name, Rejected: flag.Error()}, nil
			}
			return examiner.Examine(ctx, i, name, reply)
		},
	}
	sampled, report, why, err := hold(ctx, r, phaseProjection, election, func(c vote.Candidate) string {
		return c.Rejected
	})
	examiner.Discard(len(sampled.Slots))
	defer func() {
		report.Fallback = why
		r.end(ctx, report)
	}()
	candidates := sampled.Values()
	if m, ok := count.Voter.(vote.Majority); ok {
		for _, err := range sampled.Failed() {
			if !errors.Is(err, llm.ErrBudget) || errors.As(err, new(*llm.Error)) { // else it was not sent
				m.Missing++
			}
		}
		count.Voter = m
	}
	ballot, countErr := count.Voter.Count(candidates)
	report.Clusters, report.UniqueSignatures = ballot.Clusters, len(ballot.Clusters)
	r.out.Candidates, r.out.Ballot = candidates, ballot
	switch {
	case err != nil && (ctx.Err() == nil || countErr != nil):
		return "", err
	case err != nil:
		r.out.Warn(ctx, "cut-short", "the time was up: this is the best of %d statements", len(candidates))
	case why != "":
		return why, nil
	case errors.Is(countErr, vote.ErrNoVote):
		return whyQuorum, nil
	case countErr != nil:
		return "", countErr
	}
	if sampled.Votes() == 1 && len(sampled.Slots) > 1 {
		r.out.Warn(ctx, "one-voter", "1 of %d samples has a vote: nothing confirms the answer", len(sampled.Slots))
	}
	winner := ballot.Clusters[0]
	report.Valid, report.Winner, report.Share = true, winner.SQL, winner.Share
	r.out.SQL, r.out.Confidence = winner.SQL, ballot.Confidence
	return "", err
}
