package pools

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/texttosql/texttosql/eval"
)

// Folder is a directory of evaluation data:
//
//	db/SOURCE/ID.sqlite or db/SOURCE/ID/ID.sqlite     databases
//	questions/questions_NAME.jsonl.gz                 datasets
//	predictions/preds_NAME.jsonl.gz                   answers of many systems
//	samples/samples_NAME….jsonl.gz                    samples of models
//
// It reads files when it is asked and keeps nothing. Safe for concurrent use.
type Folder struct{ dir string }

// OpenFolder returns the folder at a path, which has to hold a folder questions.
func OpenFolder(dir string) (*Folder, error) {
	if dir == "" {
		return nil, errors.New("pools: no folder of evaluation data is given: name one, or set TEXTTOSQL_DATA")
	}
	info, err := os.Stat(filepath.Join(dir, "questions"))
	if err != nil {
		return nil, fmt.Errorf("pools: %s holds no evaluation data: %w", dir, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("pools: %s holds no evaluation data: questions is no folder", dir)
	}
	return &Folder{dir: dir}, nil
}

// Dir returns the path of the folder.
func (f *Folder) Dir() string { return f.dir }

// Path returns the path of a file in the folder.
func (f *Folder) Path(elements ...string) string {
	return filepath.Join(append([]string{f.dir}, elements...)...)
}

// Dataset reads the dataset of a name: "spider_dev".
func (f *Folder) Dataset(name string) (*eval.Dataset, error) {
	path, err := f.datasetPath(name)
	if err == nil {
		return eval.ReadDataset(path)
	}
	var names []string
	if errors.Is(err, fs.ErrNotExist) {
		if names, err = f.datasets(); err == nil {
			return nil, fmt.Errorf("pools: there is no dataset %q in %s; there are %s", name, f.dir,
				cmp.Or(strings.Join(names, ", "), "none"))
		}
	}
	return nil, fmt.Errorf("pools: looking for dataset %q: %w", name, err)
}

// DatasetPath returns the path of the file of a dataset, for messages about its
// lines; ok is false where none is found.
func (f *Folder) DatasetPath(name string) (path string, ok bool) {
	path, err := f.datasetPath(name)
	return path, err == nil
}

func (f *Folder) datasetPath(name string) (string, error) {
	var names []string
	for _, ending := range []string{".jsonl.gz", ".jsonl", ".json", ".csv"} {
		names = append(names, "questions_"+name+ending)
	}
	return firstFile(f.Path("questions"), names)
}

// Datasets returns the names of the datasets, in order; none where the folder of
// questions cannot be read.
func (f *Folder) Datasets() []string {
	names, _ := f.datasets()
	return names
}

func (f *Folder) datasets() (names []string, err error) {
	entries, err := os.ReadDir(f.Path("questions"))
	for _, e := range entries {
		if name, ok := strings.CutPrefix(e.Name(), "questions_"); ok {
			name, _, _ = strings.Cut(name, ".")
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), err
}

// firstFile returns the path of the first of names that is a file in dir. The
// error matches [fs.ErrNotExist] where none is there, and no other one: what
// cannot be looked at may be there.
func firstFile(dir string, names []string) (string, error) {
	var unreadable error
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		switch {
		case err == nil && info.Mode().IsRegular():
			return path, nil
		case err != nil && !absent(err) && unreadable == nil:
			unreadable = err
		}
	}
	return "", cmp.Or(unreadable, fs.ErrNotExist)
}

// absent reports whether a look at a file failed because there is none, or can be
// none of that name.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) ||
		errors.Is(err, syscall.EINVAL)
}

// Database returns the path of the database of an id, wherever under db it is.
// The error matches [fs.ErrNotExist] where there is none, and no other one.
func (f *Folder) Database(id string) (string, error) {
	roots, err := os.ReadDir(f.Path("db"))
	if err != nil {
		return "", fmt.Errorf("pools: looking for database %s: %w", id, err)
	}
	var unreadable error
	for _, root := range roots {
		path, err := DatabaseIn(f.Path("db", root.Name()), id)
		if err == nil {
			return path, nil
		}
		if unreadable == nil && !errors.Is(err, fs.ErrNotExist) {
			unreadable = err
		}
	}
	return "", cmp.Or[error](unreadable, &eval.DatabaseError{ID: id, Path: f.Path("db")})
}

// DatabaseIn returns the path of the database of an id in one folder, as the
// published benchmarks lay them out: ID.sqlite, ID.db or the same in a folder
// ID. The error matches [fs.ErrNotExist] where there is none, and no other one.
func DatabaseIn(dir, id string) (string, error) {
	// An id comes from a file; it must not lead out of the folder.
	if id == "" || !filepath.IsLocal(id) || filepath.Base(id) != id {
		return "", &eval.DatabaseError{ID: id, Path: dir}
	}
	path, err := firstFile(dir, []string{id + ".sqlite", filepath.Join(id, id+".sqlite"), id + ".db",
		filepath.Join(id, id+".db")})
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return "", &eval.DatabaseError{ID: id, Path: file.Path, Err: file.Err}
	case err != nil:
		return "", &eval.DatabaseError{ID: id, Path: dir}
	}
	return path, nil
}
