package strategy

import (
	"cmp"
	"fmt"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/vote"
)

// Voter counts candidates. vote.Majority is one.
//
// The numbers of the ballot are places in candidates, and a rejected candidate has no vote. Where nobody has one, the
// error is vote.ErrNoVote; a ballot without a cluster means the same. It is best to fill in Abstained: the error of the
// question tells these reasons. A Voter that has a method Validate() error is asked it before the first sample.
type Voter interface {
	Count(candidates []vote.Candidate) (vote.Ballot, error)
}

// Stater is a Voter that can say how a vote stands after the first of the planned samples. vote.Majority is one. Only
// such a vote can be decided before its last sample: how another Voter counts is not known.
type Stater interface {
	Voter
	// State says how the vote stands after candidates.
	State(candidates []vote.Candidate, planned int) (vote.State, error)
}

// counting returns the Voter with what it leaves open, and the Majority that counts its votes; nil where none does.
// examiner is nil before there is one. missing is how many samples were asked for and failed.
func (p Pipeline) counting(env *Env, examiner *Examiner, missing int) (Voter, *vote.Majority) {
	v := p.Voter
	if v == nil {
		v = vote.Majority{Prior: 1}
	}
	m, ok := v.(vote.Majority)
	if pointer, is := v.(*vote.Majority); is {
		if ok = true; pointer != nil {
			m = *pointer
		}
	}
	if !ok {
		return v, nil
	}
	if m.Key == nil {
		m.Key = env.Key()
	}
	if m.MaxDoubt == 0 && m.Penalty > 0 {
		m.MaxDoubt = maxDoubt(p.Doubts)
	}
	// Only equal results bound what equal votes can be doubted for.
	if examiner != nil && m.MaxExtraDoubt == nil && comparesResults(m.Key) {
		m.MaxExtraDoubt = examiner.doubtable
		// No smaller first wave can decide.
		m.MaxDoubt = cmp.Or(examiner.doubtable(vote.Candidate{Rows: 2, Columns: 1}), m.MaxDoubt)
	}
	m.Missing += missing
	return m, &m
}

// validVoter reports what is wrong with a voter, where that shows.
func validVoter(v Voter) error {
	if checked, ok := v.(interface{ Validate() error }); ok {
		return checked.Validate()
	}
	return nil
}

// maxDoubt is by how much rules can doubt one statement more than another of the same result. Rules that cannot have
// that of the default rules: checks may doubt, too.
func maxDoubt(rules *doubt.Rules) float64 {
	if rules != nil {
		if spread := rules.Spread(); spread > 0 {
			return spread
		}
	}
	return doubt.Rules{}.Spread()
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

// voted is how a candidate votes while samples are still sampled.
func (r *pipelineRun) voted() vote.Key {
	key := r.Key
	if key == nil && r.counts != nil {
		key = r.counts.Key
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
