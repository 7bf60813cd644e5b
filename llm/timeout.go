package llm

import (
	"context"
	"time"
)

// Timeout gives every attempt d. An attempt that takes longer ends with an
// [*Error] of ClassTimeout, which [Retry] tries again. The end of the caller's
// own context is passed on as it is: context.Canceled or
// context.DeadlineExceeded. A d of 0 or less is no time-out. It ends the context
// of the attempt, so a model that does not heed its context is waited for.
//
// Below it, context.Cause tells the two apart.
func Timeout(d time.Duration) Middleware {
	return func(next Model) Model {
		if d <= 0 {
			return next
		}
		late := &Error{Class: ClassTimeout, Message: "no reply within " + d.String()}
		return Wrap(next, func(ctx context.Context, req Request) (Response, error) {
			within, cancel := context.WithTimeoutCause(ctx, d, late)
			defer cancel()
			resp, err := next.Complete(within, req)
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
