package background

import (
	"context"
	"sync/atomic"
	"time"
)

// Work is a call in a goroutine of its own that can be left behind:
//
//	work := background.NewWork(late)
//	go func() {
//		defer work.End()
//		work.Value, work.Err = call(ctx)
//	}()
//	value, err, left := work.Wait(ctx, grace)
type Work[T any] struct {
	Value T // what the call returns; its goroutine alone writes it, before End
	Err   error

	late     func(T)
	panicked any
	decided  atomic.Bool // set by who comes first: the end of the call, or the end of the wait
	done     chan struct{}
}

// NewWork returns a Work whose late gets the Value of a call that ends when nobody waits for it any more; nil: nobody
// does.
func NewWork[T any](late func(T)) *Work[T] { return &Work[T]{late: late, done: make(chan struct{})} }

// End ends the call. It must be deferred by the goroutine itself: it recovers from a panic of the call.
func (w *Work[T]) End() {
	w.panicked = recover()
	defer close(w.done)
	if !w.decided.CompareAndSwap(false, true) && w.late != nil {
		w.late(w.Value)
	}
}

// Wait returns what the call returned. If the call goes on when grace has passed since the end of ctx, left is true. A
// panic of the call goes on here; nobody sees that of a call that was left.
func (w *Work[T]) Wait(ctx context.Context, grace time.Duration) (value T, err error, left bool) {
	select {
	case <-w.done:
	case <-ctx.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-w.done:
		case <-timer.C:
			if w.decided.CompareAndSwap(false, true) {
				return value, nil, true
			}
			<-w.done
		}
	}
	if w.panicked != nil {
		panic(w.panicked)
	}
	return w.Value, w.Err, false
}
