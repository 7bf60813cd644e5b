package strategy

import (
	"fmt"

	"github.com/texttosql/texttosql/vote"
)

// Voter counts candidates. vote.Majority is one.
//
// Numbers of the ballot are places in candidates, and a rejected candidate has no
// vote. Where nobody has one, the error is vote.ErrNoVote; a ballot without a
// cluster means the same. It is best to fill in Abstained: the error of the
// question tells these reasons. A Voter that has a method Validate() error is asked
// it before the first draw.
type Voter interface {
	Count(candidates []vote.Candidate) (vote.Ballot, error)
}

// Tallier is a Voter that can say how a vote stands after the first of planned
// draws. vote.Majority is one. Only such a vote can be decided before its last
// draw: how another Voter counts is not known.
type Tallier interface {
	Voter
	// Tally says how the vote stands after candidates.
	Tally(candidates []vote.Candidate, planned int) (vote.Tally, error)
}

// validVoter reports what is wrong with a voter, where that shows.
func validVoter(v Voter) error {
	switch v := v.(type) {
	case vote.Majority:
		_, err := v.Counter()
		return err
	case *vote.Majority:
		if v != nil {
			return validVoter(*v)
		}
	case interface{ Validate() error }:
		return v.Validate()
	}
	return nil
}

// majorityOf is the Majority that counts the votes of v, if one does.
func majorityOf(v Voter) (vote.Majority, bool) {
	switch probed := v.(type) {
	case ProbedVote:
		return majorityOf(probed.Voter)
	case *ProbedVote:
		if probed != nil {
			return majorityOf(probed.Voter)
		}
	}
	majority, ok := v.(vote.Majority)
	return majority, ok
}

// voter is v, which is Voter or stands in it, with what it leaves open.
func (p Pipeline) voter(v Voter, env *Env) Voter {
	var majority vote.Majority
	switch v := v.(type) {
	case nil:
	case vote.Majority:
		majority = v
	case *vote.Majority:
		if v != nil {
			majority = *v
		}
	case ProbedVote:
		v.Voter = p.voter(v.Voter, env)
		return v
	case *ProbedVote:
		if v != nil {
			return p.voter(*v, env)
		}
	default:
		return v
	}
	if majority.Key == nil {
		majority.Key = env.Key()
	}
	if majority.MaxDoubt == 0 && p.Doubts != nil {
		majority.MaxDoubt = p.Doubts.Spread()
	}
	return majority
}

// comparesResults reports whether a candidate has a vote only if it was run.
func comparesResults(key vote.Key) bool {
	c := vote.Candidate{SQL: "SELECT 1", Plan: "constant"}
	if _, ok := key(c); ok {
		return false
	}
	c.Fingerprint = "1"
	_, ok := key(c)
	return ok
}

// voted is how a candidate votes while draws are still made.
func (r *pipelineRun) voted() vote.Key {
	key := r.Key
	if majority, ok := majorityOf(r.voter); ok && key == nil {
		key = majority.Key
	}
	if key == nil {
		key = func(c vote.Candidate) (string, bool) { return c.SQL, true }
	}
	return func(c vote.Candidate) (string, bool) {
		if c.Rejected != "" {
			return "", false
		}
		return key(c)
	}
}

// votes is how many of the candidates have a vote.
func (r *pipelineRun) votes() int {
	votes, key := 0, r.voted()
	for _, c := range r.out.Candidates {
		if _, ok := key(c); ok {
			votes++
		}
	}
	return votes
}

// checkBallot reports what makes a ballot useless: a Voter may be anybody's.
func checkBallot(b vote.Ballot, candidates []vote.Candidate) error {
	if len(b.Clusters) == 0 {
		return vote.ErrNoVote
	}
	if !(b.Confidence >= 0 && b.Confidence <= 1) {
		return fmt.Errorf("strategy: the voter's confidence is %v; want 0 to 1", b.Confidence)
	}
	for i, c := range b.Clusters {
		for _, place := range append([]int{c.Best}, c.Members...) {
			if place < 0 || place >= len(candidates) {
				return fmt.Errorf("strategy: cluster %d of the voter's ballot names candidate %d of %d", i, place, len(candidates))
			}
		}
		switch best := candidates[c.Best]; {
		case best.Rejected != "":
			return fmt.Errorf("strategy: the voter elected candidate %d, which was rejected: %s", c.Best, brief(best.Rejected))
		case c.SQL != best.SQL:
			return fmt.Errorf("strategy: cluster %d of the voter's ballot has another statement than its candidate %d", i, c.Best)
		}
	}
	return nil
}
