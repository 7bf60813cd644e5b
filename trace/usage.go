package trace

// Usage is what model calls cost. The zero Usage is no call.
type Usage struct {
	Calls            int     `json:"calls"` // attempts sent to a provider, failed ones included
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	Money            float64 `json:"money,omitempty"`   // in the unit of the user's price table; 0 without one
	Known            bool    `json:"known"`             // every provider reported its tokens; false: some are estimates or missing
	Partial          bool    `json:"partial,omitempty"` // a cancelled or failed call may have cost more
}

// Add returns the sum of u and v. Known holds only if it holds for both
// (a Usage without calls does not count), Partial if for either.
func (u Usage) Add(v Usage) Usage {
	known := u.Known && v.Known
	switch {
	case u.Calls == 0:
		known = v.Known
	case v.Calls == 0:
		known = u.Known
	}
	return Usage{
		Calls:            u.Calls + v.Calls,
		PromptTokens:     u.PromptTokens + v.PromptTokens,
		CompletionTokens: u.CompletionTokens + v.CompletionTokens,
		Money:            u.Money + v.Money,
		Known:            known,
		Partial:          u.Partial || v.Partial,
	}
}
