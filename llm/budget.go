package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/texttosql/texttosql/trace"
)

// Budget bounds what one question may spend on model calls. The zero Budget has no limit and still counts.
//
//	account := llm.Budget{Calls: 20, Time: time.Minute}.Start()
//	model = llm.Chain(model, account.Middleware(), llm.Retry{}.Middleware())
//
// Calls is never exceeded, however many run at once: each call is counted before it starts, and [Retry] asks before it
// repeats one. (Attempts that a model repeats by itself are counted when the call ends.) Time ends calls in flight.
//
// For Tokens and Money a call must have room for its prompt, by estimate, beside the prompts in flight. The length of a
// reply is unknown before it is there, so the replies in flight when the limit is reached may exceed it.
type Budget struct {
	Calls  int           // attempts sent to a provider; 0 or less: no limit
	Tokens int           // the most tokens of prompts and replies together; 0 or less: no limit
	Money  float64       // the most money, in the unit of Prices; 0 or less: no limit
	Time   time.Duration // the longest time since Start; 0 or less: no limit

	// Room is that of the Learner around each model of an engine: the most tokens of one reply of a model that reasons.
	// 0 means 32,768.
	Room int

	// InFlight is the most model calls of one question of an engine at the same time; 0 means 16.
	InFlight int

	// Prices holds the prices of tokens by the name of the model ([NameOf]), or else by the name that the provider
	// reports in the reply. The entry "" holds for every other model. With a limit on Money, a call of a model without
	// a valid price before its first reply is a permanent error. Prices must not change after Start.
	Prices map[string]Price
}

// Price is the price of a million tokens.
type Price struct {
	Prompt     float64 `json:"prompt"`     // the price of tokens that are sent
	Completion float64 `json:"completion"` // the price of tokens that come back, reasoning included

	Cached     float64 `json:"cached,omitempty"`      // the price of tokens that are read from the provider's cache; 0: that of Prompt
	CacheWrite float64 `json:"cache_write,omitempty"` // the price of tokens that are put into it; 0: that of Prompt
}

// valid reports whether all prices are finite and not negative.
func (p Price) valid() bool {
	return min(p.Prompt, p.Completion, p.Cached, p.CacheWrite) >= 0 && max(p.Prompt, p.Completion, p.Cached, p.CacheWrite) <= math.MaxFloat64
}

// Of returns what u costs, in the unit of the price.
func (p Price) Of(u Usage) float64 {
	plain := u.PromptTokens - u.CachedTokens - u.CacheWriteTokens
	return (float64(plain)*p.Prompt + float64(u.CachedTokens)*cmp.Or(p.Cached, p.Prompt) +
		float64(u.CacheWriteTokens)*cmp.Or(p.CacheWrite, p.Prompt) + float64(u.CompletionTokens)*p.Completion) / 1e6
}

// ErrBudget is matched by the errors of a spent budget. See [BudgetError].
var ErrBudget = errors.New("llm: budget spent")

// BudgetError says which limit of a budget prevented or ended a call. It matches [ErrBudget].
type BudgetError struct {
	Limit string  // "calls", "tokens", "money" or "time"
	Max   float64 // the limit; seconds for "time"
	Spent float64 // what is spent, and set aside for calls in flight
	Need  float64 // what the call needs at least; 0 for "time"
}

// Error names the limit, and how much of it is spent.
func (e *BudgetError) Error() string {
	text := fmt.Sprintf("%v: %s: %g of %g", ErrBudget, e.Limit, e.Spent, e.Max)
	if e.Limit == "time" {
		return text + " s"
	}
	return fmt.Sprintf("%s, %g needed", text, e.Need)
}

// Is reports whether target is ErrBudget.
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// Account counts what one question has spent of its budget. Safe for concurrent use.
type Account struct {
	budget Budget
	start  time.Time
	late   *BudgetError // the cause of contexts that Time ended; nil without a limit on Time

	mu     sync.Mutex
	calls  int                // attempts made and being made
	ended  Usage              // of calls that ended; its Calls are among calls
	aside  Usage              // prompts of calls in flight
	lost   Usage              // tokens and money of their failed attempts
	opened int                // calls in flight
	given  map[*Learner]error // calls of a model that are of no use any more, and why
	down   map[string]*outage // by the name of a model
}

// outage is what a question knows of a provider that fails again and again.
type outage struct {
	again int   // repeated attempts that failed since the last reply
	last  error // of the last one
}

// mostAgain is how many repeated attempts of all calls of a question fail, without a reply between them, until no more are made:
// samples that run in parallel would otherwise each try four times a provider that is down.
const mostAgain = 3

// repeated notes how an attempt ended; nil: with a reply.
func (t *ticket) repeated(attempt int, err error) {
	if t == nil || err != nil && attempt == 1 {
		return
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	if err == nil {
		delete(t.account.down, t.model)
		return
	}
	if t.account.down == nil {
		t.account.down = map[string]*outage{}
	}
	if t.account.down[t.model] == nil {
		t.account.down[t.model] = &outage{}
	}
	t.account.down[t.model].again++
	t.account.down[t.model].last = err
}

// outage returns the last error of a provider that is taken to be down; nil: it is not.
func (t *ticket) outage() error {
	if t == nil {
		return nil
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	if o := t.account.down[t.model]; o != nil && o.again >= mostAgain {
		return o.last
	}
	return nil
}

// Start opens an account and starts its clock.
func (b Budget) Start() *Account {
	a := &Account{budget: b, start: time.Now()}
	if b.Time > 0 {
		a.late = &BudgetError{Limit: "time", Max: b.Time.Seconds(), Spent: b.Time.Seconds()}
	}
	return a
}

// Usage returns what the account has paid for. Calls in flight are counted without their tokens, and make the usage
// Partial.
func (a *Account) Usage() Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.ended
	u.Calls = a.calls
	u.Partial = u.Partial || a.opened > 0
	return u
}

// CallsLeft returns how many calls may still start; false if there is no limit on calls.
func (a *Account) CallsLeft() (int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.budget.Calls-a.calls, 0), a.budget.Calls > 0
}

// Middleware returns a middleware that charges calls to a. Wrap every model that works on the question in it. A call
// that the budget does not allow is not made and ends with a [*BudgetError]. So does a call in flight when Time runs
// out.
func (a *Account) Middleware() Middleware {
	return func(next Model) Model { return charged{inner{next}, a} }
}

type charged struct {
	inner
	account *Account
}

func (c charged) Complete(ctx context.Context, req Request) (Response, error) {
	a := c.account
	if ctx.Err() != nil {
		return Response{}, ctx.Err()
	}
	t, err := a.open(c.Name(), req)
	if err != nil {
		return Response{}, err
	}
	within := context.WithValue(ctx, ticketKey{}, t)
	if a.late != nil {
		var cancel context.CancelFunc
		within, cancel = context.WithDeadlineCause(within, a.start.Add(a.budget.Time), a.late)
		defer cancel()
	}
	resp, err := c.next.Complete(within, req)
	if err == nil {
		resp.Usage = t.priced(measure(req, resp), resp.Model)
		t.close(resp.Usage)
		return resp, nil
	}
	if within.Err() == nil {
		t.close(t.failure(usageOf(err)))
		return resp, err
	}
	t.close(t.failure(failedUsage(ClassCancelled)))
	if ctx.Err() == nil { // then Time ended the call
		return Response{}, a.late
	}
	return Response{}, ctx.Err()
}

// open checks the limits and takes one call.
func (a *Account) open(model string, req Request) (*ticket, error) {
	t := &ticket{account: a, model: model, calls: 1}
	if _, ok := t.price(""); !ok && a.budget.Money > 0 {
		return nil, &Error{Class: ClassPermanent, Message: fmt.Sprintf("a limit on money needs prices, and there is no valid one for model %q", model)}
	}
	t.aside = t.priced(Estimate(req, ""), "")
	t.aside.Calls = 0
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.check(t.aside); err != nil {
		return nil, err
	}
	a.calls++
	a.opened++
	a.aside = a.aside.Add(t.aside)
	return t, nil
}

// check returns an error if there is no room for another call with the given prompt. a.mu is held.
func (a *Account) check(prompt Usage) error {
	b := a.budget
	if b.Calls > 0 && a.calls >= b.Calls {
		return &BudgetError{"calls", float64(b.Calls), float64(a.calls), 1}
	}
	tokens := a.ended.PromptTokens + a.ended.CompletionTokens + a.lost.PromptTokens + a.lost.CompletionTokens + a.aside.PromptTokens
	if need := max(prompt.PromptTokens, 1); b.Tokens > 0 && tokens+need > b.Tokens {
		return &BudgetError{"tokens", float64(b.Tokens), float64(tokens), float64(need)}
	}
	money := a.ended.Money + a.lost.Money + a.aside.Money
	if b.Money > 0 && (money >= b.Money || money+prompt.Money > b.Money) {
		return &BudgetError{"money", b.Money, money, prompt.Money}
	}
	if a.late != nil && time.Since(a.start) >= b.Time {
		return a.late
	}
	return nil
}

// ticket is one call on an account, with all its attempts. It travels in the context to the middlewares further in,
// which know about attempts. The nil ticket belongs to a call without an account.
type ticket struct {
	account *Account
	model   string
	aside   Usage // the estimate of the prompt

	// Guarded by account.mu.
	calls int   // attempts taken from the account
	lost  Usage // the cost of failed attempts
}

type ticketKey struct{}

func ticketOf(ctx context.Context) *ticket {
	t, _ := ctx.Value(ticketKey{}).(*ticket)
	return t
}

// close gives back what was set aside and pays u.
func (t *ticket) close(u Usage) {
	a := t.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.opened--
	a.free(t)
	t.setLost(Usage{})
	a.calls += u.Calls - t.calls // a model may retry by itself, and a cache further in makes no call
	a.ended = a.ended.Add(u)
}

// free gives back what was set aside for t. a.mu is held.
func (a *Account) free(t *ticket) {
	a.aside.PromptTokens -= t.aside.PromptTokens
	a.aside.Money -= t.aside.Money
	if a.opened == 0 {
		a.aside.Money, a.lost.Money = 0, 0 // a sum of floats does not return to exactly 0
	}
}

// failure returns the usage of a call that failed, the last attempt of it at the given cost.
func (t *ticket) failure(last Usage) Usage {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	u, each := t.lost, t.priced(last, "")
	for u.Calls < t.calls { // attempts whose end was not reported
		u = u.Add(each)
	}
	return u
}

// price returns the price of the model; false without a valid one.
func (t *ticket) price(reported string) (Price, bool) {
	prices := t.account.budget.Prices
	p, ok := prices[""]
	for _, name := range [...]string{reported, t.model} { // a later name overrides an earlier one
		if named, found := prices[name]; found && name != "" {
			p, ok = named, true
		}
	}
	if !ok || !p.valid() {
		return Price{}, false
	}
	return p, true
}

// priced returns u with its price, unless it has one already.
func (t *ticket) priced(u Usage, reported string) Usage {
	if t == nil || u.Money != 0 {
		return u
	}
	p, _ := t.price(reported)
	u.Money = p.Of(u)
	return u
}

// takeCall takes one more attempt from the account.
func (t *ticket) takeCall() error {
	if t == nil {
		return nil
	}
	a := t.account
	a.mu.Lock()
	defer a.mu.Unlock()
	a.free(t) // the prompt does not need room twice
	err := a.check(t.aside)
	a.aside = a.aside.Add(t.aside)
	if err != nil {
		return err
	}
	t.calls++
	a.calls++
	return nil
}

// returnCall gives back an attempt that was taken and not made.
func (t *ticket) returnCall() {
	if t != nil {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.calls--
		t.account.calls--
	}
}

// loseCall tells the account the cost of a failed attempt.
func (t *ticket) loseCall(u Usage) {
	if t != nil {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.setLost(t.lost.Add(t.priced(u, "")))
	}
}

// setLost says what the failed attempts cost so far. account.mu is held.
func (t *ticket) setLost(u Usage) {
	lost := &t.account.lost
	lost.PromptTokens += u.PromptTokens - t.lost.PromptTokens
	lost.CompletionTokens += u.CompletionTokens - t.lost.CompletionTokens
	lost.Money += u.Money - t.lost.Money
	t.lost = u
}

// lose tells the account the cost of all attempts so far, where a middleware knows it.
func (t *ticket) lose(u Usage) {
	if t != nil {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.setLost(t.priced(u, ""))
	}
}

// giveUp makes every further call of l on the account end with err.
func (t *ticket) giveUp(l *Learner, err error) {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	if t.account.given == nil {
		t.account.given = make(map[*Learner]error)
	}
	t.account.given[l] = err
}

// hopeless returns the error that giveUp was told; nil for none.
func (t *ticket) hopeless(l *Learner) error {
	if t == nil {
		return nil
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	return t.account.given[l]
}

type accountKey struct{}

// Into returns a context whose embeddings ([Embed]) are on the account.
func (a *Account) Into(ctx context.Context) context.Context {
	return context.WithValue(ctx, accountKey{}, a)
}

// Embed makes a call of an embedding model for texts, which counts as one call on the account of ctx and in its trace, with
// tokens by estimate and the price of the model "embedding". Without an account in ctx it only makes the call. The error is
// that of the call, or a [*BudgetError] where the account does not allow it.
func Embed(ctx context.Context, texts []string, call func(context.Context) error) error {
	a, ok := ctx.Value(accountKey{}).(*Account)
	if !ok {
		return call(ctx)
	}
	var req Request
	for _, text := range texts {
		req.Messages = append(req.Messages, Message{Text: text})
	}
	t, err := a.open("embedding", req)
	if err != nil {
		return err
	}
	used := failedUsage(ClassUnknown) // also where the call panics
	defer func() { t.close(used); trace.From(ctx).AddUsage(used) }()
	if err = call(ctx); err != nil {
		used = usageOf(err)
	} else {
		used = t.priced(Estimate(req, ""), "")
	}
	return err
}
