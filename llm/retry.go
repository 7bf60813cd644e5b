package llm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/trace"
)

// eventRetry is the name of the event in the trace of a question when a call failed and waits to be tried again. Its
// attribute is "wait", a time.Duration.
const eventRetry = "retry"

// Retry repeats calls that failed for a reason that may pass. A call whose error is [Error.Temporary] is repeated until
// the provider has failed for GiveUp, a call whose error is of unknown class once. Nothing is repeated after ctx ended
// or the budget is spent.
//
// The wait before attempt n+1 is a random time between half of Base·2ⁿ⁻¹ and all of it, at most Max. The last wait ends
// when GiveUp has passed, so an outage that is shorter than GiveUp costs time and no reply. If the provider
// asks for a wait, the call waits that long plus a random time up to Base. If the provider asks for more than Max, or
// if ctx would end during the wait, the call fails at once with the provider's error.
//
// The usage of a reply includes its failed attempts. The error of a call with several attempts has their number. If
// ctx has a [BudgetTracker], its calls to one model share GiveUp: it counts from their first failure after the last
// reply of that model. Once GiveUp has passed, all these calls end, and later ones are not sent, unless the model has
// replied and fails for a single call. The zero Retry is the default.
type Retry struct {
	Attempts int           // the most attempts of a call; 0: as many as fit into GiveUp; 1 or negative: no retry
	Base     time.Duration // first wait; 0 means 500 ms
	Max      time.Duration // longest wait; 0 means 1 minute, the window of most providers' limits
	GiveUp   time.Duration // how long a provider may fail; 0 means 15 s; at most 3 s if no server answers at the address

	// Rand returns numbers in [0, 1) for the random part of the wait; nil means math/rand/v2. It must be safe for
	// concurrent use.
	Rand func() float64
}

// Middleware returns a middleware without state. Safe for concurrent use.
func (r Retry) Middleware() Middleware {
	r.Attempts = cmp.Or(r.Attempts, math.MaxInt)
	r.Base = cmp.Or(r.Base, 500*time.Millisecond)
	r.Max = cmp.Or(r.Max, time.Minute)
	r.GiveUp = cmp.Or(r.GiveUp, 15*time.Second)
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
	t, began := ticketOf(ctx), time.Time{} // began: the first failure
	for attempt := 1; ; attempt++ {
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		if err := t.outage(); err != nil && attempt == 1 {
			t.returnCall()
			return Response{}, fmt.Errorf("not sent, since the calls beside it failed: %w", err)
		}
		resp, err := r.next.Complete(asAttempt(ctx, attempt), req)
		if err == nil {
			t.replied()
			if attempt > 1 {
				resp.Usage = failed.Add(t.priced(measure(req, resp), resp.Model))
			}
			return resp, nil
		}
		if ctx.Err() != nil {
			return Response{}, ctx.Err()
		}
		if attempt == 1 {
			began = time.Now()
		}
		failed = failed.Add(t.priced(costOf(err), ""))
		repeatable := false
		left := r.patience(err)
		switch class := ClassOf(err); {
		case class.temporary():
			left = t.failing(began, left, err)
			repeatable = left > 0
		case class == ClassUnknown:
			unknown++
			repeatable = unknown == 1
		}
		delay, again := r.wait(ctx, attempt, left, err)
		if !again || !repeatable || attempt >= r.Attempts {
			if attempt > 1 {
				err = &attemptsError{fmt.Errorf("%w (attempt %d)", err, attempt), failed}
			}
			return Response{}, err
		}
		// The account is told of this attempt only because it is repeated. It learns of the last attempt from a Retry
		// further out, or at the end of the call.
		t.loseCall(usageOf(err))
		if refused := t.takeCall(); refused != nil {
			err = fmt.Errorf("%w: no attempt %d after: %w", refused, attempt+1, err)
			return Response{}, &attemptsError{err, failed}
		}
		background.Retry(ctx)
		trace.FromContext(ctx).Event(eventRetry, trace.Attr{Key: "wait", Value: delay})
		if err := background.For(ctx, delay); err != nil {
			t.returnCall()
			return Response{}, err
		}
		if t.outage() != nil { // told while this call waited
			t.returnCall()
			return Response{}, &attemptsError{fmt.Errorf("%w (attempt %d)", err, attempt), failed}
		}
	}
}

// patience returns how long a provider may fail with err. A server that does not run rarely starts while somebody
// waits.
func (r Retry) patience(err error) time.Duration {
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return min(r.GiveUp, 3*time.Second)
	}
	return r.GiveUp
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

// wait returns how long to wait after the given attempt, where the provider may fail for the time left; false if
// waiting is of no use.
func (r Retry) wait(ctx context.Context, attempt int, left time.Duration, err error) (time.Duration, bool) {
	wait := r.Max
	// Doubling stops before it could overflow.
	if shift := attempt - 1; shift < 16 && r.Base < r.Max>>shift {
		wait = r.Base << shift
	}
	wait = wait/2 + r.random(wait-wait/2)
	if wait > left-r.Base/2 { // the last attempt
		wait = left + r.random(r.Base/2)
	}

	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		if e.RetryAfter > r.Max {
			return 0, false
		}
		// A dozen samples that were told the same second must not come back in the same millisecond, nor too early.
		wait = e.RetryAfter + r.random(r.Base)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false
	}
	return wait, true
}

// random returns a random time up to d.
func (r Retry) random(d time.Duration) time.Duration { return time.Duration(r.Rand() * float64(d)) }

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
