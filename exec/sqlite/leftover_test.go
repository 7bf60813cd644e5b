package sqlite_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/exec"
	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/trace"
)

// TestLeftovers: nobody waits for a database that does not stop. A file's pool of one gets another connection for as
// long as it takes; a database in memory has no other.
func TestLeftovers(t *testing.T) {
	for _, test := range []struct {
		why, dsn, event string
		cancel          bool // by the caller
		scoped          bool // the caller hears of no statement of another one
		others          error
	}{
		{"compiling, in memory", ":memory:", "prepare", false, false, exec.ErrBusy},
		{"compiling, given up by the caller", "file", "prepare", true, false, nil},
		{"compiling, in a scope", "file", "prepare", true, true, nil},
		{"guarding, on disk", "file", "authorizer on", true, false, exec.ErrBusy},
	} {
		t.Run(test.why, func(t *testing.T) {
			release, stuck := make(chan struct{}), atomic.Bool{}
			connector, pool := faultyPool(t, test.dsn)
			config := connector.config(exec.Config{Limits: exec.Limits{Answer: exec.Bounds{Timeout: time.Second}}})
			if test.scoped {
				config.Policy.Rows = map[string]string{"t": "a > :least"}
			}
			db := newDB(t, pool, config)
			if test.scoped {
				db = testutil.Value(db.For(&exec.Scope{Key: "k", Params: map[string]any{"least": 0}}, nil))(t)
			}
			connector.fails(func(event string) error {
				if event == test.event && stuck.CompareAndSwap(false, true) {
					<-release
				}
				return nil
			})

			root := trace.Tracer{}.New("question")
			ctx, cancel := context.WithCancel(trace.NewContext(t.Context(), root))
			defer cancel()
			if test.cancel {
				time.AfterFunc(time.Second, cancel)
			}
			start := time.Now()
			_, err := db.Query(ctx, "SELECT a FROM t")
			if spent := time.Since(start); spent > 10*time.Second {
				t.Errorf("came back after %v", spent)
			}
			var limit *exec.LimitError
			if test.cancel && !errors.Is(err, context.Canceled) || !test.cancel && (!errors.As(err, &limit) || !limit.Running) {
				t.Errorf("error %v", err)
			}
			if w := root.Warnings(); len(w) > 0 {
				t.Errorf("warnings of what may stop any moment: %v", w)
			}
			time.Sleep(1100 * time.Millisecond)
			short, done := context.WithTimeout(trace.NewContext(t.Context(), root), 3*time.Second)
			defer done()
			if _, err := db.Query(short, "SELECT a FROM t"); !errors.Is(err, test.others) {
				t.Errorf("the next statement: %v, want %v", err, test.others)
			}
			told, other := root.Warnings(), db.Warnings()
			if test.scoped {
				told, other = other, told
			}
			still := func(w trace.Warning) bool { return w.Code == "statement-still-running" }
			if !slices.ContainsFunc(told, still) || slices.ContainsFunc(other, still) {
				t.Errorf("warnings %v, and to the other %v", told, other)
			}
			close(release)
			for end := time.Now().Add(5 * time.Second); pool.Stats().MaxOpenConnections != 1 ||
				pool.Stats().InUse > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("the pool was not given back: %+v", pool.Stats())
				}
			}
			table, err := db.Query(t.Context(), "SELECT a FROM t")
			if err != nil || len(table.Rows) != 5 {
				t.Errorf("afterwards: %v, %v", table, err)
			}
			if _, err := pool.Exec("INSERT INTO t VALUES (6, 'written')"); err != nil {
				t.Errorf("the caller cannot write any more: %v", err)
			}
		})
	}
}

// TestLeftoversAreBounded: at most as many statements are left running as may run, and one more; then no other begins.
func TestLeftoversAreBounded(t *testing.T) {
	release := make(chan struct{})
	connector, pool := faultyPool(t, "file")
	const running = 2
	pool.SetMaxOpenConns(0)
	db := newDB(t, pool,
		connector.config(exec.Config{Limits: exec.Limits{Connections: running,
			Answer: exec.Bounds{Timeout: 300 * time.Millisecond}}}))
	connector.fails(func(event string) error {
		if event == "prepare" {
			<-release
		}
		return nil
	})
	left, busy, want := 0, 0, exec.ErrBusy.Error()+": statements that nobody waits for still run" // and not how many
	for range 10 {
		_, err := db.Query(t.Context(), "SELECT a FROM t")
		var limit *exec.LimitError
		switch {
		case errors.As(err, &limit) && limit.Running:
			left++
		case errors.Is(err, exec.ErrBusy) && err.Error() == want:
			busy++
		default:
			t.Errorf("error %v", err)
		}
	}
	if left != running+1 || busy != 10-left {
		t.Errorf("%d were left running, %d did not begin", left, busy)
	}
	close(release)
	for end := time.Now().Add(5 * time.Second); pool.Stats().InUse > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the pool was not given back: %+v", pool.Stats())
		}
	}
	if _, err := db.Query(t.Context(), "SELECT a FROM t"); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
