package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/texttosql/texttosql/internal/embedding"
	"github.com/texttosql/texttosql/trace"
)

// Budget bounds what one question may spend on model calls. The zero Budget has no limit but still counts.
//
//	account := llm.Budget{Calls: 20, Timeout: time.Minute}.Start()
//	model = llm.Chain(model, account.Middleware(), llm.Retry{}.Middleware())
//
// Calls is never exceeded, however many run at once: each call is counted before it starts, and [Retry] asks before it
// repeats one. (Attempts that a model repeats by itself are counted when they end.) Timeout ends calls in flight.
//
// For Tokens and Money, the remaining budget must cover the estimated prompt of a call and the prompts in flight. The
// length of a reply is not known in advance, so the replies in flight when the limit is reached may exceed it.
type Budget struct {
	Calls   int           // attempts sent to a provider; 0: no limit; WithBudget rejects negative limits
	Tokens  int           // limit on tokens of prompts and replies together; 0: no limit
	Money   float64       // limit on money, in the unit of Prices; 0: no limit
	Timeout time.Duration // time limit from Start; 0: no limit

	// ReasoningTokens limits the tokens of one reply of a reasoning model. It sets TokenLimitTuner.Room for each model
	// of an engine. 0 means 32,768.
	ReasoningTokens int

	// InFlight limits the model calls of one question that run at the same time; 0 means 16.
	InFlight int

	// Prices maps the name of a model ([NameOf]) to its prices. Without such an entry, the name that the provider
	// reports in the reply is looked up. The entry "" is for every other model. With a limit on Money, a call of a
	// model without a valid price before its first reply is a permanent error. Prices must not change after Start.
	Prices map[string]Price
}

// Price is the price of one million tokens.
type Price struct {
	Prompt     float64 `json:"prompt"`     // the price of tokens sent
	Completion float64 `json:"completion"` // the price of tokens received, reasoning included

	Cached     float64 `json:"cached,omitempty"`      // the price of tokens read from the cache; 0: as Prompt
	CacheWrite float64 `json:"cache_write,omitempty"` // the price of tokens written to the cache; 0: as Prompt
}

// valid reports whether all prices are finite and not negative.
func (p Price) valid() bool {
	return min(p.Prompt, p.Completion, p.Cached, p.CacheWrite) >= 0 &&
		max(p.Prompt, p.Completion, p.Cached, p.CacheWrite) <= math.MaxFloat64
}

// Of returns the cost of u, in the unit of the price.
func (p Price) Of(u Usage) float64 {
	plain := u.PromptTokens - u.CachedTokens - u.CacheWriteTokens
	return (float64(plain)*p.Prompt + float64(u.CachedTokens)*cmp.Or(p.Cached, p.Prompt) +
		float64(u.CacheWriteTokens)*cmp.Or(p.CacheWrite, p.Prompt) + float64(u.CompletionTokens)*p.Completion) / 1e6
}

// ErrBudget matches the errors of a spent budget. See [BudgetError].
var ErrBudget = errors.New("llm: budget spent")

// BudgetError reports which limit of a budget prevented or ended a call. It matches [ErrBudget].
type BudgetError struct {
	Limit string  // "calls", "tokens", "money" or "time"
	Max   float64 // the limit; seconds for "time"
	Spent float64 // the amount spent, and reserved for calls in flight
	Need  float64 // the least that the call needs; 0 for "time"
}

// Error names the limit and the amount spent.
func (e *BudgetError) Error() string {
	text := fmt.Sprintf("%v: %s: %g of %g", ErrBudget, e.Limit, e.Spent, e.Max)
	if e.Limit == "time" {
		return text + " s"
	}
	return fmt.Sprintf("%s, %g needed", text, e.Need)
}

// Is reports whether target is ErrBudget.
func (e *BudgetError) Is(target error) bool { return target == ErrBudget }

// BudgetTracker counts what one question has spent of its budget. It is safe for concurrent use.
type BudgetTracker struct {
	budget Budget
	start  time.Time
	late   *BudgetError // the cause of contexts that Timeout ended; nil without a Timeout

	mu     sync.Mutex
	calls  int                         // attempts completed and in flight
	ended  Usage                       // usage of calls that ended; its Calls are included in calls
	aside  Usage                       // prompts of calls in flight
	lost   Usage                       // tokens and money of failed attempts of these calls
	opened int                         // calls in flight
	given  map[*TokenLimitTuner]futile // calls of a model that can no longer succeed
	down   map[string]outage           // by the name of a model
}

// outage holds what is known about a provider that fails again and again.
type outage struct {
	replied time.Time // the last reply; zero: none
	since   time.Time // the first failure after it
	failed  time.Time // the last failure
	by      *ticket   // the call that failed first after it
	over    error     // the error of the attempt after which no more are made; nil: none
}

// replied notes a reply: the provider is there.
func (t *ticket) replied() {
	if t == nil {
		return
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	t.account.down[t.model] = outage{replied: time.Now()}
}

// failing notes that a call whose attempts fail since began failed once more. It returns for how long the provider may
// fail yet. After that it is down, unless it replied to other calls and fails for this one alone.
func (t *ticket) failing(began time.Time, patience time.Duration, err error) (left time.Duration) {
	now := time.Now()
	if t == nil {
		return max(0, patience-now.Sub(began))
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	o := t.account.down[t.model]
	if began.Before(o.replied) {
		began = o.replied
	}
	if began.Before(o.since) || now.Sub(o.failed) > patience {
		o.since = began
	}
	o.failed, o.by = now, cmp.Or(o.by, t)
	if left = max(0, patience-now.Sub(o.since)); left == 0 && (o.by != t || o.replied.IsZero()) {
		o.over = err
	}
	t.account.down[t.model] = o
	return left
}

// outage returns the last error of a provider that is taken to be down; nil: it is not.
func (t *ticket) outage() error {
	if t == nil {
		return nil
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	return t.account.down[t.model].over
}

// Start returns a tracker and starts its clock.
func (b Budget) Start() *BudgetTracker {
	a := &BudgetTracker{budget: b, start: time.Now(), down: map[string]outage{}}
	if b.Timeout > 0 {
		a.late = &BudgetError{Limit: "time", Max: b.Timeout.Seconds(), Spent: b.Timeout.Seconds()}
	}
	return a
}

// Usage returns what the question has spent. Calls in flight are counted without their tokens, and make the usage
// Partial.
func (a *BudgetTracker) Usage() Usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	u := a.ended
	u.Calls = a.calls
	u.Partial = u.Partial || a.opened > 0
	return u
}

// CallsLeft returns how many calls may still start; false if calls are not limited.
func (a *BudgetTracker) CallsLeft() (int, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(a.budget.Calls-a.calls, 0), a.budget.Calls > 0
}

// Middleware returns a middleware whose calls count on this tracker. Wrap every model that works on the question in
// it. A call that the budget does not allow is not sent and returns a [*BudgetError]. A call in flight when Timeout
// runs out returns one too.
func (a *BudgetTracker) Middleware() Middleware {
	return func(next Model) Model { return charged{inner{next}, a} }
}

type charged struct {
	inner
	account *BudgetTracker
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
	within, cancel := a.limit(context.WithValue(ctx, ticketKey{}, t))
	defer cancel()
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
	if ctx.Err() == nil { // then Timeout ended the call
		return Response{}, a.late
	}
	return Response{}, ctx.Err()
}

// limit returns ctx with the end that Timeout sets.
func (a *BudgetTracker) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.late == nil {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, a.start.Add(a.budget.Timeout), a.late)
}

// open checks the limits and takes one call.
func (a *BudgetTracker) open(model string, req Request) (*ticket, error) {
	t := &ticket{account: a, model: model, calls: 1}
	if _, ok := t.price(""); !ok && a.budget.Money > 0 {
		return nil, &Error{Class: ClassPermanent,
			Message: fmt.Sprintf("a limit on money needs prices, and there is no valid one for model %q", model)}
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

// check returns an error if the budget does not cover another call with the given prompt. a.mu is held.
func (a *BudgetTracker) check(prompt Usage) error {
	b := a.budget
	if b.Calls > 0 && a.calls >= b.Calls {
		return &BudgetError{"calls", float64(b.Calls), float64(a.calls), 1}
	}
	tokens := a.ended.PromptTokens + a.ended.CompletionTokens + a.lost.PromptTokens + a.lost.CompletionTokens +
		a.aside.PromptTokens
	if need := max(prompt.PromptTokens, 1); b.Tokens > 0 && tokens+need > b.Tokens {
		return &BudgetError{"tokens", float64(b.Tokens), float64(tokens), float64(need)}
	}
	money := a.ended.Money + a.lost.Money + a.aside.Money
	if b.Money > 0 && (money >= b.Money || money+prompt.Money > b.Money) {
		return &BudgetError{"money", b.Money, money, prompt.Money}
	}
	if a.late != nil && time.Since(a.start) >= b.Timeout {
		return a.late
	}
	return nil
}

// ticket is one call on an account, with all its attempts. It travels in the context to the middlewares further in,
// which know about attempts. The nil ticket belongs to a call without an account.
type ticket struct {
	account *BudgetTracker
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
	t.setLost(Usage{})
	a.free(t)
	a.calls += u.Calls - t.calls // a model may retry by itself, and a cache further in makes no call
	a.ended = a.ended.Add(u)
}

// free gives back what was set aside for t. a.mu is held.
func (a *BudgetTracker) free(t *ticket) {
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

// loseCall adds the cost of a failed attempt to the tracker.
func (t *ticket) loseCall(u Usage) {
	if t != nil {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.setLost(t.lost.Add(t.priced(u, "")))
	}
}

// setLost sets the cost of the failed attempts so far, and takes the calls of it that a model repeated by itself.
// account.mu is held.
func (t *ticket) setLost(u Usage) {
	more := max(0, u.Calls-t.calls)
	t.calls += more
	t.account.calls += more
	lost := &t.account.lost
	lost.PromptTokens += u.PromptTokens - t.lost.PromptTokens
	lost.CompletionTokens += u.CompletionTokens - t.lost.CompletionTokens
	lost.Money += u.Money - t.lost.Money
	t.lost = u
}

// lose sets the cost of all attempts so far on the tracker, if a middleware knows it.
func (t *ticket) lose(u Usage) {
	if t != nil {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.setLost(t.priced(u, ""))
	}
}

// futile records which calls of a model would fail.
type futile struct {
	err     error // with which they would fail; nil: none would
	least   int   // the tokens of the shortest prompt of them
	replied bool  // the model has replied to another call
}

// giveUp makes further calls of l on the account end with err, unless the model has replied to one.
func (t *ticket) giveUp(l *TokenLimitTuner, err error, least int) {
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	if f := t.account.given[l]; !f.replied && f.err == nil {
		t.account.note(l, futile{err: err, least: least})
	}
}

// note keeps f. a.mu is held.
func (a *BudgetTracker) note(l *TokenLimitTuner, f futile) {
	if a.given == nil {
		a.given = make(map[*TokenLimitTuner]futile)
	}
	a.given[l] = f
}

// answered notes that l has a reply on the account.
func (t *ticket) answered(l *TokenLimitTuner) {
	if t != nil {
		t.account.mu.Lock()
		defer t.account.mu.Unlock()
		t.account.note(l, futile{replied: true})
	}
}

// hopeless returns the error of giveUp, where it holds for a prompt of so many tokens; nil: it does not.
func (t *ticket) hopeless(l *TokenLimitTuner, prompt int) error {
	if t == nil {
		return nil
	}
	t.account.mu.Lock()
	defer t.account.mu.Unlock()
	if f := t.account.given[l]; prompt >= f.least {
		return f.err
	}
	return nil
}

// Into returns a context in which embeddings count on this tracker ([BudgetTracker.Embed]): those
// of memory.Vectors.
func (a *BudgetTracker) Into(ctx context.Context) context.Context {
	return embedding.NewContext(ctx, a)
}

// Embed calls an embedding model for texts. The call counts as one call on a and in the trace of ctx. Its tokens are an
// estimate, with the price of the model "embedding". It returns the call's error, or a [*BudgetError] if a does not
// allow the call or its Timeout ends it.
func (a *BudgetTracker) Embed(ctx context.Context, texts []string, call func(context.Context) error) error {
	var req Request
	for _, text := range texts {
		req.Messages = append(req.Messages, Message{Text: text})
	}
	t, err := a.open("embedding", req)
	if err != nil {
		return err
	}
	used := failedUsage(ClassUnknown) // also where the call panics
	defer func() { t.close(used); trace.FromContext(ctx).AddUsage(used) }()
	within, cancel := a.limit(ctx)
	defer cancel()
	switch err = call(within); {
	case err == nil:
		used = t.priced(Estimate(req, ""), "")
	case within.Err() != nil && ctx.Err() == nil:
		return a.late
	default:
		used = usageOf(err)
	}
	return err
}
