package planvote_test

import (
	"errors"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/exec/sqlite"
	"github.com/texttosql/texttosql/internal/need"
	"github.com/texttosql/texttosql/strategy/planvote"
)

// TestSlowProbe: a look-up that does not end is cut, after a second at most, and
// says nothing about the statement; as published it counts as stored.
func TestSlowProbe(t *testing.T) {
	pool := poolOf(t, `CREATE VIEW endless AS WITH RECURSIVE n(name) AS (SELECT 'a' UNION ALL SELECT name FROM n) SELECT name FROM n`)
	dbWithin := func(timeout time.Duration) *exec.DB {
		db := need.Value(exec.New(pool, sqlite.Dialect{}, exec.Config{Limits: exec.Limits{Candidate: exec.Bounds{Timeout: timeout}}}))(t)
		return db
	}
	var limit *exec.LimitError
	if _, err := dbWithin(0).Probe(t.Context(), "", "endless", "name", "Ada"); !errors.As(err, &limit) || limit.Max != "1s" {
		t.Errorf("got %v, want a limit of a second", err)
	}

	quick := dbWithin(50 * time.Millisecond)
	for compat, want := range map[bool]int{false: 0, true: 1} {
		probing := &planvote.Probing{}
		if compat {
			probing = planvote.PublishedProbing()
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
