package llm

import (
	"context"
	"fmt"
	"time"
)

// Timeout limits every attempt to d. 0 or less means no limit; texttosql.New rejects a limit under 1 ms. An attempt
// that takes longer returns an [*Error] of ClassTimeout, which [Retry] retries. The end of the caller's own context is
// passed on unchanged.
//
// Timeout ends the context of the attempt. If the model ignores that for 100 ms, Timeout returns while the model is
// still running, and adds the warning "model-still-running" to the trace. A model can see with context.Cause whether
// the time-out or the caller ended the context.
func Timeout(d time.Duration) Middleware {
	return func(next Model) Model {
		if d <= 0 {
			return next
		}
		late := &Error{Class: ClassTimeout, Message: "no reply within " + d.String()}
		limited := Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			within, cancel := context.WithTimeoutCause(ctx, d, late)
			defer cancel()
			resp, err := contained(within, next, req)
			switch {
			case err == nil:
				return resp, nil
			case ctx.Err() != nil:
				return Response{}, ctx.Err()
			case context.Cause(within) == late:
				return Response{}, late
			}
			return resp, err
		})
		return timed{inner{next}, limited, d}
	}
}

type timed struct {
	inner
	limited Model
	limit   time.Duration
}

func (t timed) Complete(ctx context.Context, req Request) (Response, error) {
	return t.limited.Complete(ctx, req)
}

// Validate rejects a limit under 1 ms: 30 is 30 ns.
func (t timed) Validate() error {
	if t.limit < time.Millisecond {
		return fmt.Errorf("llm: Timeout: %d is %d ns, and the least is 1 ms: write 30*time.Second", t.limit, t.limit)
	}
	return t.inner.Validate()
}
