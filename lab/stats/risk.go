package stats

import (
	"math"

	"github.com/texttosql/texttosql/eval"
)

// RiskCoverage is how the share of wrong answers falls when a system answers
// only where it is sure: the risk-coverage curve of El-Yaniv and Wiener (2010).
//
// It has one point for each confidence that occurs, surest first, the last at
// coverage 1. Between points, where only a part of equally sure questions is
// answered, the part is a random one: it has the expected number of errors.
type RiskCoverage []eval.RiskPoint

// RiskCurve returns the curve of outcomes. It is empty without outcomes.
func RiskCurve(outcomes []eval.Outcome) RiskCoverage {
	r := ranked(outcomes)
	curve := make(RiskCoverage, 0, len(r.ties))
	var n, wrong float64
	r.runs(ones(len(outcomes)), func(run int, weight, w float64) {
		n += weight
		wrong += w
		curve = append(curve, eval.RiskPoint{
			Coverage: n / float64(len(outcomes)), Risk: wrong / n, Confidence: r.level[run],
		})
	})
	return curve
}

// Risk returns the share of wrong answers among the surest outcomes, see
// RiskCoverage, with its interval. Coverage is in 0..1, 0 excluded; ok is
// false otherwise, or without outcomes.
func Risk(b eval.Bootstrap, outcomes []eval.Outcome, coverage float64) (e eval.Estimate, ok bool) {
	r := ranked(outcomes)
	return b.Statistic(outcomes, func(weights []float64) float64 { return r.risk(weights, coverage) })
}

// RiskReduction returns by how much the risk at coverage is below the risk of
// answering everything, with its interval: above zero where confidence is worth
// something. Coverage is in 0..1, 0 excluded; ok is false otherwise, or without
// outcomes.
func RiskReduction(b eval.Bootstrap, outcomes []eval.Outcome, coverage float64) (e eval.Estimate, ok bool) {
	r := ranked(outcomes)
	return b.Statistic(outcomes, func(weights []float64) float64 {
		return r.risk(weights, 1) - r.risk(weights, coverage)
	})
}

// risk is the risk at a coverage, where each outcome counts as often as it was drawn.
func (r ranking) risk(weights []float64, coverage float64) float64 {
	if !(coverage > 0 && coverage <= 1) {
		return math.NaN()
	}
	var total float64
	for _, w := range weights {
		total += w
	}
	left := coverage * total
	var errors float64
	r.runs(weights, func(_ int, weight, wrong float64) {
		if weight > 0 && left > 0 {
			errors += wrong * min(1, left/weight)
		}
		left -= weight
	})
	return errors / (coverage * total)
}
