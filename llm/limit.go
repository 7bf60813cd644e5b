package llm

import (
	"context"
	"math"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/internal/background"
)

// Limit bounds the calls to a provider. The zero Limit bounds nothing.
//
// Calls that must wait start in the order of arrival. A call leaves the queue as soon as its context ends. Put Limit
// inside [Retry], so that a call that waits for its next attempt does not take a place. Put it outside [Timeout], so
// that the time-out does not include the wait for a place.
type Limit struct {
	Concurrency int // calls in flight; 0 or less: any number
	PerMinute   int // calls started in any 60 seconds; 0 or less: any number

	// Permit waits for a place in a limit that several processes share, and returns a function that gives the place back
	// after the call. It is called last, so no place is taken while a call waits for the limits above. Its error is the
	// error of the call. It must return when ctx ends, and several goroutines call it at once. nil: no shared limit.
	Permit func(ctx context.Context) (release func(), err error)
}

// Middleware returns a middleware whose models share one limit. Safe for concurrent use.
func (l Limit) Middleware() Middleware {
	if l.Concurrency <= 0 && l.PerMinute <= 0 && l.Permit == nil {
		return func(next Model) Model { return next }
	}
	places := semaphore.NewWeighted(math.MaxInt64)
	if l.Concurrency > 0 {
		places = semaphore.NewWeighted(int64(l.Concurrency))
	}
	rate := &rate{n: l.PerMinute, turn: semaphore.NewWeighted(1)}
	return func(next Model) Model {
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			if err := places.Acquire(ctx, 1); err != nil {
				ticketOf(ctx).returnCall()
				return Response{}, err
			}
			defer places.Release(1)
			// The rate comes second, because it counts starts and not arrivals.
			release := func() {}
			err := rate.wait(ctx)
			if err == nil && l.Permit != nil {
				release, err = l.Permit(ctx)
			}
			if err != nil {
				ticketOf(ctx).returnCall()
				return Response{}, err
			}
			defer release()
			return next.Complete(ctx, req)
		})
	}
}

// rate lets n callers through in any minute. It keeps the exact times of the last starts, because a bucket that refills
// would let almost 2n through in a minute.
type rate struct {
	n    int                 // 0 or less: any number
	turn *semaphore.Weighted // one caller waits for time to pass, the others queue for their turn
	last []time.Time         // the starts of the last minute, oldest first; guarded by turn
}

// wait returns when the caller may start, or with ctx.Err(). A caller that gives up uses no start.
func (r *rate) wait(ctx context.Context) error {
	if r.n <= 0 {
		return ctx.Err()
	}
	if err := r.turn.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.turn.Release(1)
	for {
		now, gone := time.Now(), 0
		for gone < len(r.last) && now.Sub(r.last[gone]) >= time.Minute {
			gone++
		}
		r.last = r.last[gone:]
		if len(r.last) < r.n {
			r.last = append(r.last, now)
			return nil
		}
		if err := background.For(ctx, time.Minute-now.Sub(r.last[0])); err != nil {
			return err
		}
	}
}
