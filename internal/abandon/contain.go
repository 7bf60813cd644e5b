package abandon

import (
	"context"
	"sync/atomic"
	"time"
)

// Contain runs f by start, which runs a job in another goroutine, and returns what f returned. If f still runs when
// grace has passed since the end of ctx, left is true, and late gets what f returns in the end. A panic of f goes on in
// the caller's goroutine, or ends with f if nobody waits for it.
func Contain[T any](ctx context.Context, grace time.Duration, start func(job func()), f func() (T, error), late func(T)) (value T, err error, left bool) {
	var (
		got      T
		failed   error
		panicked any
		decided  atomic.Bool // set by who comes first: the end of f, or the end of the wait
		done     = make(chan struct{})
	)
	start(func() {
		defer close(done)
		defer func() {
			panicked = recover()
			if !decided.CompareAndSwap(false, true) {
				late(got)
			}
		}()
		got, failed = f()
	})
	select {
	case <-done:
	case <-ctx.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
			if decided.CompareAndSwap(false, true) {
				return value, nil, true
			}
			<-done
		}
	}
	if panicked != nil {
		panic(panicked)
	}
	return got, failed, false
}
