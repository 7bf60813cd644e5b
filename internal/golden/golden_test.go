package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// watched keeps what a test was told.
type watched struct {
	testing.TB
	told string
}

func (w *watched) Helper()                        {}
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
