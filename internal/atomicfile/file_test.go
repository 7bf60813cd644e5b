package atomicfile_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/texttosql/texttosql/internal/atomicfile"
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.txt")
	content := func() string {
		b, _ := os.ReadFile(path)
		return string(b)
	}
	f, err := atomicfile.Create(path, 0o640)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("one")
	if _, err := os.Stat(path); err == nil {
		t.Error("a file that is not committed stands in its place")
	}
	if err := f.Commit(); err != nil || content() != "one" {
		t.Fatal(err, content())
	}
	f.Discard() // nothing after a Commit
	if f, err = atomicfile.Create(path, 0o600); err != nil {
		t.Fatal(err)
	}
	f.WriteString("two")
	f.Discard()
	if left, _ := os.ReadDir(dir); content() != "one" || len(left) != 1 {
		t.Errorf("after Discard %q and %d files", content(), len(left))
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	if err := atomicfile.Write(link, []byte("three"), 0o600); err != nil || content() != "three" {
		t.Error("through a link: ", err, content())
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Error("the mode is not kept: ", info.Mode())
	}
	if err := os.Chmod(path, 0o440); err != nil {
		t.Fatal(err)
	}
	for why, path := range map[string]string{"read-only": path, "a folder": dir, "no such folder": filepath.Join(dir, "x", "y")} {
		if err := atomicfile.Write(path, nil, 0o600); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}
