//go:build unix

package texttosql_test

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/texttosql/texttosql"
)

// TestExportFull: where there is no room the error is typed and nothing is left. A limit on the size of files, in a
// process of its own, stands in for a full disk.
func TestExportFull(t *testing.T) {
	const key = "TEXTTOSQL_TEST_EXPORT_FULL"
	if dir := os.Getenv(key); dir != "" {
		e := engine(t, always(usa)) // before the limit
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
			t.Fatal(err)
		}
		_, err := e.ExportChat(t.Context(), filepath.Join(dir, "train.jsonl"), solved, texttosql.ExportConfig{})
		var failed *texttosql.ExportError
		if !errors.As(err, &failed) || !errors.Is(err, syscall.EFBIG) {
			t.Errorf("no room: %v", err)
		}
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestExportFull$")
	cmd.Env = append(os.Environ(), key+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}
