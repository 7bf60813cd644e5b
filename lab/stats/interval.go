package stats

import "math"

// Interval is a range of values, both ends included.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Wilson returns the score interval of a rate of right out of n:
//
//	(p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) ÷ (1 + z²/n),  p = right/n
//
// with z the normal quantile of (1+level)/2 (Wilson 1927; recommended for small
// n by Brown, Cai and DasGupta 2001). level outside of 0..1 means 0.95. It holds
// for outcomes that are independent; questions that share a template are not,
// and Bootstrap is the tool for them. With n of 0 it is 0 to 1.
func Wilson(right, n int, level float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	if !(level > 0 && level < 1) {
		level = 0.95
	}
	z := math.Sqrt2 * math.Erfinv(level)
	m := float64(n)
	p := min(max(float64(right)/m, 0), 1)
	center := p + z*z/(2*m)
	half := z * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	scale := 1 + z*z/m
	return Interval{max(0, (center-half)/scale), min(1, (center+half)/scale)}
}
