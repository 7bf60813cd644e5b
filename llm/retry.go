package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Retry repeats calls that failed for a passing reason: errors that are
// [Error.Temporary] until Attempts are used up, errors of unknown class once.
// Nothing is repeated after ctx ended, and no spent budget.
//
// The wait before attempt n+1 is drawn evenly from half to all of
// Base·2ⁿ⁻¹, at most Max. A provider that names a wait gets at least that, and at
// most Base more; if it asks for more than Max, or ctx would end before, the
// call fails at once with the provider's error.
//
// The usage of a reply includes its failed attempts, and the error of a call
// says how many there were, if several. The zero Retry is the default.
type Retry struct {
	Attempts int           // at most, the first one included; 0 means 4; 1 or negative: no retry
	Base     time.Duration // first wait; 0 means 500 ms
	Max      time.Duration // longest wait; 0 means 1 minute, the window of most providers' limits

	// Rand gives numbers in [0, 1) for the jitter; nil means math/rand/v2. It
	// must be safe for concurrent use.
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
	return func(next Model) Model {
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			return r.complete(ctx, next, req)
		})
	}
}

func (r Retry) complete(ctx context.Context, next Model, req Request) (Response, error) {
	var failed Usage
	unknown := 0
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		resp, err := next.Complete(asAttempt(ctx, attempt), req)
		if err == nil {
			if attempt > 1 {
				resp.Usage = failed.Add(Measure(req, resp))
			}
			return resp, nil
		}
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		class := ClassOf(err)
		failed = failed.Add(costOf(err))
		if class == ClassUnknown {
			unknown++
		}
		again := attempt < r.Attempts && (class.temporary() || class == ClassUnknown && unknown == 1)
		wait, ok := time.Duration(0), false
		if again {
			wait, ok = r.wait(ctx, attempt, err)
		}
		if !ok {
			if attempt > 1 {
				err = &attemptsError{fmt.Errorf("%w (attempt %d)", err, attempt), failed}
			}
			return Response{}, err
		}
		// Only what is repeated is told here: the last attempt is told by a Retry
		// further out, which may repeat it, or ends on the account with the call.
		loseCall(ctx, failedUsage(class))
		if refused := takeCall(ctx); refused != nil {
			err = fmt.Errorf("%w: no attempt %d after: %w", refused, attempt+1, err)
			return Response{}, &attemptsError{err, failed}
		}
		if err := sleep(ctx, wait); err != nil {
			returnCall(ctx)
			return Response{}, err
		}
	}
}

// attemptsError is the error of a call that took several attempts, with what all
// of them cost: who is further out sees one call.
type attemptsError struct {
	error
	cost Usage
}

// Unwrap returns the error of the last attempt.
func (e *attemptsError) Unwrap() error { return e.error }

// costOf is what a call that ended with err cost.
func costOf(err error) Usage {
	if e := (*attemptsError)(nil); errors.As(err, &e) {
		return e.cost
	}
	return failedUsage(ClassOf(err))
}

// wait returns how long to wait after the given attempt; false if there is no
// point in it.
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
		// Later, never earlier: a dozen draws that were told the same second must
		// not come back in the same millisecond.
		wait = e.RetryAfter + time.Duration(r.Rand()*float64(r.Base))
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false
	}
	return wait, true
}

type attemptKey struct{}

// asAttempt marks ctx with the number of the attempt, for [Trace]. The first
// one, which is nearly every one, needs no mark.
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
