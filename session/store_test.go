package session_test

import (
	"testing"

	"github.com/texttosql/texttosql/session"
	"github.com/texttosql/texttosql/session/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Conformance(t, func(*testing.T) session.Store { return &session.Memory{} })
}

func openFiles(t *testing.T) *session.Files {
	t.Helper()
	f, err := session.OpenFiles(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFiles(t *testing.T) {
	storetest.Conformance(t, func(t *testing.T) session.Store { return openFiles(t) })
}
