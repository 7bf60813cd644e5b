package replay

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// Recorder writes calls down as they end. Its method Record is what llm.Record
// takes:
//
//	model = llm.Chain(model, llm.Record(rec.Record))
//
// Each call is one Write of one whole line, so that a crash of the program tears
// the last line at most. Calls that run at the same time are written as they
// end; their order in the file means nothing, as they have different keys. Safe
// for concurrent use.
type Recorder struct {
	notes []string

	mu     sync.Mutex
	w      io.Writer
	closer io.Closer // nil: the writer is the caller's
	err    error     // of the first Write that failed
}

// NewRecorder returns a recorder that writes to w.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w} }

// Append opens a recording to go on with it, or makes one that its owner alone
// may read. A last line that a crash has torn is cut off, with a note: a file has
// one recorder at a time. A file that is no recording is an error and stays as it
// is.
func Append(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("replay: opening recording: %w", err)
	}
	r := &Recorder{w: f, closer: f}
	if err := r.mend(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, f.Close()))
	}
	return r, nil
}

// mend makes the end of f the end of a line.
func (r *Recorder) mend(f *os.File) error {
	rec, err := read(f)
	if err != nil {
		return err
	}
	if rec.torn > 0 {
		r.notes = append(r.notes, rec.note())
		return f.Truncate(rec.whole)
	}
	if rec.open {
		_, err = f.WriteString("\n")
	}
	return err
}

// Notes returns what a person should know about the file; nil for nothing.
func (r *Recorder) Notes() []string { return r.notes }

// Record writes x down, unless its error says that a budget was spent
// ([llm.ErrBudget]). After a Write that failed, every call returns the same
// error, because the file may end in half a line.
func (r *Recorder) Record(x llm.Exchange) error {
	if errors.Is(x.Err, llm.ErrBudget) {
		return nil
	}
	l := lineOf(x)
	b, err := l.encode()
	if err != nil {
		return fmt.Errorf("replay: encoding call: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		if _, err := r.w.Write(b); err != nil {
			r.err = fmt.Errorf("replay: writing call: %w", err)
		}
	}
	return r.err
}

// Close closes the file that Append opened. It returns the first error of
// writing, if there was one.
func (r *Recorder) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closer == nil {
		return r.err
	}
	err := r.closer.Close()
	r.closer = nil
	if r.err == nil {
		r.err = errClosed
		return err
	}
	return errors.Join(r.err, err)
}

var errClosed = errors.New("replay: recorder is closed")
