package llm

import (
	"context"
	"time"
)

// Timeout limits every attempt to d; 0 or less is no limit. An attempt that takes longer ends with an [*Error] of
// ClassTimeout, which [Retry] tries again. The end of the caller's own context is passed on unchanged.
//
// Timeout ends the context of the attempt. A model that ignores that is left running 100 ms later, with the warning
// "model-still-running" in the trace. context.Cause tells the model whether the time-out or the caller ended the
// context.
func Timeout(d time.Duration) Middleware {
	return func(next Model) Model {
		if d <= 0 {
			return next
		}
		late := &Error{Class: ClassTimeout, Message: "no reply within " + d.String()}
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
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
	}
}
