package exec_test

import (
	"database/sql"
	"slices"
	"testing"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// TestIdleConnections: a pool that closes connections because it keeps too few idle ones is a warning, and a large
// enough pool is not.
func TestIdleConnections(t *testing.T) {
	for _, tt := range []struct {
		why  string
		idle int
		want bool
	}{
		{"the pool keeps one of two", 1, true},
		{"the pool keeps both", 2, false},
	} {
		pool, db := open(t, "CREATE TABLE t (a)", exec.Config{})
		pool.SetMaxIdleConns(tt.idle)
		for range 2 {
			one, two := testutil.Value(pool.Conn(t.Context()))(t), testutil.Value(pool.Conn(t.Context()))(t)
			for _, conn := range []*sql.Conn{one, two} {
				testutil.OK(t, conn.Close())
			}
		}
		isIdle := func(w trace.Warning) bool { return w.Code == "idle-connections" }
		testutil.OK(t, db.Ready(t.Context()))
		if got := slices.ContainsFunc(db.Warnings(), isIdle); got != tt.want || len(db.Warnings()) > 1 {
			t.Errorf("%s: %v", tt.why, db.Warnings())
		}
	}
}
