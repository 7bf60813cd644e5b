package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/trace"
)

// FileStore stores each session in two files of a folder: the record in ID.json and the journal in ID.jsonl. Only
// their owner may read them. The folder also has lock files: one for each session, and at most 256 others. Make one
// with OpenFiles. Safe for concurrent use, also by several processes of one machine; the folder must not be on a file
// system without locks.
//
// A save appends a line with the turns that changed. Where the lines would outgrow the record, it is written as a whole
// to a new file, flushed and renamed. So a crash leaves the old record or the new one. A line of a record or
// journal is flushed before the call returns. A crash may leave a part of a line. Load leaves it out, with
// a warning of the span in its context. The next Save, Journal or Append cuts it off. A record has a checksum as its
// last field, "sum", as the lines of llm/replay have. Load returns a *RecordError for a record that was changed after
// it was written. It reads a record without a checksum, of an earlier version, once: it warns in the span of its
// context and rewrites the record.
type FileStore struct{ dir string }

// OpenFiles opens a folder of sessions and creates it if it is missing.
func OpenFiles(dir string) (*FileStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("session: opening the folder of sessions: %w", err)
	}
	return &FileStore{dir}, nil
}

func (f *FileStore) record(id string) string  { return filepath.Join(f.dir, id+".json") }
func (f *FileStore) journal(id string) string { return filepath.Join(f.dir, id+".jsonl") }

// locked runs do while no other call and no other process changes the session. A missing file is ErrNotFound.
func (f *FileStore) locked(ctx context.Context, id string, do func() error) error {
	if err := errors.Join(ctx.Err(), CheckID(id)); err != nil {
		return err
	}
	unlock, err := atomicfile.Lock(filepath.Join(f.dir, id[:2])) // a lock of its own would stay for each session
	if err != nil {
		return fmt.Errorf("session: %w", err)
	}
	defer unlock()
	return told(do())
}

// told makes the error of a missing file ErrNotFound and leaves errors of this package as they are.
func told(err error) error {
	var file *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ErrNotFound
	case errors.As(err, &file):
		return fmt.Errorf("session: %w", err)
	}
	return err
}

// Load is Store.Load.
func (f *FileStore) Load(ctx context.Context, id string) (Record, error) {
	if err := errors.Join(ctx.Err(), CheckID(id)); err != nil {
		return Record{}, err
	}
	text, torn, err := f.read(id)
	if torn > 0 { // unless another process writes the rest now
		_ = f.locked(ctx, id, func() error {
			text, torn, err = f.read(id)
			return nil
		})
	}
	if err != nil {
		return Record{}, f.named(id, told(err))
	}
	if torn > 0 {
		trace.FromContext(ctx).Warn("stored-file", fmt.Sprintf("%s.json: line %d was cut short and is left out", id, torn))
	}
	r, err := decodeRecord(id, text)
	if err == nil {
		err = f.seal(ctx, id, text)
	}
	if err != nil {
		return Record{}, f.named(id, err)
	}
	return r, nil
}

// seal gives a checksum to the record of an earlier version, where the file can be written.
func (f *FileStore) seal(ctx context.Context, id string, text []byte) error {
	if _, sealed, _ := atomicfile.Unsealed(text); sealed {
		return nil
	}
	if _, err := atomicfile.Read(text, 0, new(Record)); err != nil {
		return &RecordError{ID: id, Err: err}
	}
	trace.FromContext(ctx).Warn("stored-file", atomicfile.OldNote(id+".json", []int{1}))
	_ = f.locked(ctx, id, func() error {
		now, _, err := f.read(id)
		if err != nil || !bytes.Equal(now, text) {
			return err // somebody else has written it
		}
		return atomicfile.Write(f.record(id), append(atomicfile.Sealed(0, text), '\n'), 0o600)
	})
	return nil
}

// read returns the record of a session with its changes, no more of it than shows that it is too large. It leaves out a
// change that a crash cut short; torn is the number of that line, or 0.
func (f *FileStore) read(id string) (text []byte, torn int, err error) {
	file, err := os.Open(f.record(id))
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	text, err = io.ReadAll(io.LimitReader(file, 2*maxRecord+1))
	if err != nil {
		return nil, 0, err
	}
	rest, end, err := tail(text)
	if err != nil {
		return nil, 0, f.broken(id, f.record(id), err)
	}
	_, grows := changesOf(text)
	_, complete, _ := atomicfile.Unsealed(rest)
	if !grows || complete || len(rest) == 0 {
		return text, 0, nil
	}
	return text[:end], bytes.Count(text, []byte("\n")) + 1, nil
}

// named adds the file to a *RecordError.
func (f *FileStore) named(id string, err error) error {
	var broken *RecordError
	if errors.As(err, &broken) {
		broken.File = f.record(id)
	}
	return err
}

// Save is Store.Save.
func (f *FileStore) Save(ctx context.Context, r Record) error {
	return f.locked(ctx, r.ID, func() error {
		stored, _, err := f.read(r.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return f.named(r.ID, err)
		}
		text, whole, err := r.Encode(stored)
		switch {
		case err != nil:
			return f.named(r.ID, err)
		case whole:
			return atomicfile.Write(f.record(r.ID), text, 0o600)
		}
		return f.append(r.ID, f.record(r.ID), text)
	})
}

// Journal is Store.Journal.
func (f *FileStore) Journal(ctx context.Context, id string) (Journal, error) {
	j := &fileJournal{files: f, id: id}
	return j, f.locked(ctx, id, func() error {
		if _, err := os.Stat(f.record(id)); err != nil {
			return err
		}
		f.tidy(id)
		file, err := os.OpenFile(f.journal(id), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			return err
		}
		_, torn, err := cutTorn(file)
		if torn > 0 {
			trace.FromContext(ctx).Warn("stored-file", fmt.Sprintf("%s.jsonl: line %d was cut short and is left out", id, torn))
		}
		err = errors.Join(f.broken(id, f.journal(id), err), file.Sync(), file.Close())
		atomicfile.SyncFolder(f.dir)
		return err
	})
}

// tidy removes what killed writers of the record left. The lock says that none is alive.
func (f *FileStore) tidy(id string) {
	parts, _ := filepath.Glob(filepath.Join(f.dir, id) + ".json.*.part")
	for _, part := range parts {
		os.Remove(part)
	}
}

// List is Store.List.
func (f *FileStore) List(ctx context.Context, filter Filter) ([]Summary, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	var all []Summary
	var broken []error
	for _, e := range entries {
		id, found := strings.CutSuffix(e.Name(), ".json")
		if !found || CheckID(id) != nil {
			continue
		}
		switch r, err := f.Load(ctx, id); {
		case err == nil:
			all = append(all, r.Summary())
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case !errors.Is(err, ErrNotFound): // deleted meanwhile
			broken = append(broken, err)
		}
	}
	return filter.Apply(all), errors.Join(broken...)
}

// Lock is Locker.Lock.
func (f *FileStore) Lock(ctx context.Context, id string) (release func(), err error) {
	if err := errors.Join(ctx.Err(), CheckID(id)); err != nil {
		return nil, err
	}
	release, err = atomicfile.TryLock(filepath.Join(f.dir, id))
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return nil, ErrLocked
	case err != nil:
		return nil, fmt.Errorf("session: %w", err)
	}
	return release, nil
}

// Delete is Store.Delete. It removes a broken record too.
func (f *FileStore) Delete(ctx context.Context, id string) error {
	return f.locked(ctx, id, func() error {
		if _, err := os.Stat(f.record(id)); err != nil {
			return err
		}
		f.tidy(id)
		// The record is the last to go: a session without it could not be deleted again.
		for _, path := range []string{filepath.Join(f.dir, id) + ".lock", f.journal(id)} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		if err := os.Remove(f.record(id)); err != nil {
			return err
		}
		atomicfile.SyncFolder(f.dir)
		return nil
	})
}

// fileJournal is the journal of a session in a file. It holds nothing open, so that it outlives a Delete and needs no
// agreement with another process that takes the session over.
type fileJournal struct {
	files  *FileStore
	id     string
	closed atomic.Bool
}

var errClosed = fmt.Errorf("session: the journal is closed: %w", fs.ErrClosed)

// Append is Journal.Append.
func (j *fileJournal) Append(line []byte) error {
	line, err := wholeLine(line)
	if err == nil && j.closed.Load() {
		err = errClosed
	}
	if err != nil {
		return err
	}
	return j.files.locked(context.Background(), j.id, func() error {
		return j.files.append(j.id, j.files.journal(j.id), line)
	})
}

// append adds a line to a file of a session, after what is whole of it.
func (f *FileStore) append(id, path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	end, _, err := cutTorn(file)
	if err != nil {
		return f.broken(id, path, err)
	}
	atomicfile.Step("append", path)
	_, err = file.WriteAt(line, end)
	atomicfile.Step("appended", path)
	if err == nil {
		err = file.Sync()
	}
	if err != nil {
		return errors.Join(err, file.Truncate(end)) // a part must not stay
	}
	atomicfile.Step("flushed", path)
	return nil
}

// lineEndError says that the last line of a journal is whole, and that another character took the place of its end.
type lineEndError int

func (e lineEndError) Error() string { return fmt.Sprintf("the end of line %d was changed", int(e)) }

// broken makes a lineEndError in the file at path a *RecordError.
func (f *FileStore) broken(id, path string, err error) error {
	if line := lineEndError(0); errors.As(err, &line) {
		return &RecordError{ID: id, File: path, Err: line}
	}
	return err
}

// tail returns what stands behind the last line end of a journal, which begins at end.
func tail(text []byte) (rest []byte, end int, err error) {
	end = bytes.LastIndexByte(text, '\n') + 1
	if rest = text[end:]; len(rest) == 0 {
		return nil, end, nil
	}
	if _, sealed, err := atomicfile.Unsealed(rest[:len(rest)-1]); sealed && err == nil {
		return nil, end, lineEndError(bytes.Count(text, []byte("\n")) + 1)
	}
	return rest, end, nil
}

// cutTorn makes a journal end with a line end, and returns its length. It adds the line end of a line that is whole,
// and cuts off any other; torn is the number of that line, or 0.
func cutTorn(file *os.File) (length int64, torn int, err error) {
	text, err := io.ReadAll(file)
	if err != nil {
		return 0, 0, err
	}
	rest, end, err := tail(text)
	if err != nil || len(rest) == 0 {
		return int64(end), 0, err
	}
	if _, sealed, err := atomicfile.Unsealed(rest); sealed && err == nil {
		_, err := file.WriteAt([]byte("\n"), int64(len(text)))
		return int64(len(text)) + 1, 0, err
	}
	return int64(end), bytes.Count(text, []byte("\n")) + 1, file.Truncate(int64(end))
}

// Read is Journal.Read.
func (j *fileJournal) Read() ([]byte, error) {
	if j.closed.Load() {
		return nil, errClosed
	}
	text, err := os.ReadFile(j.files.journal(j.id))
	if err != nil {
		return nil, told(err)
	}
	_, end, err := tail(text)
	return text[:end], j.files.broken(j.id, j.files.journal(j.id), err) // another process may be writing the rest
}

// Close is Journal.Close.
func (j *fileJournal) Close() error {
	j.closed.Store(true)
	return nil
}
