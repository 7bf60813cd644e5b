package atomicfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/internal/atomicfile"
	"github.com/texttosql/texttosql/internal/testutil"
)

// count adds one to the number in a file, n times, each under the lock.
func count(path string, n int) error {
	for range n {
		unlock, err := atomicfile.Lock(path)
		if err != nil {
			return err
		}
		text, _ := os.ReadFile(path)
		now, _ := strconv.Atoi(string(text))
		err = atomicfile.Write(path, strconv.AppendInt(nil, int64(now+1), 10), 0o600)
		unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// TestLock: no count is lost between processes, nor within one, nor to one that was killed with the lock in its hands.
func TestLock(t *testing.T) {
	const key = "TEXTTOSQL_TEST_LOCK"
	if path := os.Getenv(key); path != "" {
		testutil.OK(t, count(path, 20))
		if _, err := atomicfile.Lock(path); err != nil { // and keeps it
			t.Fatal(err)
		}
		fmt.Println("holding")
		select {}
	}
	path := filepath.Join(t.TempDir(), "n")
	done := make(chan error, 4)
	for i := range 4 {
		go func() {
			if i < 2 {
				done <- count(path, 20)
				return
			}
			child := exec.Command(os.Args[0], "-test.run=^TestLock$")
			child.Env = append(os.Environ(), key+"="+path)
			out, err := child.StdoutPipe()
			if err == nil {
				err = child.Start()
			}
			if err == nil {
				said := make([]byte, 100)
				n, _ := out.Read(said)
				child.Process.Kill()
				child.Wait()
				if !strings.HasPrefix(string(said[:n]), "holding") {
					err = fmt.Errorf("the child said %q", said[:n])
				}
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if text, _ := os.ReadFile(path); string(text) != "80" {
		t.Errorf("counted %s, want 80", text)
	}
	if _, err := atomicfile.Lock(filepath.Join(t.TempDir(), "no", "such")); err == nil {
		t.Error("a lock in a folder that does not exist")
	}
}
