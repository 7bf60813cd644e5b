package llm

import (
	"math"
	"unicode/utf8"
)

// Estimate returns what one call probably cost: one call, and a token for every
// 4 characters of the request's messages and of the reply, rounded up. Known is
// false.
func Estimate(req Request, reply string) Usage {
	prompt := 0
	for _, m := range req.Messages {
		prompt += utf8.RuneCountInString(m.Text)
	}
	return Usage{
		Calls:            1,
		PromptTokens:     tokens(prompt),
		CompletionTokens: tokens(utf8.RuneCountInString(reply)),
	}
}

// tokens is the common rule of thumb for English and SQL.
func tokens(runes int) int { return (runes + 3) / 4 }

// Measure returns resp.Usage with its gaps filled: the tokens of [Estimate]
// where the provider reported none, or what no call can take, and one call where
// none is counted. Money that is negative or no number is left out. A usage that
// is known to be nothing, as the hit of a cache, stays so.
func Measure(req Request, resp Response) Usage {
	u := resp.Usage
	if !(u.Money >= 0 && u.Money <= math.MaxFloat64) {
		u.Money = 0
	}
	reported := u.PromptTokens != 0 || u.CompletionTokens != 0
	switch {
	case !possible(u.PromptTokens), !possible(u.CompletionTokens), !possible(u.Calls):
		// A figure that is taken as it is would switch a budget off.
		return Estimate(req, resp.Text)
	case u.Known && !reported:
		return u
	case !reported:
		e := Estimate(req, resp.Text)
		u.PromptTokens, u.CompletionTokens = e.PromptTokens, e.CompletionTokens
	}
	u.Calls = max(u.Calls, 1)
	return u
}

// possible reports whether a provider may mean n: no model reads or writes more
// than some millions of tokens at once.
func possible(n int) bool { return n >= 0 && n <= 1<<30 }

// failedUsage is what one failed attempt cost. A provider that turns a request
// away charges nothing; one that was given up on may have worked for nothing.
func failedUsage(class Class) Usage {
	switch class {
	case ClassRateLimit, ClassOverloaded, ClassContextTooLong, ClassPermanent:
		return Usage{Calls: 1, Known: true}
	}
	return Usage{Calls: 1, Partial: true}
}
