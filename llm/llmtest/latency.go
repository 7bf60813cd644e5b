package llmtest

import (
	"context"
	"time"

	"github.com/texttosql/texttosql/internal/background"
	"github.com/texttosql/texttosql/llm"
)

// Latency delays calls. A call whose context ends during the delay returns ctx.Err() at once. The zero Latency delays
// nothing.
type Latency struct {
	Fixed    time.Duration   // the delay of every sample that BySample does not have
	BySample []time.Duration // the delays by the index of the sample
}

// Middleware returns a middleware that waits before each call. Safe for concurrent use.
func (l Latency) Middleware() llm.Middleware {
	return func(next llm.Model) llm.Model {
		return llm.Wrap(next, func(ctx context.Context, req llm.Request) (llm.Response, error) {
			d := l.Fixed
			if req.Sample >= 0 && req.Sample < len(l.BySample) {
				d = l.BySample[req.Sample]
			}
			if err := background.For(ctx, d); err != nil {
				return llm.Response{}, err
			}
			return next.Complete(ctx, req)
		})
	}
}
