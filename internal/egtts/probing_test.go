package egtts_test

import (
	"errors"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/egtts"
	"github.com/texttosql/texttosql/internal/strategytest"
	"github.com/texttosql/texttosql/internal/testutil"
)

// TestSlowProbe: a look-up that does not end is cut, after a second at most, and
// says nothing about the statement; as published it counts as stored.
func TestSlowProbe(t *testing.T) {
	pool := strategytest.PoolOf(t,
		`CREATE VIEW endless AS WITH RECURSIVE n(name) AS (SELECT 'a' UNION ALL SELECT name FROM n) SELECT name FROM n`)
	dbWithin := func(timeout time.Duration) *exec.DB {
		db := testutil.Value(exec.New(pool, sqlite.Dialect{},
			exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Timeout: timeout}}}))(t)
		return db
	}
	var limit *exec.LimitError
	if _, err := dbWithin(0).Probe(t.Context(), "", "endless", "name", "Ada"); !errors.As(err, &limit) ||
		limit.Max != "1s" {
		t.Errorf("got %v, want a limit of a second", err)
	}

	quick := dbWithin(50 * time.Millisecond)
	for compat, want := range map[bool]int{false: 0, true: 1} {
		probing := &egtts.Probing{}
		if compat {
			probing = egtts.PublishedProbing()
		}
		c, err := quick.Examine(t.Context(), "SELECT name FROM endless WHERE name = 'Ada'", probing)
		if err != nil {
			t.Errorf("compat %v: %v", compat, err)
		}
		if len(c.Findings) != want || want == 1 && c.Findings[0].Rule != "literal-stored" {
			t.Errorf("compat %v: findings %+v", compat, c.Findings)
		}
	}
}
