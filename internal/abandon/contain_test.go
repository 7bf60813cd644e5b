package abandon_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/abandon"
)

// TestContain: who waits comes back after the grace, and what comes late goes to late.
func TestContain(t *testing.T) {
	apart := func(job func()) { go job() }
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			why   string
			takes time.Duration
			left  bool
			came  time.Duration
		}{
			{"before the end", time.Second, false, time.Second},
			{"within the grace", 65 * time.Second, false, 65 * time.Second},
			{"later", time.Hour, true, 70 * time.Second},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			start, late := time.Now(), make(chan int, 1)
			got, err, left := abandon.Contain(ctx, 10*time.Second, apart, func() (int, error) {
				time.Sleep(tt.takes)
				return 1, nil
			}, func(v int) { late <- v })
			if left != tt.left || err != nil || (got == 1) == left || time.Since(start) != tt.came {
				t.Errorf("%s: %d, %v, left %v after %v", tt.why, got, err, left, time.Since(start))
			}
			if left && <-late != 1 {
				t.Errorf("%s: the result is lost", tt.why)
			}
			cancel()
		}
	})
	defer func() {
		if r := recover(); r != "x" {
			t.Errorf("a panic of f: %v", r)
		}
	}()
	abandon.Contain(t.Context(), time.Second, apart, func() (int, error) { panic("x") }, func(int) {})
}
