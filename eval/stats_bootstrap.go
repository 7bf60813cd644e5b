package eval

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Estimate is a figure with the interval in which it may as well lie.
type Estimate struct {
	Value float64 `json:"value"` // the figure on the outcomes as they are
	Low   float64 `json:"low"`   // ends of the interval, both included
	High  float64 `json:"high"`
	N     int     `json:"n"`     // outcomes or pairs behind it
	Units int     `json:"units"` // groups that were drawn as one
}

// Bootstrap gives intervals by drawing again from what was observed.
//
// A round draws as many units as there are, with replacement, each with all of
// its outcomes, and computes the figure anew; the interval runs between the
// (1−Level)/2 and the (1+Level)/2 quantile of all rounds (the percentile
// interval of Efron and Tibshirani 1993, chapter 13, over clusters).
//
// Unit must be what varies independently: ByQuestion when several pools share
// questions, ByTemplate when several questions share a pattern. Fewer, larger
// units give wider, more honest intervals. With fewer than about 20 units the
// interval is too narrow whatever the number of rounds.
//
// The same outcomes, order and Seed give the same interval. Safe for concurrent use.
type Bootstrap struct {
	Unit   Grouping // nil: ByQuestion
	Rounds int      // 0 or less: 10,000
	Level  float64  // inside 0..1; anything else: 0.95
	Seed   uint64   // the seed of the draws; 0 is a seed like any other
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

// Mean returns the mean score. Without outcomes it is zero, with an interval
// of 0 to 1.
func (b Bootstrap) Mean(outcomes []Outcome) Estimate {
	if len(outcomes) == 0 {
		return Estimate{High: 1}
	}
	of, names := groups(b.Unit, len(outcomes), func(i int) Outcome { return outcomes[i] })
	return b.mean(of, len(names), func(i int) float64 { return outcomes[i].Score })
}

// mean is the bootstrap of a mean over clusters: the sum of what was drawn over
// the number of outcomes drawn.
func (b Bootstrap) mean(of []int, units int, value func(int) float64) Estimate {
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
	e := Estimate{Value: all.sum / all.n, N: len(of), Units: units}
	e.Low, e.High = b.interval(values)
	return e
}

// Statistic returns any figure of outcomes with its interval. stat is given how
// often each outcome was drawn, in the order of outcomes (1 each for the figure
// itself), and returns NaN where the figure is not defined; such rounds are left
// out. ok is false when it is not defined on the outcomes as they are.
//
// stat must not keep or change the slice.
func (b Bootstrap) Statistic(outcomes []Outcome, stat func(times []float64) float64) (e Estimate, ok bool) {
	of, names := groups(b.Unit, len(outcomes), func(i int) Outcome { return outcomes[i] })
	times := make([]float64, len(outcomes))
	for i := range times {
		times[i] = 1
	}
	e = Estimate{Value: stat(times), N: len(outcomes), Units: len(names)}
	if math.IsNaN(e.Value) || len(outcomes) == 0 {
		return Estimate{N: len(outcomes), Units: len(names)}, false
	}
	draw := newDrawer(b.Seed)
	drawn := make([]float64, len(names))
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
		e.Low, e.High = e.Value, e.Value
		return e, true
	}
	e.Low, e.High = b.interval(values)
	return e, true
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
