package trace

import "math"

// Usage is the cost of model calls. The zero Usage means no calls.
type Usage struct {
	Calls            int `json:"calls"`             // attempts sent to a provider, failed ones included
	PromptTokens     int `json:"prompt_tokens"`     // sent, including tokens read from or written to a cache
	CompletionTokens int `json:"completion_tokens"` // received, reasoning included

	CachedTokens int `json:"cached_tokens,omitempty"` // the part of PromptTokens from the cache, at a lower price
	// the part of PromptTokens written to it, at a separate price
	CacheWriteTokens int `json:"cache_write_tokens,omitempty"`
	// the part of CompletionTokens for reasoning; 0 also if unknown
	ReasoningTokens int `json:"reasoning_tokens,omitempty"`

	Money   float64 `json:"money,omitempty"`   // the cost in the unit of the user's price table; 0 without one
	Known   bool    `json:"known"`             // every provider reported its tokens; false: some are estimates or missing
	Partial bool    `json:"partial,omitempty"` // a cancelled or failed call may have cost more
}

// Add returns the sum of u and v. It is Known if both are known; a Usage without calls is ignored for this. It is
// Partial if one of them is. Money that is not finite is left out and makes the sum unknown, because one bad price must
// not spoil all sums that include it.
func (u Usage) Add(v Usage) Usage {
	known := u.Known && v.Known
	switch {
	case u.Calls == 0:
		known = v.Known
	case v.Calls == 0:
		known = u.Known
	}
	money := 0.0
	for _, amount := range [...]float64{u.Money, v.Money} {
		if finite(money + amount) {
			money += amount
		} else {
			known = false
		}
	}
	return Usage{
		Calls:            sum(u.Calls, v.Calls),
		PromptTokens:     sum(u.PromptTokens, v.PromptTokens),
		CompletionTokens: sum(u.CompletionTokens, v.CompletionTokens),
		CachedTokens:     sum(u.CachedTokens, v.CachedTokens),
		CacheWriteTokens: sum(u.CacheWriteTokens, v.CacheWriteTokens),
		ReasoningTokens:  sum(u.ReasoningTokens, v.ReasoningTokens),
		Money:            money,
		Known:            known,
		Partial:          u.Partial || v.Partial,
	}
}

// sum returns a + b, at most math.MaxInt instead of a negative number.
func sum(a, b int) int {
	if s := a + b; s >= a || b < 0 {
		return s
	}
	return math.MaxInt
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
