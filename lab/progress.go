package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on standard error. If that is no terminal, it shows nothing. Safe for concurrent use.
type progress struct {
	mu  sync.Mutex
	bar *progressbar.ProgressBar
}

func newProgress(w io.Writer, what string, total int) *progress {
	return &progress{bar: progressbar.NewOptions(total,
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetVisibility(isTerminal(w)),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true),
	)}
}

// step counts one more of total.
func (p *progress) step(total int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.bar.GetMax() != total {
		p.bar.ChangeMax(total)
	}
	p.bar.Add(1) // it only fails if the terminal is gone
}

// jump counts n at once, for questions that were done before.
func (p *progress) jump(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Set(n)
}

// say changes the words in front of the bar.
func (p *progress) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Describe(what)
}

// done removes the bar.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bar.Finish()
}

// isTerminal reports whether w is a terminal.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
