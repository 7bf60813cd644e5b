package eval

import (
	"cmp"
	"slices"
)

// RiskPoint is what answering only the surest questions gives.
type RiskPoint struct {
	Coverage   float64 `json:"coverage"`   // share of questions answered, in 0..1
	Risk       float64 `json:"risk"`       // share of wrong answers among them
	Confidence float64 `json:"confidence"` // the lowest that is answered
}

// Threshold returns the lowest confidence from which on at most so many answers are wrong, with the share of questions that is
// answered then: the value for strategy.Pipeline.MinConfidence or a check of one's own. ok is false where already the surest
// answers have more. It holds for these questions; choose on some, and look at others. A confidence below 0 counts as 0, above
// 1 as 1, and NaN as 0.
func Threshold(outcomes []Outcome, wrong int) (p RiskPoint, ok bool) {
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
		answered := float64(i + 1)
		p, ok = RiskPoint{Coverage: answered / float64(len(surest)), Risk: float64(errors) / answered, Confidence: sureness(o)}, true
	}
	return p, ok
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
