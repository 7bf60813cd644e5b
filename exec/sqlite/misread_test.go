package sqlite_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/sqltext"
)

// compiler counts what it is asked to compile, and knows no name.
type compiler struct {
	exec.Held
	asked, bytes int
}

func (c *compiler) Analyze(_ context.Context, s *sqltext.Statement) (exec.Analysis, error) {
	c.asked++
	c.bytes += len(s.SQL())
	return exec.Analysis{}, &exec.InvalidError{Fault: exec.FaultSchema}
}

// TestMisreadIsBounded: however many names a statement has, a limited number of
// texts is compiled.
func TestMisreadIsBounded(t *testing.T) {
	for _, n := range []int{1, 10, 1000, 15_000} {
		s := sqltext.SQLite().Parse(`SELECT "x"` + strings.Repeat(`,"x"`, n-1))
		var c compiler
		names, err := sqlite.Dialect{}.Misread(t.Context(), &c, s, s.Columns())
		if err != nil || len(names) == 0 || n <= 10 && len(names) != n {
			t.Errorf("%d names: found %d, %v", n, len(names), err)
		}
		if c.asked > 65 || c.bytes > 400<<10 {
			t.Errorf("%d names: compiled %d texts of %d bytes in all", n, c.asked, c.bytes)
		}
	}
}

// TestCompilingEnds: SQLite compiles without a look at the context.
func TestCompilingEnds(t *testing.T) {
	pool, _ := open(t, fixture)
	guard, err := sqlite.Dialect{}.Guard(exec.GuardConfig{})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	held, err := guard.Hold(t.Context(), conn, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Release(false)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := held.Analyze(ended, sqltext.SQLite().Parse("SELECT a FROM t")); !errors.Is(err, context.Canceled) {
		t.Errorf("compiled for a context that has ended: %v", err)
	}
}
