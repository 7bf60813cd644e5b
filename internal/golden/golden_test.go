package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// watched keeps what a test was told.
type watched struct {
	testing.TB
	told string
}

func (w *watched) Helper()                        {}
func (w *watched) Error(a ...any)                 { w.told = fmt.Sprintln(a...) }
func (w *watched) Errorf(format string, a ...any) { w.told = fmt.Sprintf(format, a...) }
func (w *watched) Fatalf(format string, a ...any) {
	w.told = fmt.Sprintf(format, a...)
	panic(w) // Fatalf does not return
}

func TestCheck(t *testing.T) {
	t.Chdir(t.TempDir())
	check := func(got string) string {
		w := &watched{TB: t}
		func() {
			defer func() { recover() }()
			Check(w, "a/b.golden", got)
		}()
		return w.told
	}
	if told := check("one\n"); !strings.Contains(told, "-update writes it") {
		t.Errorf("without a file: %q", told)
	}
	*update = true
	if told := check("one\n"); told != "" {
		t.Errorf("with -update: %q", told)
	}
	*update = false
	if b, err := os.ReadFile(filepath.Join("testdata", "a", "b.golden")); err != nil || string(b) != "one\n" {
		t.Errorf("-update wrote %q, %v", b, err)
	}
	if told := check("one\n"); told != "" {
		t.Errorf("the same: %q", told)
	}
	if told := check("two\n"); !strings.Contains(told, "b.golden (-want +got") {
		t.Errorf("another: %q", told)
	}
}

func TestEqual(t *testing.T) {
	w := &watched{TB: t}
	sum := cmp.Transformer("sum", func(l []int) int { return l[0] + l[1] })
	if Equal(w, []int{1, 2}, []int{2, 1}, "their order aside", sum); w.told != "" {
		t.Errorf("told %q", w.told)
	}
	if Equal(w, 1, 2, "row", 7); !strings.HasPrefix(w.told, "row 7 (-want +got):\n") {
		t.Errorf("told %q", w.told)
	}
}
