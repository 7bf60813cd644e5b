package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/need"
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
	f = need.Value(atomicfile.Create(path, 0o600))(t)
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
	need.OK(t, os.Chmod(path, 0o440))
	for why, path := range map[string]string{"read-only": path, "a folder": dir, "no such folder": filepath.Join(dir, "x", "y")} {
		if err := atomicfile.Write(path, nil, 0o600); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}

func TestUnsealed(t *testing.T) {
	const object = `{"a":"x"}`
	sealed := string(atomicfile.Sealed([]byte(object + "\n")))
	for _, tt := range []struct{ why, text, want string }{
		{"as written", sealed, object},
		{"with an end of line of an editor", sealed + " \r\n", object},
		{"by a person", object, object},
		{"cut short before the checksum", sealed[:5], sealed[:5]},
		{"cut short in the checksum", sealed[:len(sealed)-3], sealed[:len(sealed)-3]},
		{"another object", strings.Replace(sealed, "x", "y", 1), ""},
		{"another checksum", sealed[:len(sealed)-3] + `_"}`, ""},
		{"no end of the checksum", sealed[:len(sealed)-2] + ` }`, ""},
		{"rewritten by a database", `{"sum":"00000000","a":"x"}`, `{"sum":"00000000","a":"x"}`},
	} {
		got, err := atomicfile.Unsealed([]byte(tt.text))
		if string(got) != tt.want || (err != nil) != (tt.want == "") || err != nil && !errors.Is(err, atomicfile.ErrDamaged) {
			t.Errorf("%s: %s is %q, %v; want %q", tt.why, tt.text, got, err, tt.want)
		}
	}
}
