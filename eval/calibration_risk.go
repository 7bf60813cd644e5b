package eval

import "math"

// RiskPoint is what answering only the surest questions gives.
type RiskPoint struct {
	Coverage   float64 `json:"coverage"`   // share of questions answered, in 0..1
	Risk       float64 `json:"risk"`       // share of wrong answers among them
	Confidence float64 `json:"confidence"` // the lowest that is answered
}

// RiskCoverage is how the share of wrong answers falls when a system answers
// only where it is sure: the risk-coverage curve of El-Yaniv and Wiener (2010).
//
// It has one point for each confidence that occurs, surest first, the last at
// coverage 1. Between points, where only a part of equally sure questions is
// answered, the part is a random one: it has the expected number of errors.
type RiskCoverage []RiskPoint

// RiskCurve returns the curve of outcomes. It is empty without outcomes.
func RiskCurve(outcomes []Outcome) RiskCoverage {
	r := ranked(outcomes)
	curve := make(RiskCoverage, 0, len(r.ties))
	var n, wrong float64
	r.runs(ones(len(outcomes)), func(run int, weight, w float64) {
		n += weight
		wrong += w
		curve = append(curve, RiskPoint{
			Coverage: n / float64(len(outcomes)), Risk: wrong / n, Confidence: r.level[run],
		})
	})
	return curve
}

// Threshold returns the lowest confidence from which on at most so many answers are wrong, with the share of questions that is
// answered then: the value for strategy.Pipeline.MinConfidence or a check of one's own. ok is false where already the surest
// answers have more. It holds for these questions; choose on some, and look at others.
func Threshold(outcomes []Outcome, wrong int) (p RiskPoint, ok bool) {
	for _, next := range RiskCurve(outcomes) {
		if math.Round(next.Risk*next.Coverage*float64(len(outcomes))) > float64(wrong) {
			break
		}
		p, ok = next, true
	}
	return p, ok
}

// Risk returns the share of wrong answers among the surest outcomes, see
// RiskCoverage, with its interval. Coverage is in 0..1, 0 excluded; ok is
// false otherwise, or without outcomes.
func (b Bootstrap) Risk(outcomes []Outcome, coverage float64) (e Estimate, ok bool) {
	r := ranked(outcomes)
	return b.Statistic(outcomes, func(weights []float64) float64 { return r.risk(weights, coverage) })
}

// RiskReduction returns by how much the risk at coverage is below the risk of
// answering everything, with its interval: above zero where confidence is worth
// something. Coverage is in 0..1, 0 excluded; ok is false otherwise, or without
// outcomes.
func (b Bootstrap) RiskReduction(outcomes []Outcome, coverage float64) (e Estimate, ok bool) {
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
