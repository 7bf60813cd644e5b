package stats

import (
	"cmp"
	"math"
	"slices"

	"github.com/texttosql/texttosql/eval"
)

// Bin is the outcomes whose confidence lies between two bounds.
type Bin struct {
	Low        float64  `json:"low"`        // bound of confidence, inside the bin
	High       float64  `json:"high"`       // outside of it, but for the last bin
	N          int      `json:"n"`          // outcomes in it
	Confidence float64  `json:"confidence"` // mean; 0 for an empty bin
	Right      float64  `json:"right"`      // share of right outcomes; 0 for an empty bin
	Interval   Interval `json:"interval"`   // the interval of Right, Wilson at 0.95
}

// Reliability returns bins of equal width over 0..1, empty ones included: what a
// reliability diagram draws. Confidence below 0 counts as 0, above 1 as 1, and
// NaN as 0, here and in every other statistic of confidence. With fewer than 1
// bin it is 10.
func Reliability(outcomes []eval.Outcome, bins int) []Bin {
	if bins < 1 {
		bins = 10
	}
	list := make([]Bin, bins)
	right := make([]int, bins)
	for _, o := range outcomes {
		c := confidence(o)
		i := min(int(c*float64(bins)), bins-1)
		list[i].N++
		list[i].Confidence += c
		if o.Right() {
			right[i]++
		}
	}
	for i := range list {
		b := &list[i]
		b.Low, b.High = float64(i)/float64(bins), float64(i+1)/float64(bins)
		b.Interval = Wilson(right[i], b.N, 0.95)
		if b.N > 0 {
			b.Confidence /= float64(b.N)
			b.Right = float64(right[i]) / float64(b.N)
		}
	}
	return list
}

// ECE returns the expected calibration error of bins,
//
//	Σ N/n · |Right − Confidence|
//
// in 0..1, 0 for none (Naeini, Cooper and Hauskrecht 2015). It depends on the
// number of bins, and grows with it: quote both.
func ECE(bins []Bin) float64 {
	var sum, n float64
	for _, b := range bins {
		sum += float64(b.N) * math.Abs(b.Right-b.Confidence)
		n += float64(b.N)
	}
	if n == 0 {
		return 0
	}
	return sum / n
}

// Brier returns the mean of (confidence − right)², in 0..1 (Brier 1950). It
// rewards both being calibrated and telling right from wrong, and needs no bins.
// Without outcomes it is 0.
func Brier(outcomes []eval.Outcome) float64 {
	if len(outcomes) == 0 {
		return 0
	}
	var sum float64
	for _, o := range outcomes {
		d := confidence(o) - oneIf(o.Right())
		sum += d * d
	}
	return sum / float64(len(outcomes))
}

// AUROC is the AUROC of outcomes with its interval. ok is false unless there are
// right and wrong outcomes.
func AUROC(b Bootstrap, outcomes []eval.Outcome) (e eval.Estimate, ok bool) {
	return b.Statistic(outcomes, ranked(outcomes).auroc)
}

// ranking is outcomes in falling order of confidence, for statistics that run
// over them once a round. Weights stand in the order of the outcomes, not of the
// ranking.
type ranking struct {
	at    []int     // rank to outcome
	wrong []float64 // by rank, 0 or 1
	ties  []int     // ends of runs of equal confidence, in ranks
}

func ranked(outcomes []eval.Outcome) ranking {
	r := ranking{at: make([]int, len(outcomes)), wrong: make([]float64, len(outcomes))}
	for i := range r.at {
		r.at[i] = i
	}
	slices.SortStableFunc(r.at, func(i, j int) int {
		return cmp.Compare(confidence(outcomes[j]), confidence(outcomes[i]))
	})
	for rank, i := range r.at {
		r.wrong[rank] = oneIf(!outcomes[i].Right())
		if rank+1 == len(r.at) || confidence(outcomes[r.at[rank+1]]) != confidence(outcomes[i]) {
			r.ties = append(r.ties, rank+1)
		}
	}
	return r
}

// runs calls f with the weight and the wrong weight of each run of equal
// confidence, surest first.
func (r ranking) runs(weights []float64, f func(weight, wrong float64)) {
	start := 0
	for _, end := range r.ties {
		var weight, wrong float64
		for rank := start; rank < end; rank++ {
			w := weights[r.at[rank]]
			weight += w
			wrong += w * r.wrong[rank]
		}
		f(weight, wrong)
		start = end
	}
}

func (r ranking) auroc(weights []float64) float64 {
	var right, wrong, area float64 // right: weight that is surer than this run
	r.runs(weights, func(weight, w float64) {
		area += w * (right + (weight-w)/2)
		right += weight - w
		wrong += w
	})
	if right == 0 || wrong == 0 {
		return math.NaN()
	}
	return area / (right * wrong)
}

func confidence(o eval.Outcome) float64 {
	if !(o.Confidence > 0) { // NaN as well
		return 0
	}
	return min(o.Confidence, 1)
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
