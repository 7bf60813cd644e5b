package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/texttosql/texttosql/llm"
)

// Recorder writes calls down as they end. Its method Record is a middleware:
//
//	model = llm.Chain(model, rec.Record)
//
// Each call is one Write of one whole line, so a crash of the program tears at most the last line. Calls that run at the
// same time are written in the order in which they end. Their order means nothing, because their keys differ. Safe for
// concurrent use.
type Recorder struct {
	notes []string

	mu     sync.Mutex
	w      io.Writer
	closer io.Closer // nil: the writer is the caller's
	err    error     // the error of the first Write that failed
}

// NewRecorder returns a recorder that writes to w.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w} }

// Append opens a recording to add calls to it, or makes a new one that only its owner may read. A last line that a crash
// has torn is cut off, with a note, so a file may have only one recorder at a time. A file that is no recording is an
// error and stays as it is.
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

// mend makes f end with the end of a line.
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

// Record is a middleware that writes down every call of next that ends. As the outermost middleware it records what the
// caller sees: hits of a cache, and one call however many attempts it took. Next to the adapter it records attempts.
//
// A call whose context ended or whose budget was spent ([llm.ErrBudget]) is not recorded, because it says nothing about
// the model. A call that cannot be written fails with an error of ClassPermanent beside its response. After that every
// call fails with the same error, because the file may end in half a line.
func (r *Recorder) Record(next llm.Model) llm.Model {
	return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		resp, err := next.Complete(ctx, req)
		if err != nil && (ctx.Err() != nil || errors.Is(err, llm.ErrBudget)) {
			return resp, err
		}
		if failed := r.write(lineOf(llm.NameOf(next), req, resp, err)); failed != nil {
			return resp, &llm.Error{Class: llm.ClassPermanent, Message: "recording the call: " + failed.Error(), Err: failed}
		}
		return resp, err
	})
}

func (r *Recorder) write(l line) error {
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

// Close closes the file that Append opened. It returns the first error of writing, if there was one.
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
