package llm

import (
	"context"
	"time"

	"github.com/texttosql/texttosql/trace"
)

// Hedge sends a request a second time when its reply takes longer than After, and takes the first reply of the two. It
// is for models whose slowest calls hang for many times the median: where p99 is three times the median, it took less
// than a tenth off p95 (docs/lab/rejected.md). A good After is what 9 of 10 calls stay below; one in ten is then made twice.
//
// The second request is the same, sample index and seed included, so a recorded or deterministic model gives the same
// reply either way, and slots and votes keep their indexes. A request is hedged once, and [Retry] counts both requests as
// one attempt. A [Budget] is charged for both, with an estimate for the one that was given up; if it has no call left,
// no second request is sent. The span has the event "hedged". An error before After is returned at once, and after it
// only when both have failed. Complete returns when both calls have ended.
//
// Hedge stands inside [Retry] and outside [Timeout]. Outside [Limit], the second request waits for a place of its own.
type Hedge struct {
	After time.Duration // the wait after the request was sent; 0 or less: no second request
}

// Middleware returns a middleware without state. Safe for concurrent use.
func (h Hedge) Middleware() Middleware {
	return func(next Model) Model {
		if h.After <= 0 {
			return next
		}
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			return h.complete(ctx, next, req)
		})
	}
}

func (h Hedge) complete(ctx context.Context, next Model, req Request) (Response, error) {
	type outcome struct {
		resp Response
		err  error
	}
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	ends := make(chan outcome, 2)
	send := func() {
		resp, err := contained(within, next, req)
		ends <- outcome{resp, err}
	}
	go send()
	timer := time.NewTimer(h.After)
	defer timer.Stop()
	select {
	case first := <-ends:
		return first.resp, first.err
	case <-timer.C:
	}
	if ctx.Err() != nil || ticketOf(ctx).takeCall() != nil {
		first := <-ends
		return first.resp, first.err
	}
	trace.From(ctx).Event("hedged")
	go send()
	won := <-ends
	if won.err != nil { // the other one may still give a reply
		other := <-ends
		if ctx.Err() != nil { // nobody looks at the cost of its error
			trace.From(ctx).AddUsage(failedUsage(ClassCancelled))
		}
		if other.err != nil {
			return Response{}, &attemptsError{won.err, usageOf(won.err).Add(usageOf(other.err))}
		}
		other.resp.Usage = usageOf(won.err).Add(measure(req, other.resp))
		return other.resp, nil
	}
	cancel()
	<-ends
	lost := Estimate(req, "")
	lost.Partial = true
	won.resp.Usage = measure(req, won.resp).Add(lost)
	return won.resp, nil
}
