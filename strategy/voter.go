package strategy

import (
	"cmp"
	"fmt"

	"github.com/texttosql/texttosql/doubt"
	"github.com/texttosql/texttosql/vote"
)

// Voter counts candidates. vote.Majority implements it.
//
// Numbers in the ballot are indices into candidates, and a rejected candidate does not vote. If there are no votes,
// the error is vote.ErrNoVote; a ballot without a cluster means the same. Fill in Abstained if possible: the error of
// the question repeats its reasons. If a Voter has a method Validate() error, it is called before the first sample.
//
// vote.Majority also has State(candidates []vote.Candidate, planned int) (vote.State, error), which returns the state
// of the vote after the first of the planned samples. Only with such a Voter may the samples end early, because the
// counting of other voters is unknown.
type Voter interface {
	Count(candidates []vote.Candidate) (vote.Ballot, error)
}

// stater is a Voter with a State. Only such a vote can be decided before its last sample.
type stater interface {
	Voter
	State(candidates []vote.Candidate, planned int) (vote.State, error)
}

// counting returns the Voter with what it leaves open, and the Majority that counts its votes; nil where none does.
// examiner is nil before there is one. missing is how many samples were asked for and failed.
func (p Pipeline) counting(env *Env, examiner *Checker, missing int) (Voter, *vote.Majority) {
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
	m.MinShare = cmp.Or(p.JudgeBelow, m.MinShare)
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

// maxDoubt returns the largest difference in doubt between two statements with the same result. Rules that cannot
// doubt get the value of the default rules, because checks may also doubt.
func maxDoubt(rules *doubt.Rules) float64 {
	if rules != nil {
		if spread := rules.Spread(); spread > 0 {
			return spread
		}
	}
	return doubt.Rules{}.Spread()
}

// comparesResults reports whether a candidate has a vote only if it was run.
func comparesResults(key func(vote.Candidate) (key string, ok bool)) bool {
	c := vote.Candidate{SQL: "SELECT 1", Plan: "constant"}
	if _, ok := key(c); ok {
		return false
	}
	c.Fingerprint = "1"
	_, ok := key(c)
	return ok
}

// voted is how a candidate votes while samples are still sampled.
func (r *pipelineRun) voted() func(vote.Candidate) (key string, ok bool) {
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
			return fmt.Errorf("strategy: cluster %d of the voter's ballot has another statement than its candidate %d", i,
				c.Best)
		}
	}
	return nil
}
