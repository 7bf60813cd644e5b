package sqlite_test

import (
	"context"
	"errors"
	"testing"

	"github.com/texttosql/texttosql/exec"
)

// TestCompilingEnds: SQLite compiles without a look at the context.
func TestCompilingEnds(t *testing.T) {
	pool, _ := open(t, fixture)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	held := guarded(t, conn, exec.GuardConfig{}, 0)
	s := admitted(t, held, "SELECT a FROM t")
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := held.Confirm(ended, s); !errors.Is(err, context.Canceled) {
		t.Errorf("compiled for a context that has ended: %v", err)
	}
}
