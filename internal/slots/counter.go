package slots

import (
	"bytes"
	"runtime"
	"sync"
)

// Counter counts slots by goroutine. Safe for concurrent use.
type Counter struct {
	mu     sync.Mutex
	taken  int
	held   map[string]int
	second []string
}

// Watch is a [Watch].
func (c *Counter) Watch() (free func()) {
	stack := make([]byte, 64<<10)
	stack = stack[:runtime.Stack(stack, false)]
	id, _, _ := bytes.Cut(stack, []byte(" ["))
	goroutine := string(id)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held == nil {
		c.held = map[string]int{}
	}
	if c.taken++; c.held[goroutine] > 0 {
		c.second = append(c.second, string(stack))
	}
	c.held[goroutine]++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.held[goroutine]--
	}
}

// Counted returns how many slots were taken, and the stacks of the calls that waited for a second one.
func (c *Counter) Counted() (taken int, second []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.taken, c.second
}
