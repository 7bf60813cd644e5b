// Package atomicfile writes files that are there as a whole or not at all, also where the machine stops, locks them for
// one writer at a time, and tells whether what they hold is what was written.
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// AtStep is called at each step of writing, if a test has set it: the test kills its process there.
var AtStep func(step, path string)

// Step tells AtStep where the writing of a file is.
func Step(step, path string) {
	if AtStep != nil {
		AtStep(step, path)
	}
}

// File is written beside its place and put there by Commit. A process that is killed before leaves a file NAME.*.part.
type File struct {
	*os.File
	to   string
	mode fs.FileMode
	done bool
}

// Create begins a file that will replace the one at path, with the mode of that one, or else with mode. A path that is
// a symbolic link stays one. A file that is read-only or not regular is an error.
func Create(path string, mode fs.FileMode) (*File, error) {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errors.New("it is no regular file")}
	case info.Mode().Perm()&0o200 == 0: // a new file would take its place all the same
		return nil, &fs.PathError{Op: "replace", Path: path, Err: errors.New("it is read-only")}
	default:
		mode = info.Mode().Perm()
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.part")
	if err != nil {
		return nil, err
	}
	Step("created", path)
	return &File{File: f, to: path, mode: mode}, nil
}

// Sync flushes what was written to the disk, so that a Commit of several files fails before the first of them.
func (f *File) Sync() error { return errors.Join(f.Chmod(f.mode), f.File.Sync()) }

// Commit ends the file and puts it into its place.
func (f *File) Commit() error {
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	Step("synced", f.to)
	if err := os.Rename(f.Name(), f.to); err != nil {
		return err
	}
	f.done = true
	Step("renamed", f.to)
	SyncFolder(filepath.Dir(f.to))
	Step("kept", f.to)
	return nil
}

// SyncFolder makes new names in a folder survive a loss of power, on systems that can.
func SyncFolder(path string) {
	if dir, err := os.Open(path); err == nil {
		dir.Sync()
		dir.Close()
	}
}

// Discard removes what was written, unless it was committed. The nil File has nothing to remove.
func (f *File) Discard() {
	if f != nil && !f.done {
		f.Close()
		os.Remove(f.Name())
	}
}

// Write gives the file at path other content.
func Write(path string, content []byte, mode fs.FileMode) error {
	f, err := Create(path, mode)
	if err != nil {
		return err
	}
	defer f.Discard()
	if _, err := f.File.Write(content); err != nil {
		return err
	}
	Step("written", path)
	return f.Commit()
}
