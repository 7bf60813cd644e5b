package vote

import "slices"

// Wave says how many draws an election sends at once. The zero Wave sends no more
// than the smallest number that could end the vote if all of them were for one
// cluster, so it wastes none: as many are sent as if they were drawn one by one.
// With a Penalty it may waste a few, since a doubted vote for a rival can end the
// vote sooner.
type Wave struct {
	// Min is the least number of draws of a wave. More of them waste calls and
	// save waiting. 0 means 1; the planned number of draws sends all at once.
	Min int
}

// Next returns the number of draws of the next wave: the smallest number for
// which stop would hold if all of them voted for one cluster, with the greatest
// weight and no doubt; at least Min, at most what remains, 0 when none does.
// Without a stop it is all that remains.
//
// For 12 plain draws the first wave is 7 with [Decided], 3 with AheadBy(3) and 4
// with Posterior(0.95). After m draws with lead L it is ⌊(12−m−L)/2⌋+1 with
// Decided.
func (w Wave) Next(t Tally, stop Stop) int {
	n := t.Remaining
	if n <= 0 {
		return 0
	}
	if stop != nil {
		for k := 1; k < n; k++ {
			if t.couldStop(k, stop) {
				n = k
				break
			}
		}
	}
	return min(max(n, w.Min, 1), t.Remaining)
}

// couldStop reports whether k more votes for one cluster could make stop hold.
func (t Tally) couldStop(k int, stop Stop) bool {
	if stop(t.with(0, k)) {
		return true
	}
	// Without doubts no other cluster can be as sure as the leader.
	if t.Penalty > 0 {
		for i := 1; i <= len(t.Standings); i++ {
			if stop(t.with(i, k)) {
				return true
			}
		}
	}
	return false
}

// with returns the tally after k more votes for cluster i of Standings, a new
// cluster when there is none of that index. Cluster 0 is the leader, also where
// the tally has no Standings.
func (t Tally) with(i, k int) Tally {
	unit := t.MaxWeight
	if unit == 0 {
		unit = 1
	}
	more := float64(k) * unit
	t.Drawn += k
	t.Remaining -= k
	if len(t.Standings) == 0 && t.Leader > 0 {
		t.Leader += k
		t.LeaderWeight += more
		return t
	}

	standings := slices.Clone(t.Standings)
	if i >= len(standings) {
		i = len(standings)
		standings = append(standings, Standing{})
	}
	s := &standings[i]
	s.Doubt *= s.Weight / (s.Weight + more)
	s.Votes += k
	s.Weight += more

	lead := 0
	for j := range standings {
		if standings[j].score(t.Penalty) > standings[lead].score(t.Penalty) {
			lead = j
		}
	}
	standings[0], standings[lead] = standings[lead], standings[0]
	t.stand(standings)
	return t
}

// score is that of the cluster up to a constant.
func (s Standing) score(penalty float64) float64 {
	return round9(score(s.Weight, s.Weight*s.Doubt, penalty))
}
