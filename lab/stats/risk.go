package stats

import (
	"math"

	"github.com/texttosql/texttosql/eval"
)

// Risk returns the share of wrong answers among the surest outcomes, with its interval: a point of the risk-coverage
// curve of El-Yaniv and Wiener (2010). Of equally sure outcomes a random part counts: it has the expected number of
// errors. Coverage is in 0..1, 0 excluded; ok is false otherwise, or without outcomes.
func Risk(b Bootstrap, outcomes []eval.Outcome, coverage float64) (e eval.Estimate, ok bool) {
	r := ranked(outcomes)
	return b.Statistic(outcomes, func(weights []float64) float64 { return r.risk(weights, coverage) })
}

// RiskReduction returns by how much the risk at coverage is below the risk of
// answering everything, with its interval: above zero where confidence is worth
// something. Coverage is in 0..1, 0 excluded; ok is false otherwise, or without
// outcomes.
func RiskReduction(b Bootstrap, outcomes []eval.Outcome, coverage float64) (e eval.Estimate, ok bool) {
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
	r.runs(weights, func(weight, wrong float64) {
		if weight > 0 && left > 0 {
			errors += wrong * min(1, left/weight)
		}
		left -= weight
	})
	return errors / (coverage * total)
}
