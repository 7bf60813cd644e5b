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
)

// Files keeps each session in two files of a folder: the record in ID.json and the journal in ID.jsonl, which only their
// owner may read. Beside them are lock files: one a session, and at most 256 others. Make one with OpenFiles. Safe for concurrent use, also by
// several processes of one machine; the folder must not be on a file system without locks.
//
// A record is written beside its place, flushed and renamed, so a crash leaves the old one or the new one. A line of the
// journal is flushed before Append returns; what a crash leaves of a line is cut off by the next Journal or Append. A
// record has a checksum as its last field, "sum", as the lines of llm/replay have: one that was changed after it was
// written is a *RecordError.
type Files struct{ dir string }

// OpenFiles opens a folder of sessions and makes it if it is missing.
func OpenFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("session: opening the folder of sessions: %w", err)
	}
	return &Files{dir}, nil
}

func (f *Files) record(id string) string  { return filepath.Join(f.dir, id+".json") }
func (f *Files) journal(id string) string { return filepath.Join(f.dir, id+".jsonl") }

// locked runs do while no other call and no other process changes the session. A missing file is ErrNotFound.
func (f *Files) locked(ctx context.Context, id string, do func() error) error {
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
func (f *Files) Load(ctx context.Context, id string) (Record, error) {
	if err := errors.Join(ctx.Err(), CheckID(id)); err != nil {
		return Record{}, err
	}
	text, err := f.read(id)
	if err != nil {
		return Record{}, told(err)
	}
	r, err := Decode(id, text)
	return r, f.named(id, err)
}

// read returns the record of a session, no more of it than shows that it is too large.
func (f *Files) read(id string) ([]byte, error) {
	file, err := os.Open(f.record(id))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxRecord+1))
}

// named adds the file to a *RecordError.
func (f *Files) named(id string, err error) error {
	var broken *RecordError
	if errors.As(err, &broken) {
		broken.File = f.record(id)
	}
	return err
}

// Save is Store.Save.
func (f *Files) Save(ctx context.Context, r Record) error {
	text, err := r.Encode()
	if err != nil {
		return err
	}
	return f.locked(ctx, r.ID, func() error {
		stored, err := f.read(r.ID)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := unchanged(r, stored); err != nil {
			return f.named(r.ID, err)
		}
		return atomicfile.Write(f.record(r.ID), text, 0o600)
	})
}

// Journal is Store.Journal.
func (f *Files) Journal(ctx context.Context, id string) (Journal, error) {
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
		_, err = cutTorn(file)
		err = errors.Join(err, file.Sync(), file.Close())
		atomicfile.SyncFolder(f.dir)
		return err
	})
}

// tidy removes what killed writers of the record left. The lock says that none is alive.
func (f *Files) tidy(id string) {
	parts, _ := filepath.Glob(filepath.Join(f.dir, id) + ".json.*.part")
	for _, part := range parts {
		os.Remove(part)
	}
}

// List is Store.List.
func (f *Files) List(ctx context.Context, filter Filter) ([]Summary, error) {
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

// Hold is Holder.Hold.
func (f *Files) Hold(ctx context.Context, id string) (release func(), err error) {
	if err := errors.Join(ctx.Err(), CheckID(id)); err != nil {
		return nil, err
	}
	release, err = atomicfile.TryLock(filepath.Join(f.dir, id))
	switch {
	case errors.Is(err, atomicfile.ErrLocked):
		return nil, ErrHeld
	case err != nil:
		return nil, fmt.Errorf("session: %w", err)
	}
	return release, nil
}

// Delete is Store.Delete. It removes a broken record too.
func (f *Files) Delete(ctx context.Context, id string) error {
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
	files  *Files
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
		path := j.files.journal(j.id)
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		end, err := cutTorn(file)
		if err != nil {
			return err
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
	})
}

// cutTorn cuts off what stands behind the last line end of a journal and returns the length of the rest.
func cutTorn(file *os.File) (int64, error) {
	text, err := io.ReadAll(file)
	end := int64(bytes.LastIndexByte(text, '\n') + 1)
	if err != nil || end == int64(len(text)) {
		return end, err
	}
	return end, file.Truncate(end)
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
	return text[:bytes.LastIndexByte(text, '\n')+1], nil // another process may be writing the rest
}

// Close is Journal.Close.
func (j *fileJournal) Close() error {
	j.closed.Store(true)
	return nil
}
