// Package background lets time pass.
package background

import (
	"context"
	"time"
)

// For returns after d, or with ctx.Err() as soon as ctx ends. A d of 0 or less
// returns ctx.Err() at once.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
