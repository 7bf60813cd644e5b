package background_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/texttosql/texttosql/internal/background"
)

func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		if err := background.For(ctx, 20*time.Second); err != nil || time.Since(start) != 20*time.Second {
			t.Errorf("%v after %v", err, time.Since(start))
		}
		if err := background.For(ctx, time.Hour); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(start) != time.Minute {
			t.Errorf("the end of the context: %v after %v", err, time.Since(start))
		}
		if err := background.For(ctx, -1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a context that has ended: %v", err)
		}
		if err := background.For(t.Context(), 0); err != nil {
			t.Errorf("no time: %v", err)
		}
	})
}
