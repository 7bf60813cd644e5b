package vote

import (
	"cmp"
	"fmt"
	"slices"
)

// Tally is the state of an election in which some draws are still to come. It is
// what a [Stop] and a [Wave] decide by.
//
// A Tally of plain votes needs only Leader, RunnerUp, Drawn and Remaining. The
// other fields are for weights and doubts; [Counter] and [Majority.Tally] fill in
// all of them.
type Tally struct {
	Leader    int `json:"leader"`    // votes of the cluster that would win now
	RunnerUp  int `json:"runner_up"` // most votes of any other cluster; 0 if there is none
	Drawn     int `json:"drawn"`     // draws seen, those that abstained included
	Remaining int `json:"remaining"` // draws that may still come

	LeaderWeight   float64 `json:"leader_weight"`    // of the cluster that would win now
	RunnerUpWeight float64 `json:"runner_up_weight"` // greatest of any other cluster
	MaxWeight      float64 `json:"max_weight"`       // greatest weight that a vote still to come can have; 0: these are plain votes

	Penalty   float64    `json:"penalty,omitempty"`   // Majority.Penalty
	MaxDoubt  float64    `json:"max_doubt,omitempty"` // by how much a vote still to come can be doubted more than the cluster it joins: Doubts.Spread
	Standings []Standing `json:"standings,omitempty"` // the clusters, the leader first
}

// Standing is one cluster of a [Tally].
type Standing struct {
	Votes  int     `json:"votes"`           // counted so far
	Weight float64 `json:"weight"`          // of these votes
	Doubt  float64 `json:"doubt,omitempty"` // weighted mean over its votes
}

// lead returns by how many votes of the greatest weight the leader is ahead of
// the strongest rival.
func (t Tally) lead() float64 {
	if t.MaxWeight > 0 {
		return (t.LeaderWeight - t.RunnerUpWeight) / t.MaxWeight
	}
	return float64(t.Leader - t.RunnerUp)
}

// Counter counts an election as it goes on: of candidates, or of anything else
// that has a key. The zero Counter is ready for use and counts plain votes. Not
// safe for concurrent use.
//
// Votes must be added in the order of their draws: ties go to the key that was
// seen first.
type Counter struct {
	// MaxWeight is the greatest weight a vote can have. 0: votes are plain and
	// the weight of Vote must be 1.
	MaxWeight float64
	// Penalty and MaxDoubt are those of Tally.
	Penalty, MaxDoubt float64

	drawn    int
	clusters []counted
	index    map[string]int
}

type counted struct {
	key   string
	votes int
	sum   float64 // weight
	doubt float64 // weighted sum
}

// Vote adds one draw that votes for key, with its weight and its doubt.
func (c *Counter) Vote(key string, weight, doubt float64) {
	c.drawn++
	if !(weight > 0) {
		return // as in Majority: no vote
	}
	at, seen := c.index[key]
	if !seen {
		if c.index == nil {
			c.index = make(map[string]int)
		}
		at = len(c.clusters)
		c.index[key] = at
		c.clusters = append(c.clusters, counted{key: key})
	}
	k := &c.clusters[at]
	k.votes++
	k.sum += weight
	k.doubt += weight * doubt
}

// Abstain adds one draw without a vote.
func (c *Counter) Abstain() { c.drawn++ }

// Leader returns the key that would win now; ok is false without a vote.
func (c *Counter) Leader() (key string, ok bool) {
	if len(c.clusters) == 0 {
		return "", false
	}
	return c.clusters[c.leader()].key, true
}

func (c *Counter) leader() int {
	lead := 0
	for i := range c.clusters {
		if c.clusters[i].score(c.Penalty) > c.clusters[lead].score(c.Penalty) {
			lead = i
		}
	}
	return lead
}

// score is that of Majority up to a constant, rounded as there.
func (k *counted) score(penalty float64) float64 {
	return round9(score(k.sum, k.doubt, penalty))
}

// Tally returns the state after the draws so far, of planned draws in all.
func (c *Counter) Tally(planned int) Tally {
	t := Tally{
		Drawn:     c.drawn,
		Remaining: max(planned-c.drawn, 0),
		MaxWeight: c.MaxWeight,
		Penalty:   c.Penalty,
		MaxDoubt:  c.MaxDoubt,
	}
	if len(c.clusters) == 0 {
		return t
	}
	lead := c.leader()
	t.Standings = make([]Standing, 0, len(c.clusters))
	t.Standings = append(t.Standings, c.clusters[lead].standing())
	for i := range c.clusters {
		if i != lead {
			t.Standings = append(t.Standings, c.clusters[i].standing())
		}
	}
	slices.SortStableFunc(t.Standings[1:], func(a, b Standing) int { return cmp.Compare(b.Weight, a.Weight) })
	t.stand(t.Standings)
	return t
}

// stand sets the standings, the leader first, and what follows from them.
func (t *Tally) stand(standings []Standing) {
	t.Standings = standings
	t.Leader, t.LeaderWeight = standings[0].Votes, standings[0].Weight
	t.RunnerUp, t.RunnerUpWeight = 0, 0
	for _, s := range standings[1:] {
		t.RunnerUp = max(t.RunnerUp, s.Votes)
		t.RunnerUpWeight = max(t.RunnerUpWeight, s.Weight)
	}
}

func (k *counted) standing() Standing {
	return Standing{Votes: k.votes, Weight: k.sum, Doubt: k.doubt / k.sum}
}

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
		return fmt.Errorf("vote: weight of candidate %d is %v, above the MaxWeight of %v: set Majority.MaxWeight to the greatest weight", i, w, c.MaxWeight)
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
		if f.weighs() {
			sum += f.Doubt
		}
	}
	return sum
}
