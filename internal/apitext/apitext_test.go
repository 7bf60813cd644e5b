package apitext

import (
	"flag"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/texttosql/texttosql/internal/testutil"
)

var update = flag.Bool("update", false, "write the files of testdata anew")

// TestAPI compares the exported API with testdata: one file a package, the root package's is texttosql.txt.
func TestAPI(t *testing.T) {
	root := filepath.Join("..", "..")
	folder := "testdata"
	got := packages(t, root)
	if *update {
		testutil.OK(t, os.RemoveAll(folder))
		for name, text := range got {
			file := filepath.Join(folder, filepath.FromSlash(name))
			testutil.OK(t, os.MkdirAll(filepath.Dir(file), 0o755))
			testutil.OK(t, os.WriteFile(file, []byte(text), 0o644))
		}
	}
	want := recorded(t, folder)
	if len(want) == 0 {
		t.Skip("testdata has no file; -update writes them")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the exported API changed (-want +got; go test ./internal/apitext -update writes it anew):\n%s", diff)
	}
}

// packages returns the API of every package that others can import, by file name.
func packages(t *testing.T, root string) map[string]string {
	all := map[string]string{}
	testutil.OK(t, fs.WalkDir(os.DirFS(root), ".", func(dir string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		name := entry.Name()
		if dir != "." && (strings.HasPrefix(name, ".") || name == "internal" || name == "testdata" || name == "examples" ||
			name == "lab") {
			return fs.SkipDir
		}
		text, err := Package(filepath.Join(root, filepath.FromSlash(dir)))
		if text != "" {
			all[path.Clean(strings.TrimSuffix(dir, ".")+".txt")] = text
		}
		return err
	}))
	all["texttosql.txt"] = all[".txt"]
	delete(all, ".txt")
	return all
}

func recorded(t *testing.T, folder string) map[string]string {
	all := map[string]string{}
	files := os.DirFS(folder)
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Ext(file) != ".txt" {
			return err
		}
		text, err := fs.ReadFile(files, file)
		all[file] = string(text)
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return all
}

// TestPackage shows each kind of line.
func TestPackage(t *testing.T) {
	dir := t.TempDir()
	source := `package p
// A comment.
const A, b = 1, 2
const (
	Zero Kind = iota
	One
)
var Err, other error
type Kind int
type Alias = Kind
type List[T any] struct { Head, Tail *T ` + "`json:\"head\"`" + `; Kind; hidden int }
type Outer struct { *hidden }
type Port interface { Ask(q string) (string, error); closed() }
func (l *List[T]) Len(
	deep bool,
) int { return 0 }
func (hidden) Exported() {}
func New[T any](items ...T) *List[T] { return nil }
func helper() {}
type hidden struct{ Field int }
`
	want := `const A = 1
const One
const Zero Kind = iota
func New[T any](items ...T) *List[T]
method (*List[T]) Len(deep bool) int
type Alias = Kind
type Kind int
type List[T any] struct
type List[T any] struct, Head *T
type List[T any] struct, Tail *T
type List[T any] struct, embedded Kind
type List[T any] struct, unexported
type Outer struct
type Outer struct, unexported
type Port interface
type Port interface, Ask(q string) (string, error)
type Port interface, unexported
var Err error
`
	for name, text := range map[string]string{"p.go": source, "p_test.go": "package p\nfunc TestX() {}\n"} {
		testutil.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	got, err := Package(dir)
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}
