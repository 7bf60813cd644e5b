package describe

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/fileerr"
	"github.com/texttosql/texttosql/schema"
)

// FileError says that the file of descriptions cannot be read or written. The file is as it was.
type FileError struct {
	File string // its path, as given
	Err  error  // what is wrong
}

// Error says what is wrong, and what to do.
func (e *FileError) Error() string {
	text := "describe: " + e.File + ": " + e.Err.Error()
	if errors.As(e.Err, new(*fileerr.Descriptions)) {
		return text
	}
	return text + ": choose another file, or make this one writable"
}

// Unwrap returns what is wrong.
func (e *FileError) Unwrap() error { return e.Err }

// keeper keeps a DescriptionFile on disk; with the path "" in memory only.
type keeper struct {
	path string
	file schema.DescriptionFile
	last []byte // what the file on disk holds, as far as we know; nil: there is none
}

// open reads the file at path, if there is one.
func open(path string) (*keeper, error) {
	k := &keeper{path: path, file: schema.DescriptionFile{Descriptions: schema.Descriptions{},
		Failed: map[string]string{}}}
	if err := k.load(); err != nil {
		return nil, &FileError{path, err}
	}
	return k, nil
}

// load reads the file again if it is not what we wrote: a person edits it.
func (k *keeper) load() error {
	if k.path == "" {
		return nil
	}
	raw, err := os.ReadFile(k.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if k.last != nil && bytes.Equal(raw, k.last) {
		return nil
	}
	file, err := schema.ReadDescriptions(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if file.CSV {
		return errors.New("it is no JSON, and would be written over")
	}
	file.Notes = append(k.file.Notes, file.Notes...)
	k.file, k.last = file, raw
	return nil
}

// save makes a change and puts it on disk. The file is read again first if a person changed it.
func (k *keeper) save(change func(*schema.DescriptionFile)) error {
	err := k.load()
	if err == nil {
		change(&k.file)
		err = k.write()
	}
	if err != nil {
		return &FileError{k.path, err}
	}
	return nil
}

func (k *keeper) write() error {
	if k.path == "" {
		return nil
	}
	var b bytes.Buffer
	if err := k.file.Write(&b); err != nil {
		return err
	}
	if bytes.Equal(b.Bytes(), k.last) {
		return nil
	}
	if err := atomicfile.Write(k.path, b.Bytes(), 0o600); err != nil {
		return err
	}
	k.last = b.Bytes()
	return nil
}

// names are all names of the file, sorted.
func (k *keeper) names() []string {
	names := slices.AppendSeq(slices.Collect(maps.Keys(k.file.Descriptions)), maps.Keys(k.file.Failed))
	slices.Sort(names)
	return names
}
