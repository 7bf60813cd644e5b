package planvote

import (
	"cmp"
	"slices"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/vote"
)

// Published returns v in the form that galah92/egtts published: M7, with 32 samples M8, with Cheapest and 5 samples M4.
// It has the one-message prompt, the signature and the cost of its source. It sends all samples at once, for replies
// of at most 256 tokens. It runs no statement, and ties go to the signature seen first. Unlike the source, it does
// not return the first candidate if every candidate fails the checks. The error is then a *strategy.NoCandidateError.
func (v Plain) Published() Plain {
	v.published = true
	return v
}

// Published returns v in the form that galah92/egtts published: M10, with Probe M13; see Plain.Published.
func (v Augmented) Published() Augmented {
	v.published = true
	return v
}

// Published returns f in the form that galah92/egtts published: rounds of 15 samples, the last two winners as feedback,
// no suspect answer accepted early, the last answer returned.
func (f Feedback) Published() Feedback {
	f.published = true
	return f
}

func publishedChecks() []exec.Check { return []exec.Check{exec.ReadOnly{}, exec.ExplainCheck{}} }

// publishedVote is the vote of galah92/egtts: most candidates, then the signature seen first; in it the lowest cost,
// then the earliest. Its confidence is the share.
type publishedVote struct{}

func (publishedVote) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	ballot, err := countByCost(candidates)
	for i := range ballot.Clusters {
		ballot.Clusters[i].Confidence = ballot.Clusters[i].Share
	}
	if len(ballot.Clusters) > 0 {
		ballot.Confidence = ballot.Clusters[0].Confidence
	}
	return ballot, err
}

// probedVote lets absent literals cost the votes of publishedVote: the score of M13, votes − 2 × (1 − stored share of
// the representative), over the three leading clusters. Others keep their places.
type probedVote struct{}

// Count counts and then orders the leading clusters by score.
func (probedVote) Count(candidates []vote.Candidate) (vote.Ballot, error) {
	b, err := publishedVote{}.Count(candidates)
	if err != nil {
		return b, err
	}
	top := b.Clusters[:min(3, len(b.Clusters))]
	for i := range top {
		c := &top[i]
		missing, _ := egtts.MissingShare(candidates[c.Best])
		c.Score = c.Weight - 2*missing
	}
	slices.SortStableFunc(top, func(x, y vote.Cluster) int { return cmp.Compare(y.Score, x.Score) })
	b.Confidence = top[0].Confidence
	return b, nil
}
