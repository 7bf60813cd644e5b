package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/texttosql/texttosql/internal/abandon"
	"github.com/texttosql/texttosql/trace"
)

// EventRetry is the name of the event in the trace of a question when a call failed and waits to be tried again. Its attribute is
// "wait", a time.Duration.
const EventRetry = "retry"

// Retry repeats calls that failed for a reason that may pass. Errors that are [Error.Temporary] are tried up to
// Attempts times, errors of unknown class twice. Nothing is repeated after ctx ended or the budget is spent.
//
// The wait before attempt n+1 is a random time between half of Base·2ⁿ⁻¹ and all of it, at most Max. If the provider
// asks for a wait, the call waits that long plus a random time up to Base. If the provider asks for more than Max, or
// if ctx would end during the wait, the call fails at once with the provider's error.
//
// The usage of a reply includes its failed attempts. The error of a call with several attempts says how many there
// were. Where an Account is in ctx, three repeated attempts of its calls to one model that fail without a reply between them end
// the rest: the provider is down. The zero Retry is the default.
type Retry struct {
	Attempts int           // the most attempts, the first one included; 0 means 4; 1 or negative: no retry
	Base     time.Duration // first wait; 0 means 500 ms
	Max      time.Duration // longest wait; 0 means 1 minute, the window of most providers' limits

	// Rand returns numbers in [0, 1) for the random part of the wait; nil means math/rand/v2. It must be safe for
	// concurrent use.
	Rand func() float64
}

// Middleware returns a middleware without state. Safe for concurrent use.
func (r Retry) Middleware() Middleware {
	r.Attempts = cmp.Or(r.Attempts, 4)
	r.Base = cmp.Or(r.Base, 500*time.Millisecond)
	r.Max = cmp.Or(r.Max, time.Minute)
	if r.Rand == nil {
		r.Rand = rand.Float64
	}
	return func(next Model) Model { return retrying{inner{next}, r} }
}

type retrying struct {
	inner
	Retry
}

func (r retrying) Complete(ctx context.Context, req Request) (Response, error) {
	var failed Usage
	unknown := 0
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		if err := ticketOf(ctx).outage(); err != nil && attempt == 1 {
			return Response{}, fmt.Errorf("not sent, since the calls beside it failed: %w", err)
		}
		resp, err := r.next.Complete(asAttempt(ctx, attempt), req)
		if ctx.Err() == nil && (err == nil || ClassOf(err).temporary()) {
			ticketOf(ctx).repeated(attempt, err)
		}
		if err == nil {
			if attempt > 1 {
				resp.Usage = failed.Add(measure(req, resp))
			}
			return resp, nil
		}
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		class := ClassOf(err)
		failed = failed.Add(ticketOf(ctx).priced(costOf(err), ""))
		if class == ClassUnknown {
			unknown++
		}
		delay, again := r.wait(ctx, attempt, err)
		if !again || attempt >= r.Attempts || !class.temporary() && (class != ClassUnknown || unknown > 1) || ticketOf(ctx).outage() != nil {
			if attempt > 1 {
				err = &attemptsError{fmt.Errorf("%w (attempt %d)", err, attempt), failed}
			}
			return Response{}, err
		}
		// The account is told of this attempt only because it is repeated. It learns of the last attempt from a Retry
		// further out, or at the end of the call.
		t := ticketOf(ctx)
		t.loseCall(usageOf(err))
		if refused := t.takeCall(); refused != nil {
			err = fmt.Errorf("%w: no attempt %d after: %w", refused, attempt+1, err)
			return Response{}, &attemptsError{err, failed}
		}
		trace.From(ctx).Event(EventRetry, trace.Attr{Key: "wait", Value: delay})
		if err := abandon.For(ctx, delay); err != nil {
			t.returnCall()
			return Response{}, err
		}
		if t.outage() != nil { // told while this call waited
			t.returnCall()
			return Response{}, &attemptsError{fmt.Errorf("%w (attempt %d)", err, attempt), failed}
		}
	}
}

// attemptsError is the error of a call that took several attempts, with the cost of all of them.
type attemptsError struct {
	error
	cost Usage
}

// Unwrap returns the error of the last attempt.
func (e *attemptsError) Unwrap() error { return e.error }

// costOf returns the cost of a call that ended with err.
func costOf(err error) Usage {
	if e := (*attemptsError)(nil); errors.As(err, &e) {
		return e.cost
	}
	return usageOf(err)
}

// wait returns how long to wait after the given attempt; false if waiting is of no use.
func (r Retry) wait(ctx context.Context, attempt int, err error) (time.Duration, bool) {
	wait := r.Max
	// Doubling stops before it could overflow.
	if shift := attempt - 1; shift < 16 && r.Base < r.Max>>shift {
		wait = r.Base << shift
	}
	wait = wait/2 + time.Duration(r.Rand()*float64(wait-wait/2))

	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		if e.RetryAfter > r.Max {
			return 0, false
		}
		// A dozen samples that were told the same second must not come back in the same millisecond, nor too early.
		wait = e.RetryAfter + time.Duration(r.Rand()*float64(r.Base))
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false
	}
	return wait, true
}

type attemptKey struct{}

// asAttempt stores the number of the attempt in ctx, for Trace. The first attempt needs no mark.
func asAttempt(ctx context.Context, n int) context.Context {
	if n == 1 {
		return ctx
	}
	return context.WithValue(ctx, attemptKey{}, n)
}

func attemptOf(ctx context.Context) int {
	n, _ := ctx.Value(attemptKey{}).(int)
	return max(n, 1)
}
