package vote

import "math"

// Wave says how many draws an election sends at once. The zero Wave wastes none:
// it sends no more than the smallest number that could decide the vote, so that
// for plain votes as many are drawn as if they were drawn one by one.
type Wave struct {
	// Min is the least number of draws of a wave. More of them waste calls and
	// save waiting; with AheadBy or Posterior they also save answers, because
	// every look is another chance to stop at a lead that is luck. (On recorded
	// pools 4 halved the looks, for a few more calls; a longer first wave alone
	// did nothing.) 0 means 1; the planned number of draws sends all at once.
	Min int
	// K is that of AheadBy, where the election stops by it; 0: it stops by
	// Decided alone.
	K int
}

// Next returns the number of draws of the next wave, 0 when none remains. With
// lead L (in votes of the greatest weight) and R draws remaining it is
// ⌊(R − L)/2⌋ + 1, or K − L if that is less, at least Min and at most R: fewer
// than ⌊(R − L)/2⌋ + 1 could not decide even if all went to the leader. For 12
// draws the first wave is 7, with K = 3 it is 3.
//
// The rule is that of methods/maker.md 3.2. It looks at votes and not at doubts;
// with doubts a wave may be smaller than what could decide, which costs time but
// no call.
func (w Wave) Next(t Tally) int {
	if t.Remaining <= 0 {
		return 0
	}
	lead := t.lead()
	n := int(math.Floor((float64(t.Remaining)-lead)/2+1e-9)) + 1
	if w.K > 0 {
		n = min(n, int(math.Ceil(float64(w.K)-lead-1e-9)))
	}
	return min(max(n, w.Min, 1), t.Remaining)
}
