package session_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
)

// TestReadOnlyFolder: in a folder that may not be written, what is there can be loaded and listed, and all else is
// fs.ErrPermission and changes nothing.
func TestReadOnlyFolder(t *testing.T) {
	base := t.TempDir()
	dir := filepath.Join(base, "sessions")
	f := testutil.Value(session.OpenFiles(dir))(t)
	r := session.New(session.NewID(), time.Unix(0, 0).UTC())
	testutil.OK(t, f.Save(t.Context(), r))
	j := testutil.Value(f.Journal(t.Context(), r.ID))(t)
	var files []string
	for _, pattern := range []string{"*.json", "*.jsonl", "*.lock"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		files = append(files, found...)
	}
	before := testutil.Value(os.ReadFile(files[0]))(t)
	for _, file := range files {
		testutil.OK(t, os.Chmod(file, 0o444))
	}
	for folder, mode := range map[string]fs.FileMode{dir: 0o555, base: 0o755, filepath.Dir(base): 0o755} {
		testutil.OK(t, os.Chmod(folder, mode))
	}
	defer os.Chmod(dir, 0o755) // for the end of the test
	var load, save, open, write, list, remove, opened error
	done := onItsOwn(func() {
		// The file system sees this thread as nobody, whoever runs the test. Go ends the thread with its goroutine.
		runtime.LockOSThread()
		if os.Geteuid() == 0 {
			if _, _, failed := syscall.RawSyscall(syscall.SYS_SETFSUID, 65534, 0, 0); failed != 0 {
				t.Errorf("setfsuid: %v", failed)
			}
		}
		ctx := t.Context()
		r, load = f.Load(ctx, r.ID)
		_, list = f.List(ctx, session.Filter{})
		save, write, remove = f.Save(ctx, r), j.Append([]byte("line")), f.Delete(ctx, r.ID)
		_, open = f.Journal(ctx, r.ID)
		_, opened = session.OpenFiles(filepath.Join(dir, "more"))
	})
	<-done
	if load != nil || list != nil {
		t.Errorf("Load: %v; List: %v", load, list)
	}
	for call, err := range map[string]error{"Save": save, "Append": write, "Delete": remove, "Journal": open,
		"OpenFiles": opened} {
		if !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s: %v, want fs.ErrPermission", call, err)
		}
	}
	if now, err := os.ReadFile(files[0]); string(now) != string(before) || err != nil {
		t.Errorf("the record has changed: %v", err)
	}
}

// onItsOwn runs do on a goroutine of its own; the channel is closed when it has ended.
func onItsOwn(do func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	return done
}
