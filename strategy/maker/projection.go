package maker

import (
	"context"
	"errors"
	"slices"

	"github.com/texttosql/texttosql/llm"
	"github.com/texttosql/texttosql/strategy"
	"github.com/texttosql/texttosql/trace"
	"github.com/texttosql/texttosql/vote"
)

// projection is phase 3. why says that it led nowhere.
func (r *run) projection(ctx context.Context, s tableScope, f rowFilter) (why string, err error) {
	ctx, span := trace.Start(ctx, phaseProjection)
	defer span.End()
	if r.left() < min(3, r.samples(phaseProjection)) {
		r.end(ctx, Phase{Phase: phaseProjection, Attempt: r.attempt, Stop: "budget", Fallback: whyBudget})
		return whyBudget, nil
	}
	checks, count := r.last(r.env, s)
	admission := strategy.NewExaminer(ctx, r.env, r.task, checks, nil)
	defer admission.Close()
	admission.Signature = count.Signature
	c := contest{key: r.key(r.env)}
	messages := r.prompts.projection(s, f)
	election := strategy.Election[vote.Candidate]{
		Key: c.voteOf, State: c.tally,
		Sample: func(ctx context.Context, i int) (vote.Candidate, error) {
			reply, err := r.ask(ctx, purposeProjection, messages, i)
			if err != nil {
				return vote.Candidate{Sample: i}, err
			}
			_, name := r.env.Model(i)
			_, most := r.maxTokens(purposeProjection)
			if flag := flagReply(reply, most); flag != nil {
				trace.From(ctx).Set("rejected", flag.Error())
				return vote.Candidate{Sample: i, Model: name, Rejected: flag.Error()}, nil
			}
			return admission.Examine(ctx, i, name, reply)
		},
	}
	sampled, report, why, err := hold(ctx, r, phaseProjection, election, func(candidate vote.Candidate) string {
		if candidate.Rejected == "" && isOutside(candidate) {
			return findingOutside
		}
		return candidate.Rejected
	})
	admission.Discard(len(sampled.Slots))
	defer func() {
		report.Fallback = why
		r.end(ctx, report)
	}()
	inside, outside := c.sides(sampled.Values())
	candidates := keepInside(sampled.Values())
	if m, ok := count.Voter.(vote.Majority); ok {
		for _, err := range sampled.Failed() {
			if !errors.Is(err, llm.ErrBudget) { // that was not asked for
				m.Missing++
			}
		}
		count.Voter = m
	}
	ballot, countErr := count.Voter.Count(candidates)
	report.Clusters, report.UniqueSignatures = ballot.Clusters, len(ballot.Clusters)
	r.out.Candidates, r.out.Ballot = candidates, ballot
	switch {
	case err != nil && (ctx.Err() == nil || countErr != nil || outside > inside):
		return "", err
	case err != nil:
		r.out.Warn(ctx, "cut-short", "the time was up: this is the best of %d statements", len(candidates))
	case outside > inside:
		return whyConflict, nil
	case why != "":
		return why, nil
	case errors.Is(countErr, vote.ErrNoVote):
		return whyQuorum, nil
	case countErr != nil:
		return "", countErr
	}
	if inside == 1 && len(sampled.Slots) > 1 {
		r.out.Warn(ctx, "one-voter", "1 of %d samples has a vote: nothing confirms the answer", len(sampled.Slots))
	}
	winner := ballot.Clusters[0]
	report.Valid, report.Winner, report.Share = true, winner.SQL, winner.Share
	r.out.SQL, r.out.Confidence = winner.SQL, ballot.Confidence
	return "", err
}

// keepInside takes their votes from the candidates outside of the scope.
func keepInside(candidates []vote.Candidate) []vote.Candidate {
	kept := slices.Clone(candidates)
	for i, c := range kept {
		for _, f := range c.Findings {
			if f.Rule == findingOutside && c.Rejected == "" {
				kept[i].Rejected = f.Rule + ": " + f.Detail
			}
		}
	}
	return kept
}

func isOutside(c vote.Candidate) bool {
	return slices.ContainsFunc(c.Findings, func(f vote.Finding) bool { return f.Rule == findingOutside })
}

// contest counts phase 3 while it is sampled. Two things can end it early: a cluster of statements inside the scope
// that no other can overtake, as long as those outside cannot become the majority; and a majority outside that those
// inside cannot catch.
type contest struct{ key vote.Key }

// voteOf is Election.Key: a statement outside of the scope counts for the quorum, too.
func (c contest) voteOf(candidate vote.Candidate) (string, bool) {
	if candidate.Rejected != "" {
		return "", false
	}
	if isOutside(candidate) {
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

// tally is Election.State. Both ends are decided by the lead that it reports.
func (c contest) tally(candidates []vote.Candidate, planned int) vote.State {
	inside, outside := c.sides(candidates)
	t := vote.State{Remaining: planned}
	for _, candidate := range candidates {
		if key, ok := c.voteOf(candidate); ok && key != "outside" {
			t.Vote(key, 1, 0)
		} else {
			t.Abstain()
		}
	}
	leader, second := t.Leader().Weight, t.RunnerUp().Weight
	switch {
	case outside > inside:
		leader, second = float64(outside), float64(inside)
	case leader > 0:
		// Samples still to come could make a majority of those outside as soon as they are more than inside − outside:
		// then nobody has won yet.
		second = max(second, leader-float64(inside-outside+1))
	}
	t.Clusters = []vote.ClusterState{{Key: "leader", Weight: leader}, {Key: "second", Weight: second}}
	return t
}
