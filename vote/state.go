package vote

import (
	"cmp"
	"fmt"
	"slices"
)

// State is the state of a vote while samples are still to come. A [Stop] reads it.
//
// [Majority.State] makes one from candidates. For a vote on anything else that has a key, start from a State with
// Remaining set. Add each sample with Vote or Abstain, in the order of the samples. A State is plain data: copies of it
// share Clusters. Not safe for concurrent use.
type State struct {
	Sampled   int            // samples so far, including those that abstained
	Remaining int            // samples that may still come
	Clusters  []ClusterState // one for each cluster, in the order of their first votes

	MaxWeight float64 // greatest weight of a vote still to come; 0 means 1
	Penalty   float64 // Majority.Penalty
	MaxDoubt  float64 // how much more a vote still to come can be doubted than the cluster it joins
}

// ClusterState is one cluster of a [State].
type ClusterState struct {
	Key    string  // the common key of its votes
	Weight float64 // weights of its votes, added up
	Doubt  float64 // sum over its votes of weight × doubt
	Spared float64 // how far the extra doubt of a vote that joins it stays below State.MaxDoubt; may be below 0
}

// Vote adds a sample that votes for key. A sample with a weight of 0 or less does not vote.
func (t *State) Vote(key string, weight, doubt float64) {
	at := slices.IndexFunc(t.Clusters, func(s ClusterState) bool { return s.Key == key })
	t.vote(at, key, weight, doubt)
}

// vote is Vote for the standing with index at, a new one if at is below 0.
func (t *State) vote(at int, key string, weight, doubt float64) {
	t.Abstain()
	if !(weight > 0) {
		return
	}
	if at < 0 {
		at = len(t.Clusters)
		t.Clusters = append(t.Clusters, ClusterState{Key: key})
	}
	t.Clusters[at].Weight += weight
	t.Clusters[at].Doubt += weight * doubt
}

// Abstain adds a sample without a vote.
func (t *State) Abstain() {
	t.Sampled++
	t.Remaining = max(t.Remaining-1, 0)
}

// Leader returns the cluster that would win now: the one with the highest score, and of several the one with the
// earliest vote. It is zero without votes.
func (t State) Leader() ClusterState { first, _ := t.leading(); return t.standing(first) }

// RunnerUp returns the cluster that would be second now. It is zero if there is none.
func (t State) RunnerUp() ClusterState { _, second := t.leading(); return t.standing(second) }

func (t State) standing(i int) ClusterState {
	if i < 0 {
		return ClusterState{}
	}
	return t.Clusters[i]
}

// leading returns the indices of the leader and of the runner-up, -1 for none.
func (t State) leading() (first, second int) {
	first, second = -1, -1
	var best, next float64 // their scores
	for i, s := range t.Clusters {
		switch score := round9(score(s.Weight, s.Doubt, t.Penalty)); {
		case s.Weight <= 0:
		case first < 0 || score > best:
			first, second, best, next = i, first, score, best
		case second < 0 || score > next:
			second, next = i, score
		}
	}
	return first, second
}

// unit is the weight of one whole vote.
func (t State) unit() float64 { return cmp.Or(t.MaxWeight, 1) }

// Wave returns how many samples to send at once. It is the smallest number with which stop would hold if all of them
// voted for one cluster, with the greatest weight and without doubt. So it wastes no sample compared with sending them
// one by one. With a Penalty it may waste a few, because a doubted vote for a rival can end the vote sooner.
//
// The number is at least least, at most Remaining, and 0 only if no sample remains. Without a stop it is Remaining.
// For 12 plain votes the first wave has 7 samples with [Decided], 3 with AheadBy(3) and 4 with Posterior(0.95).
func (t State) Wave(stop Stop, least int) int {
	n := t.Remaining
	for k := 1; k < n && stop != nil; k++ {
		if t.couldStop(k, stop) {
			n = k
		}
	}
	return min(max(n, least), t.Remaining)
}

// couldStop reports whether k more votes for one cluster could make stop hold.
func (t State) couldStop(k int, stop Stop) bool {
	leader, _ := t.leading()
	next := t
	next.Sampled, next.Remaining = t.Sampled+k, t.Remaining-k
	for i := range len(t.Clusters) + 1 { // the last is a new cluster
		if t.Penalty == 0 && i != max(leader, 0) {
			continue // no other cluster can be as sure as the leader
		}
		next.Clusters = append(slices.Clone(t.Clusters), ClusterState{})
		next.Clusters[i].Weight += float64(k) * t.unit()
		next.Clusters = next.Clusters[:max(i+1, len(t.Clusters))]
		if stop(next) {
			return true
		}
	}
	return false
}

// State returns the state of the vote after candidates, which are the first of planned samples, in their order. It
// returns the errors of Count, except ErrNoVote, and an error for a weight above MaxWeight.
func (m Majority) State(candidates []Candidate, planned int) (State, error) {
	t := State{Remaining: planned, MaxWeight: cmp.Or(m.MaxWeight, 1), Penalty: m.Penalty, MaxDoubt: m.MaxDoubt}
	if err := m.Validate(); err != nil {
		return State{}, err
	}
	places := make(map[string]int)
	for i := range candidates {
		c := &candidates[i]
		key, w, why, err := m.voteOf(i, c)
		switch {
		case err != nil:
			return State{}, err
		case w > t.MaxWeight+1e-9:
			return State{},
				fmt.Errorf("vote: weight of candidate %d is %v, above the MaxWeight of %v: set Majority.MaxWeight to the "+
					"greatest weight", i, w, t.MaxWeight)
		case why != "":
			t.Abstain()
			continue
		}
		at, seen := places[key]
		if !seen {
			at = -1
			places[key] = len(t.Clusters)
		}
		t.vote(at, key, w, doubtOf(c))
		if !seen && m.MaxExtraDoubt != nil {
			t.Clusters[places[key]].Spared = m.MaxDoubt - max(m.MaxExtraDoubt(*c), 0)
		}
	}
	return t, nil
}

// doubtOf adds up what the findings of a candidate weigh.
func doubtOf(c *Candidate) float64 {
	sum := 0.0
	for _, f := range c.Findings {
		if f.weighs() {
			sum += f.Doubt
		}
	}
	return sum
}
