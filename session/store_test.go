package session_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Conformance(t, func(*testing.T) session.Store { return &session.MemoryStore{} })
}

// dirFiles is a Files that tells its folder.
type dirFiles struct {
	*session.FileStore
	dir string
}

func openFiles(t *testing.T) dirFiles {
	t.Helper()
	dir := t.TempDir()
	f := testutil.Value(session.OpenFiles(dir))(t)
	return dirFiles{f, dir}
}

func TestFiles(t *testing.T) {
	storetest.Conformance(t, func(t *testing.T) session.Store { return openFiles(t) })
}
