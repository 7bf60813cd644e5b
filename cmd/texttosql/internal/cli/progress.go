package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/texttosql/texttosql"
	"github.com/texttosql/texttosql/trace"
)

// Progress returns an option that tells on one line, written anew, what a question does, if w is a terminal; else it
// tells nothing. The line is gone once the question ends.
func Progress(w io.Writer) texttosql.Option {
	if IsTerminal(w) {
		return texttosql.WithProgress(Line(w))
	}
	return nil
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// doing are the steps that a person is told, by the names of their spans.
var doing = map[texttosql.Step]string{
	"schema": "reading the schema", "profile": "reading the schema", "link": "choosing tables",
	"sample": "asking the model",
	"repair": "repairing a statement", "judge": "asking the judge", "rows": "running the statement",
}

// line is what a question does, on a line of a terminal.
type line struct {
	w io.Writer

	mu         sync.Mutex
	began      time.Time
	what       string
	begun, got int           // samples
	end, ended chan struct{} // of the clock
}

// Line returns the function behind Progress, which writes to any w. It is for one question at a time.
func Line(w io.Writer) func(texttosql.Progress) {
	l := &line{w: w}
	return l.tell
}

func (l *line) tell(p texttosql.Progress) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what := doing[p.Step]
	switch {
	case p.Step == "question" && p.Kind == "ended":
		if l.end != nil {
			close(l.end)
			l.mu.Unlock()
			<-l.ended
			l.mu.Lock()
			io.WriteString(l.w, "\r\x1b[K")
		}
		l.began, l.what, l.begun, l.got, l.end = time.Time{}, "", 0, 0, nil
		return
	case p.Kind == "happened" && p.Message == "retry" && l.end != nil:
		l.what = Busy(p.Span)
		l.write()
		return
	case p.Kind != "started" && p.Kind != "ended":
		return
	case l.end == nil:
		l.began, l.end, l.ended = time.Now(), make(chan struct{}), make(chan struct{})
		go l.clock(l.end, l.ended)
	}
	switch {
	case p.Step == "sample" && p.Kind == "started":
		l.begun++
	case p.Step == "sample":
		l.got++
	}
	if what != "" && (p.Kind == "started" || p.Step == "sample") {
		l.what = what
	}
	l.write()
}

// Busy says that a call waits to be tried again, by the last event of its span.
func Busy(s *trace.Span) string {
	return fmt.Sprintf("the model is busy, trying again in %.0f s", max(1, Wait(s).Seconds()))
}

// Wait is how long a call waits that is tried again, by the last event of its span.
func Wait(s *trace.Span) (wait time.Duration) {
	for _, e := range s.Events() {
		for _, a := range e.Attrs {
			if d, ok := a.Value.(time.Duration); ok && e.Name == "retry" && a.Key == "wait" {
				wait = d
			}
		}
	}
	return wait
}

// write writes the line anew.
func (l *line) write() {
	text := cmp.Or(l.what, "beginning")
	if l.what == doing["sample"] {
		text += fmt.Sprintf(" %d/%d", l.got, l.begun)
	}
	fmt.Fprintf(l.w, "\r\x1b[K%s · %.0f s", text, time.Since(l.began).Truncate(time.Second).Seconds())
}

// clock writes the line each second, until end.
func (l *line) clock(end, ended chan struct{}) {
	defer close(ended)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-end:
			return
		case <-tick.C:
			l.mu.Lock()
			select {
			case <-end:
			default:
				l.write()
			}
			l.mu.Unlock()
		}
	}
}
