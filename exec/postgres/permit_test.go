package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/texttosql/texttosql/internal/testutil"
	"github.com/texttosql/texttosql/llm"
)

// permits returns an llm.Limit.Permit for calls of all processes that use the database: n at once.
func permits(db *sql.DB, n int) func(context.Context) (func(), error) {
	return func(ctx context.Context) (func(), error) {
		conn, err := db.Conn(ctx) // a lock belongs to its session
		for err == nil {
			for place := range n {
				var taken bool
				err = conn.QueryRowContext(ctx, "SELECT pg_try_advisory_lock(4711, $1)", place).Scan(&taken)
				if taken {
					return func() {
						_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock(4711, $1)", place)
						_ = conn.Close()
					}, nil
				}
			}
			select {
			case <-ctx.Done():
				err = ctx.Err()
			case <-time.After(50 * time.Millisecond):
			}
		}
		if conn != nil {
			_ = conn.Close()
		}
		return nil, err
	}
}

// TestPermits: two processes, which are two pools here, share a limit. docs/deployment.md names the function.
func TestPermits(t *testing.T) {
	_, dsn := open(t, "")
	var now, top atomic.Int64
	slow := llm.Func(func(context.Context, llm.Request) (llm.Response, error) {
		top.Store(max(top.Load(), now.Add(1)))
		defer now.Add(-1)
		time.Sleep(20 * time.Millisecond)
		return llm.Response{Text: "x"}, nil
	})
	var all sync.WaitGroup
	for range 2 {
		db := testutil.Value(sql.Open("pgx", dsn))(t)
		defer db.Close()
		model := llm.Limit{Permit: permits(db, 3)}.Middleware()(slow)
		for range 6 {
			all.Go(func() { testutil.Value(model.Complete(t.Context(), llm.Request{}))(t) })
		}
	}
	all.Wait()
	if top.Load() > 3 {
		t.Errorf("%d calls at once, at most 3", top.Load())
	}

	db := testutil.Value(sql.Open("pgx", dsn))(t)
	defer db.Close()
	testutil.Value(permits(db, 1)(t.Context()))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := permits(db, 1)(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("no place is free: %v", err)
	}
}
