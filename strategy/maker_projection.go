package strategy

import (
	"context"
	"errors"

	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// projection is phase 3. why says that it led nowhere.
func (run *makerRun) projection(ctx context.Context, s Scope, f Filter) (why string, err error) {
	ctx, span := trace.Start(ctx, "projection")
	defer span.End()
	if run.left() < min(3, run.Samples) {
		run.end(ctx, PhaseReport{Phase: "projection", Attempt: run.attempt, Stop: "budget", Fallback: FallbackBudget})
		return FallbackBudget, nil
	}
	admission := NewAdmission(ctx, run.env, run.task, run.checks(run.env, s, f), nil)
	defer admission.Close()
	if run.Compat {
		admission.Signature = compatSignature
	}
	voter := run.voter(run.env)
	c := contest{key: run.key(run.env)}
	messages := run.prompts.projection(s, f)
	run.begin(messages)
	drawn, err := Election[vote.Candidate]{
		N: run.Samples, Wave: run.wave(), Stop: run.until(), MinVotes: run.MinVotes,
		Concurrency: run.env.concurrency(), Room: run.room,
		Key: c.voteOf, Tally: c.tally,
		Draw: func(ctx context.Context, i int) (vote.Candidate, error) {
			reply, err := run.ask(ctx, PurposeProjection, messages, i)
			if err != nil {
				return vote.Candidate{Draw: i}, err
			}
			_, name := run.env.Model(i)
			_, most := run.maxTokens(PurposeProjection)
			if flag := flagReply(reply, most); flag != nil {
				trace.From(ctx).Set("rejected", flag.Error())
				return vote.Candidate{Draw: i, Model: name, Rejected: flag.Error()}, nil
			}
			return admission.admitDraw(ctx, i, name, reply)
		},
	}.Run(ctx)
	admission.Discard(len(drawn.Slots))
	run.settle(len(drawn.Slots))

	report := drawnReport(ctx, run, "projection", drawn, err, func(candidate vote.Candidate) string {
		if candidate.Rejected == "" && findings(candidate, FindingOutside) > 0 {
			return FindingOutside
		}
		return candidate.Rejected
	})
	defer func() { run.end(ctx, report) }()
	inside, outside := c.sides(drawn.Values())
	candidates := keepInside(drawn.Values())
	ballot, countErr := voter.Count(candidates)
	report.Clusters = ballot.Clusters
	report.UniqueSignatures = len(ballot.Clusters)
	run.out.Candidates, run.out.Ballot = candidates, ballot

	if why, err = failure(ctx, report, err); err != nil {
		return "", err
	}
	switch {
	case outside > inside:
		why = FallbackConflict
	case why == "" && countErr != nil && !errors.Is(countErr, vote.ErrNoVote):
		return "", countErr
	case why == "" && countErr != nil:
		why = FallbackQuorum
	}
	if why != "" {
		report.Fallback = why
		return why, nil
	}
	winner := ballot.Clusters[0]
	report.Valid, report.Winner, report.Share = true, winner.SQL, winner.Share
	run.out.SQL, run.out.Confidence = winner.SQL, ballot.Confidence
	return "", nil
}

// keepInside takes their votes from the candidates outside of the scope.
func keepInside(candidates []vote.Candidate) []vote.Candidate {
	kept := make([]vote.Candidate, len(candidates))
	for i, c := range candidates {
		for _, f := range c.Findings {
			if f.Rule == FindingOutside && c.Rejected == "" {
				c.Rejected = f.Rule + ": " + f.Detail
			}
		}
		kept[i] = c
	}
	return kept
}

// contest counts phase 3 while it is drawn. Two things can end it early: a
// cluster of statements inside the scope that no other can overtake, as long as
// those outside cannot become the majority; and a majority outside that those
// inside cannot catch.
type contest struct{ key vote.Key }

// voteOf is Election.Key: a statement outside of the scope counts for the quorum,
// too.
func (c contest) voteOf(candidate vote.Candidate) (string, bool) {
	if candidate.Rejected != "" {
		return "", false
	}
	if findings(candidate, FindingOutside) > 0 {
		return "outside", true
	}
	key, ok := c.key(candidate)
	return "inside:" + key, ok
}

func (c contest) sides(candidates []vote.Candidate) (inside, outside int) {
	for _, candidate := range candidates {
		switch key, ok := c.voteOf(candidate); {
		case !ok:
		case key == "outside":
			outside++
		default:
			inside++
		}
	}
	return inside, outside
}

// tally is Election.Tally. The lead it reports is what both ends are decided by.
func (c contest) tally(candidates []vote.Candidate, planned int) vote.Tally {
	inside, outside := c.sides(candidates)
	var count vote.Counter
	for _, candidate := range candidates {
		if key, ok := c.voteOf(candidate); ok && key != "outside" {
			count.Vote(key, 1, 0)
		} else {
			count.Abstain()
		}
	}
	t := count.Tally(planned)
	plain := vote.Tally{Drawn: t.Drawn, Remaining: t.Remaining, Leader: t.Leader, RunnerUp: t.RunnerUp}
	switch {
	case outside > inside:
		plain.Leader, plain.RunnerUp = outside, inside
	case t.Leader > 0:
		// Draws still to come could make a majority of those outside as soon as
		// they are more than inside − outside: then nobody has won yet.
		plain.RunnerUp = max(t.RunnerUp, t.Leader-(inside-outside+1))
	}
	return plain
}
