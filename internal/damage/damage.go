// Package damage changes a file that a program trusts later, in every way that a disk or a person may, and checks what
// a reader makes of it.
package damage

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/race"
	"github.com/texttosql/texttosql/internal/testutil"
)

// Store is a kind of file.
type Store struct {
	Path string
	// Read reads the file. items are its records as they would be used, in their order; notes are the warnings.
	Read func() (items, notes []string, err error)
	// Grows says that records are appended. A file of its first records is one of an earlier time, and so is an empty one.
	Grows bool
	// Ordered says that the order of records matters, so that moved ones are read in their old order, or noted.
	Ordered bool
	// Name is in each error and warning; "": the name of the file.
	Name string
}

// most is how many bytes of a file are changed each.
const most = 1500

// Check changes the file and ends with the file as it was. What is read of a changed file are the records that were
// written; where one of them is left out, an error or a warning names the file.
func (s Store) Check(t *testing.T) {
	t.Helper()
	if s.Name == "" {
		s.Name = filepath.Base(s.Path)
	}
	good := testutil.Value(os.ReadFile(s.Path))(t)
	info := testutil.Value(os.Stat(s.Path))(t)
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("%s: mode %v, want 0600", s.Name, mode)
	}
	items, notes, err := s.Read()
	if err != nil || len(notes) > 0 || len(items) == 0 {
		t.Fatalf("%s: %q, notes %q, %v; want items", s.Name, items, notes, err)
	}
	defer func() { testutil.OK(t, os.WriteFile(s.Path, good, 0o600)) }()
	counts := map[string]int{}
	all := s.changes(good)
	for _, c := range all {
		testutil.OK(t, os.WriteFile(s.Path, c.text, 0o600))
		verdict, problem := s.judge(items, c)
		if counts[verdict]++; problem != "" {
			t.Errorf("%s, %s: %s", s.Name, c.why, problem)
		}
	}
	t.Log(s.Name, len(good), "bytes", counts)
	least := min(len(good)/2, len(all)*9/10) // of a large file not each byte is changed
	if race.Enabled {
		least /= 8
	}
	if counts["refused"]+counts["noted"] < least {
		t.Errorf("%s: %v", s.Name, counts)
	}
}

// change is a changed file.
type change struct {
	why     string
	text    []byte
	earlier bool // the file ends where a record ends
	moved   bool // two records stand in each other's place
}

// judge reads a changed file.
func (s Store) judge(items []string, c change) (verdict, problem string) {
	got, notes, err := s.Read()
	told := strings.Join(notes, "\n")
	if err != nil {
		told = err.Error()
	}
	for _, item := range got {
		if !slices.Contains(items, item) {
			return "changed", fmt.Sprintf("%q is read, which was not written", item)
		}
	}
	left := slices.DeleteFunc(slices.Clone(items), func(item string) bool { return slices.Contains(got, item) })
	lost := len(left) > 0
	switch {
	case c.moved && s.Ordered && !slices.Equal(got, items) && told == "":
		return "silent", fmt.Sprintf("moved records are read as %q", got)
	case err == nil && !lost:
		return "equal", ""
	case lost && s.Grows && c.earlier:
		return "earlier", ""
	case !strings.Contains(told, s.Name):
		return "silent", fmt.Sprintf("%d records are left out, and no error or warning names the file: %q", len(left), told)
	case err != nil:
		return "refused", ""
	}
	return "noted", ""
}

// changes are changed files: each bit of a few bytes, a bit of each byte, several bits, other ends and other line ends.
func (s Store) changes(good []byte) (all []change) {
	random := rand.New(rand.NewPCG(18, 3))
	flip := func(text []byte, bit int) { text[bit/8] ^= 1 << (bit % 8) }
	step, several := 1+len(good)/most, 500
	if race.Enabled {
		step, several = 8*step, 50 // the detector wants each path, not each bit
	}
	for at := 0; at < len(good); at += step {
		bad := bytes.Clone(good)
		bit := 8*at + random.IntN(8)
		flip(bad, bit)
		all = append(all, change{why: fmt.Sprint("bit ", bit), text: bad})
	}
	for range several {
		bad, n := bytes.Clone(good), 2+random.IntN(7)
		for range n {
			flip(bad, random.IntN(8*len(bad)))
		}
		all = append(all, change{why: fmt.Sprint(n, " bits"), text: bad})
	}
	for at := 0; at < len(good); at += 1 + len(good)/300 {
		all = append(all, s.cut(good, at))
	}
	for at := max(0, len(good)-40); at < len(good); at++ {
		all = append(all, s.cut(good, at))
	}
	for bit := range 8 {
		for at, b := range good {
			if b == '\n' {
				bad := bytes.Clone(good)
				flip(bad, 8*at+bit)
				all = append(all, change{why: fmt.Sprint("line end at ", at, ", bit ", bit), text: bad})
			}
		}
	}
	for _, end := range []string{"\r\n", "\n\n", " ", "x", "}", "\x00"} {
		all = append(all, change{why: fmt.Sprintf("the end %q", end),
			text: append(bytes.TrimSuffix(bytes.Clone(good), []byte("\n")), end...)})
	}
	all = append(all, change{why: "an empty file", earlier: true})
	lines := slices.DeleteFunc(bytes.SplitAfter(good, []byte("\n")), func(line []byte) bool {
		return len(bytes.TrimSpace(line)) == 0
	})
	if len(lines) < 2 {
		return all
	}
	last := len(lines) - 1
	twice := slices.Concat(good, lines[last])
	lines[last-1], lines[last] = lines[last], lines[last-1]
	return append(all, change{why: "the last record twice", text: twice},
		change{why: "moved records", text: bytes.Join(lines, nil), moved: true})
}

// cut is the file without what stands behind at.
func (s Store) cut(good []byte, at int) change {
	text := bytes.TrimRight(good[:at], "\n")
	whole := len(text) == 0 || bytes.HasPrefix(good[len(text):], []byte("\n"))
	return change{why: fmt.Sprint("cut at ", at), text: bytes.Clone(good[:at]), earlier: whole}
}
