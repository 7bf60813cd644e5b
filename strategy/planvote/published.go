package planvote

import (
	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/vote"
)

// Published returns v in the form that galah92/egtts published: M7, with 32 samples M8, with Cheapest and 5 samples M4.
// It has the one-message prompt, the signature and the cost of its source, samples all samples at once for replies of
// at most 256 tokens, runs nothing, and gives ties to the signature seen first. Where every candidate fails the checks
// the error is a *strategy.NoCandidateError, and not the first candidate as published.
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

// PublishedProbing is the check of M13 as published: it probes in the first table that has a column of the literal's
// name, looks at the first member of an IN alone, and a failed look-up counts as stored.
func PublishedProbing() *Probing { return &Probing{published: true} }

func publishedChecks() []exec.Check { return []exec.Check{exec.ReadOnly{}, exec.Planned{}} }

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
