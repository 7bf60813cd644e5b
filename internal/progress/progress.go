// Package progress passes the steps of a question to a callback that may be slow.
package progress

import (
	"sync"
	"time"
)

// lag is how long one step of a question waits for its callback.
const lag = 100 * time.Millisecond

// Queue calls f in a goroutine of its own, once for each value that tell receives, in order.
//
// The function tell waits for f, so that a quick f can end the context at a step. Once f took longer than 100 ms, tell
// no longer waits: its caller may hold a connection that others wait for. The function told returns after f has seen
// every value, with an error if f panicked. Values that arrive later are dropped.
func Queue[T any](f func(T), panicked func(value any) error) (tell func(T), told func() error) {
	type step struct {
		value T
		seen  chan struct{}
	}
	var (
		mu      sync.Mutex
		more    = sync.NewCond(&mu)
		queue   []step
		lagging bool
		closed  bool
		err     error
		done    = make(chan struct{})
	)
	next := func() (s step, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		for len(queue) == 0 && !closed {
			more.Wait()
		}
		if len(queue) == 0 {
			return s, false
		}
		s, queue = queue[0], queue[1:]
		return s, true
	}
	go func() {
		defer close(done)
		defer func() {
			if r := recover(); r != nil {
				err = panicked(r)
			}
		}()
		for s, ok := next(); ok; s, ok = next() {
			f(s.value)
			close(s.seen)
		}
	}()
	tell = func(value T) {
		mu.Lock()
		if closed {
			mu.Unlock()
			return
		}
		s, wait := step{value, make(chan struct{})}, !lagging
		queue = append(queue, s)
		mu.Unlock()
		more.Signal()
		if !wait {
			return
		}
		timer := time.NewTimer(lag)
		defer timer.Stop()
		select {
		case <-s.seen:
		case <-done:
		case <-timer.C:
			mu.Lock()
			lagging = true
			mu.Unlock()
		}
	}
	return tell, func() error {
		mu.Lock()
		closed = true
		mu.Unlock()
		more.Signal()
		<-done
		return err
	}
}
