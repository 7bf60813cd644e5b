package memory

import "sync"

// turns gives a store one call at a time, and those who wait to read it one reading together. Facts that are in memory
// have a lock of their own, which nobody holds over a call of a store: it may hang.
type turns struct {
	work sync.Mutex // held over a call of the store; taken before the lock of the facts

	mu   sync.Mutex   // of next
	next func() error // the reading that has not begun; nil: none
}

// read returns what read returns in a call that begins from now on.
func (t *turns) read(read func() error) error {
	t.mu.Lock()
	if t.next == nil {
		t.next = sync.OnceValue(func() error {
			t.work.Lock()
			defer t.work.Unlock()
			t.mu.Lock()
			t.next = nil
			t.mu.Unlock()
			return read()
		})
	}
	next := t.next
	t.mu.Unlock()
	return next()
}
