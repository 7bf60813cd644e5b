package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/testutil"
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
	f = testutil.Value(atomicfile.Create(path, 0o600))(t)
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
	testutil.OK(t, os.Chmod(path, 0o440))
	for why, path := range map[string]string{"read-only": path, "a folder": dir, "no such folder": filepath.Join(dir, "x",
		"y")} {
		if err := atomicfile.Write(path, nil, 0o600); err == nil {
			t.Errorf("%s: no error", why)
		}
	}
}

func TestRead(t *testing.T) {
	type object struct {
		A string `json:"a"`
	}
	record := string(testutil.Value(atomicfile.Record(1, object{"x"}))(t))
	own := string(testutil.Value(atomicfile.Record(0, object{"x"}))(t))
	if record != `{"v":1,"a":"x","sum":"ec591cd5"}` || own != `{"a":"x","sum":"224ae2d0"}` {
		t.Errorf("%s, %s", record, own)
	}
	for _, tt := range []struct {
		why, text string
		old       bool
		err       string // part of it; "": none
	}{
		{"as written", record, false, ""},
		{"with an end of line of an editor", record + " \r\n", false, ""},
		{"of a version without versions", own, true, ""},
		{"by a person", `{ "a": "x" }`, true, ""},
		{"another object", strings.Replace(record, "x", "y", 1), false, "checksum does not match"},
		{"another checksum", record[:len(record)-3] + `_"}`, false, "checksum does not match"},
		{"a name of a checksum that is another one", strings.Replace(record, "sum", "sun", 1), true, "unknown field"},
		{"no checksum beside its version", strings.Replace(record, record[len(record)-18:], "}", 1), true,
			`unknown field "v"`},
		{"no end of the checksum", record[:len(record)-2] + ` }`, false, "checksum does not match"},
		{"a later version", string(atomicfile.Sealed(2, []byte(`{"a":"x"}`))), false,
			"format version 2, this program reads 1"},
		{"cut short before the checksum", record[:9], true, "unexpected end"},
		{"cut short in the checksum", record[:len(record)-3], true, "unexpected end"},
		{"nothing", "", true, "unexpected end"},
		{"something behind it", record + "x", true, "after top-level value"},
		{"two", record + record, false, "checksum does not match"},
	} {
		var got object
		old, err := atomicfile.Read([]byte(tt.text), 1, &got)
		switch {
		case tt.err == "" && (err != nil || got.A != "x" || old != tt.old):
			t.Errorf("%s: %s is %v, old %v, %v", tt.why, tt.text, got, old, err)
		case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
			t.Errorf("%s: %s: %v, want %q", tt.why, tt.text, err, tt.err)
		case atomicfile.IsCut(err) != (tt.err == "unexpected end"):
			t.Errorf("%s: cut is %v", tt.why, !atomicfile.IsCut(err))
		case errors.Is(err, atomicfile.ErrDamaged) != (tt.err == "checksum does not match"):
			t.Errorf("%s: %v is damaged, or is not", tt.why, err)
		}
	}
}

// TestUnsealed: what a database rewrote has no checksum at its end.
func TestUnsealed(t *testing.T) {
	const rewritten = `{"sum":"00000000","a":"x"}`
	if got, sealed, err := atomicfile.Unsealed([]byte(rewritten)); string(got) != rewritten || sealed || err != nil {
		t.Errorf("%s, %v, %v", got, sealed, err)
	}
}
