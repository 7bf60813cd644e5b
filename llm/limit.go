package llm

import (
	"context"
	"time"
)

// Limit bounds how much is asked of a provider at once. The zero Limit bounds
// nothing.
//
// A call that must wait does so before it is made, in the order of arrival, and
// leaves the queue as soon as its context ends. It stands inside [Retry], so
// that a call between two attempts holds no place, and outside [Timeout], so
// that waiting is not counted.
type Limit struct {
	Concurrency int // calls in flight; 0 or less: any number
	PerMinute   int // calls started in any 60 seconds; 0 or less: any number
}

// Middleware returns a middleware whose models share one limit. Safe for
// concurrent use.
func (l Limit) Middleware() Middleware {
	if l.Concurrency <= 0 && l.PerMinute <= 0 {
		return func(next Model) Model { return next }
	}
	var places chan struct{}
	if l.Concurrency > 0 {
		places = make(chan struct{}, l.Concurrency)
	}
	var rate *rate
	if l.PerMinute > 0 {
		rate = newRate(l.PerMinute)
	}
	return func(next Model) Model {
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			if places != nil {
				if err := send(ctx, places); err != nil {
					returnCall(ctx)
					return Response{}, err
				}
				defer func() { <-places }()
			}
			// Second, so that it counts starts and not arrivals.
			if err := rate.wait(ctx); err != nil {
				returnCall(ctx)
				return Response{}, err
			}
			return next.Complete(ctx, req)
		})
	}
}

// send puts a token into c, or returns ctx.Err(). Those who wait for a channel
// are served in the order of arrival.
func send(ctx context.Context, c chan struct{}) error {
	if ctx.Err() != nil { // select would choose at random
		return ctx.Err()
	}
	select {
	case c <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rate lets n callers through in any minute. It looks at the exact times of the
// last ones, because a bucket that refills would let almost 2n through in a minute.
type rate struct {
	n    int
	turn chan struct{} // held by the one who waits for time to pass; the others queue for it
	last []time.Time   // the starts of the last minute, oldest first; guarded by turn
}

func newRate(n int) *rate { return &rate{n: n, turn: make(chan struct{}, 1)} }

// wait returns when the caller may start, or with ctx.Err(). Nobody who gave up
// uses up a start.
func (r *rate) wait(ctx context.Context) error {
	if r == nil {
		return ctx.Err()
	}
	if err := send(ctx, r.turn); err != nil {
		return err
	}
	defer func() { <-r.turn }()
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
		if err := sleep(ctx, time.Minute-now.Sub(r.last[0])); err != nil {
			return err
		}
	}
}

// sleep returns after d, or with ctx.Err() as soon as ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
