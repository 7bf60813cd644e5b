package vote

import (
	"fmt"
	"math"
)

// Spent is what an election that may stop early cost.
type Spent struct {
	Planned int  `json:"planned"` // draws it might have made
	Drawn   int  `json:"drawn"`   // draws it made
	Waves   int  `json:"waves"`   // how often it waited for a wave of draws
	Stopped bool `json:"stopped"` // the stop rule ended it, not the last draw
}

// Saved returns how many draws were not needed.
func (s Spent) Saved() int { return s.Planned - s.Drawn }

// Counter returns a counter for the rules of m: its penalty and the greatest
// weight and doubt. The error is about a field of m.
func (m Majority) Counter() (*Counter, error) {
	if err := m.validate(); err != nil {
		return nil, err
	}
	c := &Counter{Penalty: m.Penalty, MaxDoubt: m.MaxDoubt, MaxWeight: m.MaxWeight}
	if c.MaxWeight == 0 {
		c.MaxWeight = 1
	}
	if c.MaxDoubt == 0 && m.Penalty > 0 {
		c.MaxDoubt = Doubts{}.Spread()
	}
	return c, nil
}

// Tally returns the state of the vote after candidates, which are the first of
// planned draws and stand in their order. The errors are those of Count, but for
// ErrNoVote, and one for a weight above MaxWeight.
func (m Majority) Tally(candidates []Candidate, planned int) (Tally, error) {
	c, err := m.Counter()
	if err != nil {
		return Tally{}, err
	}
	for i, cand := range candidates {
		if err := m.add(c, i, cand); err != nil {
			return Tally{}, err
		}
	}
	return c.Tally(planned), nil
}

// CountUntil counts recorded candidates as an election with the zero [Wave] would
// have drawn them, until stop says so (nil: never). It returns the ballot of the
// candidates that were drawn and what it spent; errors are those of Count and
// Tally. It is for measuring stop rules on stored answers; a running election is
// strategy.Election.
func (m Majority) CountUntil(candidates []Candidate, stop Stop) (Ballot, Spent, error) {
	spent := Spent{Planned: len(candidates)}
	c, err := m.Counter()
	if err != nil {
		return Ballot{}, spent, err
	}
	for spent.Drawn < len(candidates) {
		t := c.Tally(len(candidates))
		if stop != nil && stop(t) {
			spent.Stopped = true
			break
		}
		for range (Wave{}).Next(t, stop) {
			if err := m.add(c, spent.Drawn, candidates[spent.Drawn]); err != nil {
				return Ballot{Drawn: spent.Drawn}, spent, err
			}
			spent.Drawn++
		}
		spent.Waves++
	}
	b, err := m.Count(candidates[:spent.Drawn])
	return b, spent, err
}

// add counts one candidate.
func (m Majority) add(c *Counter, i int, cand Candidate) error {
	key, w, why, err := m.voteOf(i, &cand)
	if err != nil {
		return err
	}
	if why != "" {
		c.Abstain()
		return nil
	}
	if w > c.MaxWeight+1e-9 {
		return fmt.Errorf("vote: weight of candidate %d is %v, above the MaxWeight of %v", i, w, c.MaxWeight)
	}
	if m.DemoteEmpty {
		c.Abstain() // a vote without standings is never decided
		return nil
	}
	c.Vote(key, w, doubtOf(cand))
	return nil
}

// doubtOf adds up what the findings of a candidate weigh.
func doubtOf(c Candidate) float64 {
	sum := 0.0
	for _, f := range c.Findings {
		if f.Doubt > 0 && !math.IsInf(f.Doubt, 1) {
			sum += f.Doubt
		}
	}
	return sum
}
