package vote

import "math"

// Stop reports whether an election may end before its last sample. It is called after each sample, in index order and
// not in order of arrival, so that the same replies give the same answer. A Stop is a pure function, and false
// without votes. A nil Stop never stops.
type Stop func(State) bool

// Every returns a Stop that calls s only after each n samples; n below 2 means after each one. Each check of a lead
// is another chance to stop at a lucky one, so with [AheadBy] and [Posterior] fewer checks lose fewer answers.
// In measurements n = 4 saves nearly as many samples as n = 1. [Decided] is never wrong and does not need Every:
//
//	vote.AheadBy(3).Every(4).Or(vote.Decided)
func (s Stop) Every(n int) Stop {
	return func(t State) bool { return s != nil && t.Sampled%max(n, 1) == 0 && s(t) }
}

// Or returns a Stop that stops as soon as s or other does.
func (s Stop) Or(other Stop) Stop {
	return func(t State) bool { return s != nil && s(t) || other != nil && other(t) }
}

// AfterAgreeing returns a Stop that stops when s does. While all votes agree, it waits for n votes if n can be
// reached. Five votes are the fewest whose confidence reaches 0.85, the threshold of [LevelAgreed], with a Prior of
// 1. So with n = 5 a small vote can reach [LevelAgreed].
func (s Stop) AfterAgreeing(n int) Stop {
	return func(t State) bool {
		wait := t.Sampled < n && t.Sampled+t.Remaining >= n && len(t.Clusters) == 1
		return !wait && s != nil && s(t)
	}
}

// Decided stops when the remaining samples cannot change the winning cluster, whatever the tie rule and the weights:
//
//	leader's weight − any rival's weight > remaining samples × the greatest weight
//
// The member that represents the cluster may still change.
//
// With a Penalty it considers every way of sharing out the remaining samples. It stops if the leader's worst score is
// always above the best score that each rival, and a cluster without a vote yet, could reach. It may then take a
// little more than needed.
func Decided(t State) bool {
	leader, _ := t.leading()
	if leader < 0 {
		return false
	}
	if t.Penalty > 0 {
		return t.decidedWithDoubt(leader)
	}
	// Sums of weights are rounded; a lead that is only rounding is none.
	first, second := t.effective()
	return first-second > float64(t.Remaining)+1e-6
}

// decidedWithDoubt bounds the scores of the leader from below and of the rivals from above, over all ways to share out
// the weight that is still to come.
func (t State) decidedWithDoubt(first int) bool {
	open := float64(t.Remaining) * t.unit()
	leader := t.Clusters[first]
	more := max(t.MaxDoubt-leader.Spared, 0) // doubt that a vote for the leader can have
	most := leader.Doubt/leader.Weight + more

	// If the leader gets y of the open weight, all of it with the greatest doubt, its score is low(y); a rival gets at
	// most open − y, free of doubt.
	low := func(y float64) float64 { return score(leader.Weight+y, leader.Doubt+y*most, t.Penalty) }
	// low falls to its only minimum and rises after it.
	bottom := (t.Penalty*more - 1) * leader.Weight

	const margin = 1e-6
	safe := func(rival ClusterState) bool {
		// In steps: the leader's worst inside a step against the rival's best at its beginning. A finer step stops
		// earlier by a fraction of a sample.
		steps := max(8*t.Remaining, 1)
		for i := range steps {
			from := open * float64(i) / float64(steps)
			to := open * float64(i+1) / float64(steps)
			worst := min(low(from), low(to))
			if from < bottom && bottom < to {
				worst = min(worst, low(bottom))
			}
			if best := score(rival.Weight+open-from, rival.Doubt, t.Penalty); !(worst > best+margin) {
				return false
			}
		}
		return true
	}
	for i, rival := range t.Clusters {
		if i != first && !safe(rival) {
			return false
		}
	}
	return t.Remaining == 0 || safe(ClusterState{})
}

// score is the score of a cluster, less the same constant for all clusters of a vote. doubt is the sum of weight ×
// doubt over the members.
func score(weight, doubt, penalty float64) float64 {
	if weight <= 0 {
		return math.Inf(-1)
	}
	return math.Log(weight) - penalty*doubt/weight
}

// AheadBy stops when the leader is k votes ahead of every other cluster: the first-to-ahead-by-k vote of MAKER (arXiv
// 2511.09030). If each sample is right with probability p, independently, and there is one rival, the winner is right
// with probability 1/(1+((1−p)/p)^k). Samples of one model repeat their errors, so this is an upper bound. k = 3 is
// the recommended economy; k below 1 is 1.
//
// Votes are counted in units of MaxWeight. With a Penalty each cluster's votes are first multiplied by
// e^(−Penalty×doubt): a doubted leader needs more of them.
func AheadBy(k int) Stop {
	return func(t State) bool {
		first, second := t.effective()
		return first > 0 && first-second >= float64(max(k, 1))-1e-6
	}
}

// Posterior stops when the leader would stay ahead of the runner-up with
// probability p if sampling never ended: the two-leader criterion of
// Adaptive-Consistency (arXiv 2305.11860). With v1 and v2 votes that is
//
//	P(Beta(v1+1, v2+1) > ½) = Σ_{i=0..v1} C(v1+v2+1, i) / 2^(v1+v2+1) ≥ p
//
// p = 0.95 stops at 4:0 (31/32) and 6:1, not at 4:1. With p above 1 or NaN it never
// stops. Weights and doubts count as in [AheadBy], rounded against the leader.
func Posterior(p float64) Stop {
	return func(t State) bool {
		first, second := t.effective()
		return first > 0 && aheadProbability(int(math.Floor(first+1e-6)), int(math.Ceil(second-1e-6))) >= p
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

// effective returns the votes of the leader and of the runner-up, in units of the greatest weight, each discounted by
// its doubt.
func (t State) effective() (leader, second float64) {
	votes := func(i int) float64 {
		if i < 0 {
			return 0
		}
		s := t.Clusters[i]
		return s.Weight / t.unit() * math.Exp(-t.Penalty*s.Doubt/s.Weight)
	}
	i, j := t.leading()
	return votes(i), votes(j)
}
