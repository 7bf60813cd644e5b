// Package resample gives figures an interval by drawing again from observations (the percentile interval of Efron and
// Tibshirani 1993, chapter 13, over clusters).
package resample

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Bootstrap draws as many units as there are, with replacement, each with all of its outcomes, and computes the figure
// anew. The same outcomes, order and Seed give the same interval. Safe for concurrent use.
type Bootstrap struct {
	Rounds int     // 0 or less: 10,000
	Level  float64 // inside 0..1; anything else: 0.95
	Seed   uint64  // the seed of the draws; 0 is a seed like any other
}

const (
	defaultRounds = 10_000
	defaultLevel  = 0.95
)

func (b Bootstrap) rounds() int {
	if b.Rounds <= 0 {
		return defaultRounds
	}
	return b.Rounds
}

func (b Bootstrap) level() float64 {
	if b.Level > 0 && b.Level < 1 {
		return b.Level
	}
	return defaultLevel
}

// Mean returns the mean of values over clusters with its interval: the sum of the drawn values over their number. of
// has the unit of each value, which value returns by its place.
func (b Bootstrap) Mean(of []int, units int, value func(int) float64) (figure, low, high float64) {
	type total struct{ sum, n float64 }
	totals := make([]total, units)
	var all total
	for i, u := range of {
		v := value(i)
		totals[u].sum += v
		totals[u].n++
		all.sum += v
		all.n++
	}
	draw := newDrawer(b.Seed)
	values := make([]float64, b.rounds())
	for r := range values {
		var t total
		for range units {
			u := &totals[draw.below(units)]
			t.sum += u.sum
			t.n += u.n
		}
		values[r] = t.sum / t.n
	}
	low, high = b.interval(values)
	return all.sum / all.n, low, high
}

// Statistic returns any figure of outcomes with its interval. of has the unit of each outcome. stat is given how often
// each outcome was drawn (1 each for the figure itself), and returns NaN where the figure is not defined; such rounds
// are left out. ok is false when it is not defined on the outcomes as they are. stat must not keep or change the slice.
func (b Bootstrap) Statistic(of []int, units int, stat func(times []float64) float64) (figure, low, high float64,
	ok bool) {
	times := make([]float64, len(of))
	for i := range times {
		times[i] = 1
	}
	figure = stat(times)
	if math.IsNaN(figure) || len(of) == 0 {
		return 0, 0, 0, false
	}
	draw := newDrawer(b.Seed)
	drawn := make([]float64, units)
	values := make([]float64, 0, b.rounds())
	for range b.rounds() {
		clear(drawn)
		for range drawn {
			drawn[draw.below(len(drawn))]++
		}
		for i, u := range of {
			times[i] = drawn[u]
		}
		if v := stat(times); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return figure, figure, figure, true
	}
	low, high = b.interval(values)
	return figure, low, high, true
}

// interval returns the outer bounds of the middle Level of values, which it
// sorts. As many values are cut off below as above.
func (b Bootstrap) interval(values []float64) (low, high float64) {
	slices.Sort(values)
	cut := int(float64(len(values)) * (1 - b.level()) / 2)
	cut = min(cut, (len(values)-1)/2)
	return values[cut], values[len(values)-1-cut]
}

// drawer draws whole numbers. It does not use rand.Rand, whose way from the
// source to a number may change between Go releases; figures in reports must not.
type drawer struct{ source *rand.PCG }

func newDrawer(seed uint64) drawer {
	return drawer{rand.NewPCG(seed, 0x9e3779b97f4a7c15)} // any fixed second word serves; the golden ratio is customary
}

// below returns a number in 0..n-1. The bias of multiplying without rejection is
// below n ÷ 2^64.
func (d drawer) below(n int) int {
	hi, _ := bits.Mul64(d.source.Uint64(), uint64(n))
	return int(hi)
}
