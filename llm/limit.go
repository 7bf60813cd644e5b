package llm

import (
	"context"
	"math"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/texttosql/texttosql/internal/abandon"
)

// Limit bounds the calls to a provider. The zero Limit bounds nothing.
//
// Calls that must wait start in the order of arrival. A call leaves the queue as soon as its context ends. Limit stands
// inside [Retry], so that a call between two attempts holds no place, and outside [Timeout], so that the time-out does
// not count the waiting.
type Limit struct {
	Concurrency int // calls in flight; 0 or less: any number
	PerMinute   int // calls started in any 60 seconds; 0 or less: any number
}

// Middleware returns a middleware whose models share one limit. Safe for concurrent use.
func (l Limit) Middleware() Middleware {
	if l.Concurrency <= 0 && l.PerMinute <= 0 {
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
			if err := rate.wait(ctx); err != nil {
				ticketOf(ctx).returnCall()
				return Response{}, err
			}
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
		if err := abandon.For(ctx, time.Minute-now.Sub(r.last[0])); err != nil {
			return err
		}
	}
}
