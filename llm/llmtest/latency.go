package llmtest

import (
	"context"
	"time"

	"github.com/texttosql/texttosql/llm"
)

// Latency makes a model take its time. A call that its context ends while it
// waits returns ctx.Err() at once. The zero Latency takes none.
type Latency struct {
	Fixed  time.Duration   // of every draw that ByDraw does not have
	ByDraw []time.Duration // of draw i at i
}

// Middleware returns a middleware that waits before each call. Safe for
// concurrent use.
func (l Latency) Middleware() llm.Middleware {
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			d := l.Fixed
			if req.Draw >= 0 && req.Draw < len(l.ByDraw) {
				d = l.ByDraw[req.Draw]
			}
			if err := sleep(ctx, d); err != nil {
				return llm.Response{}, err
			}
			return next.Complete(ctx, req)
		})
	}
}

// sleep returns after d, or with ctx.Err() as soon as ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
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
