package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/llm"
)

// Recorder writes calls to a file as they end. Its method Record is a middleware:
//
//	model = llm.Chain(model, rec.Record)
//
// Each call is one Write of one whole line, so a crash of the program can damage only the last line. Calls that run
// at the same time are written in the order in which they end. Their order means nothing, because their keys differ.
// Safe for concurrent use.
type Recorder struct {
	notes []string

	mu     sync.Mutex
	w      io.Writer
	closer io.Closer // nil: the writer is the caller's
	err    error     // the error of the first Write that failed
}

// NewRecorder returns a recorder that writes to w.
func NewRecorder(w io.Writer) *Recorder { return &Recorder{w: w} }

// Append opens a recording to add calls to it, or creates one that only its owner may read. It removes an incomplete
// last line, with a note, so a file may have only one recorder at a time. Lines without a checksum get one, with a
// note. A file that is not a recording is an error and stays as it is.
func Append(path string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("replay: opening recording: %w", err)
	}
	r := &Recorder{w: f, closer: f}
	if err := r.mend(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, errors.Join(err, r.closer.Close()))
	}
	return r, nil
}

// mend makes f end with the end of a line.
func (r *Recorder) mend(f *os.File) error {
	rec, err := read(f)
	if err != nil {
		return err
	}
	r.notes = named(f.Name(), rec.notes())
	if rec.torn > 0 {
		err = f.Truncate(rec.whole)
	} else if rec.open {
		_, err = f.WriteString("\n")
	}
	if err == nil && len(rec.old) > 0 {
		err = r.seal(f.Name())
	}
	return err
}

// seal gives a checksum to the lines of a file that have none, and goes on in the file that takes its place.
func (r *Recorder) seal(path string) error {
	before, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var after []byte
	for line := range bytes.Lines(before) {
		if object, sealed, _ := atomicfile.Unsealed(line); !sealed && len(object) > 0 {
			line = append(atomicfile.Sealed(0, object), '\n')
		}
		after = append(after, line...)
	}
	if err := atomicfile.Write(path, after, 0o600); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0o600)
	if err == nil {
		err = r.closer.Close()
		r.w, r.closer = f, f
	}
	return err
}

// named puts the name of a file before notes.
func named(path string, notes []string) []string {
	for i := range notes {
		notes[i] = path + ": " + notes[i]
	}
	return notes
}

// Notes returns facts about the file for a person; nil if there are none.
func (r *Recorder) Notes() []string { return r.notes }

// Record is a middleware that writes every ended call of next. As the outermost middleware it records the calls of
// the caller: cache hits too, and one call for any number of attempts. Next to the adapter it records attempts.
//
// A call whose context ended or whose budget was spent ([llm.ErrBudget]) is not recorded, because its outcome does
// not depend on the model. If a call cannot be written, it returns its response and an error of ClassPermanent. All
// later replies do so too, because the file may end in half a line. An Engine still answers the question, and returns
// the error together with the Result. A failed call keeps its own error.
func (r *Recorder) Record(next llm.Model) llm.Model {
	return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
		resp, err := next.Complete(ctx, req)
		if err != nil && (ctx.Err() != nil || errors.Is(err, llm.ErrBudget)) {
			return resp, err
		}
		if failed := r.write(lineOf(llm.NameOf(next), req, resp, err)); failed != nil && err == nil {
			unstored := &atomicfile.StoreError{Err: failed}
			if unstored.Note(ctx) {
				return resp, nil
			}
			failed = unstored
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
