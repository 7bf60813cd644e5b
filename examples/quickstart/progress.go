package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/texttosql/texttosql"
)

// progress tells on one line, written anew each second, that a live model is being asked. A question that is answered
// within a second has none.
type progress struct {
	w io.Writer

	mu         sync.Mutex
	began      time.Time
	clock      *time.Timer
	told       bool
	begun, got int // samples
}

// tell is called with each step of a question.
func (p *progress) tell(step texttosql.Progress) {
	if step.Step == "question" && step.Kind == "ended" {
		p.end()
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case step.Step != "sample":
		return
	case step.Kind == "started":
		p.begun++
	case step.Kind == "ended":
		p.got++
	}
	if p.clock == nil {
		p.began = time.Now()
		p.clock = time.AfterFunc(time.Second, p.tick)
	}
	if p.told {
		p.write()
	}
}

func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock != nil {
		p.write()
		p.clock.Reset(time.Second)
	}
}

func (p *progress) write() {
	p.told = true
	fmt.Fprintf(p.w, "\rasking the model %d/%d, %.0f s ", p.got, p.begun, time.Since(p.began).Seconds())
}

// end ends the line, and the clock.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.clock != nil {
		p.clock.Stop()
	}
	if p.told {
		io.WriteString(p.w, "\n")
	}
	p.clock, p.begun, p.got, p.told = nil, 0, 0, false
}
