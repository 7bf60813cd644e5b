package eval

import (
	"cmp"
	"slices"
)

// Threshold returns the lowest confidence above which at most so many answers are wrong as the argument wrong allows,
// and the coverage, the share of questions that is answered then. Use confidence as strategy.Pipeline.MinConfidence, or
// in a check of your own. ok is false if even the answers with the highest confidence have more wrong ones. It holds
// for these questions: choose it with some questions and test it with others. A confidence below 0 counts as 0, above 1
// as 1, and NaN as 0.
func Threshold(outcomes []Outcome, wrong int) (confidence, coverage float64, ok bool) {
	surest := slices.Clone(outcomes)
	slices.SortStableFunc(surest, func(a, b Outcome) int { return cmp.Compare(sureness(b), sureness(a)) })
	errors := 0
	for i, o := range surest {
		if !o.Right() {
			errors++
		}
		if i+1 < len(surest) && sureness(surest[i+1]) == sureness(o) {
			continue // equally sure answers are given together
		}
		if errors > wrong {
			break
		}
		confidence, coverage, ok = sureness(o), float64(i+1)/float64(len(surest)), true
	}
	return confidence, coverage, ok
}

// sureness is the confidence of an outcome in 0..1.
func sureness(o Outcome) float64 {
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
