package vote

import "math"

// Stop says whether an election may end before its last draw. It is asked after
// each draw, about the first draws in the order of their indices, never about
// those that arrived first, so that the same replies give the same answer. It is a
// pure function of the tally, and false when nobody has voted yet.
type Stop func(Tally) bool

// Decided stops when the leader cannot be overtaken by the draws that remain:
//
//	leader's weight − any rival's weight > remaining draws × the greatest weight
//
// It never changes the winning cluster of the full vote, whatever the tie rule
// and the weights. (Which member represents the cluster may change: the draws
// left out may have been shorter.)
//
// With Penalty the tally's Standings and MaxDoubt are used: it stops when, for
// every way of sharing out the remaining draws, the leader's worst score is
// above the best that each rival, and a cluster nobody has voted for yet, could
// reach. That too never changes the winner; it may draw a little more than
// needed. It is not exact for a Majority with Overlap.
func Decided(t Tally) bool {
	if t.Leader == 0 {
		return false
	}
	if t.Penalty > 0 && len(t.Standings) > 0 {
		return decidedWithDoubt(t)
	}
	// Sums of weights are rounded; a lead that is only rounding is none.
	return t.lead() > float64(t.Remaining)+1e-6
}

// decidedWithDoubt bounds the scores of the leader from below and of the rivals
// from above over all ways to share out the weight that is still to come.
func decidedWithDoubt(t Tally) bool {
	unit := t.MaxWeight
	if unit == 0 {
		unit = 1
	}
	open := float64(t.Remaining) * unit
	leader := t.Standings[0]
	sum := leader.Weight * leader.Doubt
	most := leader.Doubt + t.MaxDoubt

	// If the leader gets y of the open weight, all of it with the greatest
	// doubt, its score is low(y); a rival gets at most open − y, free of doubt.
	low := func(y float64) float64 { return score(leader.Weight+y, sum+y*most, t.Penalty) }
	// low falls to its only minimum and rises after it.
	bottom := (t.Penalty*t.MaxDoubt - 1) * leader.Weight

	const margin = 1e-6
	safe := func(rival Standing) bool {
		// In steps: the leader's worst inside a step against the rival's best
		// at its beginning. A finer step stops earlier by a fraction of a draw.
		steps := max(8*t.Remaining, 1)
		for i := range steps {
			from := open * float64(i) / float64(steps)
			to := open * float64(i+1) / float64(steps)
			worst := min(low(from), low(to))
			if from < bottom && bottom < to {
				worst = min(worst, low(bottom))
			}
			best := score(rival.Weight+open-from, rival.Weight*rival.Doubt, t.Penalty)
			if !(worst > best+margin) {
				return false
			}
		}
		return true
	}
	for _, rival := range t.Standings[1:] {
		if !safe(rival) {
			return false
		}
	}
	return t.Remaining == 0 || safe(Standing{})
}

// score is the score of a cluster, less the same constant for all clusters of a
// vote: doubt is the weighted sum over its members.
func score(weight, doubt, penalty float64) float64 {
	if weight <= 0 {
		return math.Inf(-1)
	}
	if penalty == 0 {
		return math.Log(weight)
	}
	return math.Log(weight) - penalty*doubt/weight
}

// AheadBy stops when the leader is k votes ahead of every other: the
// first-to-ahead-by-k vote of MAKER (arXiv 2511.09030). With p the chance that a
// draw is right, independent draws and one rival, it is right with probability
// 1/(1+((1−p)/p)^k); draws of one model repeat their errors, so that is an upper
// bound. k = 3 is the recommended economy; k below 1 is 1.
//
// Votes are counted in units of MaxWeight, and with Penalty each cluster's are
// first multiplied by e^(−Penalty×doubt): a doubted leader needs more of them.
func AheadBy(k int) Stop {
	return func(t Tally) bool {
		if t.Leader == 0 {
			return false
		}
		lead, rival := t.effective()
		return lead-rival >= float64(max(k, 1))-1e-6
	}
}

// Posterior stops when the leader would stay ahead of the runner-up with
// probability p if draws went on for ever: the two-leader criterion of
// Adaptive-Consistency (arXiv 2305.11860). With v1 and v2 votes that is
//
//	P(Beta(v1+1, v2+1) > ½) = Σ_{i=0..v1} C(v1+v2+1, i) / 2^(v1+v2+1) ≥ p
//
// p = 0.95 stops at 4:0 (31/32) and 6:1, not at 4:1. Above 1 or NaN it never
// stops. Weights and doubts count as in [AheadBy], rounded against the leader.
func Posterior(p float64) Stop {
	return func(t Tally) bool {
		if t.Leader == 0 {
			return false
		}
		lead, rival := t.effective()
		return aheadProbability(int(math.Floor(lead+1e-6)), int(math.Ceil(rival-1e-6))) >= p
	}
}

// aheadProbability is the formula of Posterior.
func aheadProbability(v1, v2 int) float64 {
	n := v1 + v2 + 1
	// In logarithms: C(n, i) leaves float64 at n = 1030.
	sum := 0.0
	lognf, _ := math.Lgamma(float64(n + 1))
	for i := range v1 + 1 {
		a, _ := math.Lgamma(float64(i + 1))
		b, _ := math.Lgamma(float64(n - i + 1))
		sum += math.Exp(lognf - a - b - float64(n)*math.Ln2)
	}
	return min(sum, 1)
}

// effective returns the votes of the leader and of the strongest rival, in units
// of MaxWeight, each discounted by its doubt.
func (t Tally) effective() (leader, rival float64) {
	if len(t.Standings) == 0 {
		if t.MaxWeight > 0 {
			return t.LeaderWeight / t.MaxWeight, t.RunnerUpWeight / t.MaxWeight
		}
		return float64(t.Leader), float64(t.RunnerUp)
	}
	unit := t.MaxWeight
	if unit == 0 {
		unit = 1
	}
	votes := func(s Standing) float64 { return s.Weight / unit * math.Exp(-t.Penalty*s.Doubt) }
	for _, s := range t.Standings[1:] {
		rival = max(rival, votes(s))
	}
	return votes(t.Standings[0]), rival
}

// Every asks stop only after each n draws (n below 2: after each one). Each look at
// a lead is another chance to stop at one that is luck, so with AheadBy and
// Posterior fewer looks lose fewer answers; n = 4 saves nearly as many draws as 1,
// a later first look alone does nothing (docs/votes.md, section 4). Decided, which
// never errs, needs no such rest:
//
//	vote.AnyOf(vote.Decided, vote.Every(4, vote.AheadBy(3)))
func Every(n int, stop Stop) Stop {
	return func(t Tally) bool { return stop != nil && t.Drawn%max(n, 1) == 0 && stop(t) }
}

// AnyOf stops as soon as one of stops does. No stop never does, nor does a nil one.
func AnyOf(stops ...Stop) Stop {
	return func(t Tally) bool {
		for _, stop := range stops {
			if stop != nil && stop(t) {
				return true
			}
		}
		return false
	}
}
