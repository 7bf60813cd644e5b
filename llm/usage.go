package llm

import (
	"errors"
	"math"
	"unicode/utf8"
)

// Estimate returns what one call probably cost: one call, and one token for every 4 characters of the request's
// messages and of the reply, rounded up. Known is false.
func Estimate(req Request, reply string) Usage {
	prompt := 0
	for _, m := range req.Messages {
		prompt += utf8.RuneCountInString(m.Text)
	}
	return Usage{Calls: 1, PromptTokens: tokens(prompt), CompletionTokens: tokens(utf8.RuneCountInString(reply))}
}

// tokens is the common rule of thumb for English and SQL.
func tokens(runes int) int { return (runes + 3) / 4 }

// measure returns resp.Usage with its gaps filled. It takes the tokens of Estimate if the provider reported none or an
// impossible number, and one call if none is counted. It drops money that is negative or not a finite number. A usage
// that is known to be nothing, such as that of a cached reply, stays as it is.
func measure(req Request, resp Response) Usage {
	u := resp.Usage
	if !(u.Money >= 0 && u.Money <= math.MaxFloat64) {
		u.Money = 0
	}
	reported := u.PromptTokens != 0 || u.CompletionTokens != 0
	switch {
	case !possible(u.PromptTokens), !possible(u.CompletionTokens), !possible(u.Calls),
		!possible(u.CachedTokens), !possible(u.CacheWriteTokens), !possible(u.ReasoningTokens):
		return Estimate(req, resp.Text) // an impossible number would switch a budget off
	case u.Known && !reported:
		return u
	case !reported:
		e := Estimate(req, resp.Text)
		u.PromptTokens, u.CompletionTokens = e.PromptTokens, e.CompletionTokens
	}
	u.CachedTokens = min(u.CachedTokens, u.PromptTokens) // parts are no more than the whole
	u.CacheWriteTokens = min(u.CacheWriteTokens, u.PromptTokens-u.CachedTokens)
	u.ReasoningTokens = min(u.ReasoningTokens, u.CompletionTokens)
	u.Calls = max(u.Calls, 1)
	return u
}

// possible reports whether a provider may mean n: no model reads or writes more than some millions of tokens at once.
func possible(n int) bool { return n >= 0 && n <= 1<<30 }

// usageOf returns what one attempt cost that ended with err: what its [Error] tells, or else failedUsage.
func usageOf(err error) Usage {
	var e *Error
	if !errors.As(err, &e) || e.Usage == (Usage{}) {
		return failedUsage(ClassOf(err))
	}
	u := measure(Request{}, Response{Usage: e.Usage})
	u.Calls = max(u.Calls, 1)
	return u
}

// failedUsage returns what one failed attempt cost. A provider charges nothing for a request that it turns away. It may
// charge for a call that the caller gave up.
func failedUsage(class Class) Usage {
	switch class {
	case ClassRateLimit, ClassOverloaded, ClassContextTooLong, ClassPermanent:
		return Usage{Calls: 1, Known: true}
	}
	return Usage{Calls: 1, Partial: true}
}
