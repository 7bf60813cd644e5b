package background_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/background"
)

// TestWork: who waits comes back after the grace, and what comes late goes to late.
func TestWork(t *testing.T) {
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
			work := background.NewWork(func(v int) { late <- v })
			go func() {
				defer work.End()
				time.Sleep(tt.takes)
				work.Value = 1
			}()
			got, err, left := work.Wait(ctx, 10*time.Second)
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
	work := background.NewWork[int](nil)
	go func() {
		defer work.End()
		panic("x")
	}()
	work.Wait(t.Context(), time.Second)
}
