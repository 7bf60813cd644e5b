package session_test

import (
	"testing"

	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Conformance(t, func(*testing.T) session.Store { return &session.Memory{} })
}

// dirFiles is a Files that tells its folder.
type dirFiles struct {
	*session.Files
	dir string
}

func openFiles(t *testing.T) dirFiles {
	t.Helper()
	dir := t.TempDir()
	f := need.Value(session.OpenFiles(dir))(t)
	return dirFiles{f, dir}
}

func TestFiles(t *testing.T) {
	storetest.Conformance(t, func(t *testing.T) session.Store { return openFiles(t) })
}
