package trace

import "math"

// Usage is what model calls cost. The zero Usage is no call.
type Usage struct {
	Calls            int     `json:"calls"`             // attempts sent to a provider, failed ones included
	PromptTokens     int     `json:"prompt_tokens"`     // sent
	CompletionTokens int     `json:"completion_tokens"` // received
	Money            float64 `json:"money,omitempty"`   // in the unit of the user's price table; 0 without one
	Known            bool    `json:"known"`             // every provider reported its tokens; false: some are estimates or missing
	Partial          bool    `json:"partial,omitempty"` // a cancelled or failed call may have cost more
}

// Add returns the sum of u and v. Known holds only if it holds for both
// (a Usage without calls does not count), Partial if for either. Money stays
// finite: an amount that is no number, or too much, is left out and makes the
// sum unknown, because one bad price must not spoil all sums above it.
func (u Usage) Add(v Usage) Usage {
	known := u.Known && v.Known
	switch {
	case u.Calls == 0:
		known = v.Known
	case v.Calls == 0:
		known = u.Known
	}
	money := u.Money + v.Money
	if !finite(money) {
		money, known = 0, false
		if finite(u.Money) {
			money = u.Money
		} else if finite(v.Money) {
			money = v.Money
		}
	}
	return Usage{
		Calls:            sum(u.Calls, v.Calls),
		PromptTokens:     sum(u.PromptTokens, v.PromptTokens),
		CompletionTokens: sum(u.CompletionTokens, v.CompletionTokens),
		Money:            money,
		Known:            known,
		Partial:          u.Partial || v.Partial,
	}
}

// sum stays at the largest number instead of turning negative.
func sum(a, b int) int {
	if s := a + b; s >= a || b < 0 {
		return s
	}
	return math.MaxInt
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
